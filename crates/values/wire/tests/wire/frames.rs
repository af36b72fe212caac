//! What a frame reports about an accepted message.

use std::collections::HashMap;

use bytes::Bytes;
use toolgate_wire::{
    Frame, MessageKind, MessageLimits, MessageOrBatch, OwnedRequestId, RequestId, build, method,
};

use crate::read;

#[test]
fn kinds_are_told_apart() {
    let table = [
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, MessageKind::Request),
        (r#"{"method":"ping","params":{},"id":"a","jsonrpc":"2.0"}"#, MessageKind::Request),
        (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, MessageKind::Notification),
        (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, MessageKind::Response),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#, MessageKind::Failure),
        (r#"{"jsonrpc":"2.0","id":null,"error":{}}"#, MessageKind::Failure),
        (r#" {"jsonrpc" : "2.0", "error":{}} "#, MessageKind::Failure),
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
    assert_eq!(frame.name_span().unwrap().slice(frame.bytes()), br#""\u0065cho""#);
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
    assert_eq!(frame.name_span().unwrap().slice(frame.bytes()), b"\"p\"");
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
    assert_eq!(call.meta_span().unwrap().slice(call.bytes()).first(), Some(&b'{'));

    let progress = read(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":5,"progress":1}}"#).unwrap();
    assert_eq!(progress.progress_token().unwrap().as_u64(), Some(5));

    let cancelled = read(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"r","reason":"x"}}"#).unwrap();
    assert_eq!(cancelled.request_ref().unwrap().raw(), r#""r""#);
    assert!(cancelled.progress_token().is_none());

    let odd = read(r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"requestId":1,"_meta":{"progressToken":1.5}}}"#).unwrap();
    assert!(odd.request_ref().is_none());
    assert!(odd.progress_token().is_none());
    assert_eq!(odd.progress_token_span().unwrap().slice(odd.bytes()), b"1.5");
}

#[test]
fn ids_are_equal_by_type_and_value() {
    let id = |raw: &'static str| RequestId::from_raw(raw.as_bytes()).unwrap();
    assert_eq!(id(r#""a""#), id(r#""\u0061""#));
    assert_ne!(id("1"), id(r#""1""#));
    assert_ne!(id("0"), id("-0"));
    let mut waiting: HashMap<OwnedRequestId, &str> = HashMap::new();
    waiting.insert(id("\"a\"").to_owned(), "text");
    waiting.insert(id("1").to_owned(), "number");
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
    assert_eq!((request.kind(), request.method().unwrap()), (MessageKind::Request, "a\"b".into()));
    assert_eq!(request.params().unwrap(), b"{\"x\":1}");
    assert_eq!(read(build::notification("n", None)).unwrap().kind(), MessageKind::Notification);
    let response = read(build::response("\"i\"", b"[1]")).unwrap();
    assert_eq!(response.result().unwrap(), b"[1]");
    assert_eq!(response.id().unwrap().raw(), "\"i\"");
    let failure = read(build::error_response(None, -32700, "no \"JSON\"", Some(b"[]"))).unwrap();
    assert!(failure.id().is_none());
    let error = toolgate_wire::view::RpcError::of(failure.error().unwrap()).unwrap();
    assert_eq!((error.code, error.message.as_deref()), (Some(-32700), Some("no \"JSON\"")));
    assert_eq!(error.data, Some(&b"[]"[..]));
    assert_eq!(
        build::error_response(Some("7"), 1, "m", None),
        r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"m"}}"#
    );
}

#[test]
fn a_result_says_of_what_type_it_is_only_at_its_top() {
    let of = |result: &str| {
        let frame = read(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#)).unwrap();
        frame.result_type().map(|kind| kind.into_owned())
    };
    assert_eq!(of(r#"{"content":[],"resultType":"task"}"#).as_deref(), Some("task"));
    assert_eq!(of(r#"{"result\u0054ype":"input_required"}"#).as_deref(), Some("input_required"));
    assert_eq!(of(r#"{"deep":{"resultType":"task"}}"#), None);
    assert_eq!(of(r#"{"resultType":1}"#), None);
    assert_eq!(of("[]"), None);
}

#[test]
fn a_message_claims_to_be_modern_by_the_revision_in_its_meta() {
    let claims = |params: &str| {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{params}}}"#);
        toolgate_wire::meta::has_protocol_version(&read(text).unwrap())
    };
    assert!(claims(r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"x"}}"#));
    assert!(claims(r#"{"_meta":{"io.modelcontextprotocol\/protocolVersion":null}}"#));
    assert!(!claims(r#"{"_meta":{"progressToken":1}}"#));
    assert!(!claims(r#"{"io.modelcontextprotocol/protocolVersion":"x"}"#));
    assert!(!claims(r#"{"_meta":{"x":{"io.modelcontextprotocol/protocolVersion":"x"}}}"#));
}

const ENVELOPE: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}"#;

fn enveloped(meta: &str, more: &str) -> Bytes {
    let params = format!(r#"{{"name":"t","_meta":{meta},"arguments":{{"a":1}}{more}}}"#);
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#).into()
}

/// Parses a message with and without a cached `_meta`, and returns both results.
fn read_both(message: &Bytes, limits: &MessageLimits) -> [String; 2] {
    let first = Frame::parse(enveloped(ENVELOPE, ""), &MessageLimits::default()).unwrap();
    let known = [first.cacheable_meta().unwrap()];
    [&[][..], &known].map(|known| {
        format!("{:?}", MessageOrBatch::parse_with_cache(message.clone(), limits, known))
    })
}

#[test]
fn a_remembered_envelope_changes_nothing_but_the_cost() {
    let spaced = ENVELOPE.replace(':', ": ");
    for message in [
        enveloped(ENVELOPE, ""),
        enveloped(ENVELOPE, r#","inputResponses":{}"#),
        enveloped(ENVELOPE, r#","_meta":{}"#),
        enveloped(&format!("{ENVELOPE}}}"), ""),
        enveloped(&format!("{ENVELOPE}1"), ""),
        enveloped(&spaced, ""),
        enveloped("{}", ""),
        enveloped(&ENVELOPE.replace("{}", r#"{"form":{}}"#), ""),
    ] {
        let [plain, remembered] = read_both(&message, &MessageLimits::default());
        assert_eq!(plain, remembered, "{message:?}");
    }
    let message = enveloped(ENVELOPE, "");
    for nodes in 0..20 {
        let [plain, remembered] =
            read_both(&message, &MessageLimits { nodes, ..MessageLimits::default() });
        assert_eq!(plain, remembered, "{nodes} values");
    }
    for depth in 0..8 {
        let [plain, remembered] =
            read_both(&message, &MessageLimits { depth, ..MessageLimits::default() });
        assert_eq!(plain, remembered, "{depth} deep");
    }
}

#[test]
fn only_an_envelope_that_will_come_again_is_remembered() {
    let remembers = |meta: &str| {
        Frame::parse(enveloped(meta, ""), &MessageLimits::default())
            .unwrap()
            .cacheable_meta()
            .is_some()
    };
    assert!(remembers(ENVELOPE));
    assert!(!remembers("{}"));
    assert!(!remembers(&ENVELOPE.replacen('{', r#"{"progressToken":1,"#, 1)));
    assert!(!remembers(&ENVELOPE.replacen('{', r#"{"traceparent":"00","#, 1)));
}
