//! Wraps any JSON Schema into the schema of an object that holds the value under `result`.
//!
//! References within the schema stay valid: definitions move to the new root under their names,
//! everything else moves one level down. References in a schema with its own `$id` are relative to
//! it and stay.

use toolgate_wire::{JsonEdit, Span, scan, string};

/// Keywords whose value maps names to schemas.
const MAPS: [&str; 6] =
    ["properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"];
/// Keywords whose value is data, not a schema.
const DATA: [&str; 4] = ["const", "enum", "default", "examples"];
/// Keywords that belong at the root, or that references expect there.
const ROOT_KEYWORDS: [&str; 3] = ["$schema", "$defs", "definitions"];

/// Returns the schema of the object around the value.
pub(crate) fn wrap_in_object(schema: &[u8]) -> Vec<u8> {
    let as_it_is = || (expand_boolean(schema).unwrap_or(schema).to_vec(), Vec::new());
    let (inner, root) = match has_own_id(schema) || expand_boolean(schema).is_some() {
        true => as_it_is(),
        false => relocate_references(schema).unwrap_or_else(as_it_is),
    };
    let head = br#"{"type":"object","properties":{"result":"#;
    [head, inner.as_slice(), br#"},"required":["result"]"#, root.as_slice(), b"}"].concat()
}

/// Returns the object schema that is equivalent to `true` or `false`, which are schemas, too.
pub(crate) fn expand_boolean(schema: &[u8]) -> Option<&'static [u8]> {
    match schema {
        b"true" => Some(b"{}"),
        b"false" => Some(br#"{"not":{}}"#),
        _ => None,
    }
}

/// Returns the properties with a boolean schema, with the equivalent object schemas.
pub(crate) fn boolean_properties(schema: &[u8]) -> impl Iterator<Item = (Span, &'static [u8])> {
    let properties = scan::member(schema, "properties").unwrap_or(Span::new(0, 0));
    scan::members(properties.slice(schema)).filter_map(move |(_, property)| {
        let property = property.within(properties);
        Some((property, expand_boolean(property.slice(schema))?))
    })
}

/// Returns true if a schema has its own `$id`, which its references are relative to. In drafts
/// before 2019 a fragment does not count.
fn has_own_id(schema: &[u8]) -> bool {
    scan::member_text(schema, "$id").is_some_and(|id| !id.starts_with('#'))
}

/// Returns the schema with adjusted references, and the members that belong to the new root.
fn relocate_references(schema: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let whole = Span::new(0, schema.len());
    let mut references = Vec::new();
    collect_references(schema, whole, &mut references);
    let moved =
        references.into_iter().filter_map(|at| Some((at, relocated_reference(at.slice(schema))?)));
    let followed = moved.fold(JsonEdit::new(schema), |splice, (at, to)| splice.replace(at, to));
    let schema = followed.finish().ok()?;
    let (mut root, mut splice) = (Vec::new(), JsonEdit::new(&schema));
    for key in ROOT_KEYWORDS {
        if let Some(value) = scan::member(&schema, key) {
            root.extend([b",\"", key.as_bytes(), b"\":", value.slice(&schema)].concat());
            splice = splice.delete_member(Span::new(0, schema.len()), key);
        }
    }
    Some((splice.finish().ok()?.to_vec(), root))
}

/// Returns the reference after the move, or `None` if it does not change.
fn relocated_reference(raw: &[u8]) -> Option<String> {
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

/// Collects the references in the schema at `at`.
fn collect_references(whole: &[u8], at: Span, found: &mut Vec<Span>) {
    if scan::elements(at.slice(whole)).next().is_some() {
        let each = scan::elements(at.slice(whole)).map(|element| element.within(at));
        return each.for_each(|element| collect_references(whole, element, found));
    }
    if has_own_id(at.slice(whole)) {
        return;
    }
    for (key, value) in scan::members(at.slice(whole)) {
        let value = value.within(at);
        match key.as_ref() {
            "$ref" | "$dynamicRef" => found.push(value),
            key if DATA.contains(&key) => {}
            key if MAPS.contains(&key) => {
                let schemas = scan::members(value.slice(whole)).map(|(_, each)| each.within(value));
                schemas.for_each(|schema| collect_references(whole, schema, found));
            }
            _ => collect_references(whole, value, found),
        }
    }
}
