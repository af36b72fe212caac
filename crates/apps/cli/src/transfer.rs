//! Transfer of servers between config files, shared by `import`, `export`, `install` and
//! `uninstall`: credentials, diffs, the registry of installed entries, and losses. The library
//! reads and writes the dialects.

pub mod file_change;
pub mod install_registry;
pub mod literals;
pub mod losses;
mod marked_text;

use std::io::{self, BufRead as _, Write as _};

use toolgate_host::config::ConfigDocument;
use toolgate_host::config::{ConfigSources, Dialect};

use crate::cli_context::CliContext;
use crate::exit::CliError;
use crate::out;

/// Prints a question to the terminal and reads a line.
pub fn prompt_line(question: &str) -> Result<String, CliError> {
    let mut stderr = io::stderr();
    let _ = write!(stderr, "{question} ").and_then(|()| stderr.flush());
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    read.map_err(|error| CliError::failed(format!("cannot read your answer: {error}")))?;
    Ok(line.trim().to_owned())
}

/// Asks the user to confirm. Returns the error from `without` if there is no terminal to prompt on.
pub fn confirm(question: &str, without: impl FnOnce() -> CliError) -> Result<bool, CliError> {
    if !out::can_prompt() {
        return Err(without());
    }
    let answer = prompt_line(&format!("{question} [y/N]"))?;
    Ok(matches!(answer.as_str(), "y" | "Y" | "yes"))
}

/// Returns where to look for clients' files: from the current folder, regardless of `--config`.
pub fn client_sources(context: &CliContext) -> Result<ConfigSources, CliError> {
    let here = std::env::current_dir().map_err(|error| {
        CliError::failed(format!("cannot find the current folder: {error}"))
            .hint("change to an existing folder")
    })?;
    Ok(ConfigSources {
        config: None,
        project_dir: Some(here),
        ..context.setup_options()?.sources()
    })
}

/// Returns the dialect of a client's file. OpenCode has two dialects, which the text tells apart.
pub fn file_dialect(file: &ConfigDocument, text: &str) -> Dialect {
    match file.dialect {
        Dialect::OpenCode => Dialect::detect(&file.at.path, text),
        other => other,
    }
}
