//! The errors that end a gateway.

use toolgate_model::{CodedError, ErrorCode};
use toolgate_transport::TransportError;

/// An error that ends a gateway before its shutdown was requested.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// The listener is not usable.
    #[error("cannot listen for connections: {0}")]
    Listen(#[source] std::io::Error),
    /// Reading from the client or writing to it failed.
    #[error("connection to the client failed: {0}")]
    Client(#[from] TransportError),
}

impl CodedError for GatewayError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Listen(_) => ErrorCode::GatewayPort,
            Self::Client(_) => ErrorCode::GatewayClient,
        }
    }
}
