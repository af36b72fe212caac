//! Edits change exactly the bytes they name.

use proptest::{collection::vec, prelude::*, sample::Index};
use serde_json::{Map, Value};
use toolgate_wire::{JsonEdit, Span, WireErrorKind, build, scan};

use crate::{read, strategies};

fn whole(json: &str) -> Span {
    Span::new(0, json.len())
}

fn finished(splice: JsonEdit<'_>) -> String {
    String::from_utf8(splice.finish().unwrap().to_vec()).unwrap()
}

#[test]
fn members_are_inserted_at_the_head() {
    for (json, expected) in [
        ("{}", r#"{"k":1}"#),
        ("{ }", r#"{"k":1 }"#),
        (r#"{"a":0}"#, r#"{"k":1,"a":0}"#),
        ("{\n  \"a\":0}", "{\"k\":1,\n  \"a\":0}"),
    ] {
        assert_eq!(
            finished(JsonEdit::new(json.as_bytes()).insert_member(whole(json), "k", "1")),
            expected
        );
    }
    let both = JsonEdit::new(b"{}").insert_member(whole("{}"), "a", "1").insert_member(
        whole("{}"),
        "q\"",
        "2",
    );
    assert_eq!(finished(both), r#"{"q\"":2,"a":1}"#);
}

#[test]
fn members_are_deleted_with_their_comma() {
    let json = r#"{ "a":1 , "b":{"a":2}, "c" : 3 }"#;
    let without = |keys: &[&str]| {
        let splice = JsonEdit::new(json.as_bytes());
        finished(keys.iter().fold(splice, |splice, key| splice.delete_member(whole(json), key)))
    };
    assert_eq!(without(&["a"]), r#"{ "b":{"a":2}, "c" : 3 }"#);
    assert_eq!(without(&["b"]), r#"{ "a":1 , "c" : 3 }"#);
    assert_eq!(without(&["c"]), r#"{ "a":1 , "b":{"a":2} }"#);
    assert_eq!(without(&["b", "c"]), r#"{ "a":1 }"#);
    assert_eq!(without(&["a", "c"]), r#"{ "b":{"a":2} }"#);
    assert_eq!(without(&["a", "b", "c"]), "{  }");
    assert_eq!(without(&["z"]), json);
    let swap = JsonEdit::new(b"{\"a\":1}").delete_member(Span::new(0, 7), "a").insert_member(
        Span::new(0, 7),
        "b",
        "2",
    );
    assert_eq!(finished(swap), r#"{"b":2}"#);
    assert_eq!(
        finished(
            JsonEdit::new(b"{\"a\":1,\"\\u0061\":2,\"b\":3}").delete_member(Span::new(0, 24), "a")
        ),
        r#"{"b":3}"#
    );
}

#[test]
fn edits_that_do_not_fit_are_refused() {
    let json = br#"{"a":[1,2]}"#;
    let refused =
        |splice: JsonEdit<'_>| splice.finish().unwrap_err().kind() == WireErrorKind::Splice;
    let array = Span::new(5, 10);
    assert!(refused(JsonEdit::new(json).replace(array, "0").replace(Span::new(6, 7), "0")));
    assert!(refused(JsonEdit::new(json).replace(Span::new(5, 99), "0")));
    assert!(refused(JsonEdit::new(json).insert_member(array, "k", "0")));
    assert!(refused(JsonEdit::new(json).delete_member(Span::new(0, 11), "a").replace(array, "0")));
    let note = read(build::notification("x", None)).unwrap();
    assert_eq!(
        note.edit().replace_found(note.id_span(), "1").finish().unwrap_err().kind(),
        WireErrorKind::Splice
    );
}

/// A request with its id, name and the rest in some order, and unknown members among them.
fn call() -> impl Strategy<Value = String> {
    let params = (strategies::string(), strategies::members(), strategies::value()).prop_map(
        |(name, arguments, extra)| {
            format!(r#"{{"extra" : {extra},"name": {name}, "arguments":{arguments}}}"#)
        },
    );
    let id = prop_oneof![strategies::string(), "[1-9][0-9]{0,20}"];
    (id, params, strategies::value())
        .prop_flat_map(|(id, params, extra)| {
            Just(vec![
                r#""jsonrpc":"2.0""#.to_owned(),
                format!(r#""id" :{id}"#),
                r#""method":"tools\u002fcall""#.to_owned(),
                format!(r#""params": {params}"#),
                format!(r#""unknown":{extra}"#),
            ])
            .prop_shuffle()
        })
        .prop_map(|members| format!("{{{}}}", members.join(" ,")))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_relayed_call_differs_in_id_name_and_the_new_member_only(json in call()) {
        let frame = read(&json).unwrap();
        let params = frame.params_span().unwrap();
        let relayed = frame
            .edit()
            .replace_found(frame.id_span(), "4711")
            .replace_found(frame.name_span(), "\"other\"")
            .insert_member(params, "added", "[true]")
            .finish()
            .unwrap();

        let mut expected: Value = serde_json::from_str(&json).unwrap();
        expected["id"] = 4711.into();
        expected["params"]["name"] = "other".into();
        expected["params"]["added"] = vec![true].into();
        prop_assert_eq!(serde_json::from_slice::<Value>(&relayed).unwrap(), expected);

        // Reverting the edits yields the original bytes.
        let again = read(&relayed).unwrap();
        let back = again
            .edit()
            .replace_found(again.id_span(), frame.id().unwrap().raw())
            .replace_found(again.name_span(), frame.name_span().unwrap().slice(frame.bytes()))
            .delete_member(again.params_span().unwrap(), "added")
            .finish()
            .unwrap();
        prop_assert_eq!(back, json.as_bytes());
    }

    #[test]
    fn members_come_and_go_as_in_a_map(
        json in strategies::members(),
        gone in vec(any::<Index>(), 0..6),
        new in vec("[a-z]{1,4}", 0..3),
    ) {
        let mut expected: Map<String, Value> = serde_json::from_str(&json).unwrap();
        let keys: Vec<String> = expected.keys().cloned().collect();
        let at = whole(&json);
        let mut splice = JsonEdit::new(json.as_bytes());
        for index in gone.iter().filter(|_| !keys.is_empty()) {
            let key = index.get(&keys);
            splice = splice.delete_member(at, key);
            expected.remove(key);
        }
        for key in new {
            if expected.insert(key.clone(), 1.into()).is_none() {
                splice = splice.insert_member(at, &key, "1");
            }
        }
        let changed = splice.finish().unwrap();
        prop_assert!(scan::is_unambiguous(&changed));
        prop_assert_eq!(serde_json::from_slice::<Map<String, Value>>(&changed).unwrap(), expected);
    }

    #[test]
    fn setting_a_member_replaces_or_adds_it(json in strategies::members(), key in "[0-3]|[a-c]") {
        let mut expected: Map<String, Value> = serde_json::from_str(&json).unwrap();
        expected.insert(key.clone(), "new".into());
        let changed = JsonEdit::new(json.as_bytes()).set_member(whole(&json), &key, "\"new\"").finish().unwrap();
        prop_assert_eq!(serde_json::from_slice::<Map<String, Value>>(&changed).unwrap(), expected);
    }
}
