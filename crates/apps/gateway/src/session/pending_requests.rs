//! The client's requests in flight, by the client's ids.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolgate_wire::{OwnedRequestId, RequestId};

use super::call::{CancelReason, LegacyCall};

/// How many requests of one client may be in flight at once.
const MAX_OPEN: usize = 1024;

/// Why a request is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestRejection {
    /// Another request with this id is in flight.
    DuplicateId,
    /// Too many requests are in flight.
    TooMany,
    /// The session has ended.
    SessionClosed,
}

impl RequestRejection {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::DuplicateId => "a request with this id is in flight",
            Self::TooMany => "too many requests in flight",
            Self::SessionClosed => "the session has ended",
        }
    }
}

/// The requests in flight of one session.
#[derive(Default)]
pub(crate) struct LegacyPendingRequests {
    table: Mutex<LegacyRequestTable>,
}

/// The requests in flight by id.
#[derive(Default)]
struct LegacyRequestTable {
    closed: bool,
    open: HashMap<OwnedRequestId, Arc<LegacyCall>>,
}

impl LegacyPendingRequests {
    fn table(&self) -> MutexGuard<'_, LegacyRequestTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a request.
    pub(crate) fn insert(&self, call: &Arc<LegacyCall>) -> Result<(), RequestRejection> {
        let mut table = self.table();
        if table.closed {
            return Err(RequestRejection::SessionClosed);
        }
        let full = table.open.len() >= MAX_OPEN;
        match table.open.entry(call.id().clone()) {
            Entry::Occupied(_) => Err(RequestRejection::DuplicateId),
            Entry::Vacant(_) if full => Err(RequestRejection::TooMany),
            Entry::Vacant(entry) => {
                entry.insert(call.clone());
                Ok(())
            }
        }
    }

    /// Removes a request that was answered or cancelled.
    pub(crate) fn remove(&self, id: &OwnedRequestId) {
        self.table().open.remove(id);
    }

    /// Cancels a request on behalf of the client. Unknown ids are ignored.
    pub(crate) fn cancel(&self, id: RequestId<'_>) {
        let call = self.table().open.get(&id.to_owned()).cloned();
        if let Some(call) = call {
            call.cancel(CancelReason::Cancelled);
        }
    }

    /// Cancels all requests and rejects new ones, because the session has ended.
    pub(crate) fn close(&self) {
        let open: Vec<_> = {
            let mut table = self.table();
            table.closed = true;
            table.open.values().cloned().collect()
        };
        for call in open {
            call.cancel(CancelReason::SessionClosed);
        }
    }

    /// Returns how many requests are in flight.
    pub(crate) fn len(&self) -> usize {
        self.table().open.len()
    }
}
