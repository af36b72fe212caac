//! Writes schemas for OpenAI with `strict: true`.
//!
//! In strict mode, every object requires all its members and allows no others. An optional member
//! becomes required and accepts a placeholder for "absent": null, or if null already has a meaning,
//! `false` or an empty value. Strict mode cannot express an object with arbitrary member names;
//! then the schema is sent without strict mode.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::AdaptationLoss;
use super::absent::{make_nullable, stand_in, with_stand_in};
use super::constraints::{
    ChildSchema, ChildSchemaKey, SchemaAnalyzer, SchemaAnnotations, SchemaConstraints,
};
use super::hints;
use super::restore::{
    AdaptedArgumentRestorer, AdaptedMemberMapping, ArgumentRestorePlan, ObjectShape,
};
use super::types::{JsonTypeSet, any_of, typed};

/// The limits that the provider publishes.
const MOST_PROPERTIES: usize = 5_000;
const MOST_LEVELS: usize = 10;
const MOST_VALUES: usize = 1_000;
const MOST_TEXT: usize = 120_000;
/// The maximum number of written schemas.
const MOST_PLACES: usize = 10_000;

/// A writer of strict schemas.
pub(super) struct StrictSchemaWriter<'a> {
    pub analyzer: SchemaAnalyzer<'a>,
    unfinished: Vec<UnfinishedSchema>,
    defs: Map<String, Value>,
    plans: BTreeMap<String, ArgumentRestorePlan>,
    named: usize,
    places: usize,
    properties: usize,
    values: usize,
    text: usize,
}

/// A schema that is being written, with its name if a reference points to it.
struct UnfinishedSchema {
    key: ChildSchemaKey,
    name: Option<String>,
}

/// A written schema, its restore plan and the types it accepts.
struct WrittenSchema {
    schema: Value,
    plan: ArgumentRestorePlan,
    types: JsonTypeSet,
}

/// The schema of an object or array and its restore plan.
type StrictTypeSchema = (Map<String, Value>, ArgumentRestorePlan);

/// The parts of one schema, by type.
#[derive(Default)]
struct StrictTypeSchemas {
    all: Vec<Map<String, Value>>,
    plan: ArgumentRestorePlan,
}

impl<'a> StrictSchemaWriter<'a> {
    pub(super) fn new(reader: SchemaAnalyzer<'a>) -> Self {
        Self {
            analyzer: reader,
            unfinished: Vec::new(),
            defs: Map::new(),
            plans: BTreeMap::new(),
            named: 0,
            places: 0,
            properties: 0,
            values: 0,
            text: 0,
        }
    }

    pub(super) fn root(
        &mut self,
        root: &'a Value,
    ) -> Result<(Value, AdaptedArgumentRestorer), AdaptationLoss> {
        let (alternatives, notes) = self.analyzer.split_root(root);
        if alternatives.is_empty() {
            return Err(refusal(&SchemaConstraints::default(), "no object matches the schema"));
        }
        let facts = self.analyzer.join(alternatives);
        let Some((mut object, plan)) = self.object(&facts, 1)? else {
            return Err(refusal(&facts, "no object matches the schema"));
        };
        if let Some(description) = notes.description.or(facts.notes.description) {
            object.insert("description".to_owned(), description.into());
        }
        if !self.defs.is_empty() {
            object.insert("$defs".to_owned(), std::mem::take(&mut self.defs).into());
        }
        let defs = std::mem::take(&mut self.plans);
        Ok((Value::Object(object), AdaptedArgumentRestorer { root: plan, defs }))
    }

    /// Writes the schema of a child, or returns `None` if no value is allowed.
    fn child(
        &mut self,
        child: &ChildSchema<'a>,
        level: usize,
    ) -> Result<Option<WrittenSchema>, AdaptationLoss> {
        let mut facts = self.analyzer.child(child);
        let notes = std::mem::take(&mut facts.notes);
        self.places += 1;
        if level > MOST_LEVELS || self.places > MOST_PLACES {
            return Err(refusal(&facts, "too many levels or subschemas"));
        }
        let alternatives = self.analyzer.split(facts);
        let types =
            alternatives.iter().map(|one| one.types).fold(JsonTypeSet::NONE, JsonTypeSet::or);
        let key = self.analyzer.key(child);
        if let Some(at) = self.unfinished.iter().position(|open| open.key == key) {
            return Ok(Some(self.referred(at, types)));
        }
        self.unfinished.push(UnfinishedSchema { key, name: None });
        let mut pieces = StrictTypeSchemas::default();
        for alternative in &alternatives {
            self.pieces(alternative, level, &mut pieces)?;
        }
        let name = self.unfinished.pop().and_then(|open| open.name);
        if pieces.all.is_empty() {
            return Ok(None);
        }
        let plan = pieces.plan;
        let schema = assembled(pieces.all, &notes, &alternatives);
        Ok(Some(match name {
            None => WrittenSchema { schema, plan, types },
            Some(name) => {
                self.defs.insert(name.clone(), schema);
                self.plans.insert(name.clone(), plan);
                reference(name, types)
            }
        }))
    }

