//! Argument objects for a schema: aimed at fitting it, with mistakes strewn in.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Dice, PATTERNS};

/// Makes values for one schema.
pub struct Objects<'a> {
    root: &'a Value,
    /// Mistakes in a hundred choices.
    wrong: usize,
}

/// A schema without references and alternatives. Where two say something, the later is heard,
/// except that members and required names add up.
#[derive(Default)]
struct Flat<'a> {
    properties: Vec<(&'a str, &'a Value)>,
    required: Vec<&'a str>,
    rest: BTreeMap<&'a str, &'a Value>,
}

impl<'a> Flat<'a> {
    fn get(&self, keyword: &str) -> Option<&'a Value> {
        self.rest.get(keyword).copied()
    }
}

/// No value is nested deeper by will; beyond, the least is given.
const DEEPEST: usize = 6;

impl<'a> Objects<'a> {
    pub fn of(root: &'a Value) -> Self {
        Self { root, wrong: 0 }
    }

    /// An argument object.
    pub fn next(&mut self, dice: &mut Dice) -> Value {
        self.wrong = *dice.pick(&[0, 0, 2, 10]);
        let value = self.value(self.root, dice, 0);
        if value.is_object() { value } else { json!({}) }
    }

    fn value(&self, schema: &'a Value, dice: &mut Dice, depth: usize) -> Value {
        // What requires itself fits nothing that ends.
        if dice.percent(self.wrong) || depth > 2 * DEEPEST {
            return any(dice, 2);
        }
        let mut flat = Flat::default();
        self.flatten(schema, dice, 0, &mut flat);
        if let Some(value) = flat.get("const") {
            return value.clone();
        }
        if let Some(Value::Array(values)) = flat.get("enum")
            && !values.is_empty()
        {
            return dice.pick(values).clone();
        }
        match self.kind(&flat, dice) {
            "object" => self.object(&flat, dice, depth),
            "array" => self.array(&flat, dice, depth),
            "string" => text(&flat, dice),
            "integer" => number(&flat, dice, false),
            "number" => number(&flat, dice, true),
            "boolean" => dice.percent(50).into(),
            "null" => Value::Null,
            _ => any(dice, 2),
        }
    }

    /// A schema with its references, and one way through its alternatives, written into it.
    fn flatten(&self, schema: &'a Value, dice: &mut Dice, turns: usize, flat: &mut Flat<'a>) {
        let Value::Object(map) = schema else {
            return;
        };
        if turns > 12 {
            return;
        }
        for (keyword, value) in map {
            match (keyword.as_str(), value) {
                ("$ref", Value::String(reference)) => {
                    let target = reference.strip_prefix('#').and_then(|at| self.root.pointer(at));
                    if let Some(target) = target {
                        self.flatten(target, dice, turns + 1, flat);
                    }
                }
                ("allOf", Value::Array(all)) => {
                    for one in all {
                        self.flatten(one, dice, turns + 1, flat);
                    }
                }
                ("anyOf" | "oneOf", Value::Array(all)) if !all.is_empty() => {
                    self.flatten(dice.pick(all), dice, turns + 1, flat);
                }
                ("properties", Value::Object(properties)) => {
                    flat.properties
                        .extend(properties.iter().map(|(name, one)| (name.as_str(), one)));
                }
                ("required", Value::Array(names)) => {
                    flat.required.extend(names.iter().filter_map(Value::as_str));
                }
                _ => _ = flat.rest.insert(keyword, value),
            }
        }
    }

