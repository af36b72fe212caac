//! The resources a visitor hears of: one subscription at the gate, however many listens want it.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use toolgate_wire::{Frame, Kind, Limits, build, method, string};

use super::Visitor;
use crate::upstreams::{Answer, Interactor, Question, Scope, Upstreams};

/// How many listens want each URI. The lock is held while the gate is asked, so that a
/// subscription and its end cannot overtake each other.
#[derive(Default)]
pub(crate) struct Subscriptions(Mutex<HashMap<String, usize>>);

/// The subscriptions of one listen. They end with it.
pub(crate) struct Held {
    upstreams: Arc<dyn Upstreams>,
    visitor: Arc<Visitor>,
    uris: Vec<String>,
}

impl Held {
    pub(crate) fn new(upstreams: Arc<dyn Upstreams>, visitor: Arc<Visitor>) -> Self {
        Self { upstreams, visitor, uris: Vec::new() }
    }

    /// Subscribes; says whether a server took it.
    pub(crate) async fn begin(&mut self, uri: String) -> bool {
        let mut counts = self.visitor.subscriptions.0.lock().await;
        let wanted = counts.get(&uri).copied().unwrap_or_default();
        if wanted == 0
            && !pass(&self.upstreams, &self.visitor, method::RESOURCES_SUBSCRIBE, &uri).await
        {
            return false;
        }
        counts.insert(uri.clone(), wanted + 1);
        self.uris.push(uri);
        true
    }

    /// The URIs that were taken.
    pub(crate) fn uris(&self) -> &[String] {
        &self.uris
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let uris = std::mem::take(&mut self.uris);
        if uris.is_empty() {
            return;
        }
        let (upstreams, visitor) = (self.upstreams.clone(), self.visitor.clone());
        // Without a runtime everything ends anyway.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move { end(&upstreams, &visitor, uris).await });
        }
    }
}

async fn end(upstreams: &Arc<dyn Upstreams>, visitor: &Arc<Visitor>, uris: Vec<String>) {
    for uri in uris {
        let mut counts = visitor.subscriptions.0.lock().await;
        match counts.get_mut(&uri) {
            Some(wanted) if *wanted > 1 => *wanted -= 1,
            _ => {
                counts.remove(&uri);
                pass(upstreams, visitor, method::RESOURCES_UNSUBSCRIBE, &uri).await;
            }
        }
    }
}

/// Tells the gate; says whether a server took it.
async fn pass(
    upstreams: &Arc<dyn Upstreams>,
    visitor: &Arc<Visitor>,
    method: &str,
    uri: &str,
) -> bool {
    let params = format!("{{\"uri\":{}}}", string::encode(uri));
    let request = build::request("0", method, Some(params.as_bytes()));
    let Ok(request) = Frame::parse(request, &Limits::default()) else { return false };
    let port = Arc::new(Deaf(visitor.caller.id.scope()));
    let answer = upstreams.clone().pass(request, visitor.caller.clone(), port).await;
    answer.is_ok_and(|answer| answer.kind() == Kind::Response)
}

/// Nobody to tell or to ask: a subscription needs neither.
struct Deaf(Scope);

impl Interactor for Deaf {
    fn scope(&self) -> Scope {
        self.0
    }

    fn tell(&self, _event: Frame) {}

    fn ask(&self, _question: Question) -> BoxFuture<'_, Answer> {
        Box::pin(std::future::ready(Answer::Unsupported))
    }

    fn capabilities(&self) -> Bytes {
        Bytes::from_static(b"{}")
    }
}
