//! Why the host could not do what it was asked to.

use toolgate_config::ConfigError;
use toolgate_gate::Refusal;
use toolgate_model::NameError;
use toolgate_store::StoreError;
use toolgate_transport::TransportError;
use toolgate_wire::WireError;

/// What can go wrong in the library.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// A file that was named cannot be read.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Reading the files was broken off.
    #[error("read the configuration: {0}")]
    Reading(#[from] tokio::task::JoinError),
    /// The state cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A server cannot have this name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// No server is declared under this name.
    #[error("find a server named `{0}`")]
    NoServer(String),
    /// Something about pins cannot be done.
    #[error("{0}")]
    Pins(String),
    /// There is no profile of this name.
    #[error("use this profile: {}", .0.message)]
    NoProfile(Refusal),
    /// The gate refused, or the server could not be used.
    #[error("{}", .0.message)]
    Refused(Refusal),
    /// The server answered with an error of its own.
    #[error("get an answer: {message} ({code})")]
    Answered {
        /// Its code.
        code: i64,
        /// Its message.
        message: String,
    },
    /// A message breaks the rules of the wire.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// A large answer cannot be read from where it lies.
    #[error("read a large answer: {0}")]
    Unread(TransportError),
    /// An answer that is no JSON object.
    #[error("read the answer: {0}")]
    Json(#[from] serde_json::Error),
}
