//! Routes requests of extensions that the gateway does not know.
//!
//! The rule is fixed. The request goes to the first match of:
//!
//! 1. the server of the one capability that `params.uri` or `params.name` resolves to, under the
//!    name that server knows;
//! 2. the only server with an extension named like the first part of the method (`skills/list` and
//!    `io.modelcontextprotocol/skills`);
//! 3. the only server with any extension.
//!
//! The skill lists of several servers are merged (`skills.rs`).
//!
//! Otherwise the method is unknown. Methods of the protocol that the gateway answers itself, or
//! that a revision removed, are never extension methods. The gate cannot know what a request does
//! or whether it may be repeated: it sends it once, and decides it as a method of its server and as
//! every capability of that server that it names ([`named_capabilities`]).

use std::collections::BTreeSet;

use toolgate_exposure::UriOwner;
use toolgate_model::{CapabilityId, CapabilityKind, ErrorCode, ServerName};
use toolgate_wire::{Frame, method, scan, string};

use crate::GateError;
use crate::profile_view::ProfileView;
use crate::resolve::{self, ResolvedCapability};

/// Protocol requests that never reach a server through the gate.
const OF_THE_PROTOCOL: [&str; 12] = [
    method::INITIALIZE,
    method::PING,
    method::SERVER_DISCOVER,
    method::TOOLS_LIST,
    method::PROMPTS_LIST,
    method::RESOURCES_LIST,
    method::RESOURCES_TEMPLATES_LIST,
    method::LOGGING_SET_LEVEL,
    method::SUBSCRIPTIONS_LISTEN,
    method::ROOTS_LIST,
    method::SAMPLING_CREATE_MESSAGE,
    method::ELICITATION_CREATE,
];

pub(crate) fn method_id(server: &ServerName, method: &str) -> CapabilityId {
    CapabilityId { server: server.clone(), kind: CapabilityKind::Method, name: method.into() }
}

/// Returns every capability of the server that a request names, at any depth: by `uri`, listed or
/// not, and by `name` if it matches a tool or prompt as the server spells it or as the caller sees
/// it. Keys match in either case, because a server may not distinguish `Name` from `name`. Only a
/// request of an extension names any.
pub(crate) fn named_capabilities(
    view: &ProfileView,
    method: &CapabilityId,
    request: &Frame,
) -> BTreeSet<CapabilityId> {
    if method.kind != CapabilityKind::Method {
        return BTreeSet::new();
    }
    let mut named = Vec::new();
    collect_references(request.params().unwrap_or_default(), &mut named);
    let server = &method.server;
    let known = view.offered_by(server).map(|offered| &offered.checked);
    let of = |kind, name: &str| CapabilityId { server: server.clone(), kind, name: name.into() };
    let mut targets = BTreeSet::new();
    for (member, text) in named {
        let is_listed = |kind| known.is_some_and(|known| known.definition(kind, &text).is_some());
        match member {
            NamedParam::Name => {
                for kind in [CapabilityKind::Tool, CapabilityKind::Prompt] {
                    let shown = view.names().id_of(kind, &text);
                    targets.extend(shown.filter(|id| id.server == *server).cloned());
                    targets.extend(is_listed(kind).then(|| of(kind, &text)));
                }
            }
            NamedParam::Uri => {
                if let UriOwner::Server { server: at, uri } = view.names().find_uri_owner(&text)
                    && at == server
                {
                    targets.insert(of(CapabilityKind::Resource, &uri));
                }
                let template = CapabilityKind::Template;
                targets.extend(is_listed(template).then(|| of(template, &text)));
                targets.insert(of(CapabilityKind::Resource, &text));
            }
        }
    }
    targets
}

/// Returns true if params name something that may be a capability of a server.
pub fn names_capability(params: &[u8]) -> bool {
    let mut named = Vec::new();
    collect_references(params, &mut named);
    !named.is_empty()
}

