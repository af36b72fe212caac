//! Why a session could not do what it was asked to.

use std::time::Duration;

use toolgate_transport::TransportError;
use toolgate_wire::{Era, WireError};

/// What can go wrong with one connection or one call on it.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The connection is over; the call was not, or may not have been, answered.
    #[error("reach the server: {0}")]
    Ended(String),
    /// The server no longer knows our session; it did not run the request.
    #[error("use a session the server has forgotten")]
    Expired,
    /// The server wants to know who we are.
    #[error("be let in by the server (HTTP {status})")]
    NeedsAuth {
        /// 401 or 403.
        status: u16,
        /// `WWW-Authenticate`, if given.
        challenge: Option<String>,
    },
    /// An answer that is no answer.
    #[error("use the server's answer (HTTP {status}): {text}")]
    Status {
        /// The HTTP status.
        status: u16,
        /// The beginning of its body.
        text: String,
    },
    /// No sign of life for too long, or simply too long.
    #[error("get an answer within {} s", .0.as_secs_f32())]
    TimedOut(Duration),
    /// The server's message breaks the rules of the wire.
    #[error("read the server's message: {0}")]
    Wire(#[from] WireError),
    /// The server answered, but not what the protocol demands.
    #[error("follow the server: {0}")]
    Protocol(String),
    /// The server answered with an error of its own.
    #[error("get what was asked for: {message} ({code})")]
    Refused {
        /// Its code.
        code: i64,
        /// Its message.
        message: String,
    },
    /// The connection did not survive the question for its era, or the wrong greeting. A new one
    /// should be opened in this era, without asking.
    #[error("{source}")]
    Reopen {
        /// What the server speaks, as far as can be said.
        era: Era,
        /// What became of this connection.
        source: Box<SessionError>,
    },
    /// The carrier failed.
    #[error(transparent)]
    Transport(#[from] TransportError),
}

impl SessionError {
    /// What happened without the server's own words, for logs: they may repeat what it was given,
    /// and a session does not know which of that is secret.
    pub(crate) fn outline(&self) -> String {
        match self {
            Self::Status { status, .. } => format!("use the server's answer (HTTP {status})"),
            Self::Refused { code, .. } => format!("get what was asked for ({code})"),
            Self::Protocol(_) => "follow the server".to_owned(),
            Self::Ended(_) => "reach the server".to_owned(),
            Self::Reopen { source, .. } => source.outline(),
            Self::Transport(TransportError::Refused { status, .. }) => {
                format!("open its event stream (HTTP {status})")
            }
            Self::Transport(TransportError::NotEvents(_) | TransportError::Address { .. }) => {
                "open its event stream".to_owned()
            }
            other => other.to_string(),
        }
    }

    /// Whether the connection is of no more use.
    pub fn is_fatal(&self) -> bool {
        match self {
            Self::Ended(_) | Self::Expired | Self::Reopen { .. } => true,
            Self::Transport(error) => {
                !matches!(error, TransportError::Oversize { .. } | TransportError::Unkept { .. })
            }
            _ => false,
        }
    }
}
