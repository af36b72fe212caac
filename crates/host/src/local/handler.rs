//! The handler functions of a local server and their errors.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;
use toolgate_model::{CodedError, ErrorCode};

/// An error of a resource, prompt or completion handler, reported to the client. (Errors of tools
/// are reported to the model instead.)
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HandlerError {
    /// The requested item does not exist.
    #[error("not found")]
    NotFound,
    /// The request is invalid.
    #[error("{0}")]
    Invalid(String),
    /// The handler failed.
    #[error("{0}")]
    Failed(String),
}

impl<T: Into<String>> From<T> for HandlerError {
    fn from(text: T) -> Self {
        Self::Failed(text.into())
    }
}

impl CodedError for HandlerError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound => ErrorCode::CallNoResource,
            Self::Invalid(_) => ErrorCode::CallParams,
            Self::Failed(_) => ErrorCode::CallServerError,
        }
    }
}

impl HandlerError {
    /// Returns the JSON-RPC code and message. `what` names the requested item.
    pub(super) fn error(&self, what: &str) -> (i32, String) {
        let message = match self {
            Self::NotFound => format!("Resource not found: {what}"),
            Self::Invalid(text) | Self::Failed(text) => text.clone(),
        };
        (self.code().rpc(), message)
    }
}

/// The result of a method, or the code and message of an error.
pub(super) type MethodResult<T = Value> = Result<T, (i32, String)>;

/// A handler function with a boxed future.
pub(super) type BoxedHandler<I, O> =
    Arc<dyn Fn(I) -> BoxFuture<'static, Result<O, HandlerError>> + Send + Sync>;

/// Boxes a function with any future and error type as a handler.
pub(super) fn handler<I, O, F, A, E>(function: F) -> BoxedHandler<I, O>
where
    F: Fn(I) -> A + Send + Sync + 'static,
    A: Future<Output = Result<O, E>> + Send + 'static,
    E: Into<HandlerError>,
{
    Arc::new(move |input| {
        let answer = function(input);
        Box::pin(async move { answer.await.map_err(Into::into) })
    })
}
