//! All sessions of a gateway, whatever carries them, and the events brought to them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::broadcast::{self, error::RecvError};
use toolgate_model::CapabilityKind;

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

    fn hear(&self, event: &GateEvent) {
        let sessions: Vec<_> = self.sessions().values().cloned().collect();
        for session in sessions {
            session.hear(event);
        }
    }
}

/// Brings the gate's events to the sessions, until the gate is gone.
pub(crate) async fn fan_out(mut events: broadcast::Receiver<GateEvent>, registry: Arc<Registry>) {
    loop {
        match events.recv().await {
            Ok(event) => registry.hear(&event),
            // Log lines that were missed are lost; a changed list must not be.
            Err(RecvError::Lagged(missed)) => {
                tracing::warn!(target: "toolgate::gateway", missed, "too many events at once");
                for kind in [CapabilityKind::Tool, CapabilityKind::Resource, CapabilityKind::Prompt]
                {
                    registry.hear(&GateEvent::ListChanged(kind));
                }
            }
            Err(RecvError::Closed) => return,
        }
    }
}
