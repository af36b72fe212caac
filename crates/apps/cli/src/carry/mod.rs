//! Carrying servers between files: what in them is secret, what a change would look like, where
//! ours go, and what is told about it.
//!
//! Shared by `import`, `export`, `install` and `uninstall`. Reading and writing the dialects is the
//! library's; nothing here knows one.

pub mod change;
pub mod installed;
pub mod literals;
mod marked;
pub mod report;

use std::io::{self, BufRead as _, Write as _};

use toolgate_host::config::clients::ClientFile;
use toolgate_host::config::{Dialect, Sources};

use crate::context::Context;
use crate::exit::Failure;
use crate::out;

/// Puts a question to the person at the terminal, and waits for a line.
pub fn asked(question: &str) -> Result<String, Failure> {
    let mut stderr = io::stderr();
    let _ = write!(stderr, "{question} ").and_then(|()| stderr.flush());
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    read.map_err(|error| Failure::failed(format!("read your answer: {error}")))?;
    Ok(line.trim().to_owned())
}

/// Whether the person agrees; `without` says what to do where nobody can be asked.
pub fn agreed(question: &str, without: impl FnOnce() -> Failure) -> Result<bool, Failure> {
    if !out::can_ask() {
        return Err(without());
    }
    let answer = asked(&format!("{question} [y/N]"))?;
    Ok(matches!(answer.as_str(), "y" | "Y" | "yes"))
}

/// Where clients' files are looked for: from here, whatever one file this run may be told to read.
pub fn sources(context: &Context) -> Result<Sources, Failure> {
    let here = std::env::current_dir().map_err(|error| {
        Failure::failed(format!("find the current folder: {error}"))
            .hint("change into a folder that exists")
    })?;
    Ok(Sources { config: None, project_dir: Some(here), ..context.options()?.sources() })
}

/// How a client's file is written: one of them has two ways.
pub fn written_in(file: &ClientFile, text: &str) -> Dialect {
    match file.dialect {
        Dialect::OpenCode => Dialect::of(&file.at.path, text),
        other => other,
    }
}
