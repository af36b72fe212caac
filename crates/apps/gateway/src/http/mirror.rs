//! Whether the headers of a modern request repeat its body faithfully.
//!
//! Whoever stands between the client and us may decide by the headers, so a request whose headers
//! say something else than its body goes no further. Here everything is decided by the body.

use std::borrow::Cow;

use http::{HeaderMap, HeaderName, HeaderValue};
use toolgate_wire::{Frame, method, mirror, scan};

use super::headers::only;
use crate::modern::{Fault, Visitor};
use crate::upstreams::Upstreams;

const METHOD: HeaderName = HeaderName::from_static(mirror::METHOD);
const NAME: HeaderName = HeaderName::from_static(mirror::NAME);

/// Compares what every request repeats: its method, and what it is about.
pub(crate) fn standard(headers: &HeaderMap, request: &Frame) -> Result<(), Fault> {
    let name = request.method().unwrap_or_default();
    if said(headers, &METHOD).as_deref() != Some(name.as_ref()) {
        return Err(Fault::header(request, "Mcp-Method"));
    }
    if !is_named(&name) {
        return Ok(());
    }
    let agreed = match request.name_span() {
        Some(about) => only(headers, &NAME).is_some_and(|header| {
            mirror::agree(header.as_bytes().trim_ascii(), about.of(request.bytes()))
        }),
        // A body that names nothing is refused by the gate.
        None => !headers.contains_key(NAME),
    };
    if agreed { Ok(()) } else { Err(Fault::header(request, "Mcp-Name")) }
}

/// Compares the arguments the called tool wants repeated, as this caller sees it. Headers for
/// other arguments mean nothing to us.
pub(crate) fn arguments(
    headers: &HeaderMap,
    request: &Frame,
    upstreams: &dyn Upstreams,
    visitor: &Visitor,
) -> Result<(), Fault> {
    if !request.is(method::TOOLS_CALL) {
        return Ok(());
    }
    let Some(rules) = upstreams.mirrored(&visitor.caller, request) else { return Ok(()) };
    let params = request.params().unwrap_or_default();
    let arguments = scan::member(params, "arguments").map_or(&b"{}"[..], |at| at.of(params));
    for rule in rules.iter() {
        let mut values = headers.get_all(&rule.header).iter();
        let value = values.next().map(|value| value.as_bytes().trim_ascii());
        if values.next().is_some() || !rule.agrees(value, arguments) {
            return Err(Fault::header(request, &rule.header));
        }
    }
    Ok(())
}

/// Whether a request of this method says in a header what it is about.
fn is_named(name: &str) -> bool {
    matches!(
        name,
        method::TOOLS_CALL
            | method::PROMPTS_GET
            | method::RESOURCES_READ
            | method::TASKS_GET
            | method::TASKS_UPDATE
            | method::TASKS_CANCEL
    )
}

/// What a header says, if it is there once and legible.
fn said<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<Cow<'a, str>> {
    let value = only(headers, name).map(HeaderValue::as_bytes)?;
    mirror::decode(value.trim_ascii())
}
