//! The gate's events on their way to the clients, whatever their revision.

use std::sync::Arc;

use tokio::sync::broadcast::{self, error::RecvError};
use toolgate_model::CapabilityKind;

use crate::modern::Listeners;
use crate::session::Registry;
use crate::upstreams::GateEvent;

/// Brings the gate's events to the sessions and the listeners, until the gate is gone.
pub(crate) async fn fan_out(
    mut events: broadcast::Receiver<GateEvent>,
    registry: Arc<Registry>,
    listeners: Arc<Listeners>,
) {
    loop {
        match events.recv().await {
            Ok(event) => {
                registry.hear(&event);
                listeners.hear(&event);
            }
            // Log lines that were missed are lost; a changed list must not be.
            Err(RecvError::Lagged(missed)) => {
                tracing::warn!(target: "toolgate::gateway", missed, "too many events at once");
                for kind in [CapabilityKind::Tool, CapabilityKind::Resource, CapabilityKind::Prompt]
                {
                    registry.hear(&GateEvent::ListChanged { kind, profile: None, caller: None });
                }
                listeners.missed();
            }
            Err(RecvError::Closed) => return,
        }
    }
}
