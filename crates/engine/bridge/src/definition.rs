//! Definitions of tools as a revision has them.
//!
//! Resources, templates and prompts have grown members only, and unknown members are legal: those
//! definitions pass as they came, and so does nearly every tool's.

use bytes::Bytes;
use toolgate_wire::{Era, Revision, Span, Splice, scan};

use crate::schema;

const EXECUTION: &str = "execution";
const INPUT: &str = "inputSchema";
const OUTPUT: &str = "outputSchema";

/// What becomes of a part of a definition.
enum Change {
    Deleted(&'static str),
    Replaced(Span, Vec<u8>),
}

/// The definition of a tool for a caller of another revision.
///
/// `execution` speaks of tasks as 2025-11-25 has them, which are others than those of the other
/// era. To legacy callers an output schema is the schema of an object: any other is wrapped, or
/// left out where the revision has no structured output.
pub fn tool(raw: &Bytes, from: Revision, to: Revision) -> Bytes {
    let mut changes = Vec::new();
    if from.era() != to.era() && scan::member(raw, EXECUTION).is_some() {
        changes.push(Change::Deleted(EXECUTION));
    }
    if (from.era(), to.era()) == (Era::Modern, Era::Legacy) {
        changes.extend(objects_only(raw, INPUT));
        changes.extend(output(raw, to));
    }
    if changes.is_empty() {
        return raw.clone();
    }
    let whole = Span::new(0, raw.len());
    let changed = changes.into_iter().fold(Splice::new(raw), |edit, change| match change {
        Change::Deleted(key) => edit.delete_member(whole, key),
        Change::Replaced(at, schema) => edit.replace(at, schema),
    });
    changed.finish().unwrap_or_else(|_| raw.clone())
}

fn output(tool: &[u8], to: Revision) -> Vec<Change> {
    let Some(at) = scan::member(tool, OUTPUT) else { return Vec::new() };
    match (is_schema(at.of(tool)), is_of_object(at.of(tool))) {
        (true, true) => objects_only(tool, OUTPUT),
        (true, false) if to.structured_output() => {
            vec![Change::Replaced(at, schema::wrapped(at.of(tool)))]
        }
        _ => vec![Change::Deleted(OUTPUT)],
    }
}

/// Legacy clients take nothing but an object for the schema of a property, and refuse the whole
/// list where they find `true`.
fn objects_only(tool: &[u8], key: &str) -> Vec<Change> {
    let Some(at) = scan::member(tool, key) else { return Vec::new() };
    let found = schema::boolean_properties(at.of(tool));
    found.map(|(property, is)| Change::Replaced(property.within(at), is.to_vec())).collect()
}

/// Whether a tool's output is no object by its schema, so that neither can pass as it is.
pub(crate) fn is_wrapped(tool: &[u8], from: Revision, to: Revision) -> bool {
    if (from.era(), to.era()) != (Era::Modern, Era::Legacy) {
        return false;
    }
    let Some(output) = scan::member(tool, OUTPUT).map(|at| at.of(tool)) else { return false };
    is_schema(output) && !is_of_object(output)
}

fn is_schema(raw: &[u8]) -> bool {
    raw.starts_with(b"{") || schema::of_boolean(raw).is_some()
}

fn is_of_object(schema: &[u8]) -> bool {
    scan::text(schema, "type").as_deref() == Some("object")
}
