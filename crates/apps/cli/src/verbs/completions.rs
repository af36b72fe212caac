//! `completions`: prints a shell completion script.

use clap::Args;
use clap_complete::Shell;
use clap_complete::env::Shells;

use crate::complete::REQUEST_VARIABLE;
use crate::exit::{ErrorCode, Exit, OrFail as _, Result};
use crate::out;

/// The arguments of `toolgate completions`.
#[derive(Debug, Args)]
#[command(
    after_help = "The script asks toolgate for the names of servers, tools and profiles.\n\n\
    Examples:\n  \
    toolgate completions bash > ~/.local/share/bash-completion/completions/toolgate\n  \
    toolgate completions zsh > \"${fpath[1]}/_toolgate\"\n  \
    toolgate completions fish > ~/.config/fish/completions/toolgate.fish"
)]
pub struct CompletionsArgs {
    /// Shell to complete for
    shell: Shell,
}

pub fn run(options: &CompletionsArgs) -> Result<Exit> {
    let mut script = Vec::new();
    let (name, shells) = ("toolgate", Shells::builtins());
    if let Some(shell) = shells.completer(&options.shell.to_string()) {
        shell
            .write_registration(REQUEST_VARIABLE, name, name, name, &mut script)
            .or_fail(ErrorCode::CliInternal, "cannot write the script")?;
    }
    out::data(&script)?;
    Ok(Exit::Done)
}
