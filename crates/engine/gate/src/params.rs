//! The parameters of a request: its arguments, and every other member of `params` that reaches the
//! server.
//!
//! Approvers see all of it, the approval is bound to it, and the journal records it. Two parts are
//! left out, because they tell the server nothing about the call: the progress token, which the
//! session replaces, and the envelope of a modern request (`wire::meta::CLIENT_KEYS`), in which a
//! client describes itself.

use std::borrow::Cow;

use toolgate_wire::{Frame, Span, meta, method, scan, string};

use crate::arguments;

const META: &str = "_meta";
const PROGRESS_TOKEN: &str = "progressToken";

/// The parameters of a request.
pub(crate) struct RequestParams<'a> {
    /// The part that conditions of rules check: `arguments` for tools and prompts, otherwise all of
    /// `params`. `{}` if there is nothing.
    pub(crate) arguments: Cow<'a, [u8]>,
    /// The members beside `arguments`, as an object; empty if there are none.
    pub(crate) others: Vec<u8>,
}

impl<'a> RequestParams<'a> {
    pub(crate) fn of(request: &'a Frame) -> Self {
        let params = request.params().unwrap_or_default();
        let calls = request.is(method::TOOLS_CALL) || request.is(method::PROMPTS_GET);
        if calls {
            let others = rest(request, params, &["name", "arguments"]).unwrap_or_default();
            return Self { arguments: Cow::Borrowed(arguments::raw_arguments(request)), others };
        }
        let reads = request.method().is_some_and(|method| method.starts_with("resources/"));
        let named: &[&str] = if reads && request.name_span().is_some() { &["uri"] } else { &[] };
        let arguments = match rest(request, params, named) {
            Some(rest) => Cow::Owned(rest),
            None => Cow::Borrowed(&b"{}"[..]),
        };
        Self { arguments, others: Vec::new() }
    }
}

/// Returns the members of `params` that reach the server, except those that name the capability;
/// `None` if nothing is left.
fn rest(request: &Frame, params: &[u8], named: &[&str]) -> Option<Vec<u8>> {
    let mut object = Vec::new();
    for (key, at) in scan::members(params) {
        match &*key {
            key if named.contains(&key) => {}
            META => {
                if let Some(meta) = forwarded_meta(request, at, params) {
                    add(&mut object, META, &meta);
                }
            }
            key => add(&mut object, key, at.slice(params)),
        }
    }
    closed(object)
}

/// Returns the part of `_meta` that reaches the server and concerns the call.
fn forwarded_meta<'a>(request: &Frame, at: Span, params: &'a [u8]) -> Option<Cow<'a, [u8]>> {
    let raw = at.slice(params);
    if !raw.starts_with(b"{") {
        return Some(Cow::Borrowed(raw));
    }
    let enveloped = meta::has_protocol_version(request);
    let mut object = Vec::new();
    for (key, at) in scan::members(raw) {
        let is_of_client = enveloped && meta::CLIENT_KEYS.contains(&&*key);
        if key != PROGRESS_TOKEN && !is_of_client {
            add(&mut object, &key, at.slice(raw));
        }
    }
    closed(object).map(Cow::Owned)
}

fn add(object: &mut Vec<u8>, key: &str, value: &[u8]) {
    object.push(if object.is_empty() { b'{' } else { b',' });
    object.extend_from_slice(string::encode(key).as_bytes());
    object.push(b':');
    object.extend_from_slice(value);
}

fn closed(mut object: Vec<u8>) -> Option<Vec<u8>> {
    (!object.is_empty()).then(|| {
        object.push(b'}');
        object
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use toolgate_wire::MessageLimits;

    use super::*;

    fn of(method: &str, params: Value) -> (Value, Value) {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let frame = Frame::parse(request.to_string().into(), &MessageLimits::default()).unwrap();
        let RequestParams { arguments, others } = RequestParams::of(&frame);
        let others = if others.is_empty() { b"null".to_vec() } else { others };
        let read = |raw: &[u8]| serde_json::from_slice(raw).unwrap();
        (read(&arguments), read(&others))
    }

    #[test]
    fn whatever_reaches_the_server_counts_and_nothing_else() {
        let envelope = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "c", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
            "progressToken": 7,
        });
        let mut more = envelope.clone();
        more["x/y"] = json!(1);
        let unclaimed = json!({ "io.modelcontextprotocol/clientInfo": { "name": "c" } });
        for (method, params, arguments, others) in [
            ("tools/call", json!({ "name": "t" }), json!({}), Value::Null),
            ("tools/call", json!({ "name": "t", "arguments": null }), json!({}), Value::Null),
            (
                "tools/call",
                json!({ "name": "t", "arguments": { "a": 1 }, "_meta": envelope }),
                json!({ "a": 1 }),
                Value::Null,
            ),
            (
                "tools/call",
                json!({ "name": "t", "arguments": { "a": 1 }, "_meta": more, "task": {} }),
                json!({ "a": 1 }),
                json!({ "_meta": { "x/y": 1 }, "task": {} }),
            ),
            (
                "prompts/get",
                json!({ "name": "p", "_meta": unclaimed }),
                json!({}),
                json!({ "_meta": unclaimed }),
            ),
            (
                "prompts/get",
                json!({ "name": "p", "_meta": "x" }),
                json!({}),
                json!({ "_meta": "x" }),
            ),
            ("resources/read", json!({ "uri": "a:b" }), json!({}), Value::Null),
            ("resources/read", json!({ "uri": "a:b", "n": 1 }), json!({ "n": 1 }), Value::Null),
            (
                "foo/run",
                json!({ "uri": "a:b", "name": "t", "_meta": { "progressToken": "p" } }),
                json!({ "uri": "a:b", "name": "t" }),
                Value::Null,
            ),
        ] {
            assert_eq!(of(method, params.clone()), (arguments, others), "{method} {params}");
        }
    }
}
