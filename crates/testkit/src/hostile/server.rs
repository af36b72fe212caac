//! Chooses the actions for a message: from the mode's hook for that phase, or the ordinary answer.
//!
//! The transports perform the actions.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;

use super::action::{HostileActionSequence, single_message};
use super::context::{HookContext, HostileState, IncomingMessage};
use super::modes::{HostileHook, HostileMode, HostilePhase};

/// A hostile server in one mode.
#[derive(Clone)]
pub(super) struct HostileServer {
    mode: &'static HostileMode,
    pub(super) shared: Arc<HostileState>,
}

impl HostileServer {
    pub(super) fn new(mode: &'static HostileMode, world: Arc<HostileState>) -> Self {
        HostileServer { mode, shared: world }
    }

    /// What happens before the first message.
    pub(super) fn start(&self) -> Option<HostileActionSequence> {
        Some(self.hook(HostilePhase::Start)?(&self.scene(IncomingMessage::default())))
    }

    /// What follows a message; nothing follows a notification or an answer.
    pub(super) fn receive(&self, message: &[u8]) -> Option<HostileActionSequence> {
        let Ok(incoming) = serde_json::from_slice::<IncomingMessage>(message) else {
            let error =
                br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"unreadable"}}"#;
            return Some(single_message(Bytes::from_static(error)));
        };
        match (&incoming.id, &incoming.method) {
            (Some(_), Some(_)) => Some(self.answer(self.scene(incoming))),
            (Some(_), None) => {
                self.shared.note_answer(&incoming);
                None
            }
            (None, _) => None,
        }
    }

    fn answer(&self, scene: HookContext) -> HostileActionSequence {
        let Some(phase) = phase_of(&scene.request) else {
            return single_message(scene.ordinary_response());
        };
        if phase == HostilePhase::Call {
            scene.shared.triggered.fetch_add(1, Ordering::Relaxed);
        }
        match self.hook(phase) {
            Some(hook) => hook(&scene),
            None => single_message(scene.ordinary_response()),
        }
    }

    /// The hook at a phase. With `--at`, the mode's first hook stands there and nowhere else.
    fn hook(&self, phase: HostilePhase) -> Option<HostileHook> {
        match self.shared.options.at {
            Some(moved) => {
                (phase == moved).then(|| self.mode.hooks.first().map(|(_, hook)| *hook))?
            }
            None => self.mode.hooks.iter().find(|(at, _)| *at == phase).map(|(_, hook)| *hook),
        }
    }

    fn scene(&self, request: IncomingMessage) -> HookContext {
        HookContext { request, shared: Arc::clone(&self.shared) }
    }
}

fn phase_of(request: &IncomingMessage) -> Option<HostilePhase> {
    match request.method.as_deref()? {
        "initialize" => Some(HostilePhase::Initialize),
        "tools/list" => Some(HostilePhase::List),
        "tools/call" if request.params["name"] == "trigger" => Some(HostilePhase::Call),
        _ => None,
    }
}
