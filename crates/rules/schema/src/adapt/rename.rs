//! Renames arguments whose names Anthropic refuses, and restores the names afterwards.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::AdaptationLoss;
use super::restore::{AdaptedMemberMapping, ArgumentRestorePlan, ObjectShape};

/// The maximum length of a name.
const LONGEST: usize = 64;

/// The keywords that stay at a root with renamed members.
const KEPT: &[&str] = &[
    "type",
    "title",
    "description",
    "properties",
    "required",
    "additionalProperties",
    "$defs",
    "definitions",
    "minProperties",
    "maxProperties",
];

fn is_fine(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

fn is_good(name: &str) -> bool {
    !name.is_empty() && name.len() <= LONGEST && name.bytes().all(is_fine)
}

/// Returns true if a name at the root would be refused.
pub(super) fn is_needed(schema: &Value) -> bool {
    let names = schema.get("properties").and_then(Value::as_object);
    names.is_some_and(|names| names.keys().any(|name| !is_good(name)))
}

/// Renames refused members and returns the plan that restores their names.
pub(super) fn apply(schema: &mut Value, losses: &mut Vec<AdaptationLoss>) -> ArgumentRestorePlan {
    let Value::Object(root) = schema else {
        return ArgumentRestorePlan::default();
    };
    root.retain(|keyword, _| {
        let is_kept = KEPT.contains(&keyword.as_str());
        if !is_kept {
            losses.push(AdaptationLoss::new("", format!("`{keyword}` dropped")));
        }
        is_kept
    });
    let Some(Value::Object(properties)) = root.remove("properties") else {
        return ArgumentRestorePlan::default();
    };
    let mut taken: HashSet<String> =
        properties.keys().filter(|name| is_good(name)).cloned().collect();
    let mut renamed = Map::new();
    let mut form = ObjectShape::default();
    for (name, mut schema) in properties {
        let shown = if is_good(&name) { name.clone() } else { fresh(&name, &mut taken) };
        if shown != name {
            mention(&mut schema, &name);
        }
        renamed.insert(shown.clone(), schema);
        form.members.push(AdaptedMemberMapping {
            shown,
            name,
            absent: None,
            plan: ArgumentRestorePlan::default(),
        });
    }
    root.insert("properties".to_owned(), Value::Object(renamed));
    if let Some(Value::Array(required)) = root.get_mut("required") {
        for name in required {
            let member = form.members.iter().find(|member| *name == member.name.as_str());
            if let Some(member) = member {
                *name = member.shown.clone().into();
            }
        }
    }
    ArgumentRestorePlan { forms: vec![form], ..ArgumentRestorePlan::default() }
}

fn fresh(name: &str, taken: &mut HashSet<String>) -> String {
    let plain: String = name
        .chars()
        .map(|one| if one.is_ascii() && is_fine(one as u8) { one } else { '_' })
        .take(LONGEST)
        .collect();
    let plain = if plain.is_empty() { "_".to_owned() } else { plain };
    let mut shown = plain.clone();
    let mut count = 1;
    while !taken.insert(shown.clone()) {
        count += 1;
        let mark = format!("_{count}");
        shown = format!("{}{mark}", &plain[..plain.len().min(LONGEST - mark.len())]);
    }
    shown
}

/// Adds the tool's own name of a member to its description.
fn mention(schema: &mut Value, name: &str) {
    let mut map = match std::mem::take(schema) {
        Value::Object(map) => map,
        Value::Bool(false) => Map::from_iter([("not".to_owned(), json!({}))]),
        _ => Map::new(),
    };
    let words = match map.get("description").and_then(Value::as_str) {
        Some(words) => format!("{words} (called {name:?} by the tool)"),
        None => format!("called {name:?} by the tool"),
    };
    map.insert("description".to_owned(), words.into());
    *schema = Value::Object(map);
}
