//! Everything a server offers of one kind, page after page.
//!
//! Bounded in pages, definitions and bytes: beyond a bound it is an error, never a silent cut.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use toolgate_model::{CapabilityKind, Definition};
use toolgate_wire::{Frame, method, scan, string};

use crate::SessionError;
use crate::core::{Core, Link};
use crate::exchange::{self, Leg};
use crate::modern::headers::Lesson;
use crate::session::fail_on_error;

/// Pages of one list.
const MAX_PAGES: usize = 100;
/// Definitions in one list.
const MAX_DEFINITIONS: usize = 1000;
/// Bytes of all pages of one list.
const MAX_BYTES: usize = 4 << 20;

/// Reads the whole list of one kind. Definitions without a usable name, or under one that was given
/// before, are left out and logged.
pub(crate) async fn all(
    core: &Arc<Core>,
    kind: CapabilityKind,
) -> Result<Vec<Definition>, SessionError> {
    let list = distinct(pages(core, kind).await?, kind);
    match &core.link {
        Link::Http(_) if core.is_modern() && kind == CapabilityKind::Tool => Ok(learn(core, list)),
        _ => Ok(list),
    }
}

/// Notes what the tools want repeated in headers; those that cannot be called so are left out.
fn learn(core: &Core, mut list: Vec<Definition>) -> Vec<Definition> {
    let mut lesson = Lesson::default();
    list.retain(|tool| lesson.note(&tool.name, &tool.raw));
    core.mirror.learn(lesson);
    list
}

async fn pages(core: &Arc<Core>, kind: CapabilityKind) -> Result<Vec<Definition>, SessionError> {
    let mut list = Vec::new();
    let Some(request) = request_of(kind) else { return Ok(list) };
    let mut seen = HashSet::new();
    let mut bytes = 0;
    let mut params: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let leg = Leg::own(core.timeouts);
        let asked = params.as_ref().map(String::as_bytes);
        let page = exchange::request(core, leg, request, asked).await?;
        let page = fail_on_error(page)?;
        bytes += page.bytes().len();
        // Before anything of it is copied.
        if bytes > MAX_BYTES {
            return Err(too_much(kind, format!("{bytes} bytes")));
        }
        let cursor = read_page(&page, kind, &mut list)?;
        if list.len() > MAX_DEFINITIONS {
            return Err(too_much(kind, format!("{} definitions", list.len())));
        }
        let Some(cursor) = cursor else { return Ok(list) };
        if !seen.insert(cursor.clone()) {
            return Err(too_much(kind, "the same cursor twice".into()));
        }
        params = Some(format!("{{\"cursor\":{}}}", string::encode(&cursor)));
    }
    Err(too_much(kind, format!("more than {MAX_PAGES} pages")))
}

/// A name means one thing: the first under it is what a call of it would reach as well as any.
fn distinct(mut list: Vec<Definition>, kind: CapabilityKind) -> Vec<Definition> {
    let mut names = HashSet::with_capacity(list.len());
    list.retain(|definition| {
        let first = names.insert(definition.name.clone());
        if !first {
            tracing::warn!(target: "toolgate::session", %kind, "two definitions have one name");
        }
        first
    });
    list
}

fn too_much(kind: CapabilityKind, what: String) -> SessionError {
    SessionError::Protocol(format!("its list of {kind}s has no end in sight ({what})"))
}

/// The request that lists a kind; none for methods, which no list holds.
fn request_of(kind: CapabilityKind) -> Option<&'static str> {
    Some(match kind {
        CapabilityKind::Tool => method::TOOLS_LIST,
        CapabilityKind::Resource => method::RESOURCES_LIST,
        CapabilityKind::Template => method::RESOURCES_TEMPLATES_LIST,
        CapabilityKind::Prompt => method::PROMPTS_LIST,
        CapabilityKind::Method => return None,
    })
}

/// Adds a page's definitions to `list`; gives the cursor of the next page.
fn read_page(
    page: &Frame,
    kind: CapabilityKind,
    list: &mut Vec<Definition>,
) -> Result<Option<String>, SessionError> {
    let (array, named) = kind.members();
    let result = page.result().unwrap_or_default();
    let span = scan::member(result, array)
        .ok_or_else(|| SessionError::Protocol(format!("its list of {kind}s has no `{array}`")))?;
    let whole = Bytes::copy_from_slice(span.of(result));
    for element in scan::elements(&whole) {
        let raw = whole.slice(element.start()..element.end());
        let name = scan::member(&raw, named).and_then(|span| string::decode(span.of(&raw)));
        match name.map(|name| name.into_owned()) {
            Some(name) => list.push(Definition { name: name.into(), raw }),
            None => tracing::warn!(target: "toolgate::session", %kind, "a definition has no name"),
        }
    }
    let cursor =
        scan::member(result, "nextCursor").and_then(|span| string::decode(span.of(result)));
    Ok(cursor.map(|cursor| cursor.into_owned()))
}
