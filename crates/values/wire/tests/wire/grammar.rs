//! The scanner accepts what serde_json accepts, and nothing else.

use proptest::prelude::*;
use serde_json::{Value, value::RawValue};
use toolgate_wire::{MessageLimits, WireErrorKind, scan};

use crate::{read, strategies};

/// Returns true if `serde_json` accepts the text as JSON. Numbers beyond the range of doubles are
/// valid JSON that it does not convert to a value, so its raw reader checks their spelling. Half
/// surrogate pairs are accepted.
fn serde_accepts(json: &[u8]) -> bool {
    serde_json::from_slice::<&RawValue>(json).is_ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn json_is_accepted(json in strategies::value()) {
        prop_assert!(serde_accepts(json.as_bytes()), "the strategy makes JSON: {json}");
        prop_assert!(scan::is_valid(json.as_bytes()), "{json}");
        prop_assert!(scan::is_unambiguous(json.as_bytes()), "{json}");
    }

    #[test]
    fn nearly_json_is_judged_as_serde_json_does(bytes in strategies::nearly_json()) {
        let text = String::from_utf8_lossy(&bytes);
        // An out-of-range number hides later errors from one of its readers.
        prop_assume!(!text.contains(['e', 'E']) || serde_json::from_slice::<Value>(&bytes).is_ok()
            == serde_json::from_slice::<&RawValue>(&bytes).is_ok());
        prop_assert_eq!(scan::is_valid(&bytes), serde_accepts(&bytes), "{}", text);
    }

    #[test]
    fn nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert_eq!(scan::is_valid(&bytes), serde_accepts(&bytes));
        let _ = read(&bytes);
        scan::members(&bytes).for_each(drop);
        scan::elements(&bytes).for_each(drop);
    }
}

const ACCEPTED: &[&str] = &[
    "[]",
    "[ ]",
    "{}",
    "{ }",
    " [] ",
    "\t\r\n[]",
    "0",
    "-0",
    "1",
    "-1",
    "0.0",
    "0e0",
    "0E+1",
    "1e-10",
    "123.456e+78",
    "123123e100000",
    "-1e-400",
    "100000000000000000000000000000000000000",
    "true",
    "false",
    "null",
    "\"\"",
    "\" \"",
    "\"\\\"\"",
    "\"\\\\\"",
    "\"\\/\"",
    "\"\\b\\f\\n\\r\\t\"",
    "\"\\u0000\"",
    "\"\\uD834\\uDD1E\"",
    "\"\\ud834\\udd1e\"",
    "\"\\uDBFF\\uDFFF\"",
    "\"\\uFFFF\"",
    "\"\u{7f}\"",
    "\"\u{2028}\u{2029}\"",
    "\"\u{10FFFF}\"",
    "\"new\u{a0}line\"",
    "[1,2,3]",
    "[[],[]]",
    "[{},{}]",
    "[null,1,\"1\",{}]",
    "{\"\":0}",
    "{\"a\":[]}",
    "{\"a\":{\"b\":{\"c\":1}}}",
    "{ \"a\" : 1 , \"b\" : 2 }",
    "{\"a\\u0000b\":1}",
    "[1\n]",
    "[\"a\\\\\"]",
    "[\"\\\\u0061\"]",
    "{\"min\": -1.0e+28, \"max\": 1.0e+28}",
];

const REFUSED: &[&str] = &[
    "",
    " ",
    "\u{feff}{}",
    "[",
    "]",
    "{",
    "}",
    "[}",
    "{]",
    "[1",
    "[1,",
    "[,",
    "[,1]",
    "[1,]",
    "[1,,2]",
    "[1 2]",
    "[1:2]",
    "[\"a\"",
    "[]]",
    "[] x",
    "[][]",
    "1 2",
    "{}}",
    "{,}",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\":1,}",
    "{\"a\":1,,\"b\":2}",
    "{\"a\" 1}",
    "{\"a\"::1}",
    "{a:1}",
    "{'a':1}",
    "{1:1}",
    "{null:1}",
    "{[]:1}",
    "{\"a\":1 \"b\":2}",
    "{\"a\":1",
    "{\"a\":",
    "{\"a",
    "{\"a\":1]",
    "{\"a\":1}#",
    "{\"a\":1}//",
    "/* */{}",
    "[1]//x",
    "+1",
    "01",
    "-01",
    "00",
    "1.",
    ".1",
    "-.1",
    "-",
    "--1",
    "1e",
    "1e+",
    "1E-",
    "1.e1",
    "0.e1",
    "1e1.5",
    "0x1",
    "1_000",
    "Infinity",
    "-Infinity",
    "NaN",
    "1a",
    "1.2.3",
    "\u{ff11}",
    "tru",
    "True",
    "truth",
    "nul",
    "nulls",
    "falsee",
    "\"",
    "\"a",
    "\"\\\"",
    "\"\\",
    "\"\\a\"",
    "\"\\x00\"",
    "\"\\'\"",
    "\"\\u\"",
    "\"\\u1\"",
    "\"\\u12\"",
    "\"\\u123\"",
    "\"\\u12G4\"",
    "\"\\u+123\"",
    "\"\\U0041\"",
    "\"\\ud800\\\"",
    "\"\\ud800\\u\"",
    "\"\u{0}\"",
    "\"\u{1}\"",
    "\"\u{1f}\"",
    "\"\n\"",
    "\"\t\"",
    "[\"a\u{0}b\"]",
    "'a'",
    "a",
    "\u{0}",
    "[]\u{0}",
    "[\u{c}]",
    "[\u{b}]",
    "\u{a0}[]",
    "\u{2060}[]",
    "<null>",
    "[1,\n1\n,1",
    "*",
    "{\"a\":\"b\"}}",
    "[\"x\"]]",
    "[\"\\uD83D\\uDE0\"]",
];

