//! Step: from what the caller named to the capability and the server behind it.

use std::sync::Arc;

use bytes::Bytes;
use toolgate_model::{CapabilityId, CapabilityKind, ServerName};
use toolgate_naming::Located;
use toolgate_wire::{Frame, Span, method, scan, string};

use crate::Refusal;
use crate::view::View;

/// A request whose capability is known.
pub(crate) struct Resolved {
    pub(crate) id: CapabilityId,
    /// Where the request names it, and the raw JSON the server knows it by.
    pub(crate) rename: Option<(Span, Bytes)>,
}

/// Finds what a request is about. Names are decoded before they are looked up.
pub(crate) fn capability(view: &View, request: &Frame) -> Result<Resolved, Refusal> {
    let method = request.method().unwrap_or_default();
    match method.as_ref() {
        method::TOOLS_CALL => named(view, request, CapabilityKind::Tool),
        method::PROMPTS_GET => named(view, request, CapabilityKind::Prompt),
        method::COMPLETION_COMPLETE => reference(view, request),
        _ => resource(view, request), // what remains is about a resource
    }
}

fn named(view: &View, request: &Frame, kind: CapabilityKind) -> Result<Resolved, Refusal> {
    let name = request.name().ok_or_else(|| Refusal::incomplete("name"))?;
    let id = view.names().id_of(kind, &name);
    let id = id.ok_or_else(|| Refusal::unknown(kind.as_str(), &name))?;
    Ok(resolved(request, &name, id.clone()))
}

/// `completion/complete` names a prompt, or a resource template.
fn reference(view: &View, request: &Frame) -> Result<Resolved, Refusal> {
    let params = request.params().unwrap_or_default();
    let kind = scan::pointer(params, &["ref", "type"]);
    let kind = kind.and_then(|span| string::decode(span.of(params)));
    match kind.as_deref() {
        Some("ref/prompt") => named(view, request, CapabilityKind::Prompt),
        Some("ref/resource") => {
            let name = request.name().ok_or_else(|| Refusal::incomplete("uri"))?;
            match view.names().id_of(CapabilityKind::Template, &name) {
                Some(id) => Ok(resolved(request, &name, id.clone())),
                None => resource(view, request),
            }
        }
        _ => Err(Refusal::incomplete("prompt or resource to complete for")),
    }
}

fn resource(view: &View, request: &Frame) -> Result<Resolved, Refusal> {
    let uri = request.name().ok_or_else(|| Refusal::incomplete("uri"))?;
    Ok(resolved(request, &uri, located(view, &uri)?))
}

/// The resource a URI leads to.
pub(crate) fn located(view: &View, uri: &str) -> Result<CapabilityId, Refusal> {
    let (server, raw): (&ServerName, Arc<str>) = match view.names().locate(uri) {
        Located::At { server, uri: raw } if leads_to(view, uri, server, &raw) => {
            (server, Arc::from(&*raw))
        }
        Located::At { .. } => return Err(Refusal::no_resource(uri)),
        Located::Nobody => (only_one_with_resources(view, uri)?, uri.into()),
        Located::Ambiguous(servers) => {
            let servers: Vec<_> = servers.iter().map(|server| server.as_str()).collect();
            let message = format!(
                "several servers have `{uri}` ({}); use the URI as the list shows it",
                servers.join(", ")
            );
            return Err(Refusal { message, ..Refusal::no_resource(uri) });
        }
    };
    Ok(CapabilityId { server: server.clone(), kind: CapabilityKind::Resource, name: raw })
}

/// Whether a caller may follow a URI to where it leads. What a list or a template shows him, he may,
/// unless his profile excludes that one; a tag leads to any server, so there his profile must see
/// what he asks for.
pub(crate) fn leads_to(view: &View, asked: &str, server: &ServerName, raw: &str) -> bool {
    let kind = CapabilityKind::Resource;
    let id = CapabilityId { server: server.clone(), kind, name: raw.into() };
    if view.names().name_of(&id).is_some() {
        return true;
    }
    let fits_template = || match view.names().locate(raw) {
        Located::At { server: at, .. } => at == server,
        Located::Ambiguous(servers) => servers.contains(&server),
        Located::Nobody => false,
    };
    let shown = asked == raw || fits_template();
    view.sees_unlisted(server, raw) || shown && !view.excludes(server, raw)
}

/// A URI nobody lists may still be known to the one server that has resources at all.
fn only_one_with_resources<'v>(view: &'v View, uri: &str) -> Result<&'v ServerName, Refusal> {
    let mut servers = view.declaring("resources");
    match (servers.next(), servers.next()) {
        (Some(only), None) if view.sees_unlisted(only, uri) => Ok(only),
        _ => Err(Refusal::no_resource(uri)),
    }
}

fn resolved(request: &Frame, asked: &str, id: CapabilityId) -> Resolved {
    let rename = match request.name_span() {
        Some(span) if asked != &*id.name => Some((span, Bytes::from(string::encode(&id.name)))),
        _ => None,
    };
    Resolved { id, rename }
}
