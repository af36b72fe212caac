//! `completions`: a script that lets a shell complete our command line.

use clap::{Args, CommandFactory as _};
use clap_complete::{Shell, generate};

use crate::cli::Cli;
use crate::exit::{Exit, Failure};
use crate::out;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    toolgate completions bash > ~/.local/share/bash-completion/completions/toolgate\n  \
    toolgate completions zsh > \"${fpath[1]}/_toolgate\"\n  \
    toolgate completions fish > ~/.config/fish/completions/toolgate.fish")]
pub struct Completions {
    /// For which shell
    shell: Shell,
}

pub fn run(options: &Completions) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    generate(options.shell, &mut Cli::command(), "toolgate", &mut script);
    out::data(&script)?;
    Ok(Exit::Done)
}
