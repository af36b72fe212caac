//! `config`: what the files say, what is wrong with them, and where they lie.

mod check;
mod files;

use clap::{Args, Subcommand};
use serde_json::json;

use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::out;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate config check\n  toolgate config files\n  \
    toolgate config schema > toolgate.schema.json\n  $EDITOR \"$(toolgate config path)\"")]
pub struct Config {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Say everything that is wrong with the files; ends with 2 if something is left out
    #[command(after_help = "Example: toolgate config check --json")]
    Check,
    /// Show which files are read, in which dialect; a nearer one wins over those below it
    #[command(after_help = "Example: toolgate config files --json")]
    Files {
        /// Show those too that are looked for and not there
        #[arg(long)]
        all: bool,
    },
    /// Print the JSON Schema of toolgate.toml
    #[command(after_help = "Example: toolgate config schema > toolgate.schema.json")]
    Schema,
    /// Print where your own config lies
    #[command(after_help = "Example: toolgate config path")]
    Path,
}

pub fn run(context: &Context, options: &Config) -> Result<Exit, Failure> {
    match options.what {
        What::Check => check::run(context),
        What::Files { all } => files::run(context, all),
        What::Schema => schema(),
        What::Path => path(context),
    }
}

fn schema() -> Result<Exit, Failure> {
    out::text(&toolgate_host::config::schema())?;
    Ok(Exit::Done)
}

fn path(context: &Context) -> Result<Exit, Failure> {
    let home = &context.home;
    let config = context.config.clone().unwrap_or_else(|| home.config_file());
    if context.json {
        out::json(&json!({
            "config": config,
            "state": home.state_dir(),
            "cache": home.cache_dir(),
        }))?;
    } else {
        out::line(&config.display().to_string())?;
    }
    Ok(Exit::Done)
}
