//! The signals by which the system asks this process to end, or to look at its files again.
//!
//! What ends, and how long it takes, is decided by whoever listens.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGINT and SIGTERM; Ctrl-C where there are no signals.
#[derive(Debug)]
pub struct Signals {
    #[cfg(unix)]
    interrupt: Signal,
    #[cfg(unix)]
    terminate: Signal,
}

impl Signals {
    /// From now on they come here, instead of ending the process.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            interrupt: signal(SignalKind::interrupt())?,
            #[cfg(unix)]
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for the next one.
    #[cfg(unix)]
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    /// Waits for the next one.
    #[cfg(not(unix))]
    pub async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}

/// SIGHUP: asked to look at the files again. Nothing where there are no signals.
#[derive(Debug)]
pub struct Hangups {
    #[cfg(unix)]
    hangup: Signal,
}

impl Hangups {
    /// From now on they come here, instead of ending the process.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the next one.
    pub async fn next(&mut self) {
        #[cfg(unix)]
        if self.hangup.recv().await.is_some() {
            return;
        }
        std::future::pending().await
    }
}
