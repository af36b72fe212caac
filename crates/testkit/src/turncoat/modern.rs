//! The turncoat for 2026-07-28: every request stands for itself, and who wants to hear of changes
//! keeps a request open.

use std::future::pending;
use std::sync::Arc;

use http::HeaderMap;
use serde_json::{Value, json};

use super::legacy::capabilities;
use super::world::{Ear, World};
use super::{Answer, server_info};
use crate::rpc::{Call, Fault, Notification, Outcome, Request, Revision, Service, Stateless};

const REVISION: &str = "2026-07-28";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The server, for everybody alike.
pub(super) struct Modern(Arc<World>);

impl Modern {
    pub(super) fn new(world: Arc<World>) -> Self {
        Self(world)
    }

    async fn answer(&self, call: Call) -> Answer {
        let params = call.params.value()?;
        let result = match call.method.as_str() {
            "subscriptions/listen" => return self.listen(call, &params).await,
            "server/discover" => json!({
                "supportedVersions": [REVISION],
                "capabilities": capabilities(),
                "instructions": self.0.instructions(),
            }),
            // This era greets otherwise, and a server of both would not be alone in it.
            "ping" => return Err(Fault::method_not_found("ping")),
            method => self.0.answer(method, &params, call.params.raw())?,
        };
        Ok(self.dressed(&call.method, result))
    }

    /// The same result with what this revision wants in every result.
    fn dressed(&self, method: &str, mut result: Value) -> Value {
        result["resultType"] = json!("complete");
        if !matches!(method, "tools/call" | "prompts/get") {
            result["ttlMs"] = json!(self.0.ttl);
            result["cacheScope"] = json!("public");
        }
        result["_meta"]["io.modelcontextprotocol/serverInfo"] = server_info();
        result
    }

    async fn listen(&self, call: Call, params: &Value) -> Answer {
        let id = serde_json::from_str(&call.id.0).unwrap_or_default();
        let listener = Arc::new(Listener { call, id, wanted: params["notifications"].clone() });
        let acknowledged = json!({ "notifications": listener.wanted });
        listener.tell("notifications/subscriptions/acknowledged", acknowledged);
        self.0.join(&listener);
        // The client ends it by leaving, and with it this future.
        pending().await
    }
}

/// One open request and what it is open for.
struct Listener {
    call: Call,
    id: Value,
    wanted: Value,
}

impl Listener {
    fn tell(&self, method: &str, mut params: Value) {
        params["_meta"] = json!({ SUBSCRIPTION: self.id });
        self.call.notify(method, &params);
    }
}

impl Ear for Listener {
    fn list_changed(&self, list: &str) {
        if self.wanted[format!("{list}ListChanged")] == true {
            self.tell(&format!("notifications/{list}/list_changed"), json!({}));
        }
    }
}

impl Service for Modern {
    async fn call(self: Arc<Self>, call: Call) -> Outcome {
        self.answer(call).await.into()
    }

    fn notified(self: Arc<Self>, _notification: Notification) {}

    fn revision(&self) -> Option<Revision> {
        None
    }
}

impl Stateless for Modern {
    fn admit(&self, _headers: &HeaderMap, _request: &Request) -> Result<(), Fault> {
        Ok(())
    }
}
