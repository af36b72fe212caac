//! Checks that the headers of a modern request agree with its body.
//!
//! A proxy between the client and the gateway may decide by the headers. So the gateway rejects a
//! request if its headers contradict its body. The gateway itself decides by the body only.

use http::{HeaderMap, HeaderName};
use toolgate_wire::{Frame, mcp_headers, method, scan};

use super::headers::single_value;
use crate::Gate;
use crate::modern::StatelessClient;
use crate::rejection::Rejection;

const METHOD: HeaderName = HeaderName::from_static(mcp_headers::METHOD);
const NAME: HeaderName = HeaderName::from_static(mcp_headers::NAME);

/// Checks the headers that every request repeats: its method and the name or URI it concerns.
pub(crate) fn check_standard(headers: &HeaderMap, request: &Frame) -> Result<(), Rejection> {
    let name = request.method().unwrap_or_default();
    let header = single_value(headers, &METHOD).map(|value| value.as_bytes().trim_ascii());
    if header.and_then(mcp_headers::decode).as_deref() != Some(name.as_ref()) {
        return Err(Rejection::header_mismatch(request, "Mcp-Method"));
    }
    if !has_name_header(&name) {
        return Ok(());
    }
    let agreed = match request.name_span() {
        Some(about) => single_value(headers, &NAME).is_some_and(|header| {
            mcp_headers::matches_json_string(
                header.as_bytes().trim_ascii(),
                about.slice(request.bytes()),
            )
        }),
        // The gate rejects a body without a name.
        None => !headers.contains_key(NAME),
    };
    if agreed { Ok(()) } else { Err(Rejection::header_mismatch(request, "Mcp-Name")) }
}

/// Checks the headers for those arguments that the called tool wants repeated, as this caller sees
/// the tool. Headers for other arguments are ignored.
pub(crate) fn check_arguments(
    headers: &HeaderMap,
    request: &Frame,
    gate: &Gate,
    client: &StatelessClient,
) -> Result<(), Rejection> {
    if !request.is(method::TOOLS_CALL) {
        return Ok(());
    }
    let Some(rules) = gate.header_rules(&client.caller, request) else { return Ok(()) };
    let params = request.params().unwrap_or_default();
    let arguments = scan::member(params, "arguments").map_or(&b"{}"[..], |at| at.slice(params));
    for rule in rules.iter() {
        let mut values = headers.get_all(&rule.header).iter();
        let value = values.next().map(|value| value.as_bytes().trim_ascii());
        if values.next().is_some() || !rule.matches(value, arguments) {
            return Err(Rejection::header_mismatch(request, &rule.header));
        }
    }
    Ok(())
}

/// Returns true if requests of this method repeat a name or URI in a header.
fn has_name_header(name: &str) -> bool {
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
