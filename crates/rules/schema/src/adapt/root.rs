//! What OpenAI without `strict`, and Anthropic, take: nearly all of 2020-12, with a plain root.
//!
//! At the root both want an object and no alternatives, so `allOf`, `anyOf`, `oneOf` and a reference
//! are taken apart there. Everything below stays as it is, except that OpenAI wants every array to
//! say what it holds.

use serde_json::{Map, Value, json};

use super::facts::{Child, Facts, Reader};
use super::plan::Restore;
use super::rename;
use super::types::Types;
use super::{Adapted, Loss, Provider};
use crate::places::{Holds, holds};

/// Keywords that may not stand at the root.
const TAKEN_APART: [&str; 4] = ["$ref", "allOf", "anyOf", "oneOf"];
/// Keywords OpenAI refuses there besides.
const REFUSED: [&str; 3] = ["enum", "const", "not"];

pub(super) fn adapt(mut modern: Value, provider: Provider) -> Adapted {
    if provider == Provider::OpenAi {
        say_items(&mut modern);
    }
    let rename = provider == Provider::Anthropic;
    if !is_plain(&modern, provider) || (rename && rename::is_needed(&modern)) {
        relocate(&mut modern);
    }
    let (mut schema, mut losses) = flat(&modern, provider);
    let plan = if rename && rename::is_needed(&schema) {
        rename::apply(&mut schema, &mut losses).into_restore()
    } else {
        Restore::default()
    };
    Adapted { schema, losses, strict: false, plan }
}

/// Whether the root may stay as it is.
fn is_plain(root: &Value, provider: Provider) -> bool {
    let has = |keyword: &&str| root.get(*keyword).is_some();
    root.get("type") == Some(&json!("object"))
        && !TAKEN_APART.iter().any(has)
        && (provider != Provider::OpenAi || !REFUSED.iter().any(has))
}

/// The schema with a plain root.
fn flat(modern: &Value, provider: Provider) -> (Value, Vec<Loss>) {
    let mut losses = Vec::new();
    let mut root = match modern {
        Value::Object(map) => map.clone(),
        _ => Map::new(),
    };
    if TAKEN_APART.iter().any(|keyword| root.contains_key(*keyword)) {
        (root, losses) = taken_apart(modern);
    }
    if provider == Provider::OpenAi {
        for keyword in REFUSED {
            if root.remove(keyword).is_some() {
                losses.push(Loss { path: String::new(), what: format!("`{keyword}` dropped") });
            }
        }
    }
    root.insert("type".to_owned(), "object".into());
    root.entry("properties").or_insert_with(|| json!({}));
    (Value::Object(root), losses)
}

fn taken_apart(modern: &Value) -> (Map<String, Value>, Vec<Loss>) {
    let mut reader = Reader::of(modern);
    let mut facts = reader.together(&[modern]);
    facts.types = facts.types.and(Types::OBJECT);
    let notes = facts.take_notes();
    let mut alternatives = reader.split(facts);
    let facts = match alternatives.len() {
        1 => alternatives.remove(0),
        _ => {
            reader.losses.at("", "alternatives joined");
            reader.join(&alternatives)
        }
    };
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

fn fill(root: &mut Map<String, Value>, facts: &Facts<'_>) {
    let admitted = facts.properties.iter().filter(|(name, _)| facts.admits(name));
    let properties: Map<String, Value> =
        admitted.map(|(name, child)| ((*name).to_owned(), written(child))).collect();
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

/// A child in full JSON Schema.
fn written(child: &Child<'_>) -> Value {
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

/// Arrays that say nothing of their elements say that anything goes.
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
        map.entry("items").or_insert_with(super::modern::anything);
    }
    each_inner(map, &mut say_items);
}

fn each_inner(map: &mut Map<String, Value>, change: &mut impl FnMut(&mut Value)) {
    for (keyword, value) in map.iter_mut() {
        match (holds(keyword).map(|(holds, _)| holds), value) {
            (Some(Holds::List), Value::Array(list)) => list.iter_mut().for_each(&mut *change),
            (Some(Holds::Map), Value::Object(each)) => each.values_mut().for_each(&mut *change),
            (Some(Holds::One | Holds::OneOrList), one) => change(one),
            _ => {}
        }
    }
}

/// Where something refers to the root or into it, the root as it was becomes a definition: what is
/// made of the root must not change what stands below.
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
        || crate::places::inner(map).iter().any(|child| refers_to_root(child.schema))
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
    each_inner(map, &mut |inner| redirect(inner, name));
}
