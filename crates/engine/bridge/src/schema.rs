//! A JSON Schema of anything, as the schema of an object that holds it under `result`.
//!
//! References within the schema still lead where they led: definitions move to the new root with
//! their names, everything else is now one step further down. Where the schema names itself
//! (`$id`), its references are its own affair and stay.

use toolgate_wire::{Span, Splice, scan, string};

/// Keywords whose value maps names to schemas.
const MAPS: [&str; 6] =
    ["properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"];
/// Keywords whose value is data.
const DATA: [&str; 4] = ["const", "enum", "default", "examples"];
/// Keywords that only a root has, or that references expect there.
const OF_THE_ROOT: [&str; 3] = ["$schema", "$defs", "definitions"];

/// The schema of the object around it.
pub(crate) fn wrapped(schema: &[u8]) -> Vec<u8> {
    let as_it_is = || (of_boolean(schema).unwrap_or(schema).to_vec(), Vec::new());
    let (inner, root) = match is_named(schema) || of_boolean(schema).is_some() {
        true => as_it_is(),
        false => settled(schema).unwrap_or_else(as_it_is),
    };
    let head = br#"{"type":"object","properties":{"result":"#;
    [head, inner.as_slice(), br#"},"required":["result"]"#, root.as_slice(), b"}"].concat()
}

/// `true` and `false` are schemas, too: the objects that say the same.
pub(crate) fn of_boolean(schema: &[u8]) -> Option<&'static [u8]> {
    match schema {
        b"true" => Some(b"{}"),
        b"false" => Some(br#"{"not":{}}"#),
        _ => None,
    }
}

/// The properties whose schema is a boolean, and what says the same.
pub(crate) fn boolean_properties(schema: &[u8]) -> impl Iterator<Item = (Span, &'static [u8])> {
    let properties = scan::member(schema, "properties").unwrap_or(Span::new(0, 0));
    scan::members(properties.of(schema)).filter_map(move |(_, property)| {
        let property = property.within(properties);
        Some((property, of_boolean(property.of(schema))?))
    })
}

/// Whether a schema has a name of its own, which its references are relative to. In drafts before
/// 2019 a fragment is no such name.
fn is_named(schema: &[u8]) -> bool {
    scan::text(schema, "$id").is_some_and(|id| !id.starts_with('#'))
}

/// The schema with its references following it, and the members that belong to the new root.
fn settled(schema: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let whole = Span::new(0, schema.len());
    let mut references = Vec::new();
    in_schema(schema, whole, &mut references);
    let moved = references.into_iter().filter_map(|at| Some((at, moved(at.of(schema))?)));
    let followed = moved.fold(Splice::new(schema), |splice, (at, to)| splice.replace(at, to));
    let schema = followed.finish().ok()?;
    let (mut root, mut splice) = (Vec::new(), Splice::new(&schema));
    for key in OF_THE_ROOT {
        if let Some(value) = scan::member(&schema, key) {
            root.extend([b",\"", key.as_bytes(), b"\":", value.of(&schema)].concat());
            splice = splice.delete_member(Span::new(0, schema.len()), key);
        }
    }
    Some((splice.finish().ok()?.to_vec(), root))
}

/// Where a reference leads after the move; `None` if that is the same place.
fn moved(raw: &[u8]) -> Option<String> {
    let reference = string::decode(raw)?;
    let pointer = reference.strip_prefix('#')?;
    let path = pointer.strip_prefix('/').unwrap_or_default().replace("%24", "$");
    let stays = |root: &str| path.starts_with(root);
    let is_pointer = pointer.is_empty() || pointer.starts_with('/');
    if !is_pointer || stays("$defs/") || stays("definitions/") {
        return None;
    }
    Some(string::encode(&format!("#/properties/result{pointer}")))
}

/// Collects the references of the schema at `at`.
fn in_schema(whole: &[u8], at: Span, found: &mut Vec<Span>) {
    if scan::elements(at.of(whole)).next().is_some() {
        let each = scan::elements(at.of(whole)).map(|element| element.within(at));
        return each.for_each(|element| in_schema(whole, element, found));
    }
    if is_named(at.of(whole)) {
        return;
    }
    for (key, value) in scan::members(at.of(whole)) {
        let value = value.within(at);
        match key.as_ref() {
            "$ref" | "$dynamicRef" => found.push(value),
            key if DATA.contains(&key) => {}
            key if MAPS.contains(&key) => {
                let schemas = scan::members(value.of(whole)).map(|(_, each)| each.within(value));
                schemas.for_each(|schema| in_schema(whole, schema, found));
            }
            _ => in_schema(whole, value, found),
        }
    }
}
