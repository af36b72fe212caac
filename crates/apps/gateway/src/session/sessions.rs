//! All legacy sessions of a gateway, on all transports.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use toolgate_host::{CallerId, GateEvent};

use super::LegacySession;

/// The open sessions.
#[derive(Default)]
pub(crate) struct LegacySessions {
    sessions: Mutex<HashMap<CallerId, Arc<LegacySession>>>,
}

impl LegacySessions {
    /// Registers a session.
    pub(crate) fn insert(&self, session: Arc<LegacySession>) {
        self.sessions.lock().insert(session.caller.id, session);
    }

    /// Closes a session and removes it.
    pub(crate) fn close(&self, session: &LegacySession) {
        self.sessions.lock().remove(&session.caller.id);
        session.close();
    }

    /// Returns how many sessions are open.
    pub(crate) fn len(&self) -> usize {
        self.sessions.lock().len()
    }

    /// Delivers an event to all sessions.
    pub(crate) fn deliver_event(&self, event: &GateEvent) {
        let sessions: Vec<_> = self.sessions.lock().values().cloned().collect();
        for session in sessions {
            session.deliver_event(event);
        }
    }
}
