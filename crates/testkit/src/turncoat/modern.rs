//! The turncoat for 2026-07-28: every request is independent, and a client that wants notifications
//! of changes keeps a request open.

use std::future::pending;
use std::sync::Arc;

use http::HeaderMap;
use serde_json::{Value, json};

use super::legacy::capabilities;
use super::state::{TurncoatState, TurncoatSubscriber};
use super::{TurncoatResult, server_info};
use crate::rpc::{
    LegacyRevision, ResponseOutcome, StatelessService, TestCall, TestNotification, TestRequest,
    TestRpcError, TestService,
};

const REVISION: &str = "2026-07-28";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The stateless server, shared by all clients.
pub(super) struct ModernTurncoat(Arc<TurncoatState>);

impl ModernTurncoat {
    pub(super) fn new(world: Arc<TurncoatState>) -> Self {
        Self(world)
    }

    async fn answer(&self, call: TestCall) -> TurncoatResult {
        let params = call.params.value()?;
        let result = match call.method.as_str() {
            "subscriptions/listen" => return self.listen(call, &params).await,
            "server/discover" => json!({
                "supportedVersions": [REVISION],
                "capabilities": capabilities(),
                "instructions": self.0.instructions(),
            }),
            // This era greets otherwise, and a server of both would not be alone in it.
            "ping" => return Err(TestRpcError::method_not_found("ping")),
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

    async fn listen(&self, call: TestCall, params: &Value) -> TurncoatResult {
        let id = serde_json::from_str(&call.id.0).unwrap_or_default();
        let listener =
            Arc::new(TurncoatSubscription { call, id, wanted: params["notifications"].clone() });
        let acknowledged = json!({ "notifications": listener.wanted });
        listener.tell("notifications/subscriptions/acknowledged", acknowledged);
        self.0.subscribe(&listener);
        // The client ends it by leaving, and with it this future.
        pending().await
    }
}

/// One open subscription request.
struct TurncoatSubscription {
    call: TestCall,
    id: Value,
    wanted: Value,
}

impl TurncoatSubscription {
    fn tell(&self, method: &str, mut params: Value) {
        params["_meta"] = json!({ SUBSCRIPTION: self.id });
        self.call.notify(method, &params);
    }
}

impl TurncoatSubscriber for TurncoatSubscription {
    fn list_changed(&self, list: &str) {
        if self.wanted[format!("{list}ListChanged")] == true {
            self.tell(&format!("notifications/{list}/list_changed"), json!({}));
        }
    }
}

impl TestService for ModernTurncoat {
    async fn call(self: Arc<Self>, call: TestCall) -> ResponseOutcome {
        self.answer(call).await.into()
    }

    fn on_notification(self: Arc<Self>, _notification: TestNotification) {}

    fn revision(&self) -> Option<LegacyRevision> {
        None
    }
}

impl StatelessService for ModernTurncoat {
    fn admit(&self, _headers: &HeaderMap, _request: &TestRequest) -> Result<(), TestRpcError> {
        Ok(())
    }
}
