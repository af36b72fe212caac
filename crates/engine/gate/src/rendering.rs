//! Renders definitions, declared capabilities and instructions for callers.
//!
//! A definition is the server's own, under its exposed name and in the format of the caller's
//! revision.

use std::collections::HashSet;

use bytes::Bytes;
use toolgate_bridge as bridge;
use toolgate_fleet::OfferedCatalog;
use toolgate_model::{CapabilityKind, ServerName};
use toolgate_wire::{JsonEdit, Revision, scan, string};

use crate::capability_list::ServerDefinitionEntry;
use crate::profile_view::ProfileView;
use crate::{results, sanitize, uris};

/// The most bytes of instructions, over all servers.
const MAX_INSTRUCTIONS: usize = 16 << 10;

/// Renders a definition for callers of a revision.
pub(crate) fn render_definition(
    view: &ProfileView,
    entry: &ServerDefinitionEntry,
    to: Revision,
) -> Bytes {
    let raw = match entry.id.kind {
        CapabilityKind::Tool => tool(entry, to),
        _ => entry.fact.raw.clone(),
    };
    sanitize::definition(apply_exposed_names(view, entry, raw))
}

/// Translates a tool to a revision, with its task support.
fn tool(entry: &ServerDefinitionEntry, to: Revision) -> Bytes {
    let raw = bridge::translate_tool(&entry.fact.raw, entry.protocol, to);
    let raw = bridge::tasks::mark_task_support(&raw, entry.tasks, to).unwrap_or(raw);
    match entry.is_bounded {
        // A shortened result has no structured output, which a client must not take for an error.
        true => results::without_output_schema(&raw).unwrap_or(raw),
        false => raw,
    }
}

/// Replaces the name and the URIs in a definition by the exposed ones.
fn apply_exposed_names(view: &ProfileView, entry: &ServerDefinitionEntry, raw: Bytes) -> Bytes {
    let ServerDefinitionEntry { id, shown, .. } = entry;
    let (_, named) = id.kind.json_keys();
    let mut edits = uris::definition_replacements(view, &id.server, &raw);
    if **shown != *id.name {
        edits.extend(scan::member(&raw, named).map(|at| (at, string::encode(shown))));
    }
    if edits.is_empty() {
        return raw;
    }
    let splice =
        edits.into_iter().fold(JsonEdit::new(&raw), |splice, (at, to)| splice.replace(at, to));
    splice.finish().unwrap_or_else(|_| raw.clone())
}

/// Returns the capabilities that the gateway declares to callers of a revision.
pub(crate) fn capabilities(offered: &[OfferedCatalog], to: Revision) -> Bytes {
    let catalogs = offered.iter().map(|it| &it.checked.catalog);
    let servers = catalogs.map(|catalog| (catalog.protocol, &catalog.capabilities[..]));
    bridge::gateway_capabilities(&servers.collect::<Vec<_>>(), to)
}

/// Returns the servers' instructions for the model: those of a single server as they are, otherwise
/// each under the name of its server. Withheld instructions are left out.
pub(crate) fn instructions(
    offered: &[OfferedCatalog],
    withheld: &HashSet<ServerName>,
) -> Option<String> {
    let shown = offered.iter().filter(|it| !withheld.contains(it.server()));
    let said: Vec<_> = shown
        .filter_map(|it| Some((it.server(), it.checked.catalog.instructions.as_deref()?)))
        .collect();
    let mut text = match said.as_slice() {
        [] => return None,
        [(_, only)] if offered.len() == 1 => (*only).to_owned(),
        several => several
            .iter()
            .map(|(server, text)| format!("## {server}\n\n{text}\n"))
            .collect::<Vec<_>>()
            .join("\n"),
    };
    text.truncate(text.floor_char_boundary(MAX_INSTRUCTIONS));
    Some(sanitize::instructions(text))
}
