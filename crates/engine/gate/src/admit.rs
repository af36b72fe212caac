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
/// Requests of one caller that wait for the end of a task at once. They are no calls: a caller who
/// waits must still be able to stop what he waits for.
pub(crate) const WAITS: usize = 128;
/// Calls that may wait for their turn, all together.
const QUEUE: usize = 1024;

/// Counts who waits.
#[derive(Debug, Default)]
pub(crate) struct Queue(AtomicUsize);

/// The right to call, given back when dropped.
pub(crate) struct Place<'a> {
    caller: SemaphorePermit<'a>,
    _server: SemaphorePermit<'a>,
}

impl<'a> Place<'a> {
    /// Leaves the server's place to others: the call goes on, but not there.
    pub(crate) fn aside(self) -> SemaphorePermit<'a> {
        self.caller
    }
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
        if let (Ok(caller), Ok(_server)) =
            (caller.places.try_acquire(), pool.places().try_acquire())
        {
            return Ok(Place { caller, _server });
        }
        let _waiting = self.wait()?;
        let caller = caller.places.acquire().await.map_err(|_| full())?;
        let _server = pool.places().acquire().await.map_err(|_| full())?;
        Ok(Place { caller, _server })
    }

    /// Lets a short request in that may concern several servers, or none.
    pub(crate) async fn admit_short<'a>(
        &self,
        caller: &'a Caller,
    ) -> Result<SemaphorePermit<'a>, Refusal> {
        if let Ok(place) = caller.places.try_acquire() {
            return Ok(place);
        }
        let _waiting = self.wait()?;
        caller.places.acquire().await.map_err(|_| full())
    }

    /// Fails while no further call could wait for its turn.
    pub(crate) fn has_room(&self) -> Result<(), Refusal> {
        match self.0.load(Ordering::Relaxed) < QUEUE {
            true => Ok(()),
            false => Err(full()),
        }
    }

    fn wait(&self) -> Result<Waiting<'_>, Refusal> {
        if self.0.fetch_add(1, Ordering::Relaxed) >= QUEUE {
            self.0.fetch_sub(1, Ordering::Relaxed);
            return Err(full());
        }
        Ok(Waiting(self))
    }
}

/// Lets a caller wait for the end of one more task.
pub(crate) fn admit_wait(caller: &Caller) -> Result<SemaphorePermit<'_>, Refusal> {
    caller.waits.try_acquire().map_err(|_| {
        let message = format!("you wait for the end of {WAITS} tasks already");
        Refusal { code: code::CONNECTION_CLOSED, message, data: None }
    })
}

fn full() -> Refusal {
    let message = format!("more than {QUEUE} calls are waiting; try again later");
    Refusal { code: code::CONNECTION_CLOSED, message, data: None }
}
