//! Disables terminal echo.
//!
//! The terminal is restored on every exit except a kill. If echo cannot be disabled, the result is
//! an error, because a secret must not appear on the screen.

use std::io;

/// Keeps terminal echo off while it lives.
#[cfg(unix)]
pub(crate) struct EchoOffGuard(rustix::termios::Termios);

#[cfg(unix)]
impl EchoOffGuard {
    /// Turns off echo of the terminal on standard input.
    pub(crate) fn begin() -> io::Result<Self> {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let before = tcgetattr(io::stdin())?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Flush, &silent)?;
        Ok(Self(before))
    }
}

#[cfg(unix)]
impl Drop for EchoOffGuard {
    fn drop(&mut self) {
        use rustix::termios::{OptionalActions, tcsetattr};
        // A terminal that is gone needs no restoring.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// Keeps terminal echo off while it lives. Not supported on this platform.
#[cfg(not(unix))]
pub(crate) struct EchoOffGuard;

#[cfg(not(unix))]
impl EchoOffGuard {
    /// Always fails.
    pub(crate) fn begin() -> io::Result<Self> {
        Err(io::Error::other("this terminal cannot hide typed input; pipe the value in instead"))
    }
}
