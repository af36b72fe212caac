//! Messages that are valid JSON but rejected.

use proptest::prelude::*;
use toolgate_wire::{Frame, WireErrorKind};

use crate::{read, strategies};

fn fault(json: &str) -> WireErrorKind {
    read(json).expect_err(json).kind()
}

#[test]
fn an_envelope_must_be_one_of_the_four_kinds() {
    let table = [
        (r#"[]"#, WireErrorKind::NotAnObject),
        (r#""x""#, WireErrorKind::NotAnObject),
        (r#"{}"#, WireErrorKind::Version),
        (r#"{"id":1,"method":"x"}"#, WireErrorKind::Version),
        (r#"{"jsonrpc":"1.0","id":1,"method":"x"}"#, WireErrorKind::Version),
        (r#"{"jsonrpc":2.0,"id":1,"method":"x"}"#, WireErrorKind::Version),
        (r#"{"jsonrpc":"2.0"}"#, WireErrorKind::Nothing),
        (r#"{"jsonrpc":"2.0","id":1}"#, WireErrorKind::Nothing),
        (r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{}}"#, WireErrorKind::Ambiguous),
        (r#"{"jsonrpc":"2.0","id":1,"result":1,"error":null}"#, WireErrorKind::Ambiguous),
        (r#"{"jsonrpc":"2.0","id":1,"method":"x","result":1}"#, WireErrorKind::Ambiguous),
        (r#"{"jsonrpc":"2.0","id":1,"method":"x","error":{}}"#, WireErrorKind::Ambiguous),
        (r#"{"jsonrpc":"2.0","id":1,"method":null}"#, WireErrorKind::Method),
        (r#"{"jsonrpc":"2.0","id":1,"method":["x"]}"#, WireErrorKind::Method),
        (r#"{"jsonrpc":"2.0","id":1,"method":"x","params":null}"#, WireErrorKind::Params),
        (r#"{"jsonrpc":"2.0","id":1,"method":"x","params":"y"}"#, WireErrorKind::Params),
        (r#"{"jsonrpc":"2.0","result":1}"#, WireErrorKind::Id),
        (r#"{"jsonrpc":"2.0","id":null,"result":1}"#, WireErrorKind::Id),
        (r#"{"jsonrpc":"2.0","id":1,"error":"x"}"#, WireErrorKind::Error),
        (r#"{"jsonrpc":"2.0","id":1,"error":null}"#, WireErrorKind::Error),
    ];
    for (json, expected) in table {
        assert_eq!(fault(json), expected, "{json}");
        assert_eq!(read(json).unwrap_err().code(), -32600, "{json}");
    }
}

#[test]
fn only_strings_and_integers_are_ids() {
    for id in ["null", "true", "1.0", "1.5", "1e3", "-1.0", "{}", "[]", "[1]"] {
        for rest in [r#""method":"x""#, r#""result":{}"#] {
            let json = format!(r#"{{"jsonrpc":"2.0","id":{id},{rest}}}"#);
            assert_eq!(fault(&json), WireErrorKind::Id, "{json}");
            assert_eq!(read(&json).unwrap_err().id(), None);
        }
    }
    for id in ["0", "-1", "18446744073709551616", "\"\"", "\"a\\u0062\""] {
        let json = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x"}}"#);
        assert_eq!(read(&json).unwrap().id().unwrap().raw(), id);
    }
}

#[test]
fn a_refusal_names_the_id_wherever_it_stands() {
    for json in [
        r#"{"id":"q","jsonrpc":"2.0","method":"x","params":{"a":1,"a":2}}"#,
        r#"{"jsonrpc":"2.0","method":"x","params":{"a":1,"a":2},"id":"q"}"#,
        r#"{"jsonrpc":"1.0","method":"x","id":"q"}"#,
        r#"{"jsonrpc":"2.0","id":"q","method":7}"#,
        r#"{"jsonrpc":"2.0","id":"q","method":"x","params":{"#,
        r#"{"jsonrpc":"2.0","id":"q","method":"x"} trailing"#,
    ] {
        assert_eq!(read(json).unwrap_err().id().unwrap().raw(), "\"q\"", "{json}");
    }
}

#[test]
fn an_id_that_is_doubtful_is_not_named() {
    for json in [
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"x","i\u0064":1}"#,
        r#"{"jsonrpc":"2.0","id":12"#,
        r#"{"jsonrpc":"2.0","id":"12"#,
        r#"[{"jsonrpc":"2.0","id":1}]"#,
    ] {
        assert_eq!(read(json).unwrap_err().id(), None, "{json}");
        assert_eq!(Frame::peek_id(json.as_bytes()), None, "{json}");
    }
    assert_eq!(Frame::peek_id(b"{\"id\":12,").unwrap().as_u64(), Some(12));
    assert_eq!(Frame::peek_id(b"{\"id\":12,\"result\":\"\xff").unwrap().as_u64(), Some(12));
}

#[test]
fn a_duplicate_key_in_the_envelope_is_refused() {
    for json in [
        r#"{"jsonrpc":"2.0","method":"ping","method":"tools/call","id":1}"#,
        r#"{"jsonrpc":"2.0","method":"ping","m\u0065thod":"tools/call","id":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"x":1,"x":1}"#,
        r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"result":{}}"#,
    ] {
        assert!(matches!(fault(json), WireErrorKind::DuplicateKey(_)), "{json}");
    }
}

#[test]
fn a_duplicate_key_is_refused_at_any_depth_of_params_only() {
    let shapes = [
        r#"{"a":1,"a":2}"#,
        r#"{"name":1,"na\u006de":2}"#,
        r#"{"\ud83d\ude00":1,"😀":2}"#,
        r#"{"x":[[{"b":{"a":1,"c":0,"\u0061":2}}]]}"#,
        r#"[{"a":1,"a":1}]"#,
        r#"{"_meta":{"progressToken":1,"progressToken":2}}"#,
        r#"{"_meta":{"x":{"":1,"":2}}}"#,
    ];
    for shape in shapes {
        for id in ["", r#""id":1,"#] {
            let call = format!(r#"{{"jsonrpc":"2.0",{id}"method":"x","params":{shape}}}"#);
            assert!(matches!(fault(&call), WireErrorKind::DuplicateKey(_)), "{call}");
        }
        assert!(read(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{shape}}}"#)).is_ok());
        assert!(read(format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"data":{shape}}}}}"#)).is_ok());
    }
}

#[test]
fn equal_keys_of_different_objects_are_no_duplicates() {
    let json = r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"id":1,"method":{"id":{"id":2}},"a":[{"id":1},{"id":1}]}}"#;
    assert!(read(json).is_ok());
}

#[test]
fn a_duplicate_among_many_keys_is_found_in_linear_time() {
    let object = |last: &str| {
        let keys: String = (0..60_000).map(|n| format!(r#""k{n}":0,"#)).collect();
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{{keys}"{last}":0}}}}"#)
    };
    assert!(read(object("other")).is_ok());
    for last in ["k0", "k15", "k16", "k17", "k59999", "\\u006b59999", "\\u006b3"] {
        assert!(matches!(fault(&object(last)), WireErrorKind::DuplicateKey(_)), "{last}");
    }
}

#[test]
fn a_key_that_only_a_careless_peer_would_read_is_refused() {
    for json in [
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"x","paramſ":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"x","param\u017f":{}}"#,
        r#"{"jsonrpc":"2.0","ID":1,"method":"x"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","Name":"b"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","argumentſ":{}}}"#,
        r#"{"params":{"uri":"a","URI":"b"},"jsonrpc":"2.0","id":1,"method":"resources/read"}"#,
    ] {
        assert!(matches!(fault(json), WireErrorKind::LookalikeKey(_)), "{json}");
    }
    // Where no decision depends on the key, its case does not matter.
    for json in [
        r#"{"jsonrpc":"2.0","id":1,"method":"custom","params":{"name":"a","Name":"b"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"n":1,"N":2}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"a":1,"A":2},"extra":true}"#,
    ] {
        assert!(read(json).is_ok(), "{json}");
    }
}

/// Puts `inner` somewhere inside.
fn buried(inner: String, path: &[bool]) -> String {
    path.iter().fold(inner, |inner, array| {
        if *array { format!("[0,{inner}]") } else { format!(r#"{{"z":1,"y":{inner}}}"#) }
    })
}

proptest! {
    #[test]
    fn any_repeated_key_is_found_however_it_is_spelled(
        members in strategies::members(),
        key in "[a-z]{1,6}",
        escape in any::<bool>(),
        path in proptest::collection::vec(any::<bool>(), 0..8),
    ) {
        // The strategy numbers its keys, so these two are the only ones that are equal.
        let spelled: String = if escape {
            key.chars().map(|char| format!("\\u{:04X}", u32::from(char))).collect()
        } else {
            key.clone()
        };
        let body = members.trim().strip_prefix('{').unwrap();
        let comma = if body.trim() == "}" { "" } else { "," };
        let twice = format!(r#"{{"{key}":1,"{spelled}":2{comma}{body}"#);
        let once = format!(r#"{{"{key}":1{comma}{body}"#);
        let call = |params: String| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"p":{params}}}}}"#);
        prop_assert!(read(call(buried(once, &path))).is_ok());
        let refused = read(call(buried(twice, &path))).unwrap_err();
        prop_assert!(matches!(refused.kind(), WireErrorKind::DuplicateKey(_)));
        prop_assert_eq!(refused.id().unwrap().as_u64(), Some(1));
    }
}
