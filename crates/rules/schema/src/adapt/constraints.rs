//! Merges the schemas that apply to one value.
//!
//! `allOf` and references are merged into one set of constraints, for providers that support
//! neither. The value really must meet every constraint: one that cannot be kept is dropped and
//! reported, never guessed.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::losses::LossCollector;
use super::types::JsonTypeSet;
use super::upgrade;

/// Schemas that all apply to a value; an empty list accepts every value.
pub(super) type AllOfSchemas<'a> = Vec<&'a Value>;

/// The alternatives for one child value, which must match one of them.
#[derive(Clone, Debug, Default)]
pub(super) struct ChildSchema<'a> {
    pub alternatives: Vec<AllOfSchemas<'a>>,
    /// A schema that describes the child without constraining it.
    pub note: Option<&'a Value>,
}

impl<'a> ChildSchema<'a> {
    pub(super) fn one(schemas: AllOfSchemas<'a>) -> Self {
        Self { alternatives: vec![schemas], note: None }
    }

    /// Combines both, so that a value must match both.
    fn and(&mut self, other: &ChildSchema<'a>) -> bool {
        match (self.alternatives.as_mut_slice(), other.alternatives.as_slice()) {
            (alternatives, [only]) => {
                alternatives.iter_mut().for_each(|one| one.extend(only));
                true
            }
            ([only], several) => {
                let both = |one: &AllOfSchemas<'a>| only.iter().chain(one).copied().collect();
                self.alternatives = several.iter().map(both).collect();
                true
            }
            _ => false,
        }
    }
}

/// The constraints on one value.
#[derive(Clone, Debug, Default)]
pub(super) struct SchemaConstraints<'a> {
    pub types: JsonTypeSet,
    /// `enum` and `const`.
    pub values: Option<Vec<&'a Value>>,
    pub properties: Vec<(&'a str, ChildSchema<'a>)>,
    pub required: Vec<&'a str>,
    /// The only allowed member names.
    pub closed: Option<HashSet<&'a str>>,
    pub elements: Option<ChildSchema<'a>>,
    /// Bounds, `pattern` and `format`, by their keyword.
    pub plain: Map<String, Value>,
    /// Groups of alternatives. One alternative of each group must match.
    pub groups: Vec<Vec<AllOfSchemas<'a>>>,
    pub notes: SchemaAnnotations<'a>,
    /// The pointer of the first schema.
    pub path: Option<String>,
}

/// The annotations of a schema. Those of a schema with alternatives apply to all of them.
#[derive(Clone, Debug, Default)]
pub(super) struct SchemaAnnotations<'a> {
    pub title: Option<&'a str>,
    pub description: Option<&'a str>,
    pub default: Option<&'a Value>,
}

/// Keywords that are kept unchanged; each provider decides whether it supports them.
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

/// Constraints that no adapted schema keeps.
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

/// Reads the schemas of one document into constraints.
pub(super) struct SchemaAnalyzer<'a> {
    root: &'a Value,
    pub losses: LossCollector,
    /// The references that are being followed, to detect cycles.
    open: Vec<&'a str>,
    /// The number of schemas that may still be read. Beyond it, constraints are dropped.
    left: usize,
}

/// The maximum number of schemas read for one adaptation.
const MOST: usize = 200_000;
/// The maximum length of a chain of references.
const MOST_HOPS: usize = 20;

/// The identity of a child: the addresses of its schemas.
pub(super) type ChildSchemaKey = Vec<Vec<*const Value>>;

impl<'a> SchemaAnalyzer<'a> {
    pub(super) fn of(root: &'a Value) -> Self {
        Self { root, losses: LossCollector::of(root), open: Vec::new(), left: MOST }
    }

    /// Returns the constraints of a child. Several alternatives form a group.
    pub(super) fn child(&mut self, child: &ChildSchema<'a>) -> SchemaConstraints<'a> {
        let mut facts = match child.alternatives.as_slice() {
            [only] => self.collect_constraints(only),
            several => {
                SchemaConstraints { groups: vec![several.to_vec()], ..SchemaConstraints::default() }
            }
        };
        let note = |keyword: &str| child.note?.get(keyword)?.as_str();
        facts.notes.title = facts.notes.title.or(note("title"));
        facts.notes.description = facts.notes.description.or(note("description"));
        facts
    }

    /// Returns the identity of a child: the same schemas, even if reached by different references.
    pub(super) fn key(&self, child: &ChildSchema<'a>) -> ChildSchemaKey {
        let key = |together: &AllOfSchemas<'a>| {
            let ends = together.iter().map(|&one| std::ptr::from_ref(self.follow_references(one)));
            let mut key: Vec<_> = ends.collect();
            key.sort_unstable();
            key.dedup();
            key
        };
        let mut all: Vec<_> = child.alternatives.iter().map(key).collect();
        all.sort();
        all
    }