#[test]
fn the_accepted_table_is_accepted() {
    for json in ACCEPTED {
        assert!(serde_accepts(json.as_bytes()), "the table is wrong about {json:?}");
        assert!(scan::is_valid(json.as_bytes()), "{json:?}");
    }
}

#[test]
fn the_refused_table_is_refused_wherever_it_stands() {
    for json in REFUSED {
        assert!(!serde_accepts(json.as_bytes()), "the table is wrong about {json:?}");
        assert!(!scan::is_valid(json.as_bytes()), "{json:?}");
        let framed = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{json}}}"#);
        if !serde_accepts(framed.as_bytes()) {
            let error = read(&framed).expect_err(json);
            assert_eq!(error.code(), -32700, "{json:?}");
        }
    }
}

/// JavaScript writes these where a text was cut inside an emoji.
#[test]
fn half_a_surrogate_pair_passes_in_results_and_nowhere_else() {
    for half in [r"\ud800", r"\ud800x", r"\ud800\n", r"\ud800\u0041", r"\udc00\ud800"] {
        let result = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"{half}":"{half}"}}}}"#);
        assert_eq!(read(&result).unwrap().bytes(), &result, "{half}");
        let request =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"a":"{half}"}}}}"#);
        assert_eq!(read(&request).unwrap_err().code(), -32700, "{half}");
    }
}

#[test]
fn bytes_that_are_not_utf8_are_refused() {
    for bytes in [
        &b"\"\xff\""[..],
        b"\"\xc3\"",
        b"\"\xed\xa0\x80\"",
        b"\"\xc0\x80\"",
        b"\"\xf4\x90\x80\x80\"",
        b"\"\xe9\"",
        b"\xff\xfe[\0]\0",
        b"[1]\xe5",
    ] {
        assert!(!scan::is_valid(bytes), "{bytes:?}");
        assert!(matches!(read(bytes).unwrap_err().kind(), WireErrorKind::Encoding(_)));
    }
}

#[test]
fn long_strings_are_scanned_to_their_very_end() {
    for length in 0..300 {
        let plain = "é".repeat(length);
        for tail in ["", "\\n", "\\u0041x"] {
            assert!(scan::is_valid(format!("[\"{plain}{tail}\"]").as_bytes()));
        }
        for tail in ["\n", "\\x", "\u{1}", "\\"] {
            assert!(!scan::is_valid(format!("[\"{plain}{tail}\"]").as_bytes()));
        }
    }
}

#[test]
fn depth_is_counted_in_containers() {
    let nested = |depth: usize| {
        // The message and its params are two of them.
        let inner = "[".repeat(depth - 2) + &"]".repeat(depth - 2);
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"a":{inner}}}}}"#)
    };
    assert!(read(nested(64)).is_ok());
    let error = read(nested(65)).unwrap_err();
    assert!(matches!(error.kind(), WireErrorKind::TooDeep(_)));
    assert_eq!(error.code(), -32600);
    assert_eq!(error.id().unwrap().as_u64(), Some(1));
}

#[test]
fn a_million_brackets_do_not_exhaust_the_stack() {
    let greedy = MessageLimits { depth: usize::MAX, ..MessageLimits::default() };
    let deep = "[".repeat(1_000_000).into_bytes().into();
    let error = toolgate_wire::Frame::parse(deep, &greedy).unwrap_err();
    assert!(matches!(error.kind(), WireErrorKind::TooDeep(128)));
}

#[test]
fn values_are_counted() {
    let many = |count: usize| {
        let zeros = vec!["0"; count].join(",");
        format!(r#"{{"jsonrpc":"2.0","id":"a","result":[{zeros}]}}"#)
    };
    // The message, its version, its id and the array are values, too.
    assert!(read(many(200_000 - 4)).is_ok());
    let error = read(many(200_000 - 3)).unwrap_err();
    assert!(matches!(error.kind(), WireErrorKind::TooManyNodes(_)));
    assert_eq!(error.id().unwrap().raw(), "\"a\"");
}

#[test]
fn an_oversized_message_still_tells_its_id() {
    let limits = MessageLimits { bytes: 100, ..MessageLimits::default() };
    let big = format!(r#"{{"jsonrpc":"2.0","id":77,"result":"{}"}}"#, "x".repeat(100));
    let error = toolgate_wire::Frame::parse(big.into(), &limits).unwrap_err();
    assert_eq!(error.kind(), WireErrorKind::TooLarge);
    assert_eq!(error.id().unwrap().as_u64(), Some(77));
}
