//! The resource subscriptions of a modern client: one at the gate per resource, for any number of
//! listen requests.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::Mutex;
use toolgate_wire::{Frame, MessageKind, MessageLimits, build, method, string};

use super::StatelessClient;

/// How many listen requests want each URI. The lock is held during requests to the gate, so that a
/// subscription and its end stay in order.
#[derive(Default)]
pub(crate) struct SubscriptionCounts(Mutex<HashMap<String, usize>>);

/// The subscriptions of one listen request. Dropping it ends them.
pub(crate) struct SubscriptionGuard {
    client: Arc<StatelessClient>,
    /// The URIs that were accepted.
    pub(super) uris: Vec<String>,
}

impl SubscriptionGuard {
    pub(crate) fn new(client: Arc<StatelessClient>) -> Self {
        Self { client, uris: Vec::new() }
    }

    /// Subscribes to a resource, if a server accepts it.
    pub(crate) async fn subscribe(&mut self, uri: String) {
        let mut counts = self.client.subscriptions.0.lock().await;
        let wanted = counts.get(&uri).copied().unwrap_or_default();
        if wanted > 0 || send_to_gate(&self.client, method::RESOURCES_SUBSCRIBE, &uri).await {
            counts.insert(uri.clone(), wanted + 1);
            self.uris.push(uri);
        }
    }
}

impl Drop for SubscriptionGuard {
    fn drop(&mut self) {
        let uris = std::mem::take(&mut self.uris);
        if uris.is_empty() {
            return;
        }
        let client = self.client.clone();
        // Without a runtime the process is about to end.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move { unsubscribe(&client, uris).await });
        }
    }
}

async fn unsubscribe(client: &StatelessClient, uris: Vec<String>) {
    for uri in uris {
        let mut counts = client.subscriptions.0.lock().await;
        match counts.get_mut(&uri) {
            Some(wanted) if *wanted > 1 => *wanted -= 1,
            _ => {
                counts.remove(&uri);
                send_to_gate(client, method::RESOURCES_UNSUBSCRIBE, &uri).await;
            }
        }
    }
}

/// Sends a request to the gate. Returns true if a server accepted it.
async fn send_to_gate(client: &StatelessClient, method: &str, uri: &str) -> bool {
    let params = format!("{{\"uri\":{}}}", string::encode(uri));
    let request = build::request("0", method, Some(params.as_bytes()));
    let Ok(request) = Frame::parse(request, &MessageLimits::default()) else { return false };
    // A subscription needs no answers to questions, as nothing outside of calls does.
    let answer = client.gate.pass(&request, &client.caller, client.caller.ambient.clone()).await;
    answer.is_ok_and(|answer| answer.kind() == MessageKind::Response)
}
