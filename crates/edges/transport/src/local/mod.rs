//! Programs of one user on one machine, through a socket file that nobody else can use.
//!
//! Whoever wants to listen takes the [`Lock`] first, and the kernel lets it go with its holder: so a
//! socket file that lies there when the lock was free is left over, and is replaced. What is said
//! over a connection is not known here.

mod lock;
#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

use std::io;
use std::path::Path;

use crate::TransportError;

pub use lock::Lock;
#[cfg(not(unix))]
pub use other::{Listener, Reader, Writer, connect};
#[cfg(unix)]
pub use unix::{Listener, Reader, Writer, connect};

fn failed(path: &Path) -> impl Fn(io::Error) -> TransportError + '_ {
    |source| TransportError::Local { path: path.to_owned(), source }
}
