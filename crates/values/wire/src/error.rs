//! Why a message was refused, and to whom that can be said.

use crate::{code, id::OwnedId};

/// What is wrong with a message. Offsets are bytes from its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// It is not JSON, or something follows the JSON.
    #[error("not valid JSON at byte {0}")]
    Syntax(u32),
    /// It is not UTF-8.
    #[error("not valid UTF-8 at byte {0}")]
    Encoding(u32),
    /// It is larger than [`Limits::bytes`](crate::Limits::bytes).
    #[error("larger than the limit")]
    TooLarge,
    /// It nests deeper than [`Limits::depth`](crate::Limits::depth).
    #[error("nested too deeply at byte {0}")]
    TooDeep(u32),
    /// It holds more values than [`Limits::nodes`](crate::Limits::nodes).
    #[error("too many values at byte {0}")]
    TooManyNodes(u32),
    /// A batch holds more messages than [`Limits::batch`](crate::Limits::batch).
    #[error("too many messages in one batch")]
    TooManyMessages,
    /// A batch holds no message.
    #[error("an empty batch")]
    EmptyBatch,
    /// The same key twice in the envelope, or in one object of `params`.
    #[error("duplicate key at byte {0}")]
    DuplicateKey(u32),
    /// A key that a case-insensitive peer would take for one we route on (`"Method"`, `"paramſ"`).
    #[error("a key at byte {0} differs only in case from a known one")]
    LookalikeKey(u32),
    /// The document is JSON, but not an object.
    #[error("a message is not an object")]
    NotAnObject,
    /// `jsonrpc` is absent or not `"2.0"`.
    #[error("`jsonrpc` is not \"2.0\"")]
    Version,
    /// `id` is neither a string nor an integer, or is missing where it must be.
    #[error("`id` is not a string or an integer")]
    Id,
    /// `method` is not a string.
    #[error("`method` is not a string")]
    Method,
    /// `params` is neither an object nor an array.
    #[error("`params` is not an object or an array")]
    Params,
    /// `error` is not an object.
    #[error("`error` is not an object")]
    Error,
    /// More than one of `method`, `result` and `error`.
    #[error("more than one of `method`, `result` and `error`")]
    Ambiguous,
    /// None of `method`, `result` and `error`.
    #[error("none of `method`, `result` and `error`")]
    Nothing,
    /// Two edits of a splice overlap, or an edit names a place that is not there.
    #[error("edits that do not fit the message")]
    Splice,
}

impl Fault {
    /// The JSON-RPC error code that says it.
    pub fn code(self) -> i32 {
        match self {
            Fault::Syntax(_) | Fault::Encoding(_) => code::PARSE_ERROR,
            Fault::Splice => code::INTERNAL_ERROR,
            _ => code::INVALID_REQUEST,
        }
    }
}

/// A refused message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read the message: {fault}")]
pub struct WireError {
    #[source]
    fault: Fault,
    id: Option<OwnedId>,
}

impl WireError {
    pub(crate) fn new(fault: Fault, id: Option<OwnedId>) -> Self {
        Self { fault, id }
    }

    /// What is wrong.
    pub fn fault(&self) -> Fault {
        self.fault
    }

    /// The JSON-RPC error code to answer with.
    pub fn code(&self) -> i32 {
        self.fault.code()
    }

    /// The message for the JSON-RPC error object.
    pub fn message(&self) -> String {
        self.fault.to_string()
    }

    /// The id of the refused message, where it was legible and unambiguous.
    ///
    /// JSON-RPC wants a null id in the answer to a parse error; the id is still given then, so
    /// that a waiting call can be failed instead of left hanging.
    pub fn id(&self) -> Option<&OwnedId> {
        self.id.as_ref()
    }
}

impl From<Fault> for WireError {
    fn from(fault: Fault) -> Self {
        Self { fault, id: None }
    }
}
