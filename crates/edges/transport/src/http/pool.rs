//! Idle connections to one endpoint.
//!
//! A connection is kept for less time than common servers keep theirs (Node and uvicorn close after
//! five seconds), so that a request rarely meets a connection that is just being closed.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::dial::Sender;

/// How long an idle connection is trusted when the server did not say.
const DEFAULT_IDLE: Duration = Duration::from_secs(4);
/// How many idle connections are kept.
const MAX_IDLE: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Pool {
    idle: Mutex<Vec<Idle>>,
}

#[derive(Debug)]
struct Idle {
    sender: Sender,
    until: Instant,
}

impl Pool {
    /// The connection used last, if it can still be trusted. The older ones go first when they age.
    pub(super) async fn take(&self) -> Option<Sender> {
        loop {
            let mut candidate = self.pop()?;
            if candidate.ready().await.is_ok() {
                return Some(candidate);
            }
        }
    }

    fn pop(&self) -> Option<Sender> {
        let mut idle = self.idle.lock().ok()?;
        let newest = idle.pop()?;
        if newest.until > Instant::now() {
            return Some(newest.sender);
        }
        idle.clear();
        None
    }

    /// Takes a connection back whose last answer was read to its end.
    pub(super) fn put(&self, sender: Sender, keep_alive: Option<Duration>) {
        let Ok(mut idle) = self.idle.lock() else { return };
        if idle.len() < MAX_IDLE && !sender.is_closed() {
            let until = Instant::now() + keep_alive.unwrap_or(DEFAULT_IDLE);
            idle.push(Idle { sender, until });
        }
    }
}
