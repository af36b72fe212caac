//! Converts schemas of any dialect to 2020-12.
//!
//! It removes keywords that the old dialect ignores, renames others, and turns every reference into
//! a pointer. The result is never narrower: a reference that cannot be resolved is dropped.

use std::collections::HashMap;

use jsonschema::Draft;
use serde_json::{Map, Value, json};

use super::AdaptationLoss;
use crate::refs::{REFERENCE_KEYWORDS, own_id};
use crate::subschemas::{KeywordShape, Subschema, direct_subschemas, escaped, keyword_shape};

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
    let id = schema.as_object().and_then(|map| own_id(map, draft)).map(str::to_owned);
    let mut anchors = HashMap::new();
    find_anchors(schema, "", &mut anchors);
    let writer = DraftUpgrader { draft, id, anchors };
    let mut modern = writer.schema(schema);
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
            losses.push(AdaptationLoss {
                path: path.to_owned(),
                what: format!("`{keyword}` dropped"),
            });
        }
    }
    if let Some(one_of) = map.remove("oneOf") {
        let what = "`oneOf` became `anyOf`".to_owned();
        losses.push(AdaptationLoss { path: path.to_owned(), what });
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
    for (keyword, value) in map.iter_mut() {
        let path = format!("{path}/{}", escaped(keyword));
        match (keyword_shape(keyword).map(|(holds, _)| holds), value) {
            (Some(KeywordShape::List), Value::Array(list)) => {
                for (index, one) in list.iter_mut().enumerate() {
                    drop_negations(one, &format!("{path}/{index}"), losses);
                }
            }
            (Some(KeywordShape::Map), Value::Object(each)) => {
                for (name, one) in each.iter_mut() {
                    drop_negations(one, &format!("{path}/{}", escaped(name)), losses);
                }
            }
            (Some(KeywordShape::One | KeywordShape::OneOrList), one) => {
                drop_negations(one, &path, losses)
            }
            _ => {}
        }
    }
}

/// Converts the schemas of one document.
struct DraftUpgrader {
    draft: Draft,
    id: Option<String>,
    anchors: HashMap<String, String>,
}

impl DraftUpgrader {
    fn schema(&self, schema: &Value) -> Value {
        let Value::Object(map) = schema else {
            return schema.clone();
        };
        let alone = self.draft <= Draft::Draft7 && map.contains_key("$ref");
        let mut out = Map::new();
        for (keyword, value) in map {
            let known = !SINCE.iter().any(|&(name, since)| name == keyword && self.draft < since);
            let heard = !alone || BESIDE.contains(&keyword.as_str());
            if known && heard && !SILENT.contains(&keyword.as_str()) {
                self.keyword(keyword, value, map, &mut out);
            }
        }
        Value::Object(out)
    }

    fn keyword(
        &self,
        name: &str,
        value: &Value,
        map: &Map<String, Value>,
        out: &mut Map<String, Value>,
    ) {
        let is_tuple =
            self.draft < Draft::Draft202012 && map.get("items").is_some_and(Value::is_array);
        match (name, value) {
            (_, Value::String(reference)) if REFERENCE_KEYWORDS.contains(&name) => {
                out.insert("$ref".to_owned(), Value::String(self.pointer(reference)));
            }
            ("items", Value::Array(_)) => {
                if is_tuple {
                    out.insert(
                        "prefixItems".to_owned(),
                        self.upgrade_subschemas(KeywordShape::List, value),
                    );
                }
            }
            ("additionalItems", _) => {
                if is_tuple {
                    out.insert("items".to_owned(), self.schema(value));
                }
            }
            ("dependencies", Value::Object(each)) => {
                if self.draft <= Draft::Draft7 {
                    self.dependencies(each, out);
                }
            }
            ("minimum", _) if map.get("exclusiveMinimum") == Some(&Value::Bool(true)) => {
                out.insert("exclusiveMinimum".to_owned(), value.clone());
            }
            ("maximum", _) if map.get("exclusiveMaximum") == Some(&Value::Bool(true)) => {
                out.insert("exclusiveMaximum".to_owned(), value.clone());
            }
            ("exclusiveMinimum" | "exclusiveMaximum", Value::Bool(_)) => {}
            _ => {
                let value = match keyword_shape(name) {
                    Some((holds, _)) => self.upgrade_subschemas(holds, value),
                    None => value.clone(),
                };
                out.insert(name.to_owned(), value);
            }
        }
    }

