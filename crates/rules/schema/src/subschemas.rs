//! Finds the subschemas of a schema.
//!
//! A member called `items` is a schema only where a schema is expected: inside `properties` it is a
//! name, inside `default` it is data. All code that walks schemas uses this module.

use serde_json::{Map, Value};

/// The value that a subschema applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubschemaTarget {
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
const KEYWORDS: &[(&str, KeywordShape, SubschemaTarget)] = &[
    ("properties", KeywordShape::Map, SubschemaTarget::Below),
    ("items", KeywordShape::OneOrList, SubschemaTarget::Below),
    ("additionalProperties", KeywordShape::One, SubschemaTarget::Below),
    ("anyOf", KeywordShape::List, SubschemaTarget::Same),
    ("oneOf", KeywordShape::List, SubschemaTarget::Same),
    ("allOf", KeywordShape::List, SubschemaTarget::Same),
    ("$defs", KeywordShape::Map, SubschemaTarget::ReferenceOnly),
    ("definitions", KeywordShape::Map, SubschemaTarget::ReferenceOnly),
    ("not", KeywordShape::One, SubschemaTarget::Same),
    ("if", KeywordShape::One, SubschemaTarget::Same),
    ("then", KeywordShape::One, SubschemaTarget::Same),
    ("else", KeywordShape::One, SubschemaTarget::Same),
    ("patternProperties", KeywordShape::Map, SubschemaTarget::Below),
    ("prefixItems", KeywordShape::List, SubschemaTarget::Below),
    ("additionalItems", KeywordShape::One, SubschemaTarget::Below),
    ("contains", KeywordShape::One, SubschemaTarget::Below),
    ("propertyNames", KeywordShape::One, SubschemaTarget::Below),
    ("dependentSchemas", KeywordShape::Map, SubschemaTarget::Same),
    ("dependencies", KeywordShape::MapOfOneOrNames, SubschemaTarget::Same),
    ("unevaluatedItems", KeywordShape::One, SubschemaTarget::Below),
    ("unevaluatedProperties", KeywordShape::One, SubschemaTarget::Below),
    ("contentSchema", KeywordShape::One, SubschemaTarget::ReferenceOnly),
];

/// Returns how a keyword contains schemas, if it does.
fn keyword_shape(keyword: &str) -> Option<(KeywordShape, SubschemaTarget)> {
    KEYWORDS.iter().find(|(name, ..)| *name == keyword).map(|&(_, holds, place)| (holds, place))
}

/// A subschema with its keyword, its key or index below the keyword, and its target.
pub(crate) struct Subschema<'a> {
    pub keyword: &'a str,
    pub step: Option<PointerStep<'a>>,
    pub schema: &'a Value,
    pub target: SubschemaTarget,
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
            (KeywordShape::Map, Value::Object(map)) => {
                for (key, schema) in map {
                    add(Some(PointerStep::Key(key)), schema);
                }
            }
            (KeywordShape::MapOfOneOrNames, Value::Object(map)) => {
                for (key, schema) in map.iter().filter(|(_, value)| !value.is_array()) {
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
