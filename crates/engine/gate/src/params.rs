//! What a request says beside what it is about: its arguments, and every other member of `params`
//! that reaches the server.
//!
//! All of it is shown to whoever approves, bound by the approval and put on record. Two things are
//! left out, because they say nothing to the server about the call: the progress token, which the
//! session replaces, and the envelope of a modern request (`wire::meta::ENVELOPE`), in which a client
//! describes itself.

use std::borrow::Cow;

use toolgate_wire::{Frame, Span, meta, method, scan, string};

use crate::arguments;

const META: &str = "_meta";
const PROGRESS_TOKEN: &str = "progressToken";

/// The parameters of a request.
pub(crate) struct Params<'a> {
    /// What conditions of rules look at: `arguments` where the protocol has them (tools, prompts),
    /// else everything. An object without members where there are none.
    pub(crate) arguments: Cow<'a, [u8]>,
    /// The members beside `arguments`, as an object; empty if there are none.
    pub(crate) others: Vec<u8>,
}

impl<'a> Params<'a> {
    pub(crate) fn of(request: &'a Frame) -> Self {
        let params = request.params().unwrap_or_default();
        let calls = request.is(method::TOOLS_CALL) || request.is(method::PROMPTS_GET);
        if calls {
            let others = rest(request, params, &["name", "arguments"]).unwrap_or_default();
            return Self { arguments: Cow::Borrowed(arguments::given(request)), others };
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

/// An object of what stands in `params` and reaches the server, but for what it is named by; none
/// if nothing is left.
fn rest(request: &Frame, params: &[u8], named: &[&str]) -> Option<Vec<u8>> {
    let mut object = Vec::new();
    for (key, at) in scan::members(params) {
        match &*key {
            key if named.contains(&key) => {}
            META => {
                if let Some(meta) = reaching(request, at, params) {
                    add(&mut object, META, &meta);
                }
            }
            key => add(&mut object, key, at.of(params)),
        }
    }
    closed(object)
}

/// What of `_meta` reaches the server and is about the call.
fn reaching<'a>(request: &Frame, at: Span, params: &'a [u8]) -> Option<Cow<'a, [u8]>> {
    let raw = at.of(params);
    if !raw.starts_with(b"{") {
        return Some(Cow::Borrowed(raw));
    }
    let enveloped = meta::is_enveloped(request);
    let mut object = Vec::new();
    for (key, at) in scan::members(raw) {
        let is_of_client = enveloped && meta::ENVELOPE.contains(&&*key);
        if key != PROGRESS_TOKEN && !is_of_client {
            add(&mut object, &key, at.of(raw));
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
    use toolgate_wire::Limits;

    use super::*;

    fn of(method: &str, params: Value) -> (Value, Value) {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let frame = Frame::parse(request.to_string().into(), &Limits::default()).unwrap();
        let Params { arguments, others } = Params::of(&frame);
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
