//! The error type that every verb returns, and its report.

use std::fmt::Display;

use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_model::CodedError;

pub use toolgate_host::error_chain;
pub use toolgate_model::{ErrorCode, Exit};

use crate::out;

/// The result of a verb and its steps.
pub type Result<T, E = CliError> = std::result::Result<T, E>;

/// The error that ends a verb: a code, which determines the exit code, a message and a hint.
///
/// The message stands alone: it is printed as `error[CODE]: {message}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct CliError {
    /// The stable code.
    pub code: ErrorCode,
    /// What happened, in lower case, without a final full stop.
    pub message: String,
    /// What the user can do next.
    pub hint: Option<String>,
}

impl CliError {
    /// Returns an error without a hint.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None }
    }

    /// Returns the error of a library, with its causes.
    pub fn of(error: &impl CodedError) -> Self {
        Self { code: error.code(), message: error_chain(error), hint: error.hint() }
    }

    /// Returns the error of a verb that a signal interrupted.
    pub fn interrupted() -> Self {
        Self::new(ErrorCode::CliInterrupted, "interrupted")
    }

    /// Returns the error that ends a run whose standard output was closed by its reader. It exits
    /// with 0 and is not reported.
    pub fn broken_pipe() -> Self {
        Self::new(ErrorCode::CliBrokenPipe, "standard output is closed")
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Returns the exit code.
    pub fn exit(&self) -> Exit {
        self.code.exit()
    }

    /// Prints the error to stderr, as text or as one JSON object.
    pub fn report(&self, json: bool) {
        let Self { code, message, hint } = self;
        if self.exit() == Exit::Done {
            return;
        }
        if json {
            let exit = self.exit() as u8;
            let error = json!({ "code": code, "message": message, "hint": hint, "exit": exit });
            return out::alert(&json!({ "error": error }).to_string());
        }
        let label = out::red(&format!("error[{code}]:"));
        out::alert(&format!("{label} {}", out::escape_invisible_lines(message)));
        if let Some(hint) = hint {
            out::alert(&format!("{} {}", out::cyan("hint:"), out::escape_invisible_lines(hint)));
        }
    }
}

impl<E: CodedError> From<E> for CliError {
    fn from(error: E) -> Self {
        Self::of(&error)
    }
}

/// Returns a [`CliError`] with this code and a message that is formatted as by [`format!`].
macro_rules! cli_error {
    ($code:ident, $($message:tt)+) => {
        $crate::exit::CliError::new(
            $crate::exit::ErrorCode::$code,
            ::std::fmt::format(::std::format_args!($($message)+)),
        )
    };
}

pub(crate) use cli_error;

/// Turns an error without a code, such as one of the operating system, into a [`CliError`].
pub trait OrFail<T> {
    /// Returns the value, or the error with this code and the message `{what}: {error}`.
    fn or_fail(self, code: ErrorCode, what: impl Display) -> Result<T>;
}

impl<T, E: Display> OrFail<T> for Result<T, E> {
    fn or_fail(self, code: ErrorCode, what: impl Display) -> Result<T> {
        self.map_err(|error| CliError::new(code, format!("{what}: {error}")))
    }
}
