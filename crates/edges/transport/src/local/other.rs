//! Systems without Unix sockets: nobody can listen or connect yet, and every try says so.

use std::convert::Infallible;
use std::io;
use std::path::Path;

use tokio::io::{Empty, Sink};

use super::{Lock, failed};
use crate::TransportError;
use crate::peer::PeerProcess;

/// The reading side of a connection.
pub type Reader = Empty;
/// The writing side.
pub type Writer = Sink;

/// There is none of these.
#[derive(Debug)]
pub struct Listener(Infallible);

impl Listener {
    /// Always fails.
    pub fn bind(path: &Path, _held: &Lock) -> Result<Self, TransportError> {
        Err(unsupported(path))
    }

    /// Nobody has a listener to ask.
    pub async fn accept(&self) -> Result<(Reader, Writer, Option<PeerProcess>), TransportError> {
        match self.0 {}
    }
}

/// Always fails.
pub async fn connect(path: &Path) -> Result<(Reader, Writer), TransportError> {
    Err(unsupported(path))
}

fn unsupported(path: &Path) -> TransportError {
    let why = "local sockets are not supported on this system yet";
    failed(path)(io::Error::new(io::ErrorKind::Unsupported, why))
}
