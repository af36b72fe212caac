//! `config`: checks the config files, and shows where they are.

mod check;
mod files;

use clap::{Args, Subcommand};
use serde_json::json;

use crate::cli_context::CliContext;
use crate::exit::{Exit, Result};
use crate::out;

/// The arguments of `toolgate config`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate config check\n  toolgate config files\n  \
    toolgate config schema > toolgate.schema.json\n  $EDITOR \"$(toolgate config path)\"")]
pub struct ConfigArgs {
    #[command(subcommand)]
    what: ConfigCommand,
}

/// A subcommand of `toolgate config`.
#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Check the config files; exit with 2 if an entry is ignored because of an error
    #[command(after_help = "Example: toolgate config check --json")]
    Check,
    /// List the files that are read, with their dialects; files take precedence over those below
    #[command(after_help = "Example: toolgate config files --json")]
    Files {
        /// Also list files that are looked for but do not exist
        #[arg(long)]
        all: bool,
    },
    /// Print the JSON Schema of toolgate.toml
    #[command(after_help = "Example: toolgate config schema > toolgate.schema.json")]
    Schema,
    /// Print the path of your own config file
    #[command(after_help = "Example: toolgate config path")]
    Path,
}

pub fn run(context: &CliContext, options: &ConfigArgs) -> Result<Exit> {
    match options.what {
        ConfigCommand::Check => check::run(context),
        ConfigCommand::Files { all } => files::run(context, all),
        ConfigCommand::Schema => schema(),
        ConfigCommand::Path => path(context),
    }
}

fn schema() -> Result<Exit> {
    out::text(toolgate_host::config::SCHEMA)?;
    Ok(Exit::Done)
}

fn path(context: &CliContext) -> Result<Exit> {
    let home = &context.home;
    let config = context.config.clone().unwrap_or_else(|| home.config_file());
    let value = json!({ "config": config, "state": home.state_dir(), "cache": home.cache_dir() });
    out::print(context, &value, || format!("{}\n", config.display()))
}
