//! All sessions of a gateway, whatever carries them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Session;
use crate::upstreams::{CallerId, GateEvent};

/// The living sessions.
#[derive(Default)]
pub(crate) struct Registry {
    sessions: Mutex<HashMap<CallerId, Arc<Session>>>,
}

impl Registry {
    fn sessions(&self) -> MutexGuard<'_, HashMap<CallerId, Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a session that has begun.
    pub(crate) fn enter(&self, session: Arc<Session>) {
        self.sessions().insert(session.caller(), session);
    }

    /// Closes a session and forgets it.
    pub(crate) fn leave(&self, session: &Session) {
        self.sessions().remove(&session.caller());
        session.close();
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.sessions().len()
    }

    /// Brings an event to all of them.
    pub(crate) fn hear(&self, event: &GateEvent) {
        let sessions: Vec<_> = self.sessions().values().cloned().collect();
        for session in sessions {
            session.hear(event);
        }
    }
}