    /// Returns a reference to a schema that is being written.
    fn referred(&mut self, at: usize, types: JsonTypeSet) -> WrittenSchema {
        let open = &mut self.unfinished[at];
        let name = open.name.get_or_insert_with(|| {
            self.named += 1;
            format!("recursive{}", self.named)
        });
        reference(name.clone(), types)
    }

    fn pieces(
        &mut self,
        facts: &SchemaConstraints<'a>,
        level: usize,
        pieces: &mut StrictTypeSchemas,
    ) -> Result<(), AdaptationLoss> {
        for name in facts.types.names() {
            let (mut piece, plan) = match name {
                "object" => match self.object(facts, level)? {
                    None => continue,
                    Some(written) => written,
                },
                "array" => self.array(facts, level)?,
                _ => (self.scalar(facts, name)?, ArgumentRestorePlan::default()),
            };
            if !pieces.plan.merge(plan) {
                return Err(refusal(facts, "alternatives that cannot be distinguished"));
            }
            if let Some(description) = facts.notes.description {
                piece.insert("description".to_owned(), description.into());
            }
            if !pieces.all.contains(&piece) {
                pieces.all.push(piece);
            }
        }
        Ok(())
    }

    fn scalar(
        &mut self,
        facts: &SchemaConstraints<'a>,
        name: &str,
    ) -> Result<Map<String, Value>, AdaptationLoss> {
        let mut piece = typed(name);
        let own = JsonTypeSet::from_type_keyword(&name.into());
        if let Some(values) = &facts.values {
            let values = values.iter().filter(|value| own.meets(JsonTypeSet::of(value)));
            let values: Vec<Value> = values.map(|value| (*value).clone()).collect();
            self.values += values.len();
            self.text += values.iter().map(|value| value.to_string().len()).sum::<usize>();
            if self.values > MOST_VALUES || self.text > MOST_TEXT {
                return Err(refusal(facts, "too many values"));
            }
            piece.insert("enum".to_owned(), Value::Array(values));
        }
        let (kept, lost): (&[&str], &[&str]) = match name {
            "string" => (&["pattern"], &["minLength", "maxLength", "format"]),
            "integer" | "number" => {
                (&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"], &[])
            }
            _ => (&[], &[]),
        };
        for keyword in kept {
            match facts.plain.get(*keyword) {
                Some(Value::String(pattern)) if !hints::is_plain(pattern) => {
                    self.analyzer.lose(facts, "`pattern` dropped");
                }
                Some(value) => _ = piece.insert((*keyword).to_owned(), value.clone()),
                None => {}
            }
        }
        for keyword in lost.iter().filter(|keyword| facts.plain.contains_key(**keyword)) {
            self.analyzer.lose(facts, format!("`{keyword}` dropped"));
        }
        Ok(piece)
    }

    fn array(
        &mut self,
        facts: &SchemaConstraints<'a>,
        level: usize,
    ) -> Result<StrictTypeSchema, AdaptationLoss> {
        if facts.values.is_some() {
            return Err(refusal(facts, "an array among the enumerated values"));
        }
        let child = facts
            .elements
            .as_ref()
            .ok_or_else(|| refusal(facts, "an array without a schema for its elements"))?;
        let mut piece = typed("array");
        for keyword in ["minItems", "maxItems"] {
            if let Some(value) = facts.plain.get(keyword) {
                piece.insert(keyword.to_owned(), value.clone());
            }
        }
        if facts.plain.get("uniqueItems") == Some(&Value::Bool(true)) {
            self.analyzer.lose(facts, "`uniqueItems` dropped");
        }
        let mut plan = ArgumentRestorePlan::default();
        match self.child(child, level + 1)? {
            Some(items) => {
                piece.insert("items".to_owned(), items.schema);
                if items.plan != ArgumentRestorePlan::default() {
                    plan.elements = Some(Box::new(items.plan));
                }
            }
            None => {
                piece.insert("items".to_owned(), json!({ "type": "string" }));
                piece.insert("maxItems".to_owned(), 0.into());
            }
        }
        Ok((piece, plan))
    }

    /// Writes an object, or returns `None` if a required member is impossible.
    fn object(
        &mut self,
        facts: &SchemaConstraints<'a>,
        level: usize,
    ) -> Result<Option<StrictTypeSchema>, AdaptationLoss> {
        if facts.values.is_some() {
            return Err(refusal(facts, "an object among the enumerated values"));
        }
        if facts.closed.is_none() {
            return Err(refusal(facts, "an object that allows members of any name"));
        }
        if facts.required.iter().any(|name| !facts.admits(name)) {
            return Ok(None);
        }
        let mut properties = Map::new();
        let mut form = ObjectShape::default();
        for (name, child) in facts.properties.iter().filter(|(name, _)| facts.admits(name)) {
            let required = facts.required.contains(name);
            let Some(written) = self.child(child, level + 1)? else {
                if required {
                    return Ok(None);
                }
                continue;
            };
            let (schema, member) = self.member(facts, name, written, required)?;
            properties.insert((*name).to_owned(), schema);
            form.members.push(member);
        }
        for keyword in ["minProperties", "maxProperties"] {
            if facts.plain.contains_key(keyword) {
                self.analyzer.lose(facts, format!("`{keyword}` dropped"));
            }
        }
        let mut piece = typed("object");
        let names: Vec<Value> = properties.keys().map(|name| name.as_str().into()).collect();
        piece.insert("properties".to_owned(), properties.into());
        piece.insert("required".to_owned(), names.into());
        piece.insert("additionalProperties".to_owned(), false.into());
        let plan = ArgumentRestorePlan { forms: vec![form], ..ArgumentRestorePlan::default() };
        Ok(Some((piece, plan)))
    }

    fn member(
        &mut self,
        facts: &SchemaConstraints<'a>,
        name: &str,
        written: WrittenSchema,
        required: bool,
    ) -> Result<(Value, AdaptedMemberMapping), AdaptationLoss> {
        self.properties += 1;
        self.text += name.len();
        if self.properties > MOST_PROPERTIES || self.text > MOST_TEXT {
            return Err(refusal(facts, "too many members"));
        }
        let WrittenSchema { mut schema, plan, types } = written;
        let mut absent = None;
        if !required {
            let (value, stand_in) = stand_in(types).ok_or_else(|| {
                refusal(
                    facts,
                    "an optional member of any type, which leaves no placeholder for \"absent\"",
                )
            })?;
            schema = with_stand_in(schema, stand_in, &value);
            absent = Some(value);
        }
        let (shown, name) = (name.to_owned(), name.to_owned());
        Ok((schema, AdaptedMemberMapping { shown, name, absent, plan }))
    }
}

fn refusal(facts: &SchemaConstraints<'_>, why: &str) -> AdaptationLoss {
    let path = facts.path.clone().unwrap_or_default();
    AdaptationLoss::new(path, format!("cannot be strict: {why}"))
}

fn reference(name: String, types: JsonTypeSet) -> WrittenSchema {
    WrittenSchema {
        schema: json!({ "$ref": format!("#/$defs/{name}") }),
        plan: ArgumentRestorePlan { def: Some(name), ..ArgumentRestorePlan::default() },
        types,
    }
}

/// Combines the parts into one schema, with the description that applies to all of them.
fn assembled(
    mut pieces: Vec<Map<String, Value>>,
    notes: &SchemaAnnotations<'_>,
    of: &[SchemaConstraints<'_>],
) -> Value {
    let null = typed("null");
    if let [first, second] = pieces.as_mut_slice()
        && *second == null
        && make_nullable(first)
    {
        pieces.pop();
    }
    let words = hints::words(notes, &pieces, of);
    let mut schema = match pieces.len() {
        1 => pieces.remove(0),
        _ => any_of(pieces),
    };
    if let Some(words) = words {
        schema.insert("description".to_owned(), words.into());
    }
    Value::Object(schema)
}
