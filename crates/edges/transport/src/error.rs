//! What can go wrong between two sides, whatever the carrier.

use std::io;
use std::path::PathBuf;

/// Why bytes could not be sent or received.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// The other side is gone.
    #[error("use a connection the other side has closed")]
    Closed,
    /// A message over the limit. Its beginning may tell whose it was.
    #[error("take a message of more than {limit} bytes")]
    Oversize {
        /// The limit it broke.
        limit: usize,
        /// The first bytes of it.
        head: Vec<u8>,
    },
    /// A large message found no room, on the disk or in memory. Its beginning may tell whose it was.
    #[error("keep a large message: {reason}")]
    Unkept {
        /// What is full.
        reason: String,
        /// The first bytes of it.
        head: Vec<u8>,
    },
    /// The address is not one we can connect to.
    #[error("use the address `{url}`: {reason}")]
    Address {
        /// As it was given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// No connection came about.
    #[error("connect to {authority}: {source}")]
    Connect {
        /// Host and port.
        authority: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The server did not open the event stream it was asked for.
    #[error("open its event stream (HTTP {status}): {text}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// `WWW-Authenticate`, if given.
        challenge: Option<String>,
        /// The beginning of the body.
        text: String,
    },
    /// What it opened is no stream of HTTP+SSE.
    #[error("open its event stream: {0}")]
    NotEvents(String),
    /// A socket of this machine, or the lock beside it, cannot be used.
    #[error("use {}: {source}", path.display())]
    Local {
        /// Its file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The HTTP exchange broke.
    #[error("exchange HTTP messages: {0}")]
    Http(#[from] hyper::Error),
    /// The exchange broke after the request may have left.
    #[error("read or write: {0}")]
    Io(#[from] io::Error),
}
