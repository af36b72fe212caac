//! The turncoat for the revisions that open with `initialize`.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::world::{Ear, World};
use super::{Answer, server_info};
use crate::rpc::{Call, Notification, Outcome, Peer, Revision, Service, lock};

/// One client's session.
pub(super) struct Legacy {
    world: Arc<World>,
    newest: Revision,
    agreed: Mutex<Option<Revision>>,
    peer: Arc<Peer>,
}

impl Legacy {
    pub(super) fn open(world: &Arc<World>, newest: Revision, peer: Arc<Peer>) -> Arc<Self> {
        let agreed = Mutex::default();
        let session = Arc::new(Self { world: Arc::clone(world), newest, agreed, peer });
        world.join(&session);
        session
    }

    fn answer(&self, call: &Call) -> Answer {
        let params = call.params.value()?;
        match call.method.as_str() {
            "initialize" => Ok(self.initialize(&params)),
            method => self.world.answer(method, &params, call.params.raw()),
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
            "instructions": self.world.instructions(),
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

impl Ear for Legacy {
    fn list_changed(&self, list: &str) {
        self.peer.notify(&format!("notifications/{list}/list_changed"), &json!({}));
    }
}

impl Service for Legacy {
    async fn call(self: Arc<Self>, call: Call) -> Outcome {
        self.answer(&call).into()
    }

    fn notified(self: Arc<Self>, _notification: Notification) {}

    fn revision(&self) -> Option<Revision> {
        *lock(&self.agreed)
    }
}
