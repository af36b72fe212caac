//! Step: how many calls may be under way, for one caller and on one server.
//!
//! A call beyond that waits its turn; one beyond the queue is refused, so that nobody can fill the
//! gateway's memory with calls that wait.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::SemaphorePermit;
use toolgate_fleet::Pool;
use toolgate_wire::code;

use crate::{Caller, Refusal};

/// Calls of one caller under way at once.
pub(crate) const PER_CALLER: usize = 32;
/// Calls that may wait for their turn, all together.
const QUEUE: usize = 1024;

/// Counts who waits.
#[derive(Debug, Default)]
pub(crate) struct Queue(AtomicUsize);

/// The right to call, given back when dropped.
pub(crate) struct Place<'a> {
    _caller: SemaphorePermit<'a>,
    _server: SemaphorePermit<'a>,
}

struct Waiting<'a>(&'a Queue);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Queue {
    /// Lets a call in, after those before it.
    pub(crate) async fn admit<'a>(
        &self,
        caller: &'a Caller,
        pool: &'a Pool,
    ) -> Result<Place<'a>, Refusal> {
        if let (Ok(_caller), Ok(_server)) =
            (caller.places.try_acquire(), pool.places().try_acquire())
        {
            return Ok(Place { _caller, _server });
        }
        if self.0.fetch_add(1, Ordering::Relaxed) >= QUEUE {
            self.0.fetch_sub(1, Ordering::Relaxed);
            return Err(full());
        }
        let _waiting = Waiting(self);
        let _caller = caller.places.acquire().await.map_err(|_| full())?;
        let _server = pool.places().acquire().await.map_err(|_| full())?;
        Ok(Place { _caller, _server })
    }
}

fn full() -> Refusal {
    let message = format!("more than {QUEUE} calls are waiting; try again later");
    Refusal { code: code::CONNECTION_CLOSED, message, data: None }
}