/// Returns true if a caller must not see a capability that its request names.
pub(crate) fn is_hidden(view: &ProfileView, id: &CapabilityId) -> bool {
    let known = view.offered_by(&id.server).map(|offered| &offered.checked);
    match known.is_some_and(|known| known.definition(id.kind, &id.name).is_some()) {
        true => view.names().name_of(id).is_none(),
        false => view.excludes(&id.server, &id.name),
    }
}

/// A member of `params` that names something.
#[derive(Clone, Copy)]
enum NamedParam {
    Name,
    Uri,
}

/// Collects what a value names. The wire layer limits its depth.
fn collect_references(value: &[u8], named: &mut Vec<(NamedParam, String)>) {
    match value.first() {
        Some(b'{') => {
            for (key, at) in scan::members(value) {
                let member = match () {
                    () if key.eq_ignore_ascii_case("name") => Some(NamedParam::Name),
                    () if key.eq_ignore_ascii_case("uri") => Some(NamedParam::Uri),
                    () => None,
                };
                let inner = at.slice(value);
                match (member, inner.first(), string::decode(inner)) {
                    (Some(member), Some(b'"'), Some(text)) => {
                        named.push((member, text.into_owned()));
                    }
                    _ => collect_references(inner, named),
                }
            }
        }
        Some(b'[') => {
            scan::elements(value).for_each(|at| collect_references(at.slice(value), named))
        }
        _ => {}
    }
}

/// Resolves an extension request to a method of its server.
pub(crate) fn find(
    view: &ProfileView,
    request: &Frame,
    method: &str,
) -> Result<ResolvedCapability, GateError> {
    let on = |server| method_id(server, method);
    if OF_THE_PROTOCOL.contains(&method) {
        return Err(method_not_found(method, &[]));
    }
    if let Some(target) = by_target(view, request, method) {
        return Ok(ResolvedCapability { id: on(&target.id.server), ..target });
    }
    let family = method.split('/').next().unwrap_or_default();
    let named = |key: &str| key.rsplit('/').next() == Some(family);
    let mut servers: Vec<_> = view.servers_with_extension(named).collect();
    if servers.is_empty() {
        servers = view.servers_with_extension(|_| true).collect();
    }
    match servers.as_slice() {
        [only] => Ok(ResolvedCapability { id: on(only), rename: None }),
        several => Err(method_not_found(method, several)),
    }
}

/// Returns the capability that the request names, if there is exactly one.
fn by_target(view: &ProfileView, request: &Frame, method: &str) -> Option<ResolvedCapability> {
    let (params, at) = (request.params()?, request.params_span()?);
    let member = |key| {
        let span = scan::member(params, key)?;
        Some((string::decode(span.slice(params))?.into_owned(), span.within(at)))
    };
    if let Some((uri, span)) = member("uri") {
        let id = match (view.names().find_uri_owner(&uri), method.starts_with("resources/")) {
            (UriOwner::Server { server, uri: raw }, _) => {
                resolve::may_follow(view, &uri, server, &raw).then(|| resource(server, &raw))?
            }
            // Unlisted, but only one server has resources.
            (_, true) => resolve::locate_resource(view, &uri).ok()?,
            (_, false) => return None,
        };
        return Some(ResolvedCapability::new(id, &uri, Some(span)));
    }
    let (name, span) = member("name")?;
    let kinds = [CapabilityKind::Tool, CapabilityKind::Prompt];
    let mut named = kinds.into_iter().filter_map(|kind| view.names().id_of(kind, &name));
    match (named.next(), named.next()) {
        (Some(only), None) => Some(ResolvedCapability::new(only.clone(), &name, Some(span))),
        _ => None,
    }
}

fn resource(server: &ServerName, uri: &str) -> CapabilityId {
    CapabilityId { server: server.clone(), kind: CapabilityKind::Resource, name: uri.into() }
}

fn method_not_found(method: &str, candidates: &[&ServerName]) -> GateError {
    let names: Vec<_> = candidates.iter().map(|server| server.as_str()).collect();
    let message = match names.is_empty() {
        true => format!("Method not found: {method}"),
        false => format!(
            "Method not found: {method}; several servers could handle it ({})",
            names.join(", ")
        ),
    };
    GateError::new(ErrorCode::CallMethod, message)
}
