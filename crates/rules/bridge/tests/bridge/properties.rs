//! Properties of every result.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolgate_bridge::{ResponseTranslation, mark_private, translate_error, translate_result};
use toolgate_wire::{Era, Revision};

use crate::{LEGACY, MODERN, response};

fn method() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["tools/call", "resources/read", "prompts/get", "skills/list", "x/y"])
}

fn revision() -> impl Strategy<Value = Revision> {
    prop::sample::select(Revision::ALL.to_vec())
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let key = prop_oneof!["[a-z]{1,3}", "type", "uri", "_meta", "content"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A result with the members that the bridge reads, of any type, among others.
fn any_result() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        "[a-z]{1,4}",
        prop::sample::select(vec![
            "resultType",
            "ttlMs",
            "cacheScope",
            "_meta",
            "content",
            "messages",
            "contents",
            "structuredContent",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec((key, json()), 0..8)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
}

/// A well-behaved legacy result: no modern members.
fn legacy_result() -> impl Strategy<Value = Value> {
    any_result().prop_map(|mut result| {
        let members: &mut Map<String, Value> = result.as_object_mut().unwrap();
        for modern in ["resultType", "ttlMs", "cacheScope"] {
            members.remove(modern);
        }
        // Legacy output is an object; an empty `_meta` says nothing.
        members.retain(|key, value| key != "structuredContent" || value.is_object());
        members.retain(|key, value| key != "_meta" || *value != json!({}));
        result
    })
}

proptest! {
    #[test]
    fn the_same_revision_is_the_same_bytes(
        said in any_result(), method in method(), at in revision(),
    ) {
        let before = response(&said);
        let passage = ResponseTranslation { method, from: at, to: at };
        let after = translate_error(translate_result(before.clone(), &passage, None), &passage);
        prop_assert_eq!(after.bytes().as_ptr(), before.bytes().as_ptr());
    }

    #[test]
    fn there_and_back_a_legacy_result_is_what_it_was(
        said in legacy_result(), method in method(),
    ) {
        let there = ResponseTranslation { method, from: LEGACY, to: MODERN };
        let back = ResponseTranslation { method, from: MODERN, to: LEGACY };
        let shown = translate_result(translate_result(response(&said), &there, None), &back, None);
        let shown: Value = serde_json::from_slice(shown.result().unwrap()).unwrap();
        prop_assert_eq!(shown, said);
    }

    #[test]
    fn a_modern_caller_always_learns_the_type_and_a_second_crossing_changes_nothing(
        said in any_result(), method in method(), from in revision(), to in revision(),
    ) {
        let passage = ResponseTranslation { method, from, to };
        let once = translate_result(response(&said), &passage, None);
        let shown: Value = serde_json::from_slice(once.result().unwrap()).unwrap();
        if to.era() == Era::Modern && from.era() == Era::Legacy {
            prop_assert!(shown.get("resultType").is_some());
        }
        if from.era() == Era::Legacy {
            let twice = translate_result(once.clone(), &passage, None);
            prop_assert_eq!(twice.bytes(), once.bytes());
        }
    }

    #[test]
    fn what_is_one_callers_own_never_says_public(said in any_result(), method in method()) {
        let passage = ResponseTranslation { method: "resources/read", from: MODERN, to: MODERN };
        let shown = mark_private(response(&said), &passage);
        let shown: Value = serde_json::from_slice(shown.result().unwrap()).unwrap();
        prop_assert_eq!(&shown["cacheScope"], "private");
        let elsewhere = ResponseTranslation { method, from: MODERN, to: LEGACY };
        let before = response(&said);
        let after = mark_private(before.clone(), &elsewhere);
        prop_assert_eq!(after.bytes(), before.bytes());
    }
}
