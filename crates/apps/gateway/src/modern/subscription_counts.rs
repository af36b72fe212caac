//! The resource subscriptions of a modern client: one at the gate per resource, for any number of
//! listen requests.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::Mutex;
use toolgate_wire::{Frame, MessageKind, MessageLimits, build, method, string};

use super::StatelessClient;
use crate::Gate;

/// How many listen requests want each URI. The lock is held during requests to the gate, so that a
/// subscription and its end stay in order.
#[derive(Default)]
pub(crate) struct SubscriptionCounts(Mutex<HashMap<String, usize>>);

/// The subscriptions of one listen request. Dropping it ends them.
pub(crate) struct SubscriptionGuard {
    gate: Arc<Gate>,
    client: Arc<StatelessClient>,
    uris: Vec<String>,
}

impl SubscriptionGuard {
    pub(crate) fn new(gate: Arc<Gate>, client: Arc<StatelessClient>) -> Self {
        Self { gate, client, uris: Vec::new() }
    }

    /// Subscribes to a resource. Returns false if no server accepts it.
    pub(crate) async fn subscribe(&mut self, uri: String) -> bool {
        let mut counts = self.client.subscriptions.0.lock().await;
        let wanted = counts.get(&uri).copied().unwrap_or_default();
        if wanted == 0
            && !send_to_gate(&self.gate, &self.client, method::RESOURCES_SUBSCRIBE, &uri).await
        {
            return false;
        }
        counts.insert(uri.clone(), wanted + 1);
        self.uris.push(uri);
        true
    }

    /// Returns the URIs that were accepted.
    pub(crate) fn uris(&self) -> &[String] {
        &self.uris
    }
}

impl Drop for SubscriptionGuard {
    fn drop(&mut self) {
        let uris = std::mem::take(&mut self.uris);
        if uris.is_empty() {
            return;
        }
        let (gate, client) = (self.gate.clone(), self.client.clone());
        // Without a runtime the process is about to end.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move { unsubscribe(&gate, &client, uris).await });
        }
    }
}

async fn unsubscribe(gate: &Arc<Gate>, client: &Arc<StatelessClient>, uris: Vec<String>) {
    for uri in uris {
        let mut counts = client.subscriptions.0.lock().await;
        match counts.get_mut(&uri) {
            Some(wanted) if *wanted > 1 => *wanted -= 1,
            _ => {
                counts.remove(&uri);
                send_to_gate(gate, client, method::RESOURCES_UNSUBSCRIBE, &uri).await;
            }
        }
    }
}

/// Sends a request to the gate. Returns true if a server accepted it.
async fn send_to_gate(
    gate: &Arc<Gate>,
    client: &Arc<StatelessClient>,
    method: &str,
    uri: &str,
) -> bool {
    let params = format!("{{\"uri\":{}}}", string::encode(uri));
    let request = build::request("0", method, Some(params.as_bytes()));
    let Ok(request) = Frame::parse(request, &MessageLimits::default()) else { return false };
    // A subscription needs no answers to questions, as nothing outside of calls does.
    let answer = gate.pass(&request, &client.caller, client.caller.ambient.clone()).await;
    answer.is_ok_and(|answer| answer.kind() == MessageKind::Response)
}
