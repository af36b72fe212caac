//! Rewrites the URIs in servers' messages to the exposed ones.
//!
//! Only URIs of servers that share one with another server are rewritten, and only at the places
//! listed here; text that looks like a URI stays text. `resolve` handles the other direction.

use std::borrow::Cow;

use bytes::Bytes;
use toolgate_fleet::OfferedCatalog;
use toolgate_model::{CapabilityId, CapabilityKind, ServerName};
use toolgate_wire::{Frame, Span, scan, string};

use crate::profile_view::ProfileView;
use crate::resolve;

/// Schemes of user interfaces (MCP Apps) and skills, which are often unlisted and only their server
/// has.
const OF_ONE_SERVER: [&str; 2] = ["ui://", "skill://"];
/// Where a tool or a result names its user interface.
const USER_INTERFACE: [&[&str]; 2] =
    [&["_meta", "ui", "resourceUri"], &["_meta", "ui/resourceUri"]];
/// Where an element of a list names a resource. Only `content[]` embeds resources.
const ELEMENT: [&[&str]; 2] = [&["uri"], &["resource", "uri"]];
/// Where a prompt message names a resource.
const MESSAGE: [&[&str]; 2] = [&["content", "uri"], &["content", "resource", "uri"]];

/// Replaces every URI in an answer by the exposed one.
pub(crate) fn expose_uris(view: &ProfileView, server: &ServerName, answer: Frame) -> Frame {
    if !view.uri_rewrites.contains(server) {
        return answer;
    }
    let found = match (answer.result_span(), answer.error_span()) {
        (Some(result), _) => uri_spans(answer.bytes(), result),
        (None, Some(error)) => at(answer.bytes(), error, &["data", "uri"]).into_iter().collect(),
        (None, None) => Vec::new(),
    };
    let changes = replacements(view, server, answer.bytes(), found);
    if changes.is_empty() {
        return answer;
    }
    let edit = changes.into_iter().fold(answer.edit(), |edit, (at, uri)| edit.replace(at, uri));
    edit.finish_frame().unwrap_or(answer)
}

/// Returns a `notifications/resources/updated` for each URI a caller can have subscribed to: the
/// listed one and the tagged one.
pub(crate) fn expose_updated_uri(
    view: &ProfileView,
    server: &ServerName,
    frame: &Frame,
) -> Vec<Frame> {
    let (Some(own), Some(at)) = (frame.name(), frame.name_span()) else { return Vec::new() };
    let mut uris = vec![exposed_uri(view, server, &own)];
    uris.extend(
        view.names().tagged_uri(server, &own).map(Cow::Owned).filter(|uri| *uri != uris[0]),
    );
    let renamed = |uri: &Cow<'_, str>| match *uri == own {
        true => Some(frame.clone()),
        false => frame.edit().replace(at, string::encode(uri)).finish_frame().ok(),
    };
    uris.iter().filter_map(renamed).collect()
}

/// Returns the replacements of URIs in a definition.
pub(crate) fn definition_replacements(
    view: &ProfileView,
    server: &ServerName,
    definition: &[u8],
) -> Vec<(Span, String)> {
    if !view.uri_rewrites.contains(server) {
        return Vec::new();
    }
    replacements(view, server, definition, interfaces(definition))
}

/// Returns true if some URI of a server is exposed differently from how the server writes it.
pub(crate) fn needs_rewriting(view: &ProfileView, offered: &OfferedCatalog) -> bool {
    let (server, catalog) = (offered.server(), &offered.checked.catalog);
    let listed = [CapabilityKind::Resource, CapabilityKind::Template].into_iter().any(|kind| {
        catalog.definitions(kind).iter().any(|definition| {
            let name = definition.name.clone();
            let shown = CapabilityId { server: server.clone(), kind, name };
            view.names().name_of(&shown).is_some_and(|shown| *shown != *definition.name)
        })
    });
    let linked = |definition: &Bytes| {
        !replacements(view, server, definition, interfaces(definition)).is_empty()
    };
    let skilled = view.skill_servers.len() > 1 && view.skill_servers.contains(server);
    skilled || listed || catalog.tools.iter().any(|tool| linked(&tool.raw))
}

fn replacements(
    view: &ProfileView,
    server: &ServerName,
    bytes: &[u8],
    found: impl IntoIterator<Item = Span>,
) -> Vec<(Span, String)> {
    let change = |at: Span| {
        let uri = string::decode(at.slice(bytes))?;
        let shown = exposed_uri(view, server, &uri);
        (shown != uri).then(|| (at, string::encode(&shown)))
    };
    found.into_iter().filter_map(change).collect()
}

/// Returns the exposed form of a URI. A URI with a scheme of one server must resolve to that server
/// even if it is unlisted; any other URI may be external.
fn exposed_uri<'u>(view: &ProfileView, server: &ServerName, uri: &'u str) -> Cow<'u, str> {
    let shown = view.names().exposed_uri(server, uri);
    let leads_back = || resolve::locate_resource(view, &shown).is_ok_and(|id| id.server == *server);
    let of_one = || OF_ONE_SERVER.iter().any(|scheme| shown.starts_with(scheme));
    if view.offered.len() < 2 || !of_one() || leads_back() {
        return shown;
    }
    view.names().tagged_uri(server, uri).map_or(shown, Cow::Owned)
}

/// Returns every place in a result that names a resource.
fn uri_spans(bytes: &[u8], result: Span) -> Vec<Span> {
    let mut found = Vec::new();
    let mut take = |outer: Span, paths: &[&[&str]]| {
        found.extend(paths.iter().filter_map(|path| at(bytes, outer, path)));
    };
    for list in ["contents", "content", "resources", "skills"] {
        elements(bytes, result, list).for_each(|element| take(element, &ELEMENT));
    }
    elements(bytes, result, "messages").for_each(|message| take(message, &MESSAGE));
    let entries = elements(bytes, result, "skills").chain(at(bytes, result, &["skill"]));
    for skill in entries {
        elements(bytes, skill, "resources").for_each(|element| take(element, &ELEMENT));
    }
    take(result, &[&["skill", "uri"]]);
    take(result, &USER_INTERFACE);
    found
}

fn interfaces(definition: &[u8]) -> impl Iterator<Item = Span> {
    USER_INTERFACE.iter().filter_map(|path| scan::pointer(definition, path))
}

fn at(bytes: &[u8], outer: Span, path: &[&str]) -> Option<Span> {
    scan::pointer(outer.slice(bytes), path).map(|span| span.within(outer))
}

fn elements<'a>(bytes: &'a [u8], outer: Span, key: &str) -> impl Iterator<Item = Span> + 'a {
    let array = at(bytes, outer, &[key]).unwrap_or(Span::new(0, 0));
    scan::elements(array.slice(bytes)).map(move |element| element.within(array))
}
