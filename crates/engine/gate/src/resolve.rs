//! Step: resolves the name in a request to a capability and its server.

use std::sync::Arc;

use bytes::Bytes;
use toolgate_exposure::UriOwner;
use toolgate_model::{CapabilityId, CapabilityKind, ServerName};
use toolgate_wire::{Frame, Span, method, scan, string};

use crate::profile_view::ProfileView;
use crate::{GateError, extension};

/// A request whose capability is known.
pub(crate) struct ResolvedCapability {
    pub(crate) id: CapabilityId,
    /// Where the request names it, and the raw JSON string that the server expects there.
    pub(crate) rename: Option<(Span, Bytes)>,
}

impl ResolvedCapability {
    /// Creates a resolved capability that the request calls `asked` at this place.
    pub(crate) fn new(id: CapabilityId, asked: &str, at: Option<Span>) -> Self {
        let at = at.filter(|_| *id.name != *asked);
        let rename = at.map(|at| (at, string::encode(&id.name).into()));
        Self { id, rename }
    }
}

/// Resolves the capability that a request names. Names are decoded before the lookup.
pub(crate) fn capability(
    view: &ProfileView,
    request: &Frame,
) -> Result<ResolvedCapability, GateError> {
    let method = request.method().unwrap_or_default();
    match method.as_ref() {
        method::TOOLS_CALL => named(view, request, CapabilityKind::Tool),
        method::PROMPTS_GET => named(view, request, CapabilityKind::Prompt),
        method::COMPLETION_COMPLETE => reference(view, request),
        method if method::MethodTarget::from_method(method).is_none() => {
            extension::find(view, request, method)
        }
        _ => resource(view, request), // all other methods are about a resource
    }
}

fn named(
    view: &ProfileView,
    request: &Frame,
    kind: CapabilityKind,
) -> Result<ResolvedCapability, GateError> {
    let name = request.name().ok_or_else(|| GateError::missing_param("name"))?;
    let id = view.names().id_of(kind, &name);
    let id = id.ok_or_else(|| GateError::unknown(kind.as_str(), &name))?;
    Ok(with_rename(request, &name, id.clone()))
}

/// Resolves `completion/complete`, which names a prompt or a resource template.
fn reference(view: &ProfileView, request: &Frame) -> Result<ResolvedCapability, GateError> {
    let params = request.params().unwrap_or_default();
    let kind = scan::pointer(params, &["ref", "type"]);
    let kind = kind.and_then(|span| string::decode(span.slice(params)));
    match kind.as_deref() {
        Some("ref/prompt") => named(view, request, CapabilityKind::Prompt),
        Some("ref/resource") => {
            let name = request.name().ok_or_else(|| GateError::missing_param("uri"))?;
            match view.names().id_of(CapabilityKind::Template, &name) {
                Some(id) => Ok(with_rename(request, &name, id.clone())),
                None => resource(view, request),
            }
        }
        _ => Err(GateError::missing_param("prompt or resource to complete for")),
    }
}

fn resource(view: &ProfileView, request: &Frame) -> Result<ResolvedCapability, GateError> {
    let uri = request.name().ok_or_else(|| GateError::missing_param("uri"))?;
    Ok(with_rename(request, &uri, locate_resource(view, &uri)?))
}

/// Resolves a URI to a resource.
pub(crate) fn locate_resource(view: &ProfileView, uri: &str) -> Result<CapabilityId, GateError> {
    let (server, raw): (&ServerName, Arc<str>) = match view.names().find_uri_owner(uri) {
        UriOwner::Server { server, uri: raw } if may_follow(view, uri, server, &raw) => {
            (server, Arc::from(&*raw))
        }
        UriOwner::Server { .. } => return Err(GateError::resource_not_found(uri)),
        UriOwner::Unknown => (only_one_with_resources(view, uri)?, uri.into()),
        UriOwner::Ambiguous(servers) => {
            let servers: Vec<_> = servers.iter().map(|server| server.as_str()).collect();
            let message = format!("several servers have `{uri}` ({})", servers.join(", "));
            let error = GateError { message, ..GateError::resource_not_found(uri) };
            return Err(error.hint("use the URI as the list shows it"));
        }
    };
    Ok(CapabilityId { server: server.clone(), kind: CapabilityKind::Resource, name: raw })
}

/// Returns true if a caller may read the resource that a URI resolves to. A resource that a list or
/// template shows may be read unless the profile excludes it. A tagged URI can address any server,
/// so the profile must see the resource.
pub(crate) fn may_follow(view: &ProfileView, asked: &str, server: &ServerName, raw: &str) -> bool {
    let kind = CapabilityKind::Resource;
    let id = CapabilityId { server: server.clone(), kind, name: raw.into() };
    if view.names().name_of(&id).is_some() {
        return true;
    }
    let fits_template = || match view.names().find_uri_owner(raw) {
        UriOwner::Server { server: at, .. } => at == server,
        UriOwner::Ambiguous(servers) => servers.contains(&server),
        UriOwner::Unknown => false,
    };
    let shown = asked == raw || fits_template();
    view.sees_unlisted(server, raw) || shown && !view.excludes(server, raw)
}

/// Returns the only server that has resources: it may know a URI that is not listed.
fn only_one_with_resources<'v>(
    view: &'v ProfileView,
    uri: &str,
) -> Result<&'v ServerName, GateError> {
    let mut servers = view.visible_servers(|catalog| catalog.declares("resources"));
    match (servers.next(), servers.next()) {
        (Some(only), None) if view.sees_unlisted(only, uri) => Ok(only),
        _ => Err(GateError::resource_not_found(uri)),
    }
}

fn with_rename(request: &Frame, asked: &str, id: CapabilityId) -> ResolvedCapability {
    ResolvedCapability::new(id, asked, request.name_span())
}
