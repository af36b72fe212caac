//! Delivers the gate's events to clients of all revisions.

use std::sync::Arc;

use tokio::sync::broadcast::{self, error::RecvError};
use toolgate_host::GateEvent;
use toolgate_model::CapabilityKind;

use crate::modern::ListenSubscribers;
use crate::session::LegacySessions;

/// Delivers the gate's events to sessions and listen subscribers until the gate is dropped.
pub(crate) async fn fan_out(
    mut events: broadcast::Receiver<GateEvent>,
    sessions: Arc<LegacySessions>,
    subscribers: Arc<ListenSubscribers>,
) {
    loop {
        match events.recv().await {
            Ok(event) => {
                sessions.deliver_event(&event);
                subscribers.deliver_event(&event);
            }
            // Missed log messages are lost. A missed list change is not: all lists are reported as
            // changed.
            Err(RecvError::Lagged(missed)) => {
                tracing::warn!(target: "toolgate::gateway", missed, "events were lost");
                for kind in [CapabilityKind::Tool, CapabilityKind::Resource, CapabilityKind::Prompt]
                {
                    sessions.deliver_event(&GateEvent::ListChanged {
                        kind,
                        profile: None,
                        caller: None,
                    });
                }
                subscribers.resync_all();
            }
            Err(RecvError::Closed) => return,
        }
    }
}
