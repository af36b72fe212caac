//! The table of error codes.

use std::fmt::Write;

use insta::assert_snapshot;
use serde_json::{Value, json};
use toolgate_bridge::{gateway_error_code, translate_error};
use toolgate_wire::{Frame, Revision, build, code};

use crate::{LEGACY, MODERN, frame, passage, pretty};

fn failed(code: i32, data: Option<Value>) -> Frame {
    let data = data.map(|data| data.to_string());
    frame(build::error_response(Some("1"), code, "why", data.as_ref().map(|data| data.as_bytes())))
}

fn code_of(answer: &Frame) -> i64 {
    let error: Value = serde_json::from_slice(answer.error().unwrap()).unwrap();
    error["code"].as_i64().unwrap()
}

#[test]
fn the_whole_table() {
    let mut table = String::new();
    let ways = [(LEGACY, LEGACY), (LEGACY, MODERN), (MODERN, LEGACY), (MODERN, MODERN)];
    writeln!(table, "{:>7} {:>8} {:>8} {:>8} {:>8}", "said", "l-l", "l-m", "m-l", "m-m").unwrap();
    for said in [-32002, -32602, -32042, -32020, -32021, -32022, -32000, -32601, -32603, 7] {
        write!(table, "{said:>7}").unwrap();
        for (from, to) in ways {
            let answer = failed(said, Some(json!({ "uri": "x://1" })));
            let shown = translate_error(answer, &passage("resources/read", from, to));
            write!(table, " {:>8}", code_of(&shown)).unwrap();
        }
        table.push('\n');
    }
    assert_snapshot!("error_codes", table);
}

#[test]
fn wrong_parameters_are_no_missing_resource() {
    for (method, data) in [("resources/read", None), ("tools/call", Some(json!({ "uri": "x" })))] {
        let shown = translate_error(failed(-32602, data), &passage(method, MODERN, LEGACY));
        assert_eq!(code_of(&shown), -32602);
    }
}

#[test]
fn an_error_about_our_own_request_says_so_and_nothing_of_its_data() {
    let required = json!({ "requiredCapabilities": { "sampling": {} } });
    let shown =
        translate_error(failed(-32021, Some(required)), &passage("tools/call", MODERN, LEGACY));
    assert_snapshot!("error_of_our_hop", pretty(&shown));
}

#[test]
fn what_is_not_translated_is_not_touched() {
    let odd = frame(bytes::Bytes::from_static(
        br#"{"jsonrpc":"2.0","id":1,"error":{"message" : "m","code": -32099,"x":1.50}}"#,
    ));
    for to in Revision::ALL {
        let shown = translate_error(odd.clone(), &passage("tools/call", LEGACY, to));
        assert_eq!(shown.bytes(), odd.bytes());
    }
}

#[test]
fn the_gateways_own_codes_fit_the_revision() {
    for (own, modern) in [
        (code::RESOURCE_NOT_FOUND, code::INVALID_PARAMS),
        (code::CONNECTION_CLOSED, code::INTERNAL_ERROR),
        (code::REQUEST_TIMEOUT, code::INTERNAL_ERROR),
        (code::URL_ELICITATION_REQUIRED, code::INTERNAL_ERROR),
        (code::METHOD_NOT_FOUND, code::METHOD_NOT_FOUND),
        (code::MISSING_CLIENT_CAPABILITY, code::MISSING_CLIENT_CAPABILITY),
    ] {
        assert_eq!(gateway_error_code(own, MODERN), modern);
        assert_eq!(gateway_error_code(own, LEGACY), own);
    }
}
