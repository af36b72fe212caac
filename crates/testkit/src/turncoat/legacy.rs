//! The turncoat for the revisions that open with `initialize`.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::state::{TurncoatState, TurncoatSubscriber};
use super::{TurncoatResult, server_info};
use crate::rpc::{
    ClientPeer, LegacyRevision, ResponseOutcome, TestCall, TestNotification, TestService, lock,
};

/// The session of one legacy client.
pub(super) struct LegacyTurncoat {
    shared: Arc<TurncoatState>,
    newest: LegacyRevision,
    agreed: Mutex<Option<LegacyRevision>>,
    peer: Arc<ClientPeer>,
}

impl LegacyTurncoat {
    pub(super) fn open(
        world: &Arc<TurncoatState>,
        newest: LegacyRevision,
        peer: Arc<ClientPeer>,
    ) -> Arc<Self> {
        let agreed = Mutex::default();
        let session = Arc::new(Self { shared: Arc::clone(world), newest, agreed, peer });
        world.subscribe(&session);
        session
    }

    fn answer(&self, call: &TestCall) -> TurncoatResult {
        let params = call.params.value()?;
        match call.method.as_str() {
            "initialize" => Ok(self.initialize(&params)),
            method => self.shared.answer(method, &params, call.params.raw()),
        }
    }

    fn initialize(&self, params: &Value) -> Value {
        let wanted = params["protocolVersion"].as_str().unwrap_or_default();
        let revision = self.newest.agree(wanted);
        *lock(&self.agreed) = Some(revision);
        json!({
            "protocolVersion": revision.as_str(),
            "capabilities": capabilities(),
            "serverInfo": server_info(),
            "instructions": self.shared.instructions(),
        })
    }
}

/// What the server can do, in both eras.
pub(super) fn capabilities() -> Value {
    json!({
        "tools": { "listChanged": true },
        "prompts": { "listChanged": true },
        "resources": { "listChanged": true },
    })
}

impl TurncoatSubscriber for LegacyTurncoat {
    fn list_changed(&self, list: &str) {
        self.peer.notify(&format!("notifications/{list}/list_changed"), &json!({}));
    }
}

impl TestService for LegacyTurncoat {
    async fn call(self: Arc<Self>, call: TestCall) -> ResponseOutcome {
        self.answer(&call).into()
    }

    fn on_notification(self: Arc<Self>, _notification: TestNotification) {}

    fn revision(&self) -> Option<LegacyRevision> {
        *lock(&self.agreed)
    }
}
