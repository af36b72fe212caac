//! The lists a caller gets, and what he is told at the beginning, as prepared bytes.
//!
//! A definition is the server's own, with the name it is exposed under, in the shape of the
//! caller's revision.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use toolgate_bridge as bridge;
use toolgate_bridge::tasks::Form;
use toolgate_model::{CapabilityId, CapabilityKind, Catalog, ServerName};
use toolgate_wire::{Era, Revision, Splice, scan, string};

use crate::uris;
use crate::view::View;

/// How much of all servers' instructions is passed on.
const MAX_INSTRUCTIONS: usize = 16 << 10;

/// The `result` object of one list. Modern callers may keep it for `ttl_ms`.
pub(crate) fn prepare(view: &View, kind: CapabilityKind, to: Revision, ttl_ms: u32) -> Bytes {
    let (array, _) = kind.members();
    let mut list = BytesMut::new();
    list.put_slice(format!("{{\"{array}\":[").as_bytes());
    let mut first = true;
    for (server, catalog) in &view.catalogs {
        for definition in catalog.of(kind) {
            let name = definition.name.clone();
            let id = CapabilityId { server: server.clone(), kind, name };
            let Some(shown) = view.names.name_of(&id) else { continue };
            if !std::mem::take(&mut first) {
                list.put_u8(b',');
            }
            let raw = match kind {
                CapabilityKind::Tool => tool(&definition.raw, catalog, to),
                _ => definition.raw.clone(),
            };
            list.put_slice(&exposed(view, &id, raw, shown));
        }
    }
    list.put_u8(b']');
    if to.era() == Era::Modern {
        list.put_slice(bridge::list_tail(ttl_ms, !view.own).as_bytes());
    }
    list.put_u8(b'}');
    list.freeze()
}

/// A tool in the shape of a revision, and whether it may be called as a task there.
fn tool(raw: &Bytes, catalog: &Catalog, to: Revision) -> Bytes {
    let raw = bridge::tool(raw, catalog.protocol, to);
    let tasks = Form::of_server(catalog.protocol, &catalog.capabilities);
    bridge::tasks::listed(&raw, tasks, to).unwrap_or(raw)
}

/// A definition under the name it is shown by, and with the URIs it leads to.
fn exposed(view: &View, id: &CapabilityId, raw: Bytes, shown: &str) -> Bytes {
    let (_, named) = id.kind.members();
    let mut edits = uris::in_definition(view, &id.server, &raw);
    if shown != &*id.name {
        edits.extend(scan::member(&raw, named).map(|at| (at, string::encode(shown))));
    }
    if edits.is_empty() {
        return raw;
    }
    let splice =
        edits.into_iter().fold(Splice::new(&raw), |splice, (at, to)| splice.replace(at, to));
    splice.finish().unwrap_or_else(|_| raw.clone())
}

/// What the gateway declares to callers of a revision.
pub(crate) fn capabilities(catalogs: &[(ServerName, Arc<Catalog>)], to: Revision) -> Bytes {
    let servers = catalogs.iter();
    let servers = servers.map(|(_, catalog)| (catalog.protocol, &catalog.capabilities[..]));
    let servers: Vec<_> = servers.collect();
    bridge::capabilities(&servers, to)
}

/// What servers want the model to know: one server's own words, or everybody's under his name.
pub(crate) fn instructions(catalogs: &[(ServerName, Arc<Catalog>)]) -> Option<String> {
    let said: Vec<_> = catalogs
        .iter()
        .filter_map(|(server, catalog)| Some((server, catalog.instructions.as_deref()?)))
        .collect();
    let mut text = match said.as_slice() {
        [] => return None,
        [(_, only)] if catalogs.len() == 1 => (*only).to_owned(),
        several => several
            .iter()
            .map(|(server, text)| format!("## {server}\n\n{text}\n"))
            .collect::<Vec<_>>()
            .join("\n"),
    };
    if text.len() > MAX_INSTRUCTIONS {
        let end = (0..=MAX_INSTRUCTIONS).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or(0));
    }
    Some(text)
}
