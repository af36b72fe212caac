//! Sets of JSON types. Integers and other numbers are separate types.

use serde_json::{Map, Value};

/// A set of JSON types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct JsonTypeSet(u8);

impl Default for JsonTypeSet {
    fn default() -> Self {
        Self::ALL
    }
}

impl JsonTypeSet {
    pub(super) const NONE: Self = Self(0);
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(2);
    pub(super) const INTEGER: Self = Self(4);
    pub(super) const NUMBER: Self = Self(4 | 8);
    pub(super) const STRING: Self = Self(16);
    pub(super) const ARRAY: Self = Self(32);
    pub(super) const OBJECT: Self = Self(64);
    pub(super) const ALL: Self = Self(127);

    /// Returns the types that the value of `type` accepts; an unknown name accepts everything.
    pub(super) fn from_type_keyword(value: &Value) -> Self {
        match value {
            Value::Array(several) => several
                .iter()
                .map(Self::from_type_keyword)
                .fold(Self::NONE, |all, one| Self(all.0 | one.0)),
            one => match one.as_str().unwrap_or_default() {
                "null" => Self::NULL,
                "boolean" => Self::BOOLEAN,
                "integer" => Self::INTEGER,
                "number" => Self::NUMBER,
                "string" => Self::STRING,
                "array" => Self::ARRAY,
                "object" => Self::OBJECT,
                _ => Self::ALL,
            },
        }
    }

    /// Returns the type of a value.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
            Value::Number(number) => match number.as_f64() {
                Some(float) if float.fract() == 0.0 => Self::INTEGER,
                _ => Self(8),
            },
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the names of these types, with `null` last.
    pub(super) fn names(self) -> Vec<&'static str> {
        let number = if self.0 & 8 == 0 { "integer" } else { "number" };
        [
            (Self::STRING, "string"),
            (Self::NUMBER, number),
            (Self::BOOLEAN, "boolean"),
            (Self::OBJECT, "object"),
            (Self::ARRAY, "array"),
            (Self::NULL, "null"),
        ]
        .into_iter()
        .filter_map(|(one, name)| self.meets(one).then_some(name))
        .collect()
    }
}

/// Returns a schema with nothing but a type.
pub(super) fn typed(name: &str) -> Map<String, Value> {
    Map::from_iter([("type".to_owned(), name.into())])
}

/// Returns a schema that one of these must match.
pub(super) fn any_of(all: Vec<Map<String, Value>>) -> Map<String, Value> {
    let all = all.into_iter().map(Value::Object).collect();
    Map::from_iter([("anyOf".to_owned(), Value::Array(all))])
}
