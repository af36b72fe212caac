//! `man`: manual pages, made of the same definitions as `--help`.

use std::path::{Path, PathBuf};

use clap::{Args, Command, CommandFactory as _};
use clap_mangen::Man;

use crate::cli::Cli;
use crate::exit::{Exit, Failure};
use crate::out;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate man | man -l -\n  \
    toolgate man ~/.local/share/man/man1")]
pub struct ManPages {
    /// Write a page per verb into this folder; without it, the first page goes to stdout
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

pub fn run(options: &ManPages) -> Result<Exit, Failure> {
    let mut command = Cli::command();
    // Every verb is told of the options that hold everywhere.
    command.build();
    match &options.folder {
        None => out::data(&page(&command)?)?,
        Some(folder) => {
            let failed = |error| Failure::failed(format!("create {}: {error}", folder.display()));
            std::fs::create_dir_all(folder).map_err(failed)?;
            write(&command, "toolgate", folder)?;
        }
    }
    Ok(Exit::Done)
}

/// Writes the page of a command and those of its own.
fn write(command: &Command, name: &str, folder: &Path) -> Result<(), Failure> {
    let path = folder.join(format!("{name}.1"));
    let failed = |error| Failure::failed(format!("write {}: {error}", path.display()));
    std::fs::write(&path, page(command)?).map_err(failed)?;
    out::line(&path.display().to_string())?;
    let shown = command.get_subcommands().filter(|it| !it.is_hide_set() && it.get_name() != "help");
    for inner in shown {
        write(inner, &format!("{name}-{}", inner.get_name()), folder)?;
    }
    Ok(())
}

fn page(command: &Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    let rendered = Man::new(command.clone()).render(&mut page);
    rendered.map_err(|error| Failure::failed(format!("write a page: {error}")))?;
    Ok(page)
}
