//! The common shape of TOML and JSON documents, each node with its place in the text.
//!
//! Readers work on this tree alone, so a dialect does not care which syntax carries it. Key order
//! and repeated keys are kept; number spelling is not, because no field needs it.

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
    /// A number that is no integer, a date or a time: no field takes one.
    Other(&'static str),
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
            Self::Other(kind) => kind,
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

/// Why a text is no document at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub at: usize,
    pub message: String,
}
