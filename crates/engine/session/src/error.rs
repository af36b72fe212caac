//! Errors of a session.

use std::time::Duration;

use toolgate_model::{CodedError, ErrorCode};
use toolgate_transport::TransportError;
use toolgate_wire::{Era, WireError};

/// An error of one connection, or of one call on it.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The connection ended. The call may or may not have been executed.
    #[error("connection ended: {0}")]
    Ended(String),
    /// The server no longer recognizes the session. It did not execute the request.
    #[error("server no longer recognizes the session")]
    Expired,
    /// The server requires authentication.
    #[error("server requires authentication (HTTP {status})")]
    NeedsAuth {
        /// 401 or 403.
        status: u16,
        /// The `WWW-Authenticate` header, if present.
        challenge: Option<String>,
    },
    /// The server answered with an unexpected HTTP status.
    #[error("unexpected answer from the server (HTTP {status}): {text}")]
    Status {
        /// The HTTP status.
        status: u16,
        /// The beginning of the body.
        text: String,
    },
    /// The server was silent for too long, or the call took too long in total.
    #[error("no answer within {} s", .0.as_secs_f32())]
    TimedOut(Duration),
    /// A message of the server is not valid JSON-RPC.
    #[error("invalid message from the server: {0}")]
    Wire(#[from] WireError),
    /// The server violated the protocol.
    #[error("protocol violation by the server: {0}")]
    Protocol(String),
    /// The server answered with a JSON-RPC error.
    #[error("server answered with an error: {message} ({code})")]
    Refused {
        /// The JSON-RPC error code.
        code: i64,
        /// The error message.
        message: String,
    },
    /// The connection ended because of the probe, or because of an `initialize` of the wrong era. A
    /// new connection should be opened in this era, without a probe.
    #[error("{source}")]
    Reopen {
        /// The era the server speaks, as far as is known.
        era: Era,
        /// How this connection failed.
        source: Box<SessionError>,
    },
    /// The transport failed.
    #[error(transparent)]
    Transport(#[from] TransportError),
}

impl SessionError {
    /// Returns the message without the server's own text, for logs. That text may contain secrets
    /// that the server received, and a session does not know them.
    pub(crate) fn outline(&self) -> String {
        match self {
            Self::Status { status, .. } => {
                format!("unexpected answer from the server (HTTP {status})")
            }
            Self::Refused { code, .. } => format!("server answered with an error ({code})"),
            Self::Protocol(_) => "protocol violation by the server".to_owned(),
            Self::Ended(_) => "connection ended".to_owned(),
            Self::Reopen { source, .. } => source.outline(),
            Self::Transport(TransportError::Refused { status, .. }) => {
                format!("server did not open its event stream (HTTP {status})")
            }
            Self::Transport(TransportError::NotEventStream(_) | TransportError::Address { .. }) => {
                "cannot open the event stream".to_owned()
            }
            other => other.to_string(),
        }
    }

    /// Returns true if the connection cannot be used any more.
    pub fn is_fatal(&self) -> bool {
        match self {
            Self::Ended(_) | Self::Expired | Self::Reopen { .. } => true,
            Self::Transport(error) => {
                !matches!(error, TransportError::Oversize { .. } | TransportError::NoRoom { .. })
            }
            _ => false,
        }
    }
}

impl CodedError for SessionError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Ended(_) | Self::Expired => ErrorCode::SessionEnded,
            Self::NeedsAuth { .. } => ErrorCode::ConnectAuth,
            Self::Status { .. } => ErrorCode::ConnectStatus,
            Self::TimedOut(_) => ErrorCode::SessionTimeout,
            Self::Wire(_) | Self::Protocol(_) => ErrorCode::SessionProtocol,
            Self::Refused { .. } => ErrorCode::CallServerError,
            Self::Reopen { source, .. } => source.code(),
            Self::Transport(error) => error.code(),
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NeedsAuth { .. } => {
                "set its credential in `headers`, for example Authorization = \"Bearer \
                 ${env:TOKEN}\""
            }
            Self::Status { status: 404 | 405, .. } => {
                "check the path of the MCP endpoint; it often ends in /mcp"
            }
            Self::Reopen { source, .. } => return source.hint(),
            Self::Transport(error) => return error.hint(),
            _ => return None,
        };
        Some(hint.to_owned())
    }
}
