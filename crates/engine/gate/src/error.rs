//! Errors: why a request was refused, or failed before its server answered.
//!
//! The JSON-RPC codes are those of the [`ErrorCode`] table.

use std::borrow::Cow;

use bytes::Bytes;
use toolgate_fleet::FleetError;
use toolgate_journal::JournalError;
use toolgate_model::{CodedError, Effect, ErrorCode};
use toolgate_session::SessionError;
use toolgate_wire::{Frame, Revision, code, method, string};

use crate::decide::CallContext;
use crate::{arguments, own_tools};

/// The `_meta` key of the decision in a refused tool call.
const DECISION: &str = "dev.toolgate/decision";

/// A JSON-RPC error of the gate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct GateError {
    /// The stable code.
    pub code: ErrorCode,
    /// The JSON-RPC code, which can differ from that of `code`: a server's own, or one that the
    /// revision of the caller knows.
    pub rpc_code: i32,
    /// What happened.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The raw `data` member, without code and hint.
    pub data: Option<Bytes>,
}

impl GateError {
    /// Returns an error without hint and data.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let (rpc_code, message) = (code.rpc(), message.into());
        Self { code, rpc_code, message, hint: None, data: None }
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Returns the text for a client: the message, then the hint.
    pub fn text(&self) -> Cow<'_, str> {
        match &self.hint {
            Some(hint) => Cow::Owned(format!("{}; hint: {hint}", self.message)),
            None => Cow::Borrowed(&self.message),
        }
    }

    /// Returns the `data` for a client: the given members with the code in front, and with the
    /// message and the hint apart if there is a hint. The data of a server's own error is not
    /// changed.
    pub fn client_data(&self) -> Option<Bytes> {
        let members = match &self.data {
            _ if self.code == ErrorCode::CallServerError => return self.data.clone(),
            Some(data) => match data.trim_ascii().strip_prefix(b"{") {
                Some(members) => members,
                None => return self.data.clone(),
            },
            None => b"}",
        };
        let mut data = format!("{{\"code\":\"{}\"", self.code);
        if let Some(hint) = &self.hint {
            let (message, hint) = (string::encode(&self.message), string::encode(hint));
            data += &format!(",\"message\":{message},\"hint\":{hint}");
        }
        data += if members.trim_ascii_start().starts_with(b"}") { "" } else { "," };
        Some([data.as_bytes(), members].concat().into())
    }

    /// Returns the error for a name that does not exist.
    pub(crate) fn unknown(what: &str, name: &str) -> Self {
        Self::new(ErrorCode::CallUnknown, format!("Unknown {what}: {name}"))
    }

    /// Maps the JSON-RPC code to one that a caller of this revision knows.
    pub(crate) fn for_revision(self, to: Revision) -> Self {
        Self { rpc_code: toolgate_bridge::gateway_error_code(self.rpc_code, to), ..self }
    }

    /// Returns the error for a URI that no server has.
    pub(crate) fn resource_not_found(uri: &str) -> Self {
        let data = format!("{{\"uri\":{}}}", string::encode(uri));
        let error = Self::new(ErrorCode::CallNoResource, format!("Resource not found: {uri}"));
        Self { data: Some(data.into()), ..error }
    }

    /// Returns the error for a request without a required parameter.
    pub(crate) fn missing_param(what: &str) -> Self {
        Self::new(ErrorCode::CallParams, format!("the request has no {what}"))
    }
}

impl CodedError for GateError {
    fn code(&self) -> ErrorCode {
        self.code
    }

    fn hint(&self) -> Option<String> {
        self.hint.clone()
    }
}

impl From<FleetError> for GateError {
    fn from(error: FleetError) -> Self {
        let code = error.code();
        let rpc_code = match &error {
            // A server that cannot be used looks like a closed connection, whatever the reason.
            FleetError::Unusable { .. } | FleetError::Down { .. } => code::CONNECTION_CLOSED,
            // The server's own code.
            FleetError::Session { source: SessionError::Refused { code, .. }, .. } => {
                i32::try_from(*code).unwrap_or(code::INTERNAL_ERROR)
            }
            _ => code.rpc(),
        };
        Self { code, rpc_code, message: error.to_string(), hint: error.hint(), data: None }
    }
}

/// A request that was denied or not approved in time.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Denial {
    code: ErrorCode,
    effect: Effect,
    because: String,
    /// The id of the pending approval.
    id: Option<String>,
    /// The text for the caller.
    message: String,
}

impl Denial {
    /// Returns a denial for this reason.
    pub(crate) fn new(code: ErrorCode, because: String) -> Self {
        let (effect, message) = (Effect::Deny, format!("refused: {because}"));
        Self { code, effect, because, id: None, message }
    }

    /// Returns the denial of a call that was not approved: pending with an `id`, otherwise denied.
    pub(crate) fn unapproved(because: String, id: Option<String>, message: String) -> Self {
        let (code, effect) = match &id {
            Some(_) => (ErrorCode::ApprovalPending, Effect::Ask),
            None => (ErrorCode::ApprovalDenied, Effect::Deny),
        };
        Self { code, effect, because, id, message }
    }

    /// Returns the denial for a request that cannot be recorded.
    pub(crate) fn journal_unavailable(error: &JournalError) -> Self {
        let because = format!(
            "the journal cannot be written, so only calls known to be read-only are allowed: \
             {error}"
        );
        Self::new(ErrorCode::JournalWrite, because)
    }

    /// Returns the answer for the caller: a tool error that a model can read, or a protocol error
    /// if no tool was called. Both carry the decision for programs.
    pub(crate) fn answer(self, context: &CallContext<'_>) -> Result<Frame, GateError> {
        let Self { code, effect, because, id, message } = self;
        let id = id.map(|id| format!(",\"id\":{}", string::encode(&id))).unwrap_or_default();
        let because = string::encode(&because);
        let decision = format!(r#""effect":"{effect}","because":{because}{id}"#);
        let calls = context.request.is(method::TOOLS_CALL);
        let params = context.request.params().unwrap_or_default();
        if calls && !arguments::wants_task(context.view, context.id, params, context.caller) {
            let text = string::encode(&message);
            let result = format!(
                r#"{{"content":[{{"type":"text","text":{text}}}],"isError":true,"_meta":{{"{DECISION}":{{"code":"{code}",{decision}}}}}}}"#
            );
            return own_tools::tool_result(&result, context.caller.revision);
        }
        let data = format!("{{{decision}}}").into();
        Err(GateError { data: Some(data), ..GateError::new(code, message) })
    }
}

/// Why a request ends without an answer from its server.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// The request was denied.
    #[error(transparent)]
    Denied(#[from] Denial),
    /// The request was not sent, because its server was replaced after the decision.
    #[error(transparent)]
    Replaced(GateError),
    /// The request failed.
    #[error(transparent)]
    Failed(#[from] GateError),
}

impl CallError {
    /// Returns the answer for the caller.
    pub(crate) fn answer(self, context: &CallContext<'_>) -> Result<Frame, GateError> {
        match self {
            Self::Denied(refused) => refused.answer(context),
            Self::Replaced(refusal) | Self::Failed(refusal) => Err(refusal),
        }
    }
}

impl From<FleetError> for CallError {
    fn from(error: FleetError) -> Self {
        match error {
            FleetError::Replaced(_) => Self::Replaced(error.into()),
            error => Self::Failed(error.into()),
        }
    }
}
