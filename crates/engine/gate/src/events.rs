//! What happens outside any call, as callers are to hear of it.

use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender};
use toolgate_fleet::FleetEvent;
use toolgate_model::{CapabilityKind, ServerName};
use toolgate_wire::view::LogLevel;
use toolgate_wire::{Frame, method, scan};

use crate::{CallerId, Gate, Principal, uris};

/// How long changes are gathered: a fleet that starts changes its lists once per server.
const COALESCE: Duration = Duration::from_millis(100);

/// Something callers may want to hear of.
#[derive(Debug, Clone)]
pub enum GateEvent {
    /// A list is really different from what it was.
    ListChanged(CapabilityKind),
    /// A resource changed; for those subscribed to it.
    ResourceUpdated {
        /// Its URI as the lists show it.
        uri: String,
        /// The notification.
        frame: Frame,
    },
    /// A server's log line that belongs to no call.
    Log {
        /// How grave it is.
        level: LogLevel,
        /// The notification.
        frame: Frame,
    },
    /// A task stands differently now.
    TaskStatus {
        /// Who began it.
        caller: CallerId,
        /// Whose it is; nobody else may hear of it.
        principal: Principal,
        /// The notification, in the caller's form; its name is the task's id.
        frame: Frame,
    },
    /// A notification this gateway does not know, passed on as it came.
    Notified(Frame),
}

/// Translates the fleet's events until the gate is gone.
pub(crate) async fn translate(
    gate: Weak<Gate>,
    mut events: Receiver<FleetEvent>,
    out: Sender<GateEvent>,
) {
    let mut shown: [Bytes; CapabilityKind::ALL.len()] = Default::default();
    if let Some(gate) = gate.upgrade() {
        shown = CapabilityKind::ALL.map(|kind| gate.everybodys_list(kind));
    }
    loop {
        match events.recv().await {
            Ok(FleetEvent::CatalogChanged { .. } | FleetEvent::Renewed)
            | Err(RecvError::Lagged(_)) => {
                tokio::time::sleep(COALESCE).await;
                let Some(gate) = gate.upgrade() else { return };
                for kind in CapabilityKind::ALL {
                    let list = gate.everybodys_list(kind);
                    if std::mem::replace(&mut shown[kind as usize], list.clone()) != list {
                        let _ = out.send(GateEvent::ListChanged(kind));
                    }
                }
            }
            Ok(FleetEvent::Notified { server, frame }) => {
                let Some(gate) = gate.upgrade() else { return };
                if let Some(event) = notified(&gate, &server, frame) {
                    let _ = out.send(event);
                }
            }
            Ok(FleetEvent::StateChanged(server)) => {
                let Some(gate) = gate.upgrade() else { return };
                gate.tasks.watch_again(&server, &gate.fleet);
            }
            Err(RecvError::Closed) => return,
        }
    }
}

fn notified(gate: &Arc<Gate>, server: &ServerName, frame: Frame) -> Option<GateEvent> {
    let name = frame.method()?.into_owned();
    let params = frame.params().unwrap_or_default();
    Some(match name.as_str() {
        method::RESOURCES_UPDATED => {
            let frame = uris::updated(&gate.everybodys_view(), server, frame);
            GateEvent::ResourceUpdated { uri: frame.name()?.into_owned(), frame }
        }
        method::MESSAGE => {
            let level = scan::text(params, "level").and_then(|level| level.parse().ok());
            GateEvent::Log { level: level.unwrap_or(LogLevel::Info), frame }
        }
        method::TASKS_STATUS | method::TASKS_CHANGED => return gate.task_news(server, frame),
        _ => GateEvent::Notified(frame),
    })
}
