//! The passphrase as a person gives it.

use std::io::Read as _;
use std::sync::{Mutex, PoisonError};

use toolgate_host::config::read_hidden;

use crate::exit::Failure;
use crate::out;

/// A longer one is a mistake.
const LONGEST: u64 = 4096;

/// Where this run takes the passphrase from: standard input, or the terminal. It is asked for once.
#[derive(Debug, Default)]
pub struct Typed {
    from_stdin: bool,
    /// The present passphrase, then what follows it on standard input.
    known: Mutex<Option<(Option<String>, Option<String>)>>,
}

impl Typed {
    /// From standard input, or else from the terminal.
    pub fn new(from_stdin: bool) -> Self {
        Self { from_stdin, known: Mutex::default() }
    }

    /// The passphrase; none where nobody can be asked.
    pub fn passphrase(&self) -> Result<Option<String>, Failure> {
        Ok(self.read()?.0)
    }

    /// What follows it on standard input.
    pub fn second_line(&self) -> Result<Option<String>, Failure> {
        if self.from_stdin { Ok(self.read()?.1) } else { Ok(None) }
    }

    fn read(&self) -> Result<(Option<String>, Option<String>), Failure> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*known {
            return Ok(known.clone());
        }
        let read = if self.from_stdin {
            let mut text = String::new();
            std::io::stdin().take(LONGEST).read_to_string(&mut text).map_err(unread)?;
            let mut lines = text.lines().map(str::to_owned);
            (lines.next().filter(|line| !line.is_empty()), lines.next())
        } else {
            (typed_passphrase("Operator passphrase: ")?, None)
        };
        Ok(known.insert(read).clone())
    }
}

/// Reads a passphrase from the terminal, unseen; none where nobody can be asked.
pub fn typed_passphrase(prompt: &str) -> Result<Option<String>, Failure> {
    if !out::can_ask() {
        return Ok(None);
    }
    let text = read_hidden(prompt).map_err(unread)?;
    let text = text.trim_end_matches(['\n', '\r']);
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

fn unread(error: std::io::Error) -> Failure {
    Failure::failed(format!("read the passphrase: {error}"))
}
