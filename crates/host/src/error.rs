//! Errors of the host.

use std::error::Error;

use toolgate_config::ConfigError;
use toolgate_gate::GateError;
use toolgate_journal::JournalError;
use toolgate_model::{CodedError, ErrorCode, ServerNameError};
use toolgate_store::StoreError;
use toolgate_transport::TransportError;
use toolgate_wire::WireError;

/// An error of the host.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The configuration cannot be read.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The task that reads the configuration was aborted.
    #[error("reading the configuration was aborted: {0}")]
    ReadAborted(#[from] tokio::task::JoinError),
    /// The state cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The server name is invalid.
    #[error(transparent)]
    Name(#[from] ServerNameError),
    /// No server is declared under this name.
    #[error("no server named `{0}`")]
    NoServer(String),
    /// An operation on pins failed.
    #[error("{0}")]
    Pins(String),
    /// The gate refused the request, the server could not be used, or no profile has this name.
    #[error(transparent)]
    Refused(#[from] GateError),
    /// The server answered with a JSON-RPC error.
    #[error("server answered with an error: {message} ({code})")]
    ServerError {
        /// The JSON-RPC error code.
        code: i64,
        /// The error message.
        message: String,
    },
    /// A message is not valid JSON-RPC.
    #[error("invalid message: {0}")]
    Wire(#[from] WireError),
    /// A large answer cannot be read from its file.
    #[error("cannot read a large answer: {0}")]
    LargeAnswer(TransportError),
    /// The answer is not valid JSON.
    #[error("the answer is not valid JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl CodedError for HostError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Config(error) => error.code(),
            Self::ReadAborted(_) => ErrorCode::CliInternal,
            Self::Store(error) => error.code(),
            Self::Journal(error) => error.code(),
            Self::Name(error) => error.code(),
            Self::NoServer(_) => ErrorCode::ServerUnknown,
            Self::Pins(_) => ErrorCode::PinUnknown,
            Self::Refused(error) => error.code,
            Self::ServerError { .. } => ErrorCode::CallServerError,
            Self::Wire(_) => ErrorCode::CallParams,
            Self::LargeAnswer(error) => error.code(),
            Self::Json(_) => ErrorCode::CallBadAnswer,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Config(error) => error.hint(),
            Self::Store(error) => error.hint(),
            Self::Journal(error) => error.hint(),
            Self::Name(error) => error.hint(),
            Self::NoServer(_) => Some("run `toolgate list` to list the servers".to_owned()),
            Self::Refused(error) => error.hint.clone(),
            Self::LargeAnswer(error) => error.hint(),
            _ => None,
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
