//! The client's requests that have no answer yet, by the client's own id.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolgate_wire::{Id, OwnedId};

use super::call::{Call, End};

/// How many requests of one client may be open at once.
const MAX_OPEN: usize = 1024;

/// Why a request is not begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotBegun {
    /// A request with this id is open.
    SameId,
    /// Too many are open.
    TooMany,
    /// The session has ended.
    Over,
}

impl NotBegun {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::SameId => "a request with this id is in flight",
            Self::TooMany => "too many requests in flight",
            Self::Over => "the session has ended",
        }
    }
}

/// The open requests of one session.
#[derive(Default)]
pub(crate) struct Flights {
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    over: bool,
    open: HashMap<OwnedId, Arc<Call>>,
}

impl Flights {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a request.
    pub(crate) fn begin(&self, call: &Arc<Call>) -> Result<(), NotBegun> {
        let mut table = self.table();
        if table.over {
            return Err(NotBegun::Over);
        }
        let full = table.open.len() >= MAX_OPEN;
        match table.open.entry(call.id().clone()) {
            Entry::Occupied(_) => Err(NotBegun::SameId),
            Entry::Vacant(_) if full => Err(NotBegun::TooMany),
            Entry::Vacant(place) => {
                place.insert(call.clone());
                Ok(())
            }
        }
    }

    /// Removes a request that is answered or given up.
    pub(crate) fn land(&self, id: &OwnedId) {
        self.table().open.remove(id);
    }

    /// Ends a request the client no longer wants. Unknown ids are nobody's.
    pub(crate) fn cancel(&self, id: Id<'_>) {
        let call = self.table().open.get(&id.to_owned()).cloned();
        if let Some(call) = call {
            call.end(End::Cancelled);
        }
    }

    /// The session is over, and everything in flight with it.
    pub(crate) fn end(&self) {
        let open: Vec<_> = {
            let mut table = self.table();
            table.over = true;
            table.open.values().cloned().collect()
        };
        for call in open {
            call.end(End::SessionOver);
        }
    }

    /// How many are open.
    pub(crate) fn len(&self) -> usize {
        self.table().open.len()
    }
}
