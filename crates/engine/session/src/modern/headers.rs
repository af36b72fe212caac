//! The HTTP headers in which a modern request repeats parts of its body.
//!
//! Constant headers are built once. The arguments that a tool expects in headers come from its
//! definition in the server's latest list.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use parking_lot::RwLock;
use toolgate_model::Definition;
use toolgate_wire::mcp_headers::{self, ArgumentHeader};
use toolgate_wire::method::MethodTarget;
use toolgate_wire::{Frame, method, scan, string};

use crate::OutboundRequest;

const METHOD: HeaderName = HeaderName::from_static(mcp_headers::METHOD);
const NAME: HeaderName = HeaderName::from_static(mcp_headers::NAME);

/// Prebuilt headers, cloned for every request.
pub(crate) struct PrebuiltHeaders {
    named: HeaderMap,
    plain: HeaderMap,
}

impl PrebuiltHeaders {
    /// Builds the templates from the headers of every POST.
    pub(crate) fn new(posting: &HeaderMap) -> Self {
        let mut plain = posting.clone();
        plain.insert(METHOD, HeaderValue::from_static(method::TOOLS_CALL));
        let mut named = plain.clone();
        // A placeholder, so that a call only replaces the value.
        named.insert(NAME, HeaderValue::from_static("-"));
        Self { named, plain }
    }

    /// Returns the headers of a request of the gateway itself that has no name.
    pub(crate) fn plain(&self, method: &'static str) -> HeaderMap {
        let mut headers = self.plain.clone();
        headers.insert(METHOD, HeaderValue::from_static(method));
        headers
    }

    /// Returns the headers of one request.
    pub(crate) fn for_request(
        &self,
        mirror: &ArgumentHeaders,
        outbound: &OutboundRequest,
    ) -> HeaderMap {
        let frame = &outbound.frame;
        let method = frame.method().unwrap_or_default();
        let name = name_of(outbound, &method);
        let value = name.as_ref().and_then(header);
        let mut headers = match value {
            Some(value) => {
                let mut headers = self.named.clone();
                headers.insert(NAME, value);
                headers
            }
            None => self.plain.clone(),
        };
        if method != method::TOOLS_CALL {
            if let Ok(value) = HeaderValue::from_str(&mcp_headers::encode(&method)) {
                headers.insert(METHOD, value);
            }
        } else if mirror.any.load(Ordering::Relaxed)
            && let Some(name) = name.as_deref().and_then(string::decode)
        {
            mirror.add(&mut headers, &name, frame);
        }
        headers
    }
}

/// Returns the server's own name of the requested capability or task, as a raw JSON string.
fn name_of(outbound: &OutboundRequest, method: &str) -> Option<Bytes> {
    let frame = &outbound.frame;
    let span = frame.name_span()?;
    if !matches!(
        MethodTarget::from_method(method),
        Some(MethodTarget::Name | MethodTarget::Uri | MethodTarget::Task)
    ) {
        return None;
    }
    match &outbound.rename {
        Some((at, raw)) if *at == span => Some(raw.clone()),
        _ => Some(frame.bytes().slice(span.start()..span.end())),
    }
}

/// Converts a raw JSON string into a header value. Shares the bytes if possible.
fn header(raw: &Bytes) -> Option<HeaderValue> {
    let text = string::decode(raw)?;
    match (mcp_headers::encode(&text), &text) {
        (Cow::Borrowed(_), Cow::Borrowed(_)) => {
            HeaderValue::from_maybe_shared(raw.slice(1..raw.len() - 1)).ok()
        }
        (spelled, _) => HeaderValue::from_str(&spelled).ok(),
    }
}

/// The header rules of each tool that has any, by the server's own name.
type ToolHeaderRules = HashMap<String, Arc<[(HeaderName, ArgumentHeader)]>>;

/// The arguments that the server's tools expect in headers.
#[derive(Default)]
pub(crate) struct ArgumentHeaders {
    /// True if there are any, so that the common case costs one load.
    any: AtomicBool,
    rules: RwLock<ToolHeaderRules>,
}

impl ArgumentHeaders {
    /// Replaces the rules by those of the latest list. Removes the tools with invalid rules from the
    /// list, because they cannot be called.
    pub(crate) fn replace_rules(&self, list: &mut Vec<Definition>) {
        let named = |rule: ArgumentHeader| Some((HeaderName::try_from(&rule.header).ok()?, rule));
        let mut all = ToolHeaderRules::new();
        list.retain(|tool| match mcp_headers::argument_headers(&tool.raw) {
            Ok(rules) => {
                if !rules.is_empty() {
                    let rules = rules.into_iter().filter_map(named).collect();
                    all.insert(tool.name.to_string(), rules);
                }
                true
            }
            Err(error) => {
                tracing::warn!(
                    target: "toolgate::session", tool = &*tool.name, %error,
                    "skipping a tool with invalid header rules"
                );
                false
            }
        });
        self.any.store(!all.is_empty(), Ordering::Relaxed);
        *self.rules.write() = all;
    }

    fn add(&self, headers: &mut HeaderMap, tool: &str, frame: &Frame) {
        let rules = self.rules.read().get(tool).cloned();
        let Some(rules) = rules else { return };
        let params = frame.params().unwrap_or_default();
        let arguments = scan::member(params, "arguments").map(|span| span.slice(params));
        for (header, rule) in rules.iter() {
            let value = rule.value(arguments.unwrap_or_default());
            let value =
                value.and_then(|value| HeaderValue::from_str(&mcp_headers::encode(&value)).ok());
            if let Some(value) = value {
                headers.insert(header.clone(), value);
            }
        }
    }
}
