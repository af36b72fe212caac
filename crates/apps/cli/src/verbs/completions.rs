//! `completions`: prints a shell completion script.

use clap::{Args, CommandFactory as _};
use clap_complete::{Shell, generate};

use crate::cli::Cli;
use crate::exit::{CliError, Exit};
use crate::out;

/// The arguments of `toolgate completions`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    toolgate completions bash > ~/.local/share/bash-completion/completions/toolgate\n  \
    toolgate completions zsh > \"${fpath[1]}/_toolgate\"\n  \
    toolgate completions fish > ~/.config/fish/completions/toolgate.fish")]
pub struct CompletionsArgs {
    /// Shell to complete for
    shell: Shell,
}

pub fn run(options: &CompletionsArgs) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    generate(options.shell, &mut Cli::command(), "toolgate", &mut script);
    out::data(&script)?;
    Ok(Exit::Done)
}
