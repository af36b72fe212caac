//! Why a function of a local server gave nothing, and handlers in general.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use toolgate_wire::code;

/// Why a resource, prompt or completion could not be given. Tools have failures of their own, which
/// the model is told; these are told to the client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// There is no such thing.
    #[error("not found")]
    NotFound,
    /// What was asked makes no sense, and why.
    #[error("{0}")]
    Invalid(String),
    /// It did not work, and why.
    #[error("{0}")]
    Failed(String),
}

impl From<String> for Fault {
    fn from(text: String) -> Self {
        Self::Failed(text)
    }
}

impl From<&str> for Fault {
    fn from(text: &str) -> Self {
        Self::Failed(text.to_owned())
    }
}

impl Fault {
    /// The JSON-RPC code and message of it, for whatever `what` is.
    pub(super) fn error(&self, what: &str) -> (i32, String) {
        match self {
            Self::NotFound => (code::RESOURCE_NOT_FOUND, format!("Resource not found: {what}")),
            Self::Invalid(text) => (code::INVALID_PARAMS, text.clone()),
            Self::Failed(text) => (code::INTERNAL_ERROR, text.clone()),
        }
    }
}

/// A function of this program that a local server calls.
pub(super) type Handler<I, O> =
    Arc<dyn Fn(I) -> BoxFuture<'static, Result<O, Fault>> + Send + Sync>;

/// Makes a handler of a function, whatever future and error it has.
pub(super) fn handler<I, O, F, A, E>(function: F) -> Handler<I, O>
where
    F: Fn(I) -> A + Send + Sync + 'static,
    A: Future<Output = Result<O, E>> + Send + 'static,
    E: Into<Fault>,
{
    Arc::new(move |input| {
        let answer = function(input);
        Box::pin(async move { answer.await.map_err(Into::into) })
    })
}
