//! What an accepted message tells.

use std::collections::HashMap;

use toolgate_wire::{Id, Kind, OwnedId, build, method};

use crate::read;

#[test]
fn kinds_are_told_apart() {
    let table = [
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, Kind::Request),
        (r#"{"method":"ping","params":{},"id":"a","jsonrpc":"2.0"}"#, Kind::Request),
        (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, Kind::Notification),
        (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, Kind::Response),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#, Kind::Failure),
        (r#"{"jsonrpc":"2.0","id":null,"error":{}}"#, Kind::Failure),
        (r#" {"jsonrpc" : "2.0", "error":{}} "#, Kind::Failure),
    ];
    for (json, kind) in table {
        let frame = read(json).expect(json);
        assert_eq!(frame.kind(), kind, "{json}");
        assert_eq!(frame.bytes(), json.as_bytes());
    }
    assert!(read(r#"{"jsonrpc":"2.0","id":null,"error":{}}"#).unwrap().id().is_none());
}

#[test]
fn names_are_decoded_before_anything_is_decided_on_them() {
    let frame = read(
        r#"{"params":{"arguments":{"name":"decoy"},"n\u0061me":"\u0065cho"},"jsonrpc":"\u0032.0","id":7,"method":"tools\/call"}"#,
    )
    .unwrap();
    assert_eq!(frame.method().unwrap(), method::TOOLS_CALL);
    assert!(frame.is(method::TOOLS_CALL));
    assert_eq!(frame.name().unwrap(), "echo");
    assert_eq!(frame.name_span().unwrap().of(frame.bytes()), br#""\u0065cho""#);
}

#[test]
fn what_a_method_is_about_depends_on_the_method() {
    let params =
        r#"{"name":"n","uri":"u","taskId":"t","ref":{"type":"ref/resource","uri":"r","name":"p"}}"#;
    for (method, name) in [
        ("tools/call", Some("n")),
        ("prompts/get", Some("n")),
        ("resources/read", Some("u")),
        ("resources/subscribe", Some("u")),
        ("resources/unsubscribe", Some("u")),
        ("notifications/resources/updated", Some("u")),
        ("tasks/get", Some("t")),
        ("tasks/cancel", Some("t")),
        ("completion/complete", Some("r")),
        ("tools/list", None),
        ("unknown", None),
    ] {
        let frame = read(build::request("1", method, Some(params.as_bytes()))).unwrap();
        assert_eq!(frame.name().as_deref(), name, "{method}");
    }
    let prompt = r#"{"ref":{"name":"p","type":"ref/prompt"},"argument":{}}"#;
    let frame = read(build::request("1", "completion/complete", Some(prompt.as_bytes()))).unwrap();
    assert_eq!(frame.name().unwrap(), "p");
    assert_eq!(frame.name_span().unwrap().of(frame.bytes()), b"\"p\"");
}

#[test]
fn a_name_that_is_no_string_is_no_name() {
    for params in [r#"{"name":1}"#, r#"{"name":null}"#, r#"{"name":{}}"#, "{}", "[]"] {
        let frame = read(build::request("1", "tools/call", Some(params.as_bytes()))).unwrap();
        assert_eq!(frame.name(), None, "{params}");
    }
}

#[test]
fn progress_tokens_and_cancelled_requests_are_found() {
    let call = read(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"progressToken":"no","_meta":{"x":{"progressToken":0},"progressToken":"\u0061"}}}"#).unwrap();
    assert_eq!(call.progress_token().unwrap().raw(), r#""\u0061""#);
    assert_eq!(call.progress_token().unwrap().as_text().unwrap(), "a");
    assert_eq!(call.meta_span().unwrap().of(call.bytes()).first(), Some(&b'{'));

    let progress = read(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":5,"progress":1}}"#).unwrap();
    assert_eq!(progress.progress_token().unwrap().as_u64(), Some(5));

    let cancelled = read(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"r","reason":"x"}}"#).unwrap();
    assert_eq!(cancelled.request_ref().unwrap().raw(), r#""r""#);
    assert!(cancelled.progress_token().is_none());

    let odd = read(r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"requestId":1,"_meta":{"progressToken":1.5}}}"#).unwrap();
    assert!(odd.request_ref().is_none());
    assert!(odd.progress_token().is_none());
    assert_eq!(odd.progress_token_span().unwrap().of(odd.bytes()), b"1.5");
}

#[test]
fn ids_are_equal_by_type_and_value() {
    let id = |raw: &'static str| Id::from_raw(raw.as_bytes()).unwrap();
    assert_eq!(id(r#""a""#), id(r#""\u0061""#));
    assert_ne!(id("1"), id(r#""1""#));
    assert_ne!(id("0"), id("-0"));
    let mut waiting: HashMap<OwnedId, &str> = HashMap::new();
    waiting.insert(OwnedId::text("a"), "text");
    waiting.insert(OwnedId::from(1), "number");
    assert_eq!(waiting.get(&id(r#""\u0061""#).to_owned()), Some(&"text"));
    assert_eq!(waiting.get(&id("1").to_owned()), Some(&"number"));
    assert_eq!(waiting.get(&id(r#""1""#).to_owned()), None);
    assert_eq!(id(r#""1""#).as_u64(), None);
    assert_eq!(id("18446744073709551615").as_u64(), Some(u64::MAX));
    assert_eq!(id("18446744073709551616").as_u64(), None);
}

#[test]
fn what_we_build_we_accept() {
    let request = read(build::request("1", "a\"b", Some(b"{\"x\":1}"))).unwrap();
    assert_eq!((request.kind(), request.method().unwrap()), (Kind::Request, "a\"b".into()));
    assert_eq!(request.params().unwrap(), b"{\"x\":1}");
    assert_eq!(read(build::notification("n", None)).unwrap().kind(), Kind::Notification);
    let response = read(build::response("\"i\"", b"[1]")).unwrap();
    assert_eq!(response.result().unwrap(), b"[1]");
    assert_eq!(response.id().unwrap().raw(), "\"i\"");
    let failure = read(build::failure(None, -32700, "no \"JSON\"", Some(b"[]"))).unwrap();
    assert!(failure.id().is_none());
    let error = toolgate_wire::view::RpcError::of(failure.error().unwrap()).unwrap();
    assert_eq!((error.code, error.message.as_deref()), (Some(-32700), Some("no \"JSON\"")));
    assert_eq!(error.data, Some(&b"[]"[..]));
    assert_eq!(
        build::failure(Some("7"), 1, "m", None),
        r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"m"}}"#
    );
}
