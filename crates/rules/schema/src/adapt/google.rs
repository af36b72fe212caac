//! Writes schemas for Gemini and Vertex, which accept a subset of the OpenAPI 3.0 schema object.
//!
//! Every schema has one `type` or `anyOf`. References do not exist, so they are inlined; of a
//! cyclic one, only the type remains. Enumeration values are strings. Vertex accepts nothing beside
//! `anyOf`.

use serde_json::{Map, Value, json};

use super::constraints::{
    ChildSchema, ChildSchemaKey, SchemaAnalyzer, SchemaAnnotations, SchemaConstraints,
};
use super::hints;
use super::types::{self, JsonTypeSet, typed};

/// The maximum number of written schemas. Beyond it, only types are written.
const MOST: usize = 3_000;
/// The depth of nested arrays in a schema for any value. The format has no such schema, and every
/// array must declare its items, so the nesting is written out to this depth.
const ARRAYS: usize = 4;
/// The loss text for the only case in which the adapted schema is narrower than the original.
const SPELLED_OUT: &str = "arbitrary values are limited to 4 levels of directly nested arrays";

/// A writer of schemas for Gemini or Vertex.
pub(super) struct GoogleSchemaWriter<'a> {
    pub analyzer: SchemaAnalyzer<'a>,
    vertex: bool,
    open: Vec<ChildSchemaKey>,
    written: usize,
}

/// The parts of one schema: one part per type, and whether null is allowed.
#[derive(Default)]
struct GoogleTypeSchemas {
    all: Vec<Map<String, Value>>,
    nullable: bool,
}

impl<'a> GoogleSchemaWriter<'a> {
    pub(super) fn new(reader: SchemaAnalyzer<'a>, vertex: bool) -> Self {
        Self { analyzer: reader, vertex, open: Vec::new(), written: 0 }
    }

    /// Writes the root as an object, even if the schema accepts other types.
    pub(super) fn root(&mut self, root: &'a Value) -> Value {
        let (alternatives, notes) = self.analyzer.split_root(root);
        let facts = self.analyzer.join(alternatives);
        self.open.push(self.analyzer.key(&ChildSchema::one(vec![root])));
        let object = self.object(&facts);
        self.open.pop();
        let mut object = object.unwrap_or_else(|| typed("object"));
        if let Some(description) = notes.description.or(facts.notes.description) {
            object.insert("description".to_owned(), description.into());
        }
        Value::Object(object)
    }

    /// Writes the schema of a child, or returns `None` if no value is allowed.
    fn child(&mut self, child: &ChildSchema<'a>) -> Option<Value> {
        let mut facts = self.analyzer.child(child);
        let notes = std::mem::take(&mut facts.notes);
        if child.alternatives.iter().any(Vec::is_empty) {
            self.analyzer.lose(&facts, SPELLED_OUT);
            return Some(self.assembled(anything(ARRAYS), &notes, &[]));
        }
        let key = self.analyzer.key(child);
        if self.written > MOST || self.open.contains(&key) {
            let what = "only the type is kept, because the schema is recursive or too large";
            self.analyzer.lose(&facts, what);
            let types = if facts.groups.is_empty() { facts.types } else { JsonTypeSet::ALL };
            if types.meets(JsonTypeSet::ARRAY) {
                self.analyzer.lose(&facts, SPELLED_OUT);
            }
            return Some(self.assembled(bare(types), &notes, &[]));
        }
        self.written += 1;
        self.open.push(key);
        let alternatives = self.analyzer.split(facts);
        let mut pieces = GoogleTypeSchemas::default();
        for alternative in &alternatives {
            self.pieces(alternative, &mut pieces);
        }
        self.open.pop();
        if pieces.all.is_empty() && !pieces.nullable {
            return None;
        }
        Some(self.assembled(pieces, &notes, &alternatives))
    }

