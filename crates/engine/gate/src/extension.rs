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
//! whether it may be repeated, is the extension's secret: it is sent once.

use std::sync::Arc;

use bytes::Bytes;
use toolgate_model::{CapabilityId, CapabilityKind, Catalog, ServerName};
use toolgate_naming::Located;
use toolgate_session::Interactor;
use toolgate_wire::method::Target;
use toolgate_wire::{Frame, Span, code, method, scan, string};

use crate::decide::Matter;
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
        let visit = self.fleet.visit(&id.server, &caller.tenant())?;
        let (view, port, number) = (&view, &port, self.next_call());
        let matter = Matter { view, request, id: &id, caller, port, number, stale: None };
        match self.carry(matter, rename, visit).await {
            // Another server stands there now: nothing was decided about that one.
            Err(Stop::Replaced(_)) => {
                Box::pin(self.pass_extension(request, caller, port.clone())).await
            }
            answer => answer.or_else(|stop| stop.answer(&matter)),
        }
    }
}

/// What a request is about, for decisions: the one thing it names, else the method as if it were a
/// tool of its server.
type Found = (CapabilityId, Option<(Span, Bytes)>);

pub(crate) fn method_of(server: &ServerName, method: &str) -> CapabilityId {
    CapabilityId { server: server.clone(), kind: CapabilityKind::Tool, name: method.into() }
}

fn find(view: &View, request: &Frame) -> Result<Found, Refusal> {
    let method = request.method().unwrap_or_default();
    if OF_THE_PROTOCOL.contains(&&*method) {
        return Err(unknown(&method, &[]));
    }
    if let Some(found) = by_target(view, request, &method) {
        return Ok(found);
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
