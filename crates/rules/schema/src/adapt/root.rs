//! Adapts schemas for OpenAI without `strict` and for Anthropic, which accept nearly all of
//! 2020-12.
//!
//! Both require an object without alternatives at the root, so `allOf`, `anyOf`, `oneOf` and
//! references are resolved there. Everything below stays unchanged, except that OpenAI requires
//! `items` in every array.

use serde_json::{Map, Value, json};

use super::constraints::{ChildSchema, SchemaAnalyzer, SchemaConstraints};
use super::rename;
use super::restore::AdaptedArgumentRestorer;
use super::{AdaptationLoss, AdaptedSchema, ModelProvider};
use crate::subschemas::{direct_subschemas, for_each_subschema};

/// Keywords that are not allowed at the root.
const TAKEN_APART: [&str; 4] = ["$ref", "allOf", "anyOf", "oneOf"];
/// Further keywords that OpenAI refuses at the root.
const REFUSED: [&str; 3] = ["enum", "const", "not"];

pub(super) fn adapt(mut modern: Value, provider: ModelProvider) -> AdaptedSchema {
    if provider == ModelProvider::OpenAi {
        say_items(&mut modern);
    }
    let rename = provider == ModelProvider::Anthropic;
    if !is_plain(&modern, provider) || (rename && rename::is_needed(&modern)) {
        relocate(&mut modern);
    }
    let (mut schema, mut losses) = flat(&modern, provider);
    let plan = if rename && rename::is_needed(&schema) {
        let root = rename::apply(&mut schema, &mut losses);
        AdaptedArgumentRestorer { root, ..AdaptedArgumentRestorer::default() }
    } else {
        AdaptedArgumentRestorer::default()
    };
    AdaptedSchema { schema, losses, strict: false, restorer: plan }
}

/// Returns true if the root needs no change.
fn is_plain(root: &Value, provider: ModelProvider) -> bool {
    let has = |keyword: &&str| root.get(*keyword).is_some();
    root.get("type") == Some(&json!("object"))
        && !TAKEN_APART.iter().any(has)
        && (provider != ModelProvider::OpenAi || !REFUSED.iter().any(has))
}

/// Returns the schema with a plain root, and the losses.
fn flat(modern: &Value, provider: ModelProvider) -> (Value, Vec<AdaptationLoss>) {
    let mut losses = Vec::new();
    let mut root = match modern {
        Value::Object(map) => map.clone(),
        _ => Map::new(),
    };
    if TAKEN_APART.iter().any(|keyword| root.contains_key(*keyword)) {
        (root, losses) = merge_root_alternatives(modern);
    }
    if provider == ModelProvider::OpenAi {
        for keyword in REFUSED {
            if root.remove(keyword).is_some() {
                losses.push(AdaptationLoss::new("", format!("`{keyword}` dropped")));
            }
        }
    }
    root.insert("type".to_owned(), "object".into());
    root.entry("properties").or_insert_with(|| json!({}));
    (Value::Object(root), losses)
}

fn merge_root_alternatives(modern: &Value) -> (Map<String, Value>, Vec<AdaptationLoss>) {
    let mut reader = SchemaAnalyzer::of(modern);
    let (alternatives, notes) = reader.split_root(modern);
    if alternatives.len() != 1 {
        reader.losses.add_at("", "alternatives merged");
    }
    let facts = reader.join(alternatives);
    let mut root = Map::new();
    for (keyword, words) in [("title", notes.title), ("description", notes.description)] {
        if let Some(words) = words {
            root.insert(keyword.to_owned(), words.into());
        }
    }
    fill(&mut root, &facts);
    for keyword in ["$defs", "definitions"] {
        if let Some(kept) = modern.get(keyword) {
            root.insert(keyword.to_owned(), kept.clone());
        }
    }
    (root, reader.losses.into_found())
}

fn fill(root: &mut Map<String, Value>, facts: &SchemaConstraints<'_>) {
    let admitted = facts.properties.iter().filter(|(name, _)| facts.admits(name));
    let properties: Map<String, Value> =
        admitted.map(|(name, child)| ((*name).to_owned(), write_child(child))).collect();
    root.insert("properties".to_owned(), Value::Object(properties));
    if !facts.required.is_empty() {
        root.insert("required".to_owned(), facts.required.clone().into());
    }
    if facts.closed.is_some() {
        root.insert("additionalProperties".to_owned(), false.into());
    }
    for keyword in ["minProperties", "maxProperties"] {
        if let Some(value) = facts.plain.get(keyword) {
            root.insert(keyword.to_owned(), value.clone());
        }
    }
}

/// Writes the schema of a child in full JSON Schema.
fn write_child(child: &ChildSchema<'_>) -> Value {
    let together = |schemas: &Vec<&Value>| match schemas.as_slice() {
        [only] => (*only).clone(),
        all => json!({ "allOf": all }),
    };
    if child.alternatives.iter().any(Vec::is_empty) {
        let note = |keyword: &str| child.note?.get(keyword);
        let words = ["title", "description"].into_iter();
        let words = words.filter_map(|keyword| Some((keyword.to_owned(), note(keyword)?.clone())));
        return Value::Object(words.collect());
    }
    match child.alternatives.as_slice() {
        [only] => together(only),
        several => json!({ "anyOf": several.iter().map(together).collect::<Vec<_>>() }),
    }
}

/// Adds `items` that accept everything to arrays without `items`.
fn say_items(schema: &mut Value) {
    let Value::Object(map) = schema else {
        return;
    };
    let is_array = match map.get("type") {
        Some(Value::Array(several)) => several.iter().any(|one| one == "array"),
        Some(one) => one == "array",
        None => false,
    };
    if is_array {
        map.entry("items").or_insert_with(|| json!({}));
    }
    for_each_subschema(map, |_, one| say_items(one));
}

/// Moves the original root into a definition if references point to it or into it. Changes of the
/// root must not affect the schemas below.
fn relocate(modern: &mut Value) {
    if !refers_to_root(modern) {
        return;
    }
    let Value::Object(root) = &*modern else {
        return;
    };
    let mut old = root.clone();
    old.remove("definitions");
    let mut defs = match old.remove("$defs") {
        Some(Value::Object(defs)) => defs,
        _ => Map::new(),
    };
    let mut name = "arguments".to_owned();
    while defs.contains_key(&name) {
        name.push('_');
    }
    defs.insert(name.clone(), Value::Object(old));
    if let Value::Object(root) = modern {
        root.insert("$defs".to_owned(), Value::Object(defs));
    }
    redirect(modern, &name);
}

fn is_odd(reference: &str) -> bool {
    !reference.starts_with("#/$defs/") && !reference.starts_with("#/definitions/")
}

fn refers_to_root(schema: &Value) -> bool {
    let Some(map) = schema.as_object() else {
        return false;
    };
    map.get("$ref").and_then(Value::as_str).is_some_and(is_odd)
        || direct_subschemas(map).iter().any(|child| refers_to_root(child.schema))
}

fn redirect(schema: &mut Value, name: &str) {
    let Value::Object(map) = schema else {
        return;
    };
    if let Some(Value::String(reference)) = map.get_mut("$ref")
        && is_odd(reference)
        && let Some(rest) = reference.strip_prefix('#')
    {
        *reference = format!("#/$defs/{name}{rest}");
    }
    for_each_subschema(map, |_, one| redirect(one, name));
}
