//! How a run ends: the one table of exit codes, and the one shape of an error.

use std::error::Error;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};
use toolgate_host::HostError;

use crate::out;

/// What the exit code of every verb means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// The thing asked for failed.
    Failed = 1,
    /// Bad usage or bad config.
    Usage = 2,
    /// Refused by policy.
    Refused = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a verb could not do what it was asked to: what happened and where, and what to do next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("failed to {what}")]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// What happened, in words that read after "failed to".
    pub what: String,
    /// What to do next.
    pub hint: Option<String>,
}

impl Failure {
    /// The thing asked for failed.
    pub fn failed(what: impl Into<String>) -> Self {
        Self { exit: Exit::Failed, what: what.into(), hint: None }
    }

    /// It was asked for in a way that cannot be understood.
    pub fn usage(what: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, what: what.into(), hint: None }
    }

    /// It may not be done.
    pub fn refused(what: impl Into<String>) -> Self {
        Self { exit: Exit::Refused, what: what.into(), hint: None }
    }

    /// Whoever read our output has left; there is nothing more to do, and nothing to complain of.
    pub fn nobody_reads() -> Self {
        Self { exit: Exit::Done, what: "write to whoever read this".into(), hint: None }
    }

    /// Says what to do next.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Tells it on stderr.
    pub fn report(&self) {
        if self.exit == Exit::Done {
            return;
        }
        out::note(&format!("{} {}", out::red("error:"), out::visible_lines(&self.to_string())));
        if let Some(hint) = &self.hint {
            out::note(&format!("{} {}", out::cyan("hint:"), out::visible_lines(hint)));
        }
    }
}

impl From<HostError> for Failure {
    fn from(error: HostError) -> Self {
        let what = chain(&error);
        match error {
            HostError::Config(_) => Self::usage(what).hint("check what --home and --config name"),
            HostError::NoProfile(_) => Self::usage(what)
                .hint("name one of them with --as, or declare it as [profiles.NAME]"),
            HostError::NoServer(_) => Self::failed(what).hint("`toolgate servers` lists them"),
            _ => Self::failed(what),
        }
    }
}

/// An error and everything that caused it, in one line.
pub fn chain(error: &dyn Error) -> String {
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
