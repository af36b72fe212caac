//! What differs between platforms: the control socket, and the signals that end us.
//!
//! Nothing above this folder asks on what it runs.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub use other::{Listener, Reader, Signals, Writer, connect};
#[cfg(unix)]
pub use unix::{Listener, Reader, Signals, Writer, connect};
