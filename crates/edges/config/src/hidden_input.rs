//! Reads a line from the terminal without echoing it.
//!
//! If the terminal cannot disable echo, nothing is read.

use std::io::{self, Write as _};

use crate::platform::terminal::EchoOffGuard;

/// Prompts for a line without echoing it. The caller must make sure that stdin is a terminal.
pub fn read_hidden(prompt: &str) -> io::Result<String> {
    let _silent = EchoOffGuard::begin()?;
    let mut stderr = io::stderr();
    stderr.write_all(prompt.as_bytes())?;
    stderr.flush()?;
    let mut line = String::new();
    let read = io::stdin().read_line(&mut line);
    // The typed line break was not echoed either.
    let _ = writeln!(stderr);
    read.map(|_| line)
}
