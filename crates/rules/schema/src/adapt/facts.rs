//! What schemas that hold together say about a value.
//!
//! `allOf` and references are taken apart into one set of facts, so that a provider that knows
//! neither can still be told them. Each fact is one the value really must meet: what cannot be kept
//! is dropped and reported, never guessed.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::losses::Losses;
use super::modern;
use super::types::Types;

/// Schemas that all hold for a value; none means anything goes.
pub(super) type Together<'a> = Vec<&'a Value>;

/// What one value below must meet: one of the alternatives.
#[derive(Clone, Debug, Default)]
pub(super) struct Child<'a> {
    pub alternatives: Vec<Together<'a>>,
    /// A schema that describes it without binding it.
    pub note: Option<&'a Value>,
}

impl<'a> Child<'a> {
    pub(super) fn one(schemas: Together<'a>) -> Self {
        Self { alternatives: vec![schemas], note: None }
    }

    /// This and the other at once.
    fn and(&mut self, other: &Child<'a>) -> bool {
        match (self.alternatives.as_mut_slice(), other.alternatives.as_slice()) {
            (alternatives, [only]) => {
                alternatives.iter_mut().for_each(|one| one.extend(only));
                true
            }
            ([only], several) => {
                let both = |one: &Together<'a>| only.iter().chain(one).copied().collect();
                self.alternatives = several.iter().map(both).collect();
                true
            }
            _ => false,
        }
    }
}

/// What is known of a value.
#[derive(Clone, Debug)]
pub(super) struct Facts<'a> {
    pub types: Types,
    /// `enum` and `const`.
    pub values: Option<Vec<&'a Value>>,
    pub properties: Vec<(&'a str, Child<'a>)>,
    pub required: Vec<&'a str>,
    /// The only member names there may be.
    pub closed: Option<HashSet<&'a str>>,
    pub elements: Option<Child<'a>>,
    /// Bounds, `pattern` and `format`, by their keyword.
    pub plain: Map<String, Value>,
    /// Of each group one alternative must hold.
    pub groups: Vec<Vec<Together<'a>>>,
    pub title: Option<&'a str>,
    pub description: Option<&'a str>,
    pub default: Option<&'a Value>,
    /// Where the first schema of it stands.
    pub path: Option<String>,
}

impl Default for Facts<'_> {
    fn default() -> Self {
        Self {
            types: Types::ALL,
            values: None,
            properties: Vec::new(),
            required: Vec::new(),
            closed: None,
            elements: None,
            plain: Map::new(),
            groups: Vec::new(),
            title: None,
            description: None,
            default: None,
            path: None,
        }
    }
}

/// Keywords kept as they are, for the provider to say whether it knows them.
const PLAIN: &[&str] = &[
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];

/// Constraints no adapted schema keeps.
const DROPPED: &[&str] = &[
    "not",
    "if",
    "contains",
    "propertyNames",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedItems",
    "unevaluatedProperties",
    "patternProperties",
];

/// Takes schemas of one document apart.
pub(super) struct Reader<'a> {
    root: &'a Value,
    pub losses: Losses,
    /// References under way, against circles.
    open: Vec<&'a str>,
    /// Schemas that may still be read. What is not read any more is not said.
    left: usize,
}

/// Schemas read for one adaptation.
const MOST: usize = 200_000;
/// References that lead to references.
const MOST_HOPS: usize = 20;

/// What identifies a child.
pub(super) type Key = Vec<Vec<*const Value>>;

impl<'a> Reader<'a> {
    pub(super) fn of(root: &'a Value) -> Self {
        Self { root, losses: Losses::of(root), open: Vec::new(), left: MOST }
    }

    /// The facts of a child; several alternatives are a group.
    pub(super) fn child(&mut self, child: &Child<'a>) -> Facts<'a> {
        let mut facts = match child.alternatives.as_slice() {
            [only] => self.together(only),
            several => Facts { groups: vec![several.to_vec()], ..Facts::default() },
        };
        let note = |keyword: &str| child.note?.get(keyword)?.as_str();
        facts.title = facts.title.or(note("title"));
        facts.description = facts.description.or(note("description"));
        facts
    }

    /// What identifies a child: the same schemas mean the same, however many references lead there.
    pub(super) fn key(&self, child: &Child<'a>) -> Key {
        let key = |together: &Together<'a>| {
            let ends = together.iter().map(|&one| std::ptr::from_ref(self.end(one)));
            let mut key: Vec<_> = ends.collect();
            key.sort_unstable();
            key.dedup();
            key
        };
        let mut all: Vec<_> = child.alternatives.iter().map(key).collect();
        all.sort();
        all
    }

