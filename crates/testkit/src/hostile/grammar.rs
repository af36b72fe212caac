//! Bytes that two readers may understand differently (T30), and one that costs a stack (T31).
//!
//! Where an answer says two things, the honest text is `triggered` and the other is `smuggled`.

use bytes::Bytes;

use super::act::{Play, acts, raw, says};
use super::scene::{Scene, text_result};

const DEPTH: usize = 10_000;

pub(super) fn deep(scene: &Scene) -> Play {
    let nest = "[".repeat(DEPTH) + &"]".repeat(DEPTH);
    says(Bytes::from(format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[],"structuredContent":{{"nest":{nest}}}}}}}"#,
        scene.id()
    )))
}

pub(super) fn duplicate_keys(scene: &Scene) -> Play {
    says(with_members(scene, &[("id", "0"), ("result", &smuggled())]))
}

pub(super) fn case_variants(scene: &Scene) -> Play {
    // The long s folds to `s` in readers that compare keys without case.
    let other = smuggled();
    let variants =
        [("ID", "0"), ("Result", &*other), ("RESULT", &*other), ("re\u{17f}ult", &*other)];
    says(with_members(scene, &variants))
}

/// The ordinary answer with more members at its end.
fn with_members(scene: &Scene, members: &[(&str, &str)]) -> Bytes {
    let ordinary = scene.ordinary();
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

pub(super) fn latin1(scene: &Scene) -> Play {
    let mut message = scene.text("caf%").to_vec();
    if let Some(place) = message.iter_mut().find(|byte| **byte == b'%') {
        *place = 0xe9;
    }
    says(message.into())
}

pub(super) fn batch(scene: &Scene) -> Play {
    let note = br#"[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"in a batch"}},"#;
    says([note, &scene.ordinary()[..], b"]"].concat().into())
}

pub(super) fn crlf(scene: &Scene) -> Play {
    // The carrier on stdio ends each stream with its newline, so the answer's line ends in CR LF.
    acts([raw([b"\r\n\r\n", &scene.ordinary()[..], b"\r"].concat())])
}