    /// Adds one schema for each type of an alternative.
    fn pieces(&mut self, facts: &SchemaConstraints<'a>, pieces: &mut GoogleTypeSchemas) {
        if facts.values.is_some() && facts.types.names() != ["string"] {
            self.analyzer.lose(facts, "`enum` with values other than strings dropped");
        }
        for name in facts.types.names() {
            let piece = match name {
                "null" => {
                    pieces.nullable = true;
                    continue;
                }
                "string" => Some(self.text(facts)),
                "integer" | "number" => Some(self.number(facts, name)),
                "array" => Some(self.array(facts)),
                "object" => self.object(facts),
                _ => Some(typed(name)),
            };
            let Some(mut piece) = piece else {
                continue;
            };
            if let Some(description) = facts.notes.description {
                piece.insert("description".to_owned(), description.into());
            }
            if !pieces.all.contains(&piece) {
                pieces.all.push(piece);
            }
        }
    }

    fn text(&mut self, facts: &SchemaConstraints<'a>) -> Map<String, Value> {
        let mut piece = typed("string");
        for keyword in ["minLength", "maxLength"] {
            copy_count(facts, keyword, &mut piece);
        }
        match facts.plain.get("pattern").and_then(Value::as_str) {
            Some(pattern) if hints::is_plain(pattern) => {
                piece.insert("pattern".to_owned(), pattern.into());
            }
            Some(_) => self.analyzer.lose(facts, "`pattern` dropped"),
            None => {}
        }
        if facts.plain.contains_key("format") {
            self.analyzer.lose(facts, "`format` dropped");
        }
        let texts = facts.values.iter().flatten().filter_map(|value| value.as_str());
        let texts: Vec<&str> = texts.collect();
        if texts.contains(&"") {
            self.analyzer.lose(facts, "`enum` with an empty string dropped");
        } else if facts.values.is_some() {
            piece.insert("enum".to_owned(), texts.into());
        }
        piece
    }

    fn number(&mut self, facts: &SchemaConstraints<'a>, name: &str) -> Map<String, Value> {
        let mut piece = typed(name);
        for (keyword, exclusive, step) in
            [("minimum", "exclusiveMinimum", 1.0), ("maximum", "exclusiveMaximum", -1.0)]
        {
            let inclusive = facts.plain.get(keyword).cloned();
            let bound = facts.plain.get(exclusive).and_then(|bound| {
                let whole = name == "integer";
                if !whole {
                    self.analyzer.lose(facts, format!("`{exclusive}` became `{keyword}`"));
                }
                inclusive_bound(bound, whole, step)
            });
            let both = match (inclusive, bound) {
                (Some(one), Some(other)) => {
                    let other_is_narrower = one.as_f64() < other.as_f64();
                    Some(if other_is_narrower == (step > 0.0) { other } else { one })
                }
                (one, other) => one.or(other),
            };
            if let Some(bound) = both {
                piece.insert(keyword.to_owned(), bound);
            }
        }
        if facts.plain.contains_key("multipleOf") {
            self.analyzer.lose(facts, "`multipleOf` dropped");
        }
        piece
    }

    fn array(&mut self, facts: &SchemaConstraints<'a>) -> Map<String, Value> {
        let mut piece = typed("array");
        for keyword in ["minItems", "maxItems"] {
            copy_count(facts, keyword, &mut piece);
        }
        if facts.plain.get("uniqueItems") == Some(&Value::Bool(true)) {
            self.analyzer.lose(facts, "`uniqueItems` dropped");
        }
        let items = match &facts.elements {
            None => {
                self.analyzer.lose(facts, SPELLED_OUT);
                Some(Value::Object(any_of(anything(ARRAYS - 1))))
            }
            Some(child) => self.child(child),
        };
        if items.is_none() {
            piece.insert("maxItems".to_owned(), 0.into());
        }
        piece.insert("items".to_owned(), items.unwrap_or_else(|| Value::Object(typed("string"))));
        piece
    }

    /// Writes an object, or returns `None` if a required member is impossible.
    fn object(&mut self, facts: &SchemaConstraints<'a>) -> Option<Map<String, Value>> {
        let mut piece = typed("object");
        let mut properties = Map::new();
        for (name, child) in facts.properties.iter().filter(|(name, _)| facts.admits(name)) {
            match self.child(child) {
                Some(schema) => _ = properties.insert((*name).to_owned(), schema),
                None if facts.required.contains(name) => return None,
                None => {}
            }
        }
        for name in &facts.required {
            let any = || Value::Object(any_of(anything(ARRAYS)));
            properties.entry(*name).or_insert_with(any);
        }
        if facts.closed.is_some() {
            self.analyzer.lose(facts, "`additionalProperties` dropped");
        }
        if !properties.is_empty() {
            piece.insert("properties".to_owned(), properties.into());
        }
        if !facts.required.is_empty() {
            piece.insert("required".to_owned(), facts.required.clone().into());
        }
        for keyword in ["minProperties", "maxProperties"] {
            copy_count(facts, keyword, &mut piece);
        }
        Some(piece)
    }

