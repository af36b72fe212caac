//! What OpenAI takes with `strict: true`.
//!
//! There every object lists all its members as required and admits no others. A member the original
//! leaves open is asked for all the same, with a value that stands for «not there»: null, or where
//! null means something itself, `false` or an empty value. An object that admits members nobody
//! named cannot be said at all; then the schema is not strict, and that is the answer.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::absent::{either, make_nullable, stand_in};
use super::facts::{Child, Facts, Key, Reader};
use super::hints;
use super::plan::{Form, Member, Plan, Restore};
use super::split::Notes;
use super::types::Types;

/// The limits the provider publishes.
const MOST_PROPERTIES: usize = 5_000;
const MOST_LEVELS: usize = 10;
const MOST_VALUES: usize = 1_000;
const MOST_TEXT: usize = 120_000;
/// Places written, in all.
const MOST_PLACES: usize = 10_000;

/// Why a schema cannot be strict.
pub(super) struct Refusal {
    pub path: String,
    pub why: &'static str,
}

/// Writes strict schemas.
pub(super) struct Strict<'a> {
    pub reader: Reader<'a>,
    open: Vec<Open>,
    defs: Map<String, Value>,
    plans: BTreeMap<String, Plan>,
    named: usize,
    places: usize,
    properties: usize,
    values: usize,
    text: usize,
}

/// A place being written, with its name once something refers to it.
struct Open {
    key: Key,
    name: Option<String>,
}

/// A written place: its schema, the way back, and the types it admits.
struct Written {
    schema: Value,
    plan: Plan,
    types: Types,
}

/// An object or array, and the way back.
type Piece = (Map<String, Value>, Plan);

/// The pieces of a place.
#[derive(Default)]
struct Pieces {
    all: Vec<Map<String, Value>>,
    plan: Plan,
}

impl<'a> Strict<'a> {
    pub(super) fn new(reader: Reader<'a>) -> Self {
        Self {
            reader,
            open: Vec::new(),
            defs: Map::new(),
            plans: BTreeMap::new(),
            named: 0,
            places: 0,
            properties: 0,
            values: 0,
            text: 0,
        }
    }

    pub(super) fn root(&mut self, root: &'a Value) -> Result<(Value, Restore), Refusal> {
        let child = Child::one(vec![root]);
        let mut facts = self.reader.child(&child);
        facts.types = facts.types.and(Types::OBJECT);
        let notes = facts.take_notes();
        let mut alternatives = self.reader.split(facts);
        let facts = match alternatives.len() {
            0 => return Err(refusal(&Facts::default(), "no object fits it")),
            1 => alternatives.remove(0),
            _ => self.reader.join(&alternatives),
        };
        let Some((mut object, plan)) = self.object(&facts, 1)? else {
            return Err(refusal(&facts, "no object fits it"));
        };
        if let Some(description) = notes.description.or(facts.description) {
            object.insert("description".to_owned(), description.into());
        }
        if !self.defs.is_empty() {
            object.insert("$defs".to_owned(), std::mem::take(&mut self.defs).into());
        }
        let defs = std::mem::take(&mut self.plans);
        Ok((Value::Object(object), Restore { root: plan, defs }))
    }

    /// A place below; `None` if nothing may stand there.
    fn child(&mut self, child: &Child<'a>, level: usize) -> Result<Option<Written>, Refusal> {
        let mut facts = self.reader.child(child);
        let notes = facts.take_notes();
        self.places += 1;
        if level > MOST_LEVELS || self.places > MOST_PLACES {
            return Err(refusal(&facts, "too many levels or places"));
        }
        let alternatives = self.reader.split(facts);
        let types = alternatives.iter().map(|one| one.types).fold(Types::NONE, Types::or);
        let key = self.reader.key(child);
        if let Some(at) = self.open.iter().position(|open| open.key == key) {
            return Ok(Some(self.referred(at, types)));
        }
        self.open.push(Open { key, name: None });
        let mut pieces = Pieces::default();
        for alternative in &alternatives {
            self.pieces(alternative, level, &mut pieces)?;
        }
        let name = self.open.pop().and_then(|open| open.name);
        if pieces.all.is_empty() {
            return Ok(None);
        }
        let plan = pieces.plan;
        let schema = assembled(pieces.all, &notes, &alternatives);
        Ok(Some(match name {
            None => Written { schema, plan, types },
            Some(name) => {
                self.defs.insert(name.clone(), schema);
                self.plans.insert(name.clone(), plan);
                reference(name, types)
            }
        }))
    }

    /// A reference to a place that is being written.
    fn referred(&mut self, at: usize, types: Types) -> Written {
        let open = &mut self.open[at];
        let name = open.name.get_or_insert_with(|| {
            self.named += 1;
            format!("recursive{}", self.named)
        });
        reference(name.clone(), types)
    }

    fn pieces(
        &mut self,
        facts: &Facts<'a>,
        level: usize,
        pieces: &mut Pieces,
    ) -> Result<(), Refusal> {
        for name in facts.types.names() {
            let (mut piece, plan) = match name {
                "object" => match self.object(facts, level)? {
                    None => continue,
                    Some(written) => written,
                },
                "array" => self.array(facts, level)?,
                _ => (self.scalar(facts, name)?, Plan::default()),
            };
            if !pieces.plan.merge(plan) {
                return Err(refusal(facts, "alternatives that could not be told apart"));
            }
            if let Some(description) = facts.description {
                piece.insert("description".to_owned(), description.into());
            }
            if !pieces.all.contains(&piece) {
                pieces.all.push(piece);
            }
        }
        Ok(())
    }