    /// Where a schema leads that says nothing itself.
    fn end(&self, mut schema: &'a Value) -> &'a Value {
        let silent = ["$ref", "title", "description", "default", "examples"];
        for _ in 0..MOST_HOPS {
            let next = schema
                .as_object()
                .filter(|map| map.keys().all(|keyword| silent.contains(&keyword.as_str())));
            let reference = next.and_then(|map| map.get("$ref")?.as_str());
            match reference.and_then(|reference| modern::target(self.root, reference)) {
                Some(target) => schema = target,
                None => break,
            }
        }
        schema
    }

    pub(super) fn together(&mut self, schemas: &[&'a Value]) -> Facts<'a> {
        let mut facts = Facts::default();
        for schema in schemas {
            self.add(schema, &mut facts);
        }
        facts
    }

    /// Adds what a schema says to what is known.
    pub(super) fn add(&mut self, schema: &'a Value, facts: &mut Facts<'a>) {
        let map = match schema {
            Value::Object(map) => map,
            Value::Bool(false) => {
                facts.types = Types::NONE;
                return;
            }
            _ => return,
        };
        if self.left == 0 {
            self.losses.add(schema, "too much to read: dropped");
            return;
        }
        self.left -= 1;
        if facts.path.is_none() {
            facts.path = self.losses.path(schema).map(str::to_owned);
        }
        self.scalars(schema, map, facts);
        self.members(schema, map, facts);
        self.elements(schema, map, facts);
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(list)) = map.get(keyword) {
                facts.groups.push(list.iter().map(|one| vec![one]).collect());
                if keyword == "oneOf" && list.len() > 1 {
                    self.losses.add(schema, "`oneOf` became `anyOf`");
                }
            }
        }
        for keyword in DROPPED.iter().filter(|keyword| map.contains_key(**keyword)) {
            self.losses.add(schema, format!("`{keyword}` dropped"));
        }
        self.follow(map, facts);
    }

    fn follow(&mut self, map: &'a Map<String, Value>, facts: &mut Facts<'a>) {
        if let Some(Value::Array(all)) = map.get("allOf") {
            for one in all {
                self.add(one, facts);
            }
        }
        let Some(reference) = map.get("$ref").and_then(Value::as_str) else {
            return;
        };
        if self.open.contains(&reference) {
            return;
        }
        if let Some(target) = modern::target(self.root, reference) {
            self.open.push(reference);
            self.add(target, facts);
            self.open.pop();
        }
    }

    fn scalars(&mut self, schema: &'a Value, map: &'a Map<String, Value>, facts: &mut Facts<'a>) {
        let text = |keyword: &str| map.get(keyword).and_then(Value::as_str);
        facts.title = facts.title.or(text("title"));
        facts.description = facts.description.or(text("description"));
        facts.default = facts.default.or(map.get("default"));
        if let Some(types) = map.get("type") {
            facts.types = facts.types.and(Types::named(types));
        }
        if let Some(Value::Array(values)) = map.get("enum") {
            facts.only(values.iter().collect());
        }
        if let Some(value) = map.get("const") {
            facts.only(vec![value]);
        }
        for keyword in PLAIN {
            let Some(value) = map.get(*keyword) else {
                continue;
            };
            let known = facts.plain.entry(*keyword).or_insert_with(|| value.clone());
            if known != value {
                *known = narrower(keyword, known, value).clone();
                if matches!(*keyword, "pattern" | "format" | "multipleOf") {
                    self.losses.add(schema, format!("a second `{keyword}` dropped"));
                }
            }
        }
    }

    fn members(&mut self, schema: &'a Value, map: &'a Map<String, Value>, facts: &mut Facts<'a>) {
        let declared = map.get("properties").and_then(Value::as_object);
        for (name, one) in declared.into_iter().flatten() {
            let child = Child::one(vec![one]);
            match facts.properties.iter_mut().find(|(known, _)| known == name) {
                None => facts.properties.push((name, child)),
                Some((_, known)) => {
                    if !known.and(&child) {
                        self.losses.add(one, "one of several schemas dropped");
                    }
                }
            }
        }
        for name in map.get("required").and_then(Value::as_array).into_iter().flatten() {
            let name = name.as_str().unwrap_or_default();
            if !facts.required.contains(&name) {
                facts.required.push(name);
            }
        }
        let inherits =
            ["allOf", "anyOf", "oneOf", "$ref", "if", "then", "else", "dependentSchemas"];
        let closes = map.get("additionalProperties") == Some(&Value::Bool(false))
            || (map.get("unevaluatedProperties") == Some(&Value::Bool(false))
                && !map.contains_key("additionalProperties")
                && !inherits.iter().any(|keyword| map.contains_key(*keyword)));
        if closes && !map.contains_key("patternProperties") {
            let names = declared.into_iter().flatten().map(|(name, _)| name.as_str());
            let names: HashSet<&str> = names.collect();
            facts.closed = Some(match facts.closed.take() {
                None => names,
                Some(known) => known.intersection(&names).copied().collect(),
            });
        } else if map.get("additionalProperties").is_some_and(|rest| rest != &Value::Bool(true)) {
            self.losses.add(schema, "`additionalProperties` dropped");
        }
    }

    /// All elements together: those of a tuple are alternatives of each other.
    fn elements(&mut self, schema: &'a Value, map: &'a Map<String, Value>, facts: &mut Facts<'a>) {
        let prefix = map.get("prefixItems").and_then(Value::as_array);
        let rest = map.get("items");
        if prefix.is_none() && rest.is_none() {
            return;
        }
        let mut child = Child::default();
        if let Some(prefix) = prefix {
            self.losses.add(schema, "the order of `prefixItems` dropped");
            child.alternatives.extend(prefix.iter().map(|one| vec![one]));
        }
        match rest {
            Some(Value::Bool(false)) if prefix.is_some_and(|prefix| !prefix.is_empty()) => {
                let most = prefix.map_or(0, Vec::len);
                let known = facts.plain.entry("maxItems").or_insert_with(|| most.into());
                *known = narrower("maxItems", known, &most.into()).clone();
            }
            Some(rest) => child.alternatives.push(vec![rest]),
            None => child.alternatives.push(Vec::new()),
        }
        match &mut facts.elements {
            None => facts.elements = Some(child),
            Some(known) => {
                if !known.and(&child) {
                    self.losses.add(schema, "one of several `items` dropped");
                }
            }
        }
    }
}

impl<'a> Facts<'a> {
    fn only(&mut self, values: Vec<&'a Value>) {
        self.values = Some(match self.values.take() {
            None => values,
            Some(known) => {
                known.into_iter().filter(|one| values.iter().any(|v| same(v, one))).collect()
            }
        });
    }

