//! The requests of a client without a session that are being answered on its lines, by its own ids.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::{AbortHandle, JoinSet};
use toolgate_wire::{Id, OwnedId};

use super::Lines;
use crate::modern::Exchange;
use crate::session::{Outlet, finish};

/// How many there may be at once.
const MAX_OPEN: usize = 1024;

/// The open requests of one client.
#[derive(Default)]
pub(super) struct Open(Mutex<HashMap<OwnedId, Task>>);

/// The task that answers a request.
struct Task {
    handle: AbortHandle,
    own: bool,
}

/// A request that has begun.
pub(super) struct Begun {
    pub(super) id: OwnedId,
    /// Whether the gateway answers it by itself: a list, or news of changes.
    pub(super) own: bool,
    pub(super) exchange: Exchange,
}

impl Open {
    fn table(&self) -> MutexGuard<'_, HashMap<OwnedId, Task>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says why a request with this id is not begun, if it is not.
    pub(super) fn refuses(&self, id: &OwnedId) -> Option<&'static str> {
        let table = self.table();
        if table.contains_key(id) {
            return Some("a request with this id is in flight");
        }
        (table.len() >= MAX_OPEN).then_some("too many requests in flight")
    }

    /// Runs a request until it is answered or cancelled.
    pub(super) fn run(
        self: &Arc<Self>,
        Begun { id, own, mut exchange }: Begun,
        tasks: &mut JoinSet<()>,
        lines: Lines,
    ) {
        let (open, answered) = (self.clone(), id.clone());
        // It cannot end before it is entered.
        let mut table = self.table();
        let handle = tasks.spawn(async move {
            let reply = finish(|context| exchange.poll_step(context), &lines).await;
            // A client that has its answer may use the id again.
            open.table().remove(&answered);
            lines.answer(reply);
        });
        table.insert(id, Task { handle, own });
    }

    /// Ends a request without an answer; says whether there was one.
    pub(super) fn cancel(&self, id: Id<'_>) -> bool {
        let cancelled = self.table().remove(&id.to_owned());
        cancelled.inspect(|task| task.handle.abort()).is_some()
    }

    /// Ends every request that a server answers, without an answer.
    pub(super) fn cancel_calls(&self) {
        self.table().values().filter(|task| !task.own).for_each(|task| task.handle.abort());
    }
}
