//! What a caller is sent of single definitions, and what he is told at the beginning.
//!
//! A definition is the server's own, with the name it is exposed under, in the shape of the
//! caller's revision.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use toolgate_bridge as bridge;
use toolgate_model::{CapabilityKind, Catalog, ServerName};
use toolgate_wire::{Revision, Splice, scan, string};

use crate::listing::OfferedEntry;
use crate::view::View;
use crate::{results, text, uris};

/// How much of all servers' instructions is passed on.
const MAX_INSTRUCTIONS: usize = 16 << 10;

/// A definition as callers of a revision are sent it.
pub(crate) fn rendered(view: &View, entry: &OfferedEntry, to: Revision) -> Bytes {
    let raw = match entry.id.kind {
        CapabilityKind::Tool => tool(entry, to),
        _ => entry.fact.raw.clone(),
    };
    text::definition(exposed(view, entry, raw))
}

/// A tool in the shape of a revision, and whether it may be called as a task there.
fn tool(entry: &OfferedEntry, to: Revision) -> Bytes {
    let raw = bridge::tool(&entry.fact.raw, entry.protocol, to);
    let raw = bridge::tasks::listed(&raw, entry.tasks, to).unwrap_or(raw);
    match entry.is_bounded {
        // A result shown in part has no structured output, and that must not look like a fault.
        true => results::without_output_schema(&raw).unwrap_or(raw),
        false => raw,
    }
}

/// A definition under the name it is shown by, and with the URIs it leads to.
fn exposed(view: &View, entry: &OfferedEntry, raw: Bytes) -> Bytes {
    let OfferedEntry { id, shown, .. } = entry;
    let (_, named) = id.kind.members();
    let mut edits = uris::in_definition(view, &id.server, &raw);
    if **shown != *id.name {
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
/// What is withheld of them is left out.
pub(crate) fn instructions(
    catalogs: &[(ServerName, Arc<Catalog>)],
    withheld: &HashSet<ServerName>,
) -> Option<String> {
    let said: Vec<_> = catalogs
        .iter()
        .filter(|(server, _)| !withheld.contains(server))
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
    Some(text::instructions(text))
}
