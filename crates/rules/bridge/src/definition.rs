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

/// Translates a tool definition for a caller of another revision.
///
/// `execution` describes tasks as in 2025-11-25, which differ from those of the modern era. Legacy
/// callers expect the output schema of an object: any other schema is wrapped, or removed if the
/// revision has no structured output.
pub fn translate_tool(raw: &Bytes, from: Revision, to: Revision) -> Bytes {
    let mut edit = JsonEdit::new(raw);
    if from.era() != to.era() && scan::member(raw, EXECUTION).is_some() {
        edit = edit.delete_member(whole(raw), EXECUTION);
    }
    if (from.era(), to.era()) == (Era::Modern, Era::Legacy) {
        edit = expand_boolean_schemas(edit, raw, INPUT);
        edit = translate_output(edit, raw, to);
    }
    match edit.is_empty() {
        true => raw.clone(),
        false => edit.finish().unwrap_or_else(|_| raw.clone()),
    }
}

fn whole(tool: &[u8]) -> Span {
    Span::new(0, tool.len())
}

fn translate_output<'a>(edit: JsonEdit<'a>, tool: &[u8], to: Revision) -> JsonEdit<'a> {
    let Some(at) = scan::member(tool, OUTPUT) else { return edit };
    match (is_schema(at.slice(tool)), is_object_schema(at.slice(tool))) {
        (true, true) => expand_boolean_schemas(edit, tool, OUTPUT),
        (true, false) if to.has_structured_output() => {
            edit.replace(at, schema::wrap_in_object(at.slice(tool)))
        }
        _ => edit.delete_member(whole(tool), OUTPUT),
    }
}

/// Legacy clients accept only objects as the schema of a property, and reject the whole list if one
/// is `true`.
fn expand_boolean_schemas<'a>(edit: JsonEdit<'a>, tool: &[u8], key: &str) -> JsonEdit<'a> {
    let Some(at) = scan::member(tool, key) else { return edit };
    let found = schema::boolean_properties(at.slice(tool));
    found.fold(edit, |edit, (property, is)| edit.replace(property.within(at), is))
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
