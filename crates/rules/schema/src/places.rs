//! Where schemas stand inside a schema.
//!
//! A member called `items` is a schema only where a schema is expected: inside `properties` it is a
//! name, inside `default` it is data. Everything that walks a schema walks it through here.

use serde_json::{Map, Value};

/// What a subschema is applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The same value as the schema it stands in.
    Same,
    /// A member or an element of it.
    Below,
    /// Nothing, until a reference leads to it.
    Kept,
}

/// How the value of a keyword holds schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    One,
    List,
    Map,
    /// One schema, or a list of them: `items` before 2020-12.
    OneOrList,
    /// Schemas or lists of names by name: `dependencies` before 2019-09.
    MapOfOneOrNames,
}

/// Every keyword that holds schemas, in any draft.
const KEYWORDS: &[(&str, Holds, Place)] = &[
    ("properties", Holds::Map, Place::Below),
    ("items", Holds::OneOrList, Place::Below),
    ("additionalProperties", Holds::One, Place::Below),
    ("anyOf", Holds::List, Place::Same),
    ("oneOf", Holds::List, Place::Same),
    ("allOf", Holds::List, Place::Same),
    ("$defs", Holds::Map, Place::Kept),
    ("definitions", Holds::Map, Place::Kept),
    ("not", Holds::One, Place::Same),
    ("if", Holds::One, Place::Same),
    ("then", Holds::One, Place::Same),
    ("else", Holds::One, Place::Same),
    ("patternProperties", Holds::Map, Place::Below),
    ("prefixItems", Holds::List, Place::Below),
    ("additionalItems", Holds::One, Place::Below),
    ("contains", Holds::One, Place::Below),
    ("propertyNames", Holds::One, Place::Below),
    ("dependentSchemas", Holds::Map, Place::Same),
    ("dependencies", Holds::MapOfOneOrNames, Place::Same),
    ("unevaluatedItems", Holds::One, Place::Below),
    ("unevaluatedProperties", Holds::One, Place::Below),
    ("contentSchema", Holds::One, Place::Kept),
];

/// How a keyword holds schemas, if it does.
pub(crate) fn holds(keyword: &str) -> Option<(Holds, Place)> {
    KEYWORDS.iter().find(|(name, ..)| *name == keyword).map(|&(_, holds, place)| (holds, place))
}

/// A schema inside another: its keyword, the key or index below that, and what it is applied to.
pub(crate) struct Inner<'a> {
    pub keyword: &'a str,
    pub below: Option<Step<'a>>,
    pub schema: &'a Value,
    pub place: Place,
}

/// One step of a JSON pointer.
#[derive(Clone, Copy)]
pub(crate) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl Inner<'_> {
    /// The pointer of this schema, given that of the schema it stands in.
    pub(crate) fn path(&self, outer: &str) -> String {
        let head = format!("{outer}/{}", escaped(self.keyword));
        match self.below {
            None => head,
            Some(Step::Key(key)) => format!("{head}/{}", escaped(key)),
            Some(Step::Index(index)) => format!("{head}/{index}"),
        }
    }
}

/// The schemas that stand directly inside a schema.
pub(crate) fn inner(schema: &Map<String, Value>) -> Vec<Inner<'_>> {
    let mut all = Vec::new();
    for (keyword, value) in schema {
        let Some((holds, place)) = holds(keyword) else {
            continue;
        };
        let mut add = |below, schema| all.push(Inner { keyword, below, schema, place });
        match (holds, value) {
            (Holds::List | Holds::OneOrList, Value::Array(list)) => {
                for (index, schema) in list.iter().enumerate() {
                    add(Some(Step::Index(index)), schema);
                }
            }
            (Holds::Map, Value::Object(map)) => {
                for (key, schema) in map {
                    add(Some(Step::Key(key)), schema);
                }
            }
            (Holds::MapOfOneOrNames, Value::Object(map)) => {
                for (key, schema) in map.iter().filter(|(_, value)| !value.is_array()) {
                    add(Some(Step::Key(key)), schema);
                }
            }
            (Holds::One | Holds::OneOrList, schema) => add(None, schema),
            _ => {}
        }
    }
    all
}

/// A key as it stands in a JSON pointer.
pub(crate) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
