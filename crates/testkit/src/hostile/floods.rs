//! Modes that flood the client with bytes, lines or messages (T26), as fast as it reads.

use std::iter::{once, once_with, repeat_with};
use std::time::Duration;

use bytes::Bytes;
use serde_json::json;

use super::action::{ByteChunks, HostileAction, HostileActionSequence, action_sequence, raw};
use super::context::{HookContext, notification};

const CHUNK: usize = 64 * 1024;
const HUGE_LIST: usize = 20_000;

pub(super) fn no_newline(_: &HookContext) -> HostileActionSequence {
    let chunk = Bytes::from(vec![b'x'; CHUNK]);
    let endless: ByteChunks = Box::new(repeat_with(move || chunk.clone()));
    action_sequence([HostileAction::Stream(endless, Duration::ZERO)])
}

pub(super) fn big_line(scene: &HookContext) -> HostileActionSequence {
    let frame = scene.text("%");
    filled(&frame, b'x', scene.shared.options.bytes)
}

pub(super) fn base64(scene: &HookContext) -> HostileActionSequence {
    let image = json!({ "type": "image", "mimeType": "image/png", "data": "%" });
    filled(&scene.result(&json!({ "content": [image] })), b'A', scene.shared.options.bytes)
}

/// The frame with its `%` replaced by so many bytes, never whole in memory.
fn filled(frame: &Bytes, filler: u8, bytes: usize) -> HostileActionSequence {
    let middle = frame.iter().position(|byte| *byte == b'%').unwrap_or(0);
    let (head, tail) = (frame.slice(..middle), frame.slice(middle + 1..));
    let chunk = Bytes::from(vec![filler; CHUNK]);
    let body = (0..bytes.div_ceil(CHUNK))
        .map(move |number| chunk.slice(..CHUNK.min(bytes - number * CHUNK)));
    let chunks: ByteChunks = Box::new(once(head).chain(body).chain(once(tail)));
    action_sequence([HostileAction::Stream(chunks, Duration::ZERO)])
}

pub(super) fn stderr(_: &HookContext) -> HostileActionSequence {
    let lines = "ERROR this line says nothing and there is no end to it\n".repeat(100);
    let lines = Bytes::from(lines);
    Box::new(repeat_with(move || HostileAction::Stderr(lines.clone())))
}

pub(super) fn noise(_: &HookContext) -> HostileActionSequence {
    action_sequence([
        raw("npm warn deprecated: this is not JSON"),
        raw("{\"level\":\"info\",\"message\":\"this is JSON but no JSON-RPC\"}"),
        raw("{\"jsonrpc\":\"2.0\",\"id\":"),
        raw(""),
    ])
}

pub(super) fn noise_around(scene: &HookContext) -> HostileActionSequence {
    let answer = scene.ordinary_response();
    let before = once(raw("Debugger attached."));
    let after = once_with(|| raw("\u{1b}[33mwarning\u{1b}[0m: still not JSON"));
    Box::new(before.chain(once(HostileAction::Message(answer))).chain(after))
}

pub(super) fn progress(scene: &HookContext) -> HostileActionSequence {
    let token = scene.progress_token();
    Box::new((1_u64..).map(move |progress| {
        let params = json!({ "progressToken": token, "progress": progress });
        HostileAction::Message(notification("notifications/progress", &params))
    }))
}

pub(super) fn huge_list(scene: &HookContext) -> HostileActionSequence {
    let padding = "all work and no play makes a long description ".repeat(26);
    let tool = |number| {
        json!({
            "name": format!("tool_{number:05}"),
            "description": padding,
            "inputSchema": { "type": "object" },
        })
    };
    let tools: Vec<_> = (0..HUGE_LIST).map(tool).collect();
    action_sequence([HostileAction::Message(scene.tools(&tools))])
}
