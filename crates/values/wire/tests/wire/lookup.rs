//! Lazy lookup agrees with a full parse.

use proptest::prelude::*;
use serde_json::{Value, value::RawValue};
use toolgate_wire::{
    scan, string,
    view::{LogLevel, LogMessageParams, TaskSupport, ToolHints},
};

use crate::strategies;

#[test]
fn paths_lead_to_values() {
    let json = br#" {"a" : {"b":[1, {"c":"d"} ,"]"]}, "x":"\"}", "\u0079":null} "#;
    assert_eq!(scan::pointer(json, &["a", "b"]).unwrap().slice(json), br#"[1, {"c":"d"} ,"]"]"#);
    assert_eq!(scan::member(json, "x").unwrap().slice(json), br#""\"}""#);
    assert_eq!(scan::member(json, "y").unwrap().slice(json), b"null");
    assert_eq!(scan::member(json, "z"), None);
    assert_eq!(scan::pointer(json, &["x", "b"]), None);
    let array = scan::pointer(json, &["a", "b"]).unwrap().slice(json);
    let elements: Vec<_> = scan::elements(array).map(|span| span.slice(array)).collect();
    assert_eq!(elements, [&b"1"[..], br#"{"c":"d"}"#, br#""]""#]);
    assert_eq!(scan::member_text(json, "x").unwrap(), "\"}");
}

#[test]
fn the_last_of_repeated_keys_counts() {
    let json = br#"{"a":1,"\u0061":2}"#;
    assert_eq!(scan::member(json, "a").unwrap().slice(json), b"2");
    assert!(!scan::is_unambiguous(json));
}

#[test]
fn a_tool_is_seen_through_its_oddities() {
    let tool = br#"{"title":7,"name":"\u0061","x":{},"annotations":{"readOnlyHint":true,"destructiveHint":"no","title":"T"},"execution":{"taskSupport":"optional"},"inputSchema":{"type":"object"}}"#;
    let hints = ToolHints::of(tool);
    assert_eq!(hints.read_only, Some(true));
    assert_eq!(hints.destructive, None);
    assert_eq!(TaskSupport::of(tool), TaskSupport::Optional);
    assert_eq!(ToolHints::of(b"[]"), ToolHints::default());
    assert_eq!(TaskSupport::of(b"[]"), TaskSupport::Forbidden);
}

#[test]
fn log_levels_are_ordered() {
    assert!(LogLevel::ALL.is_sorted());
    for level in LogLevel::ALL {
        assert_eq!(level.as_str().parse(), Ok(level));
    }
    let message = LogMessageParams::of(br#"{"level":"warning","data":[1]}"#).unwrap();
    assert_eq!(message.level, Some(LogLevel::Warning));
    assert_eq!(LogMessageParams::of(br#"{"level":"loud"}"#).unwrap().level, None);
}

proptest! {
    #[test]
    fn members_and_elements_are_those_of_a_full_parse(json in strategies::value()) {
        let raw = json.as_bytes();
        match serde_json::from_str::<Value>(&json).unwrap() {
            Value::Object(object) => {
                let seen: Vec<_> = scan::members(raw).collect();
                prop_assert_eq!(seen.len(), object.len());
                for ((key, span), (expected, value)) in seen.iter().zip(&object) {
                    prop_assert_eq!(key, expected);
                    prop_assert_eq!(&serde_json::from_slice::<Value>(span.slice(raw)).unwrap(), value);
                    prop_assert_eq!(scan::member(raw, expected), Some(*span));
                }
            }
            Value::Array(_) => {
                let expected: Vec<&RawValue> = serde_json::from_str(&json).unwrap();
                let seen: Vec<_> = scan::elements(raw).map(|span| span.slice(raw)).collect();
                let expected: Vec<_> = expected.iter().map(|raw| raw.get().as_bytes()).collect();
                prop_assert_eq!(seen, expected);
            }
            Value::String(text) => prop_assert_eq!(string::decode(raw).unwrap(), text),
            _ => prop_assert_eq!(scan::members(raw).count() + scan::elements(raw).count(), 0),
        }
    }

    #[test]
    fn encoding_and_decoding_are_inverse(text in any::<String>()) {
        let raw = string::encode(&text);
        prop_assert_eq!(string::decode(raw.as_bytes()).unwrap(), &*text);
        prop_assert_eq!(serde_json::from_str::<String>(&raw).unwrap(), text);
    }
}
