//! `man`: generates manual pages from the same definitions as `--help`.

use std::path::{Path, PathBuf};

use clap::{Args, Command, CommandFactory as _};
use clap_mangen::Man;

use crate::cli::Cli;
use crate::exit::{ErrorCode, Exit, OrFail as _, Result};
use crate::out;

/// The arguments of `toolgate man`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate man | man -l -\n  \
    toolgate man ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Write one page per command to this folder [default: print the main page]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

pub fn run(options: &ManArgs) -> Result<Exit> {
    let mut command = Cli::command();
    // Adds the global options to every verb.
    command.build();
    match &options.folder {
        None => out::data(&page(&command)?)?,
        Some(folder) => {
            std::fs::create_dir_all(folder)
                .or_fail(ErrorCode::CliWrite, format_args!("cannot create {}", folder.display()))?;
            write(&command, "toolgate", folder)?;
        }
    }
    Ok(Exit::Done)
}

/// Writes the pages of a command and of its subcommands.
fn write(command: &Command, name: &str, folder: &Path) -> Result<()> {
    let path = folder.join(format!("{name}.1"));
    std::fs::write(&path, page(command)?)
        .or_fail(ErrorCode::CliWrite, format_args!("cannot write {}", path.display()))?;
    out::line(&path.display().to_string())?;
    let shown = command.get_subcommands().filter(|it| !it.is_hide_set() && it.get_name() != "help");
    for inner in shown {
        write(inner, &format!("{name}-{}", inner.get_name()), folder)?;
    }
    Ok(())
}

fn page(command: &Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    let rendered = Man::new(command.clone()).render(&mut page);
    rendered.or_fail(ErrorCode::CliInternal, "cannot render a manual page")?;
    Ok(page)
}