    fn kind(&self, flat: &Flat<'a>, dice: &mut Dice) -> &'static str {
        let names = ["object", "array", "string", "integer", "number", "boolean", "null"];
        let known = |name: &Value| names.iter().copied().find(|one| name == one);
        match flat.get("type") {
            Some(Value::Array(several)) if !several.is_empty() => {
                known(dice.pick(several)).unwrap_or("any")
            }
            Some(one) => known(one).unwrap_or("any"),
            None if !flat.properties.is_empty() || !flat.required.is_empty() => "object",
            None if flat.get("items").is_some() => "array",
            None => "any",
        }
    }

    fn object(&self, flat: &Flat<'a>, dice: &mut Dice, depth: usize) -> Value {
        let mut out = Map::new();
        let fill = if depth >= DEEPEST { 0 } else { *dice.pick(&[10, 50, 90]) };
        for (name, schema) in &flat.properties {
            let wanted = flat.required.contains(name) || dice.percent(fill);
            if wanted && !dice.percent(self.wrong) && *schema != &Value::Bool(false) {
                out.insert((*name).to_owned(), self.value(schema, dice, depth + 1));
            }
        }
        for name in &flat.required {
            if !out.contains_key(*name) && !dice.percent(self.wrong) {
                out.insert((*name).to_owned(), any(dice, 1));
            }
        }
        let rest = flat.get("additionalProperties").or(flat.get("unevaluatedProperties"));
        let extra = match rest {
            Some(Value::Bool(false)) => self.wrong,
            Some(Value::Object(_)) => 50,
            _ => 15,
        };
        if dice.percent(extra) && depth < DEEPEST {
            let name = *dice.pick(&["more", "x-more", "path", "and/more", "count"]);
            let value = match rest {
                Some(schema @ Value::Object(_)) => self.value(schema, dice, depth + 1),
                _ => any(dice, 1),
            };
            out.entry(name).or_insert(value);
        }
        Value::Object(out)
    }

    fn array(&self, flat: &Flat<'a>, dice: &mut Dice, depth: usize) -> Value {
        let least = count(flat, "minItems").unwrap_or(0);
        let most = count(flat, "maxItems").unwrap_or(least + 3).min(least + 3);
        let tuple =
            ["prefixItems", "items"].iter().find_map(|keyword| flat.get(keyword)?.as_array());
        let rest = match flat.get("items") {
            Some(Value::Array(_)) | None => flat.get("additionalItems"),
            one => one,
        };
        let mut length = least + dice.below((most + 1).saturating_sub(least));
        if depth >= DEEPEST || rest == Some(&Value::Bool(false)) {
            length = length.min(tuple.map_or(least, Vec::len));
        }
        let mut out: Vec<Value> = Vec::new();
        for index in 0..length {
            let own = tuple.and_then(|tuple| tuple.get(index)).or(rest);
            let value = match own {
                Some(schema) => self.value(schema, dice, depth + 1),
                None => any(dice, 2),
            };
            if flat.get("uniqueItems") != Some(&Value::Bool(true)) || !out.contains(&value) {
                out.push(value);
            }
        }
        Value::Array(out)
    }
}

fn count(flat: &Flat<'_>, keyword: &str) -> Option<usize> {
    usize::try_from(flat.get(keyword)?.as_u64()?).ok()
}

/// Texts that patterns of tools often ask for.
const TEXTS: &[&str] = &[
    "0b0f2a3c-5d6e-4f70-8192-a3b4c5d6e7f8",
    "2024-01-01",
    "2024-01-01T10:00:00Z",
    "someone@example.com",
    "https://example.com/a",
    "en-US",
    "en",
    "abc",
    "12",
];

fn text(flat: &Flat<'_>, dice: &mut Dice) -> Value {
    if let Some(pattern) = flat.get("pattern") {
        let known = PATTERNS.iter().find(|(known, _)| pattern == known);
        return known.map_or_else(|| *dice.pick(TEXTS), |(_, text)| text).into();
    }
    let least = count(flat, "minLength").unwrap_or(0);
    let most = count(flat, "maxLength").unwrap_or(least + 8).min(least + 8);
    let length = least + dice.below((most + 1).saturating_sub(least));
    let letters = ["a", "b", "7", " ", "ü", "/", "\"", "→"];
    (0..length).map(|_| *dice.pick(&letters)).collect::<String>().into()
}

fn number(flat: &Flat<'_>, dice: &mut Dice, fractions: bool) -> Value {
    let bound = |keyword: &str| flat.get(keyword).and_then(Value::as_f64);
    let low = bound("minimum").or(bound("exclusiveMinimum").map(|low| low + 1.0));
    let high = bound("maximum").or(bound("exclusiveMaximum").map(|high| high - 1.0));
    let low = low.or(high.map(|high| high - 10.0)).unwrap_or(-3.0).ceil();
    let high = high.unwrap_or(low + 10.0).floor();
    let span = (high - low).clamp(0.0, 100.0) as usize;
    let whole = low as i64 + i64::try_from(dice.below(span + 1)).unwrap();
    match (fractions, dice.below(4)) {
        (true, 0) => json!(whole as f64 + 0.5),
        (_, 1) => json!(whole as f64),
        _ => json!(whole),
    }
}

/// Any value.
fn any(dice: &mut Dice, depth: usize) -> Value {
    match dice.below(if depth == 0 { 7 } else { 9 }) {
        0 => Value::Null,
        1 => dice.percent(50).into(),
        2 => json!(dice.below(9)),
        3 => json!(1.5),
        4 => json!(""),
        5 => json!("r"),
        6 => json!("some text"),
        7 => (0..dice.below(3)).map(|_| any(dice, depth - 1)).collect(),
        _ => {
            let names = ["path", "more", "x-a"];
            let members = (0..dice.below(3)).map(|at| (names[at].to_owned(), any(dice, depth - 1)));
            Value::Object(members.collect())
        }
    }
}
