//! URIs as the lists show them, everywhere a server names one.
//!
//! Only a server that shares a URI with another has any rewritten, and only in the places listed
//! here; text that happens to read like a URI is text. Requests go the other way in `resolve`.

use std::borrow::Cow;

use bytes::Bytes;
use toolgate_model::{CapabilityId, CapabilityKind, ServerName};
use toolgate_wire::{Frame, Span, scan, string};

use crate::resolve;
use crate::view::View;

/// User interfaces (MCP Apps) and skills are often not listed, and only their server has them.
const OF_ONE_SERVER: [&str; 2] = ["ui://", "skill://"];
/// Where a tool or a result names its user interface.
const USER_INTERFACE: [&[&str]; 2] =
    [&["_meta", "ui", "resourceUri"], &["_meta", "ui/resourceUri"]];
/// Where one element of a list names a resource; `content[]` is the only one that embeds some.
const ELEMENT: [&[&str]; 2] = [&["uri"], &["resource", "uri"]];
/// Where a message of a prompt names one.
const MESSAGE: [&[&str]; 2] = [&["content", "uri"], &["content", "resource", "uri"]];

/// An answer with every URI as this view shows it.
pub(crate) fn shown(view: &View, server: &ServerName, answer: Frame) -> Frame {
    if !view.sharing.contains(server) {
        return answer;
    }
    let found = match (answer.result_span(), answer.error_span()) {
        (Some(result), _) => places(answer.bytes(), result),
        (None, Some(error)) => at(answer.bytes(), error, &["data", "uri"]).into_iter().collect(),
        (None, None) => Vec::new(),
    };
    let changes = replacements(view, server, answer.bytes(), &found);
    if changes.is_empty() {
        return answer;
    }
    let edit = changes.into_iter().fold(answer.edit(), |edit, (at, uri)| edit.replace(at, uri));
    edit.frame().unwrap_or(answer)
}

/// A `notifications/resources/updated` under each URI by which a caller can have subscribed: the one
/// that the lists show, and the tagged one.
pub(crate) fn updated(view: &View, server: &ServerName, frame: &Frame) -> Vec<Frame> {
    let (Some(own), Some(at)) = (frame.name(), frame.name_span()) else { return Vec::new() };
    let mut uris = vec![as_shown(view, server, &own)];
    uris.extend(view.names().tagged(server, &own).map(Cow::Owned).filter(|uri| *uri != uris[0]));
    let renamed = |uri: &Cow<'_, str>| match *uri == own {
        true => Some(frame.clone()),
        false => frame.edit().replace(at, string::encode(uri)).frame().ok(),
    };
    uris.iter().filter_map(renamed).collect()
}

/// What must be replaced in a definition beside its name.
pub(crate) fn in_definition(
    view: &View,
    server: &ServerName,
    definition: &[u8],
) -> Vec<(Span, String)> {
    if !view.sharing.contains(server) {
        return Vec::new();
    }
    let found: Vec<_> = interfaces(definition).collect();
    replacements(view, server, definition, &found)
}

/// Whether some URI of a server is shown otherwise than the server writes it.
pub(crate) fn shares(view: &View, server: &ServerName) -> bool {
    let Some((_, catalog)) = view.catalogs.iter().find(|(name, _)| name == server) else {
        return false;
    };
    let listed = [CapabilityKind::Resource, CapabilityKind::Template].into_iter().any(|kind| {
        catalog.of(kind).iter().any(|definition| {
            let name = definition.name.clone();
            let shown = CapabilityId { server: server.clone(), kind, name };
            view.names().name_of(&shown).is_some_and(|shown| *shown != *definition.name)
        })
    });
    let linked = |definition: &Bytes| {
        let found: Vec<_> = interfaces(definition).collect();
        !replacements(view, server, definition, &found).is_empty()
    };
    let skilled = view.skilled().len() > 1 && view.skilled().contains(server);
    skilled || listed || catalog.tools.iter().any(|tool| linked(&tool.raw))
}

fn replacements(
    view: &View,
    server: &ServerName,
    bytes: &[u8],
    found: &[Span],
) -> Vec<(Span, String)> {
    let change = |at: &Span| {
        let uri = string::decode(at.of(bytes))?;
        let shown = as_shown(view, server, &uri);
        (shown != uri).then(|| (*at, string::encode(&shown)))
    };
    found.iter().filter_map(change).collect()
}

/// How a URI a server sent is shown. What only its server has must lead back there even if nobody
/// lists it; any other URI may be one of the world's.
fn as_shown<'u>(view: &View, server: &ServerName, uri: &'u str) -> Cow<'u, str> {
    let shown = view.names().uri_of(server, uri);
    let leads_back = || resolve::located(view, &shown).is_ok_and(|id| id.server == *server);
    let of_one = || OF_ONE_SERVER.iter().any(|scheme| shown.starts_with(scheme));
    if view.catalogs.len() < 2 || !of_one() || leads_back() {
        return shown;
    }
    view.names().tagged(server, uri).map_or(shown, Cow::Owned)
}

/// Every place in a result that names a resource.
fn places(bytes: &[u8], result: Span) -> Vec<Span> {
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
    scan::pointer(outer.of(bytes), path).map(|span| span.within(outer))
}

fn elements<'a>(bytes: &'a [u8], outer: Span, key: &str) -> impl Iterator<Item = Span> + 'a {
    let array = at(bytes, outer, &[key]).unwrap_or(Span::new(0, 0));
    scan::elements(array.of(bytes)).map(move |element| element.within(array))
}