    fn upgrade_subschemas(&self, holds: KeywordShape, value: &Value) -> Value {
        match (holds, value) {
            (KeywordShape::List, Value::Array(list)) => {
                list.iter().map(|one| self.schema(one)).collect()
            }
            (KeywordShape::Map, Value::Object(map)) => {
                let each = map.iter().map(|(name, one)| (name.clone(), self.schema(one)));
                Value::Object(each.collect())
            }
            (KeywordShape::One | KeywordShape::OneOrList, one) => self.schema(one),
            (_, other) => other.clone(),
        }
    }

    fn dependencies(&self, each: &Map<String, Value>, out: &mut Map<String, Value>) {
        let (names, schemas): (Vec<_>, Vec<_>) = each.iter().partition(|(_, v)| v.is_array());
        if !names.is_empty() {
            let names = names.into_iter().map(|(name, list)| (name.clone(), list.clone()));
            out.insert("dependentRequired".to_owned(), Value::Object(names.collect()));
        }
        if !schemas.is_empty() {
            let each = schemas.into_iter().map(|(name, one)| (name.clone(), self.schema(one)));
            out.insert("dependentSchemas".to_owned(), Value::Object(each.collect()));
        }
    }

    /// Returns a reference as a pointer into this document. An external reference stays unchanged.
    fn pointer(&self, reference: &str) -> String {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if !document.is_empty() && self.id.as_deref() != Some(document) {
            return reference.to_owned();
        }
        match self.anchors.get(fragment) {
            Some(path) => format!("#{path}"),
            None => format!("#{fragment}"),
        }
    }
}

fn find_anchors(schema: &Value, path: &str, anchors: &mut HashMap<String, String>) {
    let Some(map) = schema.as_object() else {
        return;
    };
    let text = |keyword: &str| map.get(keyword).and_then(Value::as_str);
    let plain = [text("$anchor"), text("$dynamicAnchor")];
    let old = [text("$id"), text("id")].map(|id| id.and_then(|id| id.strip_prefix('#')));
    for name in plain.into_iter().chain(old).flatten().filter(|name| !name.is_empty()) {
        anchors.entry(name.to_owned()).or_insert_with(|| path.to_owned());
    }
    for child in direct_subschemas(map) {
        find_anchors(child.schema, &child.path(path), anchors);
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
    for (keyword, value) in map.iter_mut() {
        match (keyword_shape(keyword).map(|(holds, _)| holds), value) {
            (Some(KeywordShape::List), Value::Array(list)) => {
                list.iter_mut().for_each(|one| drop_unresolved(one, root));
            }
            (Some(KeywordShape::Map), Value::Object(each)) => {
                each.values_mut().for_each(|one| drop_unresolved(one, root));
            }
            (Some(KeywordShape::One | KeywordShape::OneOrList), one) => drop_unresolved(one, root),
            _ => {}
        }
    }
}

/// Returns the target of a pointer reference.
pub(super) fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = reference.strip_prefix('#')?;
    let found = root.pointer(&crate::refs::percent_decoded(pointer)?)?;
    (found.is_object() || found.is_boolean()).then_some(found)
}

/// Returns the pointers of all schemas of a document, including those that only references use.
pub(super) fn paths(root: &Value) -> HashMap<*const Value, String> {
    let mut found = HashMap::new();
    let mut open = vec![(root, String::new())];
    while let Some((schema, path)) = open.pop() {
        if let Some(map) = schema.as_object() {
            open.extend(
                direct_subschemas(map)
                    .iter()
                    .map(|one: &Subschema<'_>| (one.schema, one.path(&path))),
            );
        }
        found.insert(std::ptr::from_ref(schema), path);
    }
    found
}

/// Returns a schema that accepts everything.
pub(super) fn anything() -> Value {
    json!({})
}
