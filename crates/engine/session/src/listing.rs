//! Lists everything a server offers of one kind, page by page.
//!
//! Pages, definitions and bytes are limited. Exceeding a limit is an error; lists are never
//! truncated silently.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use toolgate_model::{CapabilityKind, Definition};
use toolgate_wire::{Frame, scan, string};

use crate::SessionError;
use crate::core::{SessionCore, SessionTransport};
use crate::exchange::{self, SendOptions};
use crate::session::fail_on_error;

/// The maximum number of pages of one list.
const MAX_PAGES: usize = 100;
/// The maximum number of definitions in one list.
const MAX_DEFINITIONS: usize = 1000;
/// The maximum number of bytes in all pages of one list.
const MAX_BYTES: usize = 4 << 20;

/// Reads the whole list of one kind. Definitions without a name, or with the name of an earlier
/// one, are skipped and logged.
pub(crate) async fn all(
    core: &Arc<SessionCore>,
    kind: CapabilityKind,
) -> Result<Vec<Definition>, SessionError> {
    let mut list = distinct(pages(core, kind).await?, kind);
    let on_http = matches!(core.link, SessionTransport::Http(_));
    if on_http && core.is_modern() && kind == CapabilityKind::Tool {
        core.argument_headers.replace_rules(&mut list);
    }
    Ok(list)
}

async fn pages(
    core: &Arc<SessionCore>,
    kind: CapabilityKind,
) -> Result<Vec<Definition>, SessionError> {
    let mut list = Vec::new();
    let Some(request) = kind.list_method() else { return Ok(list) };
    let mut seen = HashSet::new();
    let mut bytes = 0;
    let mut params: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let leg = SendOptions::for_own_request(core.timeouts);
        let asked = params.as_ref().map(String::as_bytes);
        let page = exchange::request(core, leg, request, asked).await?;
        let page = fail_on_error(page)?;
        bytes += page.bytes().len();
        // Check before copying anything.
        if bytes > MAX_BYTES {
            return Err(too_much(kind, format!("{bytes} bytes")));
        }
        let cursor = read_page(&page, kind, &mut list)?;
        if list.len() > MAX_DEFINITIONS {
            return Err(too_much(kind, format!("{} definitions", list.len())));
        }
        let Some(cursor) = cursor else { return Ok(list) };
        if !seen.insert(cursor.clone()) {
            let why = format!("the list of {kind}s does not end (the same cursor twice)");
            return Err(SessionError::Protocol(why));
        }
        params = Some(format!("{{\"cursor\":{}}}", string::encode(&cursor)));
    }
    Err(too_much(kind, format!("more than {MAX_PAGES} pages")))
}

/// Removes definitions with duplicate names and keeps the first of each.
fn distinct(mut list: Vec<Definition>, kind: CapabilityKind) -> Vec<Definition> {
    let mut names = HashSet::with_capacity(list.len());
    list.retain(|definition| {
        let first = names.insert(definition.name.clone());
        if !first {
            tracing::warn!(
                target: "toolgate::session", %kind,
                "skipping a definition with a duplicate name"
            );
        }
        first
    });
    list
}

fn too_much(kind: CapabilityKind, what: String) -> SessionError {
    SessionError::Protocol(format!("the list of {kind}s is too long ({what})"))
}

/// Adds the definitions of a page to `list`. Returns the cursor of the next page.
fn read_page(
    page: &Frame,
    kind: CapabilityKind,
    list: &mut Vec<Definition>,
) -> Result<Option<String>, SessionError> {
    let (array, named) = kind.json_keys();
    let result = page.result().unwrap_or_default();
    let span = scan::member(result, array)
        .ok_or_else(|| SessionError::Protocol(format!("the list of {kind}s has no `{array}`")))?;
    let whole = Bytes::copy_from_slice(span.slice(result));
    for element in scan::elements(&whole) {
        let raw = whole.slice(element.start()..element.end());
        let name = scan::member(&raw, named).and_then(|span| string::decode(span.slice(&raw)));
        match name.map(|name| name.into_owned()) {
            Some(name) => list.push(Definition { name: name.into(), raw }),
            None => {
                tracing::warn!(target: "toolgate::session", %kind, "skipping a definition without a name")
            }
        }
    }
    let cursor =
        scan::member(result, "nextCursor").and_then(|span| string::decode(span.slice(result)));
    Ok(cursor.map(|cursor| cursor.into_owned()))
}
