//! Modes that never answer, or answer too slowly (T35). They close no connection, so that the
//! client must time out.

use std::time::Duration;

use bytes::Bytes;
use serde_json::json;

use super::action::{ByteChunks, HostileAction, HostileActionSequence, action_sequence};
use super::context::{HookContext, notification};

const TICK: Duration = Duration::from_millis(100);

pub(super) fn forever(_: &HookContext) -> HostileActionSequence {
    action_sequence([HostileAction::Hang])
}

pub(super) fn drip(scene: &HookContext) -> HostileActionSequence {
    let answer = scene.ordinary_response();
    let drops: ByteChunks =
        Box::new((0..answer.len()).map(move |at| Bytes::copy_from_slice(&answer[at..=at])));
    action_sequence([HostileAction::Stream(drops, TICK)])
}

pub(super) fn progress(scene: &HookContext) -> HostileActionSequence {
    let token = scene.progress_token();
    Box::new((1_u64..).flat_map(move |progress| {
        let params = json!({ "progressToken": token, "progress": progress });
        [
            HostileAction::Message(notification("notifications/progress", &params)),
            HostileAction::Pause(TICK),
        ]
    }))
}
