//! Finds the subschemas of a schema.
//!
//! A member called `items` is a schema only where a schema is expected: inside `properties` it is a
//! name, inside `default` it is data. All code that walks schemas uses this module.

use serde_json::{Map, Value};

/// The value that a subschema applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubschemaScope {
    /// The same value as the enclosing schema.
    Same,
    /// A member or an element of that value.
    Below,
    /// No value, unless a reference points to the subschema.
    ReferenceOnly,
}

/// How the value of a keyword contains schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeywordShape {
    One,
    List,
    Map,
    /// One schema, or a list of them: `items` before 2020-12.
    OneOrList,
    /// A map of schemas or lists of names: `dependencies` before 2019-09.
    MapOfOneOrNames,
}

/// Every keyword that contains schemas, in any draft.
const KEYWORDS: &[(&str, KeywordShape, SubschemaScope)] = &[
    ("properties", KeywordShape::Map, SubschemaScope::Below),
    ("items", KeywordShape::OneOrList, SubschemaScope::Below),
    ("additionalProperties", KeywordShape::One, SubschemaScope::Below),
    ("anyOf", KeywordShape::List, SubschemaScope::Same),
    ("oneOf", KeywordShape::List, SubschemaScope::Same),
    ("allOf", KeywordShape::List, SubschemaScope::Same),
    ("$defs", KeywordShape::Map, SubschemaScope::ReferenceOnly),
    ("definitions", KeywordShape::Map, SubschemaScope::ReferenceOnly),
    ("not", KeywordShape::One, SubschemaScope::Same),
    ("if", KeywordShape::One, SubschemaScope::Same),
    ("then", KeywordShape::One, SubschemaScope::Same),
    ("else", KeywordShape::One, SubschemaScope::Same),
    ("patternProperties", KeywordShape::Map, SubschemaScope::Below),
    ("prefixItems", KeywordShape::List, SubschemaScope::Below),
    ("additionalItems", KeywordShape::One, SubschemaScope::Below),
    ("contains", KeywordShape::One, SubschemaScope::Below),
    ("propertyNames", KeywordShape::One, SubschemaScope::Below),
    ("dependentSchemas", KeywordShape::Map, SubschemaScope::Same),
    ("dependencies", KeywordShape::MapOfOneOrNames, SubschemaScope::Same),
    ("unevaluatedItems", KeywordShape::One, SubschemaScope::Below),
    ("unevaluatedProperties", KeywordShape::One, SubschemaScope::Below),
    ("contentSchema", KeywordShape::One, SubschemaScope::ReferenceOnly),
];

/// Returns how a keyword contains schemas, if it does.
fn keyword_shape(keyword: &str) -> Option<(KeywordShape, SubschemaScope)> {
    KEYWORDS.iter().find(|(name, ..)| *name == keyword).map(|&(_, holds, place)| (holds, place))
}

/// A subschema with its keyword, its key or index below the keyword, and its target.
pub(crate) struct Subschema<'a> {
    pub keyword: &'a str,
    pub step: Option<PointerStep<'a>>,
    pub schema: &'a Value,
    pub target: SubschemaScope,
}

/// One step of a JSON pointer.
#[derive(Clone, Copy)]
pub(crate) enum PointerStep<'a> {
    Key(&'a str),
    Index(usize),
}

impl Subschema<'_> {
    /// Returns the pointer of this subschema, given the pointer of the enclosing schema.
    pub(crate) fn path(&self, outer: &str) -> String {
        let head = format!("{outer}/{}", escaped(self.keyword));
        match self.step {
            None => head,
            Some(PointerStep::Key(key)) => format!("{head}/{}", escaped(key)),
            Some(PointerStep::Index(index)) => format!("{head}/{index}"),
        }
    }
}

/// Returns the direct subschemas of a schema.
pub(crate) fn direct_subschemas(schema: &Map<String, Value>) -> Vec<Subschema<'_>> {
    let mut all = Vec::new();
    for (keyword, value) in schema {
        let Some((holds, place)) = keyword_shape(keyword) else {
            continue;
        };
        let mut add =
            |below, schema| all.push(Subschema { keyword, step: below, schema, target: place });
        match (holds, value) {
            (KeywordShape::List | KeywordShape::OneOrList, Value::Array(list)) => {
                for (index, schema) in list.iter().enumerate() {
                    add(Some(PointerStep::Index(index)), schema);
                }
            }
            (KeywordShape::Map | KeywordShape::MapOfOneOrNames, Value::Object(map)) => {
                let is_schema = |value: &Value| holds == KeywordShape::Map || !value.is_array();
                for (key, schema) in map.iter().filter(|(_, value)| is_schema(value)) {
                    add(Some(PointerStep::Key(key)), schema);
                }
            }
            (KeywordShape::One | KeywordShape::OneOrList, schema) => add(None, schema),
            _ => {}
        }
    }
    all
}

/// Visits the direct subschemas of a schema of the latest draft to change them, each with its path
/// below the schema.
pub(crate) fn for_each_subschema(
    schema: &mut Map<String, Value>,
    mut visit: impl FnMut(String, &mut Value),
) {
    for (keyword, value) in schema {
        let path = format!("/{}", escaped(keyword));
        match (keyword_shape(keyword).map(|(holds, _)| holds), value) {
            (Some(KeywordShape::List), Value::Array(list)) => {
                for (index, one) in list.iter_mut().enumerate() {
                    visit(format!("{path}/{index}"), one);
                }
            }
            (Some(KeywordShape::Map), Value::Object(map)) => {
                for (key, one) in map {
                    visit(format!("{path}/{}", escaped(key)), one);
                }
            }
            (Some(KeywordShape::One | KeywordShape::OneOrList), one) => visit(path, one),
            _ => {}
        }
    }
}

/// Escapes a key for a JSON pointer.
pub(crate) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
