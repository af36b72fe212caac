//! All legacy sessions of a gateway, on all transports.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolgate_host::{CallerId, GateEvent};

use super::LegacySession;

/// The open sessions.
#[derive(Default)]
pub(crate) struct LegacySessions {
    sessions: Mutex<HashMap<CallerId, Arc<LegacySession>>>,
}

impl LegacySessions {
    fn sessions(&self) -> MutexGuard<'_, HashMap<CallerId, Arc<LegacySession>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a session.
    pub(crate) fn insert(&self, session: Arc<LegacySession>) {
        self.sessions().insert(session.caller_id(), session);
    }

    /// Closes a session and removes it.
    pub(crate) fn close(&self, session: &LegacySession) {
        self.sessions().remove(&session.caller_id());
        session.close();
    }

    /// Returns how many sessions are open.
    pub(crate) fn len(&self) -> usize {
        self.sessions().len()
    }

    /// Delivers an event to all sessions.
    pub(crate) fn deliver_event(&self, event: &GateEvent) {
        let sessions: Vec<_> = self.sessions().values().cloned().collect();
        for session in sessions {
            session.deliver_event(event);
        }
    }
}
