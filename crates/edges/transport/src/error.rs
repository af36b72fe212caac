//! The errors of every transport.

use std::io;
use std::path::PathBuf;

use toolgate_model::{CodedError, ErrorCode};

/// An error that prevents bytes from being sent or received.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// The other side closed the connection.
    #[error("the other side closed the connection")]
    Closed,
    /// A message exceeds the size limit. Its first bytes may identify the request it belongs to.
    #[error("message is larger than {limit} bytes")]
    Oversize {
        /// The exceeded limit.
        limit: usize,
        /// The first bytes of the message.
        head: Vec<u8>,
    },
    /// There is no room for a large message, on disk or in memory. Its first bytes may identify
    /// the request it belongs to.
    #[error("cannot store a large message: {reason}")]
    NoRoom {
        /// What is full.
        reason: String,
        /// The first bytes of the message.
        head: Vec<u8>,
    },
    /// The address is not valid for a connection.
    #[error("cannot use the address `{url}`: {reason}")]
    Address {
        /// The address as given, without credentials.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The connection could not be opened.
    #[error("cannot connect to {authority}: {source}")]
    Connect {
        /// Host and port.
        authority: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The server refused to open the requested event stream.
    #[error("server did not open its event stream (HTTP {status}): {text}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The `WWW-Authenticate` header, if present.
        challenge: Option<String>,
        /// The beginning of the body.
        text: String,
    },
    /// The server's response is not an HTTP+SSE stream.
    #[error("server did not open an HTTP+SSE event stream: {0}")]
    NotEventStream(String),
    /// A local socket, or the lock file beside it, cannot be used.
    #[error("cannot use {}: {source}", path.display())]
    LocalSocket {
        /// The socket file or lock file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The HTTP exchange failed.
    #[error("HTTP exchange failed: {0}")]
    Http(#[from] hyper::Error),
    /// Reading or writing failed after the request may have been sent.
    #[error("cannot read or write: {0}")]
    Io(#[from] io::Error),
}

impl CodedError for TransportError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Closed | Self::Io(_) => ErrorCode::SessionEnded,
            Self::Oversize { .. } | Self::NoRoom { .. } => ErrorCode::SessionTooLarge,
            Self::Address { .. } => ErrorCode::ConnectAddress,
            Self::Connect { .. } => ErrorCode::ConnectUnreachable,
            Self::Refused { .. } => ErrorCode::ConnectStatus,
            Self::NotEventStream(_) | Self::Http(_) => ErrorCode::ConnectNotMcp,
            Self::LocalSocket { .. } => ErrorCode::GatewayUnreachable,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Connect { .. } => {
                "check that the server is running and that the address is right"
            }
            Self::Http(_) => {
                "check that this address speaks HTTP; try https instead of http, or the reverse"
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }
}
