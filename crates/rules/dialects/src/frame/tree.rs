//! The common shape of TOML, JSON and YAML documents, each node with its place in the text.
//!
//! Readers work on this tree alone, so a dialect does not care which syntax carries it. Key order,
//! repeated keys and the spelling of fractions are kept.

use toolgate_model::Data;

/// A value and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    /// Byte offset into the text.
    pub at: usize,
    pub value: Value,
}

/// A key, where it begins, and its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Member {
    pub key: String,
    pub at: usize,
    pub node: Node,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Flag(bool),
    Integer(i64),
    /// A number that is no integer, as it is spelled.
    Fraction(String),
    /// A date or a time, as it is spelled: no field takes one.
    Other(&'static str, String),
    Text(String),
    List(Vec<Node>),
    Table(Vec<Member>),
}

impl Value {
    /// What to call it when it is not what was expected.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Flag(_) => "a boolean",
            Self::Integer(_) => "a number",
            Self::Fraction(_) => "a fractional number",
            Self::Other(kind, _) => kind,
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

impl Node {
    /// The same without its place.
    pub fn data(&self) -> Data {
        match &self.value {
            Value::Null => Data::Null,
            Value::Flag(flag) => Data::Flag(*flag),
            Value::Integer(number) => Data::Integer(*number),
            Value::Fraction(spelled) => Data::Fraction(spelled.clone()),
            Value::Other(_, spelled) => Data::Text(spelled.clone()),
            Value::Text(text) => Data::Text(text.clone()),
            Value::List(items) => Data::List(items.iter().map(Self::data).collect()),
            Value::Table(members) => {
                Data::Table(members.iter().map(|it| (it.key.clone(), it.node.data())).collect())
            }
        }
    }
}

/// Why a text is no document at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub at: usize,
    pub message: String,
}
