//! Modes that answer with wrong ids (T29). The content stays correct, so that a test sees which
//! answer arrived where.

use std::iter::once;

use bytes::Bytes;
use serde_json::json;

use super::action::{HostileAction, HostileActionSequence, action_sequence, single_message};
use super::context::{HookContext, text_result};

pub(super) fn wrong(scene: &HookContext) -> HostileActionSequence {
    single_message(scene.ordinary_response_with_id("987654321"))
}

/// A number as a string, and a string as a number.
pub(super) fn other_type(scene: &HookContext) -> HostileActionSequence {
    let id = scene.id();
    let other = match id.strip_prefix('"').and_then(|id| id.strip_suffix('"')) {
        Some(inner) if inner.parse::<u64>().is_ok() => inner.to_owned(),
        Some(_) => "0".to_owned(),
        None => format!("\"{id}\""),
    };
    single_message(scene.ordinary_response_with_id(&other))
}

pub(super) fn null(scene: &HookContext) -> HostileActionSequence {
    single_message(scene.ordinary_response_with_id("null"))
}

pub(super) fn float(scene: &HookContext) -> HostileActionSequence {
    let id = scene.id().trim_matches('"');
    let whole = id.parse::<u64>().unwrap_or_default();
    single_message(scene.ordinary_response_with_id(&format!("{whole}.0")))
}

pub(super) fn twice(scene: &HookContext) -> HostileActionSequence {
    action_sequence([
        HostileAction::Message(scene.ordinary_response()),
        HostileAction::Message(scene.text("the second answer")),
    ])
}

pub(super) fn unsolicited(scene: &HookContext) -> HostileActionSequence {
    let strays = (0..100_u32).map(|number| {
        let answer = json!({
            "jsonrpc": "2.0",
            "id": 900_000_000 + number,
            "result": text_result("nobody asked"),
        });
        HostileAction::Message(Bytes::from(answer.to_string()))
    });
    Box::new(strays.chain(once(HostileAction::Message(scene.ordinary_response()))))
}

#[cfg(test)]
mod tests {
    use super::super::ordinary_scene;
    use super::*;

    fn answered_id(play: HostileActionSequence) -> String {
        let Some(HostileAction::Message(message)) = { play }.next() else { panic!("no message") };
        let answer: super::super::context::IncomingMessage =
            serde_json::from_slice(&message).unwrap();
        answer.id.map_or_else(|| "null".to_owned(), |id| id.get().to_owned())
    }

    #[test]
    fn no_answer_stands_under_the_id_of_the_request() {
        for id in ["7", "\"7\"", "\"seven\""] {
            let scene = ordinary_scene(id);
            for hook in [wrong, other_type, null, float] {
                assert_ne!(answered_id(hook(&scene)), id);
            }
            assert_eq!(answered_id(twice(&scene)), id);
        }
    }

    #[test]
    fn a_number_is_answered_as_a_string_and_a_string_as_a_number() {
        assert_eq!(answered_id(other_type(&ordinary_scene("7"))), "\"7\"");
        assert_eq!(answered_id(other_type(&ordinary_scene("\"7\""))), "7");
        assert_eq!(answered_id(float(&ordinary_scene("7"))), "7.0");
    }
}
