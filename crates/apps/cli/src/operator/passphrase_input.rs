//! Reads the operator's passphrase from stdin or the terminal.

use std::io::Read as _;
use std::sync::{Mutex, PoisonError};

use toolgate_host::config::read_hidden;

use crate::exit::{CliError, Result, cli_error};
use crate::out;

/// The most bytes read from standard input.
const MAX_PASSPHRASE_BYTES: u64 = 4096;

/// The source of the passphrase: standard input or the terminal. It is read at most once per run.
#[derive(Debug, Default)]
pub struct PassphraseInput {
    from_stdin: bool,
    /// The current passphrase, then the second line of standard input.
    cached: Mutex<Option<(Option<String>, Option<String>)>>,
}

impl PassphraseInput {
    /// Returns a source that reads standard input if `from_stdin`, otherwise the terminal.
    pub fn new(from_stdin: bool) -> Self {
        Self { from_stdin, cached: Mutex::default() }
    }

    /// Returns the passphrase, or `None` if there is no terminal to prompt on.
    pub fn passphrase(&self) -> Result<Option<String>> {
        Ok(self.read()?.0)
    }

    /// Returns the second line of standard input.
    pub fn second_line(&self) -> Result<Option<String>> {
        if self.from_stdin { Ok(self.read()?.1) } else { Ok(None) }
    }

    fn read(&self) -> Result<(Option<String>, Option<String>)> {
        let mut known = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*known {
            return Ok(known.clone());
        }
        let read = if self.from_stdin {
            let mut text = String::new();
            std::io::stdin()
                .take(MAX_PASSPHRASE_BYTES)
                .read_to_string(&mut text)
                .map_err(read_error)?;
            let mut lines = text.lines().map(str::to_owned);
            (lines.next().filter(|line| !line.is_empty()), lines.next())
        } else {
            (prompt_passphrase("Operator passphrase: ")?, None)
        };
        Ok(known.insert(read).clone())
    }
}

/// Reads a passphrase from the terminal without echo. Returns `None` if there is no terminal.
pub fn prompt_passphrase(prompt: &str) -> Result<Option<String>> {
    if !out::can_prompt() {
        return Ok(None);
    }
    let text = read_hidden(prompt).map_err(read_error)?;
    let text = text.trim_end_matches(['\n', '\r']);
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

fn read_error(error: std::io::Error) -> CliError {
    cli_error!(CliRead, "cannot read the passphrase: {error}")
}