    /// Combines the parts into one schema, with the description that applies to all of them.
    fn assembled(
        &self,
        mut pieces: GoogleTypeSchemas,
        notes: &SchemaAnnotations<'a>,
        of: &[SchemaConstraints<'a>],
    ) -> Value {
        simplify(&mut pieces.all);
        let words = hints::words(notes, &pieces.all, of);
        let mut schema = match pieces.all.len() {
            0 => typed("string"),
            1 => pieces.all.remove(0),
            _ if self.vertex => return Value::Object(alone(pieces, words)),
            _ => types::any_of(pieces.all),
        };
        if let Some(title) = notes.title {
            schema.insert("title".to_owned(), title.into());
        }
        if let Some(words) = words {
            schema.insert("description".to_owned(), words.into());
        }
        if pieces.nullable {
            schema.insert("nullable".to_owned(), true.into());
        }
        Value::Object(schema)
    }
}

/// Writes `anyOf` alone, with the description and null in the first alternative.
fn alone(mut pieces: GoogleTypeSchemas, words: Option<String>) -> Map<String, Value> {
    if let (Some(first), Some(words)) = (pieces.all.first_mut(), words) {
        first.entry("description").or_insert_with(|| words.into());
    }
    any_of(pieces)
}

fn any_of(mut pieces: GoogleTypeSchemas) -> Map<String, Value> {
    if pieces.nullable
        && let Some(first) = pieces.all.first_mut()
    {
        first.insert("nullable".to_owned(), true.into());
    }
    types::any_of(pieces.all)
}

/// Returns a schema for any value, with `arrays` levels of nested arrays.
fn anything(arrays: usize) -> GoogleTypeSchemas {
    let mut all: Vec<_> = ["string", "number", "boolean", "object"].map(typed).into();
    if arrays > 0 {
        let mut array = typed("array");
        array.insert("items".to_owned(), Value::Object(any_of(anything(arrays - 1))));
        all.push(array);
    }
    GoogleTypeSchemas { all, nullable: true }
}

/// Returns a schema with only the types.
fn bare(types: JsonTypeSet) -> GoogleTypeSchemas {
    let mut pieces = anything(ARRAYS);
    let names = types.names();
    pieces.all.retain(|piece| names.iter().any(|name| piece.get("type") == Some(&json!(name))));
    if names.contains(&"integer") {
        pieces.all.push(typed("integer"));
    }
    pieces.nullable = types.meets(JsonTypeSet::NULL);
    pieces
}

/// Removes parts that a broader part of the same type covers.
fn simplify(pieces: &mut Vec<Map<String, Value>>) {
    let bare: Vec<Value> = pieces
        .iter()
        .filter(|piece| piece.len() == 1)
        .filter_map(|piece| piece.get("type").cloned())
        .collect();
    pieces.retain(|piece| {
        piece.len() == 1 || piece.get("type").is_none_or(|name| !bare.contains(name))
    });
}

fn copy_count(facts: &SchemaConstraints<'_>, keyword: &str, piece: &mut Map<String, Value>) {
    let count = facts.plain.get(keyword).and_then(Value::as_f64);
    if let Some(count) = count.filter(|count| *count >= 0.0 && *count < 1e9) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
        piece.insert(keyword.to_owned(), (count as u64).into());
    }
}

/// Returns an inclusive bound that accepts everything that the exclusive one accepts.
fn inclusive_bound(bound: &Value, whole: bool, step: f64) -> Option<Value> {
    let number = bound.as_f64()?;
    if !whole || number.abs() > 1e15 {
        return Some(bound.clone());
    }
    let next = if step > 0.0 { number.floor() } else { number.ceil() } + step;
    #[expect(clippy::cast_possible_truncation, reason = "a whole number in range")]
    Some((next as i64).into())
}
