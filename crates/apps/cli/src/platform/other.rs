//! Elsewhere: no control socket yet, so every verb runs a host of its own; and Ctrl-C.

use std::io;
use std::path::Path;

use tokio::io::{Empty, Sink};

/// The reading side of a connection.
pub type Reader = Empty;
/// The writing side.
pub type Writer = Sink;

/// Nobody can connect here.
#[derive(Debug)]
pub struct Listener(());

impl Listener {
    /// Always fails.
    pub fn bind(_path: &Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Never comes.
    pub async fn accept(&self) -> io::Result<(Reader, Writer)> {
        std::future::pending().await
    }
}

/// Always fails.
pub async fn connect(_path: &Path) -> io::Result<(Reader, Writer)> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The signal that asks us to end.
#[derive(Debug)]
pub struct Signals(());

impl Signals {
    /// From now on it comes here.
    pub fn new() -> io::Result<Self> {
        Ok(Self(()))
    }

    /// Waits for the next one.
    pub async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
