//! Reads a line from the terminal without showing what is typed.
//!
//! Where the terminal cannot be told to be silent, nothing is read.

use std::io::{self, Write as _};

use crate::platform::terminal::Silent;

/// Asks for a line that is not to be seen. Must be called with a person at the terminal.
pub fn read_hidden(prompt: &str) -> io::Result<String> {
    let _silent = Silent::begin()?;
    let mut stderr = io::stderr();
    stderr.write_all(prompt.as_bytes())?;
    stderr.flush()?;
    let mut line = String::new();
    let read = io::stdin().read_line(&mut line);
    // The line end that was typed was not shown either.
    let _ = writeln!(stderr);
    read.map(|_| line)
}
