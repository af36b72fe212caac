//! Errors for messages that the scan rejects, with the id to answer to.

use crate::{code, id::OwnedRequestId};

/// The reason why a message is rejected. Offsets count bytes from the start of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireErrorKind {
    /// The message is not JSON, or something follows the JSON value.
    #[error("invalid JSON at byte {0}")]
    Syntax(u32),
    /// The message is not UTF-8.
    #[error("invalid UTF-8 at byte {0}")]
    Encoding(u32),
    /// The message is larger than [`MessageLimits::bytes`](crate::MessageLimits::bytes).
    #[error("the message is too large")]
    TooLarge,
    /// The message nests deeper than [`MessageLimits::depth`](crate::MessageLimits::depth).
    #[error("JSON nested too deeply at byte {0}")]
    TooDeep(u32),
    /// The message holds more values than [`MessageLimits::nodes`](crate::MessageLimits::nodes).
    #[error("too many JSON values at byte {0}")]
    TooManyNodes(u32),
    /// A batch holds more messages than [`MessageLimits::batch`](crate::MessageLimits::batch).
    #[error("too many messages in one batch")]
    TooManyMessages,
    /// A batch is empty.
    #[error("the batch is empty")]
    EmptyBatch,
    /// A key occurs twice in the envelope or in one object of `params`.
    #[error("duplicate key at byte {0}")]
    DuplicateKey(u32),
    /// A case-insensitive peer would read this key as one that the gateway routes on (`"Method"`,
    /// `"paramſ"`).
    #[error("the key at byte {0} differs from a known key only in case")]
    LookalikeKey(u32),
    /// The message is JSON but not an object.
    #[error("a message must be a JSON object")]
    NotAnObject,
    /// `jsonrpc` is absent or not `"2.0"`.
    #[error("`jsonrpc` must be \"2.0\"")]
    Version,
    /// `id` is neither a string nor an integer, or a required `id` is missing.
    #[error("`id` must be a string or an integer")]
    Id,
    /// `method` is not a string.
    #[error("`method` must be a string")]
    Method,
    /// `params` is neither an object nor an array.
    #[error("`params` must be an object or an array")]
    Params,
    /// `error` is not an object.
    #[error("`error` must be an object")]
    Error,
    /// The message has more than one of `method`, `result` and `error`.
    #[error("the message has more than one of `method`, `result` and `error`")]
    Ambiguous,
    /// The message has none of `method`, `result` and `error`.
    #[error("the message has none of `method`, `result` and `error`")]
    Nothing,
    /// Two edits overlap, or an edit names a span that the message does not have.
    #[error("the edits overlap or lie outside the message")]
    Splice,
}

/// The error for a rejected message, with its id where the id was readable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{fault}")]
pub struct WireError {
    #[source]
    fault: WireErrorKind,
    id: Option<OwnedRequestId>,
}

impl WireError {
    pub(crate) fn new(fault: WireErrorKind, id: Option<OwnedRequestId>) -> Self {
        Self { fault, id }
    }

    /// Returns the reason.
    pub fn kind(&self) -> WireErrorKind {
        self.fault
    }

    /// Returns the JSON-RPC error code to answer with.
    pub fn code(&self) -> i32 {
        match self.fault {
            WireErrorKind::Syntax(_) | WireErrorKind::Encoding(_) => code::PARSE_ERROR,
            WireErrorKind::Splice => code::INTERNAL_ERROR,
            _ => code::INVALID_REQUEST,
        }
    }

    /// Returns the id of the rejected message if it was readable and unambiguous.
    ///
    /// JSON-RPC demands a null id in the answer to a parse error. The id is available even then, so
    /// that a waiting call can fail instead of hanging.
    pub fn id(&self) -> Option<&OwnedRequestId> {
        self.id.as_ref()
    }
}

impl From<WireErrorKind> for WireError {
    fn from(fault: WireErrorKind) -> Self {
        Self { fault, id: None }
    }
}
