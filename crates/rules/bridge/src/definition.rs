//! Translates tool definitions between revisions.
//!
//! Resources, templates and prompts only gained members, and unknown members are legal, so their
//! definitions pass unchanged. So do nearly all tools.

use bytes::Bytes;
use toolgate_wire::{Era, JsonEdit, Revision, Span, scan};

use crate::schema;

const EXECUTION: &str = "execution";
const INPUT: &str = "inputSchema";
const OUTPUT: &str = "outputSchema";

/// A change to a member of a definition.
enum DefinitionChange {
    Deleted(&'static str),
    Replaced(Span, Vec<u8>),
}

/// Translates a tool definition for a caller of another revision.
///
/// `execution` describes tasks as in 2025-11-25, which differ from those of the modern era. Legacy
/// callers expect the output schema of an object: any other schema is wrapped, or removed if the
/// revision has no structured output.
pub fn translate_tool(raw: &Bytes, from: Revision, to: Revision) -> Bytes {
    let mut changes = Vec::new();
    if from.era() != to.era() && scan::member(raw, EXECUTION).is_some() {
        changes.push(DefinitionChange::Deleted(EXECUTION));
    }
    if (from.era(), to.era()) == (Era::Modern, Era::Legacy) {
        changes.extend(boolean_schema_changes(raw, INPUT));
        changes.extend(output_changes(raw, to));
    }
    if changes.is_empty() {
        return raw.clone();
    }
    let whole = Span::new(0, raw.len());
    let changed = changes.into_iter().fold(JsonEdit::new(raw), |edit, change| match change {
        DefinitionChange::Deleted(key) => edit.delete_member(whole, key),
        DefinitionChange::Replaced(at, schema) => edit.replace(at, schema),
    });
    changed.finish().unwrap_or_else(|_| raw.clone())
}

fn output_changes(tool: &[u8], to: Revision) -> Vec<DefinitionChange> {
    let Some(at) = scan::member(tool, OUTPUT) else { return Vec::new() };
    match (is_schema(at.slice(tool)), is_object_schema(at.slice(tool))) {
        (true, true) => boolean_schema_changes(tool, OUTPUT),
        (true, false) if to.has_structured_output() => {
            vec![DefinitionChange::Replaced(at, schema::wrap_in_object(at.slice(tool)))]
        }
        _ => vec![DefinitionChange::Deleted(OUTPUT)],
    }
}

/// Legacy clients accept only objects as the schema of a property, and reject the whole list if one
/// is `true`.
fn boolean_schema_changes(tool: &[u8], key: &str) -> Vec<DefinitionChange> {
    let Some(at) = scan::member(tool, key) else { return Vec::new() };
    let found = schema::boolean_properties(at.slice(tool));
    found
        .map(|(property, is)| DefinitionChange::Replaced(property.within(at), is.to_vec()))
        .collect()
}

/// Returns true if the schema of a tool's output is not that of an object, so that schema and
/// output must be wrapped.
pub(crate) fn needs_wrapping(tool: &[u8], from: Revision, to: Revision) -> bool {
    if (from.era(), to.era()) != (Era::Modern, Era::Legacy) {
        return false;
    }
    let Some(output) = scan::member(tool, OUTPUT).map(|at| at.slice(tool)) else { return false };
    is_schema(output) && !is_object_schema(output)
}

fn is_schema(raw: &[u8]) -> bool {
    raw.starts_with(b"{") || schema::expand_boolean(raw).is_some()
}

fn is_object_schema(schema: &[u8]) -> bool {
    scan::member_text(schema, "type").as_deref() == Some("object")
}
