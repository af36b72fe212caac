//! Converts schemas of any dialect to 2020-12.
//!
//! It removes keywords that the old dialect ignores, renames others, and turns every reference into
//! a pointer. The result is never narrower: a reference that cannot be resolved is dropped.

use std::collections::HashMap;

use jsonschema::Draft;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

use super::AdaptationLoss;
use crate::refs::{REFERENCE_KEYWORDS, ReferenceResolver};
use crate::subschemas::{direct_subschemas, for_each_subschema};

/// Newer keywords with the first dialect that supports them.
const SINCE: &[(&str, Draft)] = &[
    ("const", Draft::Draft6),
    ("contains", Draft::Draft6),
    ("propertyNames", Draft::Draft6),
    ("if", Draft::Draft7),
    ("then", Draft::Draft7),
    ("else", Draft::Draft7),
    ("dependentRequired", Draft::Draft201909),
    ("dependentSchemas", Draft::Draft201909),
    ("unevaluatedItems", Draft::Draft201909),
    ("unevaluatedProperties", Draft::Draft201909),
    ("minContains", Draft::Draft201909),
    ("maxContains", Draft::Draft201909),
    ("prefixItems", Draft::Draft202012),
];

/// Keywords that do not constrain values.
const SILENT: &[&str] = &[
    "$schema",
    "$id",
    "id",
    "$anchor",
    "$dynamicAnchor",
    "$recursiveAnchor",
    "$comment",
    "$vocabulary",
];

/// Keywords that stay beside a reference in dialects where a reference overrides its siblings.
const BESIDE: &[&str] =
    &["$ref", "$defs", "definitions", "title", "description", "default", "examples"];

/// Returns the schema in 2020-12, and the losses.
pub(super) fn to_latest_draft(schema: &Value, draft: Draft) -> (Value, Vec<AdaptationLoss>) {
    let refs = ReferenceResolver::of(schema, draft);
    let upgrader = DraftUpgrader { draft, refs, paths: paths(schema) };
    let mut modern = schema.clone();
    upgrader.upgrade(&mut modern);
    let root = modern.clone();
    drop_unresolved(&mut modern, &root);
    let mut losses = Vec::new();
    // `4.0` is an integer in 2020-12, but not in draft-04.
    if draft == Draft::Draft4 || modern != root {
        drop_negations(&mut modern, "", &mut losses);
    }
    (modern, losses)
}

/// Removes negations and turns `oneOf` into `anyOf`: once a part is looser than before, both would
/// make the whole schema narrower.
fn drop_negations(schema: &mut Value, path: &str, losses: &mut Vec<AdaptationLoss>) {
    let Value::Object(map) = schema else {
        return;
    };
    for keyword in ["not", "if", "then", "else"] {
        if map.remove(keyword).is_some() {
            losses.push(AdaptationLoss::new(path, format!("`{keyword}` dropped")));
        }
    }
    if let Some(one_of) = map.remove("oneOf") {
        losses.push(AdaptationLoss::new(path, "`oneOf` became `anyOf`"));
        match map.remove("anyOf") {
            None => _ = map.insert("anyOf".to_owned(), one_of),
            Some(any_of) => {
                let both = json!([{ "anyOf": one_of }, { "anyOf": any_of }]);
                let all = map.entry("allOf").or_insert_with(|| json!([]));
                if let (Value::Array(all), Value::Array(both)) = (all, both) {
                    all.extend(both);
                }
            }
        }
    }
    for_each_subschema(map, |below, one| drop_negations(one, &format!("{path}{below}"), losses));
}

/// Converts the schemas of one document.
struct DraftUpgrader<'a> {
    draft: Draft,
    refs: ReferenceResolver<'a>,
    paths: HashMap<*const Value, String>,
}