    /// Notes a loss at the place of these constraints.
    pub(super) fn lose(&mut self, facts: &SchemaConstraints<'_>, what: impl Into<String>) {
        self.losses.add_at(facts.path.clone().unwrap_or_default(), what);
    }

    /// Follows references through schemas that contain nothing else.
    fn follow_references(&self, mut schema: &'a Value) -> &'a Value {
        let silent = ["$ref", "title", "description", "default", "examples"];
        for _ in 0..MOST_HOPS {
            let next = schema
                .as_object()
                .filter(|map| map.keys().all(|keyword| silent.contains(&keyword.as_str())));
            let reference = next.and_then(|map| map.get("$ref")?.as_str());
            match reference.and_then(|reference| upgrade::target(self.root, reference)) {
                Some(target) => schema = target,
                None => break,
            }
        }
        schema
    }

    pub(super) fn collect_constraints(&mut self, schemas: &[&'a Value]) -> SchemaConstraints<'a> {
        let mut facts = SchemaConstraints::default();
        for schema in schemas {
            self.add(schema, &mut facts);
        }
        facts
    }

    /// Adds the constraints of a schema.
    pub(super) fn add(&mut self, schema: &'a Value, facts: &mut SchemaConstraints<'a>) {
        let map = match schema {
            Value::Object(map) => map,
            Value::Bool(false) => {
                facts.types = JsonTypeSet::NONE;
                return;
            }
            _ => return,
        };
        if self.left == 0 {
            self.losses.add(schema, "dropped, because the schema is too large");
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

    fn follow(&mut self, map: &'a Map<String, Value>, facts: &mut SchemaConstraints<'a>) {
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
        if let Some(target) = upgrade::target(self.root, reference) {
            self.open.push(reference);
            self.add(target, facts);
            self.open.pop();
        }
    }

    fn scalars(
        &mut self,
        schema: &'a Value,
        map: &'a Map<String, Value>,
        facts: &mut SchemaConstraints<'a>,
    ) {
        let text = |keyword: &str| map.get(keyword).and_then(Value::as_str);
        let notes = &mut facts.notes;
        notes.title = notes.title.or(text("title"));
        notes.description = notes.description.or(text("description"));
        notes.default = notes.default.or(map.get("default"));
        if let Some(types) = map.get("type") {
            facts.types = facts.types.and(JsonTypeSet::from_type_keyword(types));
        }
        if let Some(Value::Array(values)) = map.get("enum") {
            facts.restrict_values(values.iter().collect());
        }
        if let Some(value) = map.get("const") {
            facts.restrict_values(vec![value]);
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

    fn members(
        &mut self,
        schema: &'a Value,
        map: &'a Map<String, Value>,
        facts: &mut SchemaConstraints<'a>,
    ) {
        let declared = map.get("properties").and_then(Value::as_object);
        for (name, one) in declared.into_iter().flatten() {
            let child = ChildSchema::one(vec![one]);
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

    /// Merges the schemas of all elements. The elements of a tuple become alternatives.
    fn elements(
        &mut self,
        schema: &'a Value,
        map: &'a Map<String, Value>,
        facts: &mut SchemaConstraints<'a>,
    ) {
        let prefix = map.get("prefixItems").and_then(Value::as_array);
        let rest = map.get("items");
        if prefix.is_none() && rest.is_none() {
            return;
        }
        let mut child = ChildSchema::default();
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

impl<'a> SchemaConstraints<'a> {
    fn restrict_values(&mut self, values: Vec<&'a Value>) {
        self.values = Some(match self.values.take() {
            None => values,
            Some(known) => {
                known.into_iter().filter(|one| values.iter().any(|v| same(v, one))).collect()
            }
        });
    }

    /// Restricts the types and the enumerated values to each other.
    pub(super) fn reconcile_types(&mut self) {
        let Some(values) = &mut self.values else {
            return;
        };
        let types = self.types;
        values.retain(|value| types.meets(JsonTypeSet::of(value)));
        self.types = values
            .iter()
            .map(|value| JsonTypeSet::of(value))
            .fold(JsonTypeSet::NONE, JsonTypeSet::or);
    }

    /// Returns true if no value can match, as far as is visible without the children.
    pub(super) fn is_impossible(&self) -> bool {
        self.types.is_empty()
    }

    /// Returns true if a member with this name is allowed.
    pub(super) fn admits(&self, name: &str) -> bool {
        self.closed.as_ref().is_none_or(|names| names.contains(name))
    }
}

/// Compares two values by JSON Schema equality: `1` equals `1.0`.
fn same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one.total_cmp(&other).is_eq(),
        _ => one == other,
    }
}

/// Returns the stricter of two values of a bound.
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
