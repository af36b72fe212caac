//! The requests in flight of one client, by the client's ids.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use parking_lot::Mutex;
use toolgate_wire::OwnedRequestId;

/// How many requests of one client may be in flight at once.
const MAX_OPEN: usize = 1024;

/// The error for an id that is in use.
const DUPLICATE_ID: &str = "a request with this id is in flight";

/// The requests in flight, each with what is needed to cancel it.
pub(crate) struct InFlightRequests<T>(Mutex<InFlightTable<T>>);

/// The requests in flight by id.
struct InFlightTable<T> {
    closed: bool,
    open: HashMap<OwnedRequestId, T>,
}

impl<T> Default for InFlightRequests<T> {
    fn default() -> Self {
        Self(Mutex::new(InFlightTable { closed: false, open: HashMap::new() }))
    }
}

impl<T> InFlightRequests<T> {
    /// Returns an error if a request with this id is in flight.
    pub(crate) fn check_unused(&self, id: &OwnedRequestId) -> Result<(), &'static str> {
        if self.0.lock().open.contains_key(id) { Err(DUPLICATE_ID) } else { Ok(()) }
    }

    /// Registers a request that `start` starts, or returns why it is rejected.
    pub(crate) fn insert(
        &self,
        id: OwnedRequestId,
        start: impl FnOnce() -> T,
    ) -> Result<(), &'static str> {
        let mut table = self.0.lock();
        if table.closed {
            return Err("the session has ended");
        }
        let full = table.open.len() >= MAX_OPEN;
        match table.open.entry(id) {
            Entry::Occupied(_) => Err(DUPLICATE_ID),
            Entry::Vacant(_) if full => Err("too many requests in flight"),
            Entry::Vacant(entry) => {
                entry.insert(start());
                Ok(())
            }
        }
    }

    /// Removes a request that was answered or cancelled.
    pub(crate) fn remove(&self, id: &OwnedRequestId) -> Option<T> {
        self.0.lock().open.remove(id)
    }

    /// Rejects new requests, because the session has ended.
    pub(crate) fn close(&self) {
        self.0.lock().closed = true;
    }

    /// Returns how many requests are in flight.
    pub(crate) fn len(&self) -> usize {
        self.0.lock().open.len()
    }
}

impl<T: Clone> InFlightRequests<T> {
    /// Returns what cancels the request with this id, if it is in flight.
    pub(crate) fn get(&self, id: &OwnedRequestId) -> Option<T> {
        self.0.lock().open.get(id).cloned()
    }

    /// Returns what cancels the requests in flight.
    pub(crate) fn all(&self) -> Vec<T> {
        self.0.lock().open.values().cloned().collect()
    }
}
