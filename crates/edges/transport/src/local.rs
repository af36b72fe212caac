//! Connects programs of one user on one machine, through a socket file that only this user can use.
//!
//! A process takes the [`ListenLock`] before it listens. The kernel releases the lock when its
//! holder exits, so a socket file that exists while the lock is free is stale and gets replaced.
//! This module does not interpret what is sent over a connection.

mod listen_lock;
#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

use std::io;
use std::path::Path;

use crate::TransportError;

pub use listen_lock::ListenLock;
#[cfg(not(unix))]
pub use other::{LocalListener, LocalReader, LocalWriter, connect};
#[cfg(unix)]
pub use unix::{LocalListener, LocalReader, LocalWriter, connect};

/// Returns a function that wraps an I/O error on the file at `path`.
fn local_error(path: &Path) -> impl Fn(io::Error) -> TransportError + '_ {
    |source| TransportError::LocalSocket { path: path.to_owned(), source }
}
