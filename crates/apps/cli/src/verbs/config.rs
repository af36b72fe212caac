//! `config`: checks the config files, and shows where they are.

mod files;

use clap::Subcommand;
use serde_json::json;

use super::diagnostics;
use crate::cli_context::CliContext;
use crate::exit::{Exit, Result};
use crate::out;

/// A subcommand of `toolgate config`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:\n  toolgate config check\n  toolgate config files\n  \
    toolgate config schema > toolgate.schema.json\n  $EDITOR \"$(toolgate config path)\"")]
pub enum ConfigCommand {
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

pub fn run(context: &CliContext, command: &ConfigCommand) -> Result<Exit> {
    match command {
        ConfigCommand::Check => check(context),
        ConfigCommand::Files { all } => files::run(context, *all),
        ConfigCommand::Schema => out::text(toolgate_host::config::SCHEMA).map(|()| Exit::Done),
        ConfigCommand::Path => path(context),
    }
}

/// Prints every diagnostic about the config files, with its position and a hint.
fn check(context: &CliContext) -> Result<Exit> {
    let plan = toolgate_host::read_files(&context.setup_options()?)?;
    let servers = plan.entries.len();
    let checked = out::count(servers, "server");
    diagnostics::print(context, &plan.check(), json!({ "servers": servers }), &checked)
}

fn path(context: &CliContext) -> Result<Exit> {
    let home = &context.home;
    let config = context.config.clone().unwrap_or_else(|| home.config_file());
    let value = json!({ "config": config, "state": home.state_dir(), "cache": home.cache_dir() });
    out::print(context, &value, || format!("{}\n", config.display()))
}
