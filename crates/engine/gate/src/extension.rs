//! Requests of extensions the gateway does not know: which server they are for.
//!
//! A closed rule, in this order:
//!
//! 1. the server of the one capability that `params.uri` or `params.name` leads to, under the name
//!    that server knows;
//! 2. the only server with an extension called like the first part of the method (`skills/list`
//!    and `io.modelcontextprotocol/skills`);
//! 3. the only server with any extension.
//!
//! The list of skills of several servers is gathered (`skills.rs`).
//!
//! Otherwise nobody here knows the method; and those of the protocol itself that the gateway
//! answers, or that a revision has removed, are nobody's extension. What a request means, and
//! whether it may be repeated, is the extension's secret: it is sent once, and it is decided on as a
//! method of its server and as every capability of that server it names ([`targets`]).

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use toolgate_model::{CapabilityId, CapabilityKind, Catalog, ServerName};
use toolgate_naming::Located;
use toolgate_session::Interactor;
use toolgate_wire::method::Target;
use toolgate_wire::{Frame, Span, code, method, scan, string};

use crate::decide::Matter;
use crate::params::Params;
use crate::refusal::Stop;
use crate::view::View;
use crate::{Caller, Gate, Refusal, resolve, skills};

/// Requests of the protocol that never reach a server through the gate.
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

/// Whether a method is none of those the gateway knows to be about something.
pub(crate) fn concerns(method: &str) -> bool {
    Target::of(method).is_none()
}

impl Gate {
    /// Passes such a request to its server.
    pub(crate) async fn pass_extension(
        &self,
        request: &Frame,
        caller: &Arc<Caller>,
        port: Arc<dyn Interactor>,
    ) -> Result<Frame, Refusal> {
        let view = self.view(caller);
        self.still_there(&view)?;
        if request.is(skills::LIST) && view.skilled().len() > 1 {
            return self.list_skills(&view, request, caller, port).await;
        }
        let (id, rename) = find(&view, request)?;
        let Some(visit) = self.visit(&view, &id.server, caller)? else {
            return Box::pin(self.pass_extension(request, caller, port)).await;
        };
        let (number, params) = (self.next_call(), &Params::of(request));
        let (port, stale) = (&port, None);
        let matter = Matter { view: &view, request, id: &id, caller, port, number, stale, params };
        let renewed = self.renewed_all(&matter, &visit).await; // recently read
        let view = renewed.view.as_ref().unwrap_or(&view);
        let (now, rename) = match &renewed.view {
            Some(view) => find(view, request)?,
            None => (id.clone(), rename),
        };
        if now != id {
            return Box::pin(self.pass_extension(request, caller, port.clone())).await;
        }
        let matter = Matter { view, stale: renewed.failure.as_deref(), ..matter };
        match self.carry(matter, rename, visit).await {
            // Another server stands there now: nothing was decided about that one.
            Err(Stop::Replaced(_)) => {
                Box::pin(self.pass_extension(request, caller, port.clone())).await
            }
            answer => answer.or_else(|stop| stop.answer(&matter)),
        }
    }
}

/// The method of its server that a request calls, and what it must be renamed to there.
type Found = (CapabilityId, Option<(Span, Bytes)>);

pub(crate) fn method_of(server: &ServerName, method: &str) -> CapabilityId {
    CapabilityId { server: server.clone(), kind: CapabilityKind::Method, name: method.into() }
}

