//! Systems without Unix sockets: listening and connecting always fail.

use std::convert::Infallible;
use std::io;
use std::path::Path;

use tokio::io::{Empty, Sink};

use super::{ListenLock, local_error};
use crate::TransportError;
use crate::peer::PeerProcess;

/// The read half of a connection.
pub type LocalReader = Empty;
/// The write half of a connection.
pub type LocalWriter = Sink;

/// A listener that can never be created on this system.
#[derive(Debug)]
pub struct LocalListener(Infallible);

impl LocalListener {
    /// Always fails.
    pub fn bind(path: &Path, _held: &ListenLock) -> Result<Self, TransportError> {
        Err(unsupported(path))
    }

    /// Never runs, because no listener exists.
    pub async fn accept(
        &self,
    ) -> Result<(LocalReader, LocalWriter, Option<PeerProcess>), TransportError> {
        match self.0 {}
    }
}

/// Always fails.
pub async fn connect(path: &Path) -> Result<(LocalReader, LocalWriter), TransportError> {
    Err(unsupported(path))
}

fn unsupported(path: &Path) -> TransportError {
    let why = "local sockets are not supported on this system yet";
    local_error(path)(io::Error::new(io::ErrorKind::Unsupported, why))
}