    fn scalar(&mut self, facts: &Facts<'a>, name: &str) -> Result<Map<String, Value>, Refusal> {
        let path = facts.path.clone().unwrap_or_default();
        let mut piece = typed(name);
        let own = Types::named(&name.into());
        if let Some(values) = &facts.values {
            let values = values.iter().filter(|value| own.meets(Types::of(value)));
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
                    self.reader.losses.at(path.clone(), "`pattern` dropped");
                }
                Some(value) => _ = piece.insert((*keyword).to_owned(), value.clone()),
                None => {}
            }
        }
        for keyword in lost.iter().filter(|keyword| facts.plain.contains_key(**keyword)) {
            self.reader.losses.at(path.clone(), format!("`{keyword}` dropped"));
        }
        Ok(piece)
    }

    fn array(&mut self, facts: &Facts<'a>, level: usize) -> Result<Piece, Refusal> {
        if facts.values.is_some() {
            return Err(refusal(facts, "an array among given values"));
        }
        let child =
            facts.elements.as_ref().ok_or_else(|| refusal(facts, "elements of any kind"))?;
        let mut piece = typed("array");
        for keyword in ["minItems", "maxItems"] {
            if let Some(value) = facts.plain.get(keyword) {
                piece.insert(keyword.to_owned(), value.clone());
            }
        }
        if facts.plain.get("uniqueItems") == Some(&Value::Bool(true)) {
            let path = facts.path.clone().unwrap_or_default();
            self.reader.losses.at(path, "`uniqueItems` dropped");
        }
        let mut plan = Plan::default();
        match self.child(child, level + 1)? {
            Some(items) => {
                piece.insert("items".to_owned(), items.schema);
                if items.plan != Plan::default() {
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

    /// An object; `None` if a member it requires cannot be.
    fn object(&mut self, facts: &Facts<'a>, level: usize) -> Result<Option<Piece>, Refusal> {
        if facts.values.is_some() {
            return Err(refusal(facts, "an object among given values"));
        }
        if facts.closed.is_none() {
            return Err(refusal(facts, "an object that admits members of any name"));
        }
        if facts.required.iter().any(|name| !facts.admits(name)) {
            return Ok(None);
        }
        let mut properties = Map::new();
        let mut form = Form::default();
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
                let path = facts.path.clone().unwrap_or_default();
                self.reader.losses.at(path, format!("`{keyword}` dropped"));
            }
        }
        let mut piece = typed("object");
        let names: Vec<Value> = properties.keys().map(|name| name.as_str().into()).collect();
        piece.insert("properties".to_owned(), properties.into());
        piece.insert("required".to_owned(), names.into());
        piece.insert("additionalProperties".to_owned(), false.into());
        Ok(Some((piece, Plan { forms: vec![form], ..Plan::default() })))
    }

    fn member(
        &mut self,
        facts: &Facts<'a>,
        name: &str,
        written: Written,
        required: bool,
    ) -> Result<(Value, Member), Refusal> {
        self.properties += 1;
        self.text += name.len();
        if self.properties > MOST_PROPERTIES || self.text > MOST_TEXT {
            return Err(refusal(facts, "too many members"));
        }
        let Written { mut schema, plan, types } = written;
        let mut absent = None;
        if !required {
            let (value, stand_in) = stand_in(types).ok_or_else(|| {
                refusal(
                    facts,
                    "an optional member of any type, so that nothing stands for «not there»",
                )
            })?;
            schema = either(schema, stand_in, &value);
            absent = Some(value);
        }
        Ok((schema, Member { shown: name.to_owned(), name: name.to_owned(), absent, plan }))
    }
}

fn refusal(facts: &Facts<'_>, why: &'static str) -> Refusal {
    Refusal { path: facts.path.clone().unwrap_or_default(), why }
}

fn reference(name: String, types: Types) -> Written {
    Written {
        schema: json!({ "$ref": format!("#/$defs/{name}") }),
        plan: Plan { def: Some(name), ..Plan::default() },
        types,
    }
}

fn typed(name: &str) -> Map<String, Value> {
    Map::from_iter([("type".to_owned(), name.into())])
}

/// The pieces as one schema, with the words that belong to all of them.
fn assembled(mut pieces: Vec<Map<String, Value>>, notes: &Notes<'_>, of: &[Facts<'_>]) -> Value {
    let null = typed("null");
    if let [first, second] = pieces.as_mut_slice()
        && *second == null
        && make_nullable(first)
    {
        pieces.pop();
    }
    let described = match pieces.as_slice() {
        [only] => only.get("description").and_then(Value::as_str),
        _ => None,
    };
    let words = hints::words(notes.description.or(described), notes.default, of);
    let mut schema = match pieces.len() {
        1 => pieces.remove(0),
        _ => {
            let all = pieces.into_iter().map(Value::Object).collect();
            Map::from_iter([("anyOf".to_owned(), Value::Array(all))])
        }
    };
    if let Some(words) = words {
        schema.insert("description".to_owned(), words.into());
    }
    Value::Object(schema)
}