impl DraftUpgrader<'_> {
    fn upgrade(&self, schema: &mut Value) {
        let Value::Object(map) = schema else {
            return;
        };
        let old = std::mem::take(map);
        let alone = self.draft <= Draft::Draft7 && old.contains_key("$ref");
        let is_tuple =
            self.draft < Draft::Draft202012 && old.get("items").is_some_and(Value::is_array);
        let is_exclusive = |keyword: &str| old.get(keyword) == Some(&Value::Bool(true));
        let (above, below) = (is_exclusive("exclusiveMinimum"), is_exclusive("exclusiveMaximum"));
        for (keyword, mut value) in old {
            let keyword = keyword.as_str();
            let known = !SINCE.iter().any(|&(name, since)| name == keyword && self.draft < since);
            let heard = !alone || BESIDE.contains(&keyword);
            if !known || !heard || SILENT.contains(&keyword) {
                continue;
            }
            let name = match (keyword, &mut value) {
                (_, Value::String(reference)) if REFERENCE_KEYWORDS.contains(&keyword) => {
                    *reference = self.pointer(reference);
                    "$ref"
                }
                ("items", Value::Array(_)) if is_tuple => "prefixItems",
                ("additionalItems", _) if is_tuple => "items",
                ("items", Value::Array(_)) | ("additionalItems", _) => continue,
                ("dependencies", Value::Object(each)) => {
                    if self.draft <= Draft::Draft7 {
                        split_dependencies(std::mem::take(each), map);
                    }
                    continue;
                }
                ("minimum", _) if above => "exclusiveMinimum",
                ("maximum", _) if below => "exclusiveMaximum",
                ("exclusiveMinimum" | "exclusiveMaximum", Value::Bool(_)) => continue,
                _ => keyword,
            };
            map.insert(name.to_owned(), value);
        }
        for_each_subschema(map, |_, one| self.upgrade(one));
    }

    /// Returns a reference as a pointer into this document. An external reference stays unchanged.
    fn pointer(&self, reference: &str) -> String {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if !document.is_empty() && self.refs.id != Some(document) {
            return reference.to_owned();
        }
        let anchor = self.refs.anchors.get(fragment);
        let path = anchor.and_then(|schema| self.paths.get(&std::ptr::from_ref::<Value>(schema)));
        format!("#{}", path.map_or(fragment, String::as_str))
    }
}

/// Splits `dependencies` into the two keywords that replaced it.
fn split_dependencies(each: Map<String, Value>, out: &mut Map<String, Value>) {
    let (names, schemas): (Map<_, _>, Map<_, _>) =
        each.into_iter().partition(|(_, value)| value.is_array());
    for (keyword, each) in [("dependentRequired", names), ("dependentSchemas", schemas)] {
        if !each.is_empty() {
            out.insert(keyword.to_owned(), Value::Object(each));
        }
    }
}

/// Removes references without a target in the document.
fn drop_unresolved(schema: &mut Value, root: &Value) {
    let Value::Object(map) = schema else {
        return;
    };
    if let Some(Value::String(reference)) = map.get("$ref")
        && target(root, reference).is_none()
    {
        map.remove("$ref");
    }
    for_each_subschema(map, |_, one| drop_unresolved(one, root));
}

/// Returns the target of a pointer reference.
pub(super) fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = reference.strip_prefix('#')?;
    let found = root.pointer(&percent_decode_str(pointer).decode_utf8().ok()?)?;
    (found.is_object() || found.is_boolean()).then_some(found)
}

/// Returns the pointers of all schemas of a document, including those that only references use.
pub(super) fn paths(root: &Value) -> HashMap<*const Value, String> {
    let mut found = HashMap::new();
    let mut open = vec![(root, String::new())];
    while let Some((schema, path)) = open.pop() {
        if let Some(map) = schema.as_object() {
            let below = direct_subschemas(map);
            open.extend(below.iter().map(|one| (one.schema, one.path(&path))));
        }
        found.insert(std::ptr::from_ref(schema), path);
    }
    found
}
