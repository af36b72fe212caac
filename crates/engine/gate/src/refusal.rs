//! Why a request was not let through, or failed before the server answered.
//!
//! The one table from errors to JSON-RPC codes.

use bytes::Bytes;
use toolgate_fleet::FleetError;
use toolgate_session::SessionError;
use toolgate_wire::{Revision, code, string};

/// A JSON-RPC error of the gate's own.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// Its code.
    pub code: i32,
    /// What happened, and what to do.
    pub message: String,
    /// More, raw.
    pub data: Option<Bytes>,
}

impl Refusal {
    /// A request whose parameters name nothing that is there.
    pub(crate) fn unknown(what: &str, name: &str) -> Self {
        let message = format!("Unknown {what}: {name}");
        Self { code: code::INVALID_PARAMS, message, data: None }
    }

    /// The same refusal by the code a caller of this revision knows.
    pub(crate) fn fitted(self, to: Revision) -> Self {
        Self { code: toolgate_bridge::own_code(self.code, to), ..self }
    }

    /// A resource nobody has.
    pub(crate) fn no_resource(uri: &str) -> Self {
        let data = format!("{{\"uri\":{}}}", string::encode(uri));
        Self {
            code: code::RESOURCE_NOT_FOUND,
            message: format!("Resource not found: {uri}"),
            data: Some(data.into()),
        }
    }

    /// A request that lacks what it must say.
    pub(crate) fn incomplete(what: &str) -> Self {
        let message = format!("the request names no {what}");
        Self { code: code::INVALID_PARAMS, message, data: None }
    }
}

impl From<FleetError> for Refusal {
    fn from(error: FleetError) -> Self {
        let code = match &error {
            FleetError::Unknown(_) => code::INVALID_PARAMS,
            FleetError::Busy(_) => code::REQUEST_TIMEOUT,
            FleetError::Unusable { .. } | FleetError::Down { .. } | FleetError::Gone(_) => {
                code::CONNECTION_CLOSED
            }
            FleetError::Session { source, .. } => match source {
                SessionError::TimedOut(_) => code::REQUEST_TIMEOUT,
                // The server's own word.
                SessionError::Refused { code, .. } => {
                    i32::try_from(*code).unwrap_or(code::INTERNAL_ERROR)
                }
                SessionError::Ended(_) | SessionError::Expired | SessionError::Transport(_) => {
                    code::CONNECTION_CLOSED
                }
                _ => code::INTERNAL_ERROR,
            },
        };
        let hint = match &error {
            FleetError::Down { failure, .. } => failure.hint.as_deref(),
            _ => None,
        };
        let hint = hint.map(|hint| format!("; hint: {hint}")).unwrap_or_default();
        Self { code, message: format!("failed to {error}{hint}"), data: None }
    }
}
