//! The modern requests in flight on one connection, by the client's ids.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::{AbortHandle, JoinSet};
use toolgate_wire::{OwnedRequestId, RequestId};

use super::LineSink;
use crate::modern::ModernExchange;
use crate::session::{MessageSink, run_exchange};

/// How many requests may be in flight at once.
const MAX_OPEN: usize = 1024;

/// The modern requests in flight of one client.
#[derive(Default)]
pub(super) struct ModernPendingRequests(Mutex<HashMap<OwnedRequestId, RequestTask>>);

/// The task that answers a request.
struct RequestTask {
    handle: AbortHandle,
    answered_locally: bool,
}

/// A request that is ready to run.
pub(super) struct StartedRequest {
    pub(super) id: OwnedRequestId,
    /// True if the gateway answers the request without a server: a list or a listen request.
    pub(super) answered_locally: bool,
    pub(super) exchange: ModernExchange,
}

impl ModernPendingRequests {
    fn lock(&self) -> MutexGuard<'_, HashMap<OwnedRequestId, RequestTask>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns why a request with this id is rejected, or `None` if it is accepted.
    pub(super) fn rejection_reason(&self, id: &OwnedRequestId) -> Option<&'static str> {
        let table = self.lock();
        if table.contains_key(id) {
            return Some("a request with this id is in flight");
        }
        (table.len() >= MAX_OPEN).then_some("too many requests in flight")
    }

    /// Runs a request until it is answered or cancelled.
    pub(super) fn spawn(
        self: &Arc<Self>,
        StartedRequest { id, answered_locally, mut exchange }: StartedRequest,
        tasks: &mut JoinSet<()>,
        lines: LineSink,
    ) {
        let (pending, answered) = (self.clone(), id.clone());
        // The lock ensures that the task is registered before it can end.
        let mut table = self.lock();
        let handle = tasks.spawn(async move {
            let reply = run_exchange(|context| exchange.poll_step(context), &lines).await;
            // A client that has its answer may reuse the id.
            pending.lock().remove(&answered);
            lines.send_response(reply);
        });
        table.insert(id, RequestTask { handle, answered_locally });
    }

    /// Cancels a request without an answer. Returns false if there is no such request.
    pub(super) fn cancel(&self, id: RequestId<'_>) -> bool {
        let cancelled = self.lock().remove(&id.to_owned());
        cancelled.inspect(|task| task.handle.abort()).is_some()
    }

    /// Cancels all requests that a server answers. They get no answer.
    pub(super) fn cancel_calls(&self) {
        self.lock()
            .values()
            .filter(|task| !task.answered_locally)
            .for_each(|task| task.handle.abort());
    }
}
