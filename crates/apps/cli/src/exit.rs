//! Exit codes, and the error type that every verb returns.

use std::error::Error;

use serde::{Deserialize, Serialize};
use toolgate_host::HostError;
pub use toolgate_model::Exit;

use crate::out;

/// The error that ends a verb: an exit code, a message and an optional hint.
///
/// The message stands alone: it is printed as `error: {what}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{what}")]
pub struct CliError {
    /// The exit code.
    pub exit: Exit,
    /// The message: what happened, in lower case, without a final full stop.
    pub what: String,
    /// What the user can do next.
    pub hint: Option<String>,
}

impl CliError {
    /// Returns an error with exit code 1: the verb failed.
    pub fn failed(what: impl Into<String>) -> Self {
        Self { exit: Exit::Failed, what: what.into(), hint: None }
    }

    /// Returns an error with exit code 2: bad usage or bad configuration.
    pub fn usage(what: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, what: what.into(), hint: None }
    }

    /// Returns an error with exit code 3: refused by policy.
    pub fn refused(what: impl Into<String>) -> Self {
        Self { exit: Exit::Refused, what: what.into(), hint: None }
    }

    /// Returns the error with exit code 130 of a verb that a signal interrupted.
    pub fn interrupted() -> Self {
        Self { exit: Exit::Interrupted, what: "interrupted".into(), hint: None }
    }

    /// Returns the error that ends a run whose standard output was closed by its reader. It exits
    /// with 0 and is not reported.
    pub fn broken_pipe() -> Self {
        Self { exit: Exit::Done, what: "standard output is closed".into(), hint: None }
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Prints the message and the hint to stderr.
    pub fn report(&self) {
        if self.exit == Exit::Done {
            return;
        }
        out::alert(&format!(
            "{} {}",
            out::red("error:"),
            out::escape_invisible_lines(&self.to_string())
        ));
        if let Some(hint) = &self.hint {
            out::alert(&format!("{} {}", out::cyan("hint:"), out::escape_invisible_lines(hint)));
        }
    }
}

impl From<HostError> for CliError {
    fn from(error: HostError) -> Self {
        let what = error_chain(&error);
        match error {
            HostError::Config(_) => {
                Self::usage(what).hint("check the paths given with --home and --config")
            }
            HostError::NoProfile(_) => Self::usage(what)
                .hint("choose a declared profile with --as, or declare it as [profiles.NAME]"),
            HostError::NoServer(_) => {
                Self::failed(what).hint("run `toolgate list` to list the servers")
            }
            _ => Self::failed(what),
        }
    }
}

/// Returns the message of an error followed by those of its sources, joined with `: `. A source is
/// skipped if the text already ends with its message.
pub fn error_chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let reason = error.to_string();
        if !text.ends_with(&reason) {
            text.push_str(": ");
            text.push_str(&reason);
        }
        cause = error.source();
    }
    text
}