/// Every capability of its server that a request names, at whatever depth: by a `uri`, whether it is
/// listed or not, and by a `name` that is one of a tool or prompt, as the server spells it or as the
/// caller sees it. Keys count in either case: a server may not tell `Name` from `name`.
pub(crate) fn targets(
    view: &View,
    method: &CapabilityId,
    request: &Frame,
) -> BTreeSet<CapabilityId> {
    let mut named = Vec::new();
    gather(request.params().unwrap_or_default(), &mut named);
    let server = &method.server;
    let known = view.place_of(server).map(|place| &view.offered()[place].known);
    let of = |kind, name: &str| CapabilityId { server: server.clone(), kind, name: name.into() };
    let mut targets = BTreeSet::new();
    for (member, text) in named {
        let is_listed = |kind| known.is_some_and(|known| known.fact(kind, &text).is_some());
        match member {
            Member::Name => {
                for kind in [CapabilityKind::Tool, CapabilityKind::Prompt] {
                    let shown = view.names().id_of(kind, &text);
                    targets.extend(shown.filter(|id| id.server == *server).cloned());
                    targets.extend(is_listed(kind).then(|| of(kind, &text)));
                }
            }
            Member::Uri => {
                if let Located::At { server: at, uri } = view.names().locate(&text)
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

/// Whether params name something, which may be a capability of a server.
pub fn names_something(params: &[u8]) -> bool {
    let mut named = Vec::new();
    gather(params, &mut named);
    !named.is_empty()
}

/// Whether a caller must not hear of something that its request names.
pub(crate) fn is_hidden(view: &View, id: &CapabilityId) -> bool {
    let place = view.place_of(&id.server);
    let known = place.map(|place| &view.offered()[place].known);
    let is_listed = known.is_some_and(|known| known.fact(id.kind, &id.name).is_some());
    match is_listed {
        true => view.names().name_of(id).is_none(),
        false => view.excludes(&id.server, &id.name),
    }
}

/// A member of `params` that names something.
#[derive(Clone, Copy)]
enum Member {
    Name,
    Uri,
}

/// Gathers what a value names. The wire bounds its depth.
fn gather(value: &[u8], named: &mut Vec<(Member, String)>) {
    match value.first() {
        Some(b'{') => {
            for (key, at) in scan::members(value) {
                let member = match () {
                    () if key.eq_ignore_ascii_case("name") => Some(Member::Name),
                    () if key.eq_ignore_ascii_case("uri") => Some(Member::Uri),
                    () => None,
                };
                let inner = at.of(value);
                match (member, inner.first(), string::decode(inner)) {
                    (Some(member), Some(b'"'), Some(text)) => {
                        named.push((member, text.into_owned()));
                    }
                    _ => gather(inner, named),
                }
            }
        }
        Some(b'[') => scan::elements(value).for_each(|at| gather(at.of(value), named)),
        _ => {}
    }
}

fn find(view: &View, request: &Frame) -> Result<Found, Refusal> {
    let method = request.method().unwrap_or_default();
    if OF_THE_PROTOCOL.contains(&&*method) {
        return Err(unknown(&method, &[]));
    }
    if let Some((target, rename)) = by_target(view, request, &method) {
        return Ok((method_of(&target.server, &method), rename));
    }
    let family = method.split('/').next().unwrap_or_default();
    let named = |key: &str| key.rsplit('/').next() == Some(family);
    match with_extension(view, named).as_slice() {
        [only] => return Ok((method_of(only, &method), None)),
        [] => {}
        several => return Err(unknown(&method, several)),
    }
    match with_extension(view, |_| true).as_slice() {
        [only] => Ok((method_of(only, &method), None)),
        several => Err(unknown(&method, several)),
    }
}

/// The server of what the request names, if that is one thing of one server.
fn by_target(view: &View, request: &Frame, method: &str) -> Option<Found> {
    let (params, at) = (request.params()?, request.params_span()?);
    let member = |key| {
        let span = scan::member(params, key)?;
        Some((string::decode(span.of(params))?.into_owned(), span.within(at)))
    };
    if let Some((uri, span)) = member("uri") {
        let id = match (view.names().locate(&uri), method.starts_with("resources/")) {
            (Located::At { server, uri: raw }, _) => {
                resolve::leads_to(view, &uri, server, &raw).then(|| resource(server, &raw))?
            }
            // Unlisted, but of the one server that has resources.
            (_, true) => resolve::located(view, &uri).ok()?,
            (_, false) => return None,
        };
        return Some(renamed(id, &uri, span));
    }
    let (name, span) = member("name")?;
    let kinds = [CapabilityKind::Tool, CapabilityKind::Prompt];
    let mut named = kinds.into_iter().filter_map(|kind| view.names().id_of(kind, &name));
    match (named.next(), named.next()) {
        (Some(only), None) => Some(renamed(only.clone(), &name, span)),
        _ => None,
    }
}

fn resource(server: &ServerName, uri: &str) -> CapabilityId {
    CapabilityId { server: server.clone(), kind: CapabilityKind::Resource, name: uri.into() }
}

fn renamed(id: CapabilityId, asked: &str, span: Span) -> Found {
    let rename = (*id.name != *asked).then(|| (span, Bytes::from(string::encode(&id.name))));
    (id, rename)
}

/// The servers with an extension whose key passes a test.
fn with_extension(view: &View, test: impl Fn(&str) -> bool) -> Vec<&ServerName> {
    let servers = view.whole().filter(|(_, catalog)| has_extension(catalog, &test));
    servers.map(|(name, _)| name).collect()
}

/// Whether a server declared an extension whose key passes a test.
pub(crate) fn has_extension(catalog: &Catalog, test: impl Fn(&str) -> bool) -> bool {
    let capabilities = &catalog.capabilities[..];
    let at = scan::member(capabilities, "extensions");
    let extensions = at.map(|at| at.of(capabilities)).unwrap_or_default();
    scan::members(extensions).any(|(key, _)| test(&key))
}

fn unknown(method: &str, candidates: &[&ServerName]) -> Refusal {
    let names: Vec<_> = candidates.iter().map(|server| server.as_str()).collect();
    let message = match names.is_empty() {
        true => format!("Method not found: {method}"),
        false => format!(
            "Method not found: {method}; several servers could know it ({})",
            names.join(", ")
        ),
    };
    Refusal { code: code::METHOD_NOT_FOUND, message, data: None }
}
