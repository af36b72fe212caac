//! A terminal that does not show what is typed.
//!
//! It is put back as it was whatever happens in between, except a kill. Where it cannot be told to
//! be silent there is an error: a secret on the screen is worse than none.

use std::io;

/// A terminal that stays silent as long as this lives.
#[cfg(unix)]
pub(crate) struct Silent(rustix::termios::Termios);

#[cfg(unix)]
impl Silent {
    /// Silences the terminal that standard input comes from.
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
impl Drop for Silent {
    fn drop(&mut self) {
        use rustix::termios::{OptionalActions, tcsetattr};
        // A terminal that is gone needs nothing any more.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// A terminal that stays silent as long as this lives: here there is none.
#[cfg(not(unix))]
pub(crate) struct Silent;

#[cfg(not(unix))]
impl Silent {
    /// Always fails.
    pub(crate) fn begin() -> io::Result<Self> {
        Err(io::Error::other("this terminal cannot hide what is typed; pipe the value in"))
    }
}
