//! Step: limits how many calls run at once, per caller and per server.
//!
//! A call above the limit waits in a queue. When the queue is full, the call is refused, so waiting
//! calls cannot fill the gateway's memory.

use tokio::sync::{Semaphore, SemaphorePermit};
use toolgate_fleet::Pool;
use toolgate_model::ErrorCode;

use crate::{Caller, GateError};

/// The most calls of one caller that run at once.
pub(crate) const PER_CALLER: usize = 32;
/// The most requests of one caller that wait for the end of a task at once. They do not count as
/// calls: a caller that waits must still be able to cancel the task.
pub(crate) const WAITS: usize = 128;
/// The most calls that wait in the queue, over all callers.
const QUEUE: usize = 1024;

/// The places in which calls wait.
pub(crate) struct AdmissionQueue(Semaphore);

impl Default for AdmissionQueue {
    fn default() -> Self {
        Self(Semaphore::new(QUEUE))
    }
}

/// The right to make one call. Dropping it returns the right.
pub(crate) struct CallPermit<'a> {
    caller: SemaphorePermit<'a>,
    _server: SemaphorePermit<'a>,
}

impl<'a> CallPermit<'a> {
    /// Returns the server's slot while the call goes on, and keeps the caller's.
    pub(crate) fn release_server(self) -> SemaphorePermit<'a> {
        self.caller
    }
}

impl AdmissionQueue {
    /// Waits until the call may run.
    pub(crate) async fn admit<'a>(
        &self,
        caller: &'a Caller,
        pool: &'a Pool,
    ) -> Result<CallPermit<'a>, GateError> {
        if let (Ok(caller), Ok(_server)) =
            (caller.call_permits.try_acquire(), pool.call_slots().try_acquire())
        {
            return Ok(CallPermit { caller, _server });
        }
        let _waiting = self.wait()?;
        let caller = caller.call_permits.acquire().await.map_err(|_| full())?;
        let _server = pool.call_slots().acquire().await.map_err(|_| full())?;
        Ok(CallPermit { caller, _server })
    }

    /// Admits a short request that concerns several servers or none.
    pub(crate) async fn admit_short<'a>(
        &self,
        caller: &'a Caller,
    ) -> Result<SemaphorePermit<'a>, GateError> {
        if let Ok(place) = caller.call_permits.try_acquire() {
            return Ok(place);
        }
        let _waiting = self.wait()?;
        caller.call_permits.acquire().await.map_err(|_| full())
    }

    /// Returns an error while the queue is full.
    pub(crate) fn check_room(&self) -> Result<(), GateError> {
        match self.0.available_permits() {
            0 => Err(full()),
            _ => Ok(()),
        }
    }

    fn wait(&self) -> Result<SemaphorePermit<'_>, GateError> {
        self.0.try_acquire().map_err(|_| full())
    }
}

/// Admits one more request that waits for the end of a task.
pub(crate) fn admit_wait(caller: &Caller) -> Result<SemaphorePermit<'_>, GateError> {
    caller.task_wait_permits.try_acquire().map_err(|_| {
        let message = format!("already waiting for the end of {WAITS} tasks");
        GateError::new(ErrorCode::CallLimit, message)
    })
}

fn full() -> GateError {
    let message = format!("more than {QUEUE} calls are waiting");
    GateError::new(ErrorCode::CallLimit, message).hint("try again later")
}
