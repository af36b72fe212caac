//! Modes with messages that two parsers may read differently (T30), or that exhaust the stack
//! (T31).
//!
//! If an answer has two readings, the legitimate text is `triggered` and the other is `smuggled`.

use bytes::Bytes;

use super::action::{HostileActionSequence, action_sequence, raw, single_message};
use super::context::{HookContext, text_result};

const DEPTH: usize = 10_000;

pub(super) fn deep(scene: &HookContext) -> HostileActionSequence {
    let nest = "[".repeat(DEPTH) + &"]".repeat(DEPTH);
    single_message(Bytes::from(format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[],"structuredContent":{{"nest":{nest}}}}}}}"#,
        scene.id()
    )))
}

pub(super) fn duplicate_keys(scene: &HookContext) -> HostileActionSequence {
    single_message(with_members(scene, &[("id", "0"), ("result", &smuggled())]))
}

pub(super) fn case_variants(scene: &HookContext) -> HostileActionSequence {
    // The long s folds to `s` in readers that compare keys without case.
    let other = smuggled();
    let variants =
        [("ID", "0"), ("Result", &*other), ("RESULT", &*other), ("re\u{17f}ult", &*other)];
    single_message(with_members(scene, &variants))
}

/// The ordinary answer with more members at its end.
fn with_members(scene: &HookContext, members: &[(&str, &str)]) -> Bytes {
    let ordinary = scene.ordinary_response();
    let mut message = ordinary[..ordinary.len() - 1].to_vec();
    for (key, value) in members {
        message.extend_from_slice(format!(",\"{key}\":{value}").as_bytes());
    }
    message.push(b'}');
    message.into()
}

fn smuggled() -> String {
    text_result("smuggled").to_string()
}

pub(super) fn latin1(scene: &HookContext) -> HostileActionSequence {
    let mut message = scene.text("caf%").to_vec();
    if let Some(place) = message.iter_mut().find(|byte| **byte == b'%') {
        *place = 0xe9;
    }
    single_message(message.into())
}

pub(super) fn batch(scene: &HookContext) -> HostileActionSequence {
    let note = br#"[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"in a batch"}},"#;
    single_message([note, &scene.ordinary_response()[..], b"]"].concat().into())
}

pub(super) fn crlf(scene: &HookContext) -> HostileActionSequence {
    // The carrier on stdio ends each stream with its newline, so the answer's line ends in CR LF.
    action_sequence([raw([b"\r\n\r\n", &scene.ordinary_response()[..], b"\r"].concat())])
}