    /// Narrows types and values to each other.
    pub(super) fn settle(&mut self) {
        let Some(values) = &mut self.values else {
            return;
        };
        let types = self.types;
        values.retain(|value| types.meets(Types::of(value)));
        self.types = values.iter().map(|value| Types::of(value)).fold(Types::NONE, Types::or);
    }

    /// Whether no value can meet this, as far as can be seen without looking below.
    pub(super) fn is_impossible(&self) -> bool {
        self.types.is_empty()
    }

    /// Whether a member of this name may stand.
    pub(super) fn admits(&self, name: &str) -> bool {
        self.closed.as_ref().is_none_or(|names| names.contains(name))
    }
}

/// Equality of JSON Schema: `1` and `1.0` are the same number.
fn same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one.total_cmp(&other).is_eq(),
        _ => one == other,
    }
}

/// Of two values of a bound the one that admits less.
fn narrower<'v>(keyword: &str, known: &'v Value, new: &'v Value) -> &'v Value {
    let (Some(one), Some(other)) = (known.as_f64(), new.as_f64()) else {
        return known;
    };
    let new_is_narrower = match keyword {
        "multipleOf" => false,
        _ if keyword.starts_with("max") || keyword == "exclusiveMaximum" => other < one,
        _ => other > one,
    };
    if new_is_narrower { new } else { known }
}
