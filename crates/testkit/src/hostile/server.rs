//! From a message to the play that follows it: the mode's hook for that phase, or the ordinary
//! answer.
//!
//! It does NOT perform; a carrier does, because only it knows where the bytes go.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;

use super::act::{Play, says};
use super::modes::{Hook, Mode, Phase};
use super::scene::{Incoming, Scene, World};

/// A server in one mode.
#[derive(Clone)]
pub(super) struct Server {
    mode: &'static Mode,
    pub(super) world: Arc<World>,
}

impl Server {
    pub(super) fn new(mode: &'static Mode, world: Arc<World>) -> Self {
        Server { mode, world }
    }

    /// What happens before the first message.
    pub(super) fn start(&self) -> Option<Play> {
        Some(self.hook(Phase::Start)?(&self.scene(Incoming::default())))
    }

    /// What follows a message; nothing follows a notification or an answer.
    pub(super) fn receive(&self, message: &[u8]) -> Option<Play> {
        let Ok(incoming) = serde_json::from_slice::<Incoming>(message) else {
            let error =
                br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"unreadable"}}"#;
            return Some(says(Bytes::from_static(error)));
        };
        match (&incoming.id, &incoming.method) {
            (Some(_), Some(_)) => Some(self.answer(self.scene(incoming))),
            (Some(_), None) => {
                self.world.note_answer(&incoming);
                None
            }
            (None, _) => None,
        }
    }

    fn answer(&self, scene: Scene) -> Play {
        let Some(phase) = phase_of(&scene.request) else {
            return says(scene.ordinary());
        };
        if phase == Phase::Call {
            scene.world.triggered.fetch_add(1, Ordering::Relaxed);
        }
        match self.hook(phase) {
            Some(hook) => hook(&scene),
            None => says(scene.ordinary()),
        }
    }

    /// The hook at a phase. With `--at`, the mode's first hook stands there and nowhere else.
    fn hook(&self, phase: Phase) -> Option<Hook> {
        match self.world.options.at {
            Some(moved) => {
                (phase == moved).then(|| self.mode.hooks.first().map(|(_, hook)| *hook))?
            }
            None => self.mode.hooks.iter().find(|(at, _)| *at == phase).map(|(_, hook)| *hook),
        }
    }

    fn scene(&self, request: Incoming) -> Scene {
        Scene { request, world: Arc::clone(&self.world) }
    }
}

fn phase_of(request: &Incoming) -> Option<Phase> {
    match request.method.as_deref()? {
        "initialize" => Some(Phase::Initialize),
        "tools/list" => Some(Phase::List),
        "tools/call" if request.params["name"] == "trigger" => Some(Phase::Call),
        _ => None,
    }
}
