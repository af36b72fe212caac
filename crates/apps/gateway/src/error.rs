//! Why a gateway stopped serving.

use toolgate_transport::TransportError;

/// What ends a gateway that was not told to end.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// The listener is not usable.
    #[error("listen for connections: {0}")]
    Listen(#[source] std::io::Error),
    /// The client's lines broke.
    #[error("talk to the client: {0}")]
    Client(#[from] TransportError),
}
