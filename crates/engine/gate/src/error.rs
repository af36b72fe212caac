//! Errors: why a request was refused, or failed before its server answered.
//!
//! This is the only table from errors to JSON-RPC codes.

use bytes::Bytes;
use toolgate_fleet::FleetError;
use toolgate_journal::JournalError;
use toolgate_model::{Effect, ServerState};
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
    /// The JSON-RPC code.
    pub code: i32,
    /// What happened, and what to do about it.
    pub message: String,
    /// The raw `data` member.
    pub data: Option<Bytes>,
}

impl GateError {
    /// Returns an error without `data`.
    pub(crate) fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Returns the error for a name that does not exist.
    pub(crate) fn unknown(what: &str, name: &str) -> Self {
        Self::new(code::INVALID_PARAMS, format!("Unknown {what}: {name}"))
    }

    /// Maps the code to one that a caller of this revision knows.
    pub(crate) fn for_revision(self, to: Revision) -> Self {
        Self { code: toolgate_bridge::gateway_error_code(self.code, to), ..self }
    }

    /// Returns the error for a URI that no server has.
    pub(crate) fn resource_not_found(uri: &str) -> Self {
        let data = format!("{{\"uri\":{}}}", string::encode(uri));
        Self {
            code: code::RESOURCE_NOT_FOUND,
            message: format!("Resource not found: {uri}"),
            data: Some(data.into()),
        }
    }

    /// Returns the error for a request without a required parameter.
    pub(crate) fn missing_param(what: &str) -> Self {
        Self::new(code::INVALID_PARAMS, format!("the request has no {what}"))
    }
}

impl From<FleetError> for GateError {
    fn from(error: FleetError) -> Self {
        let code = match &error {
            FleetError::Unknown(_) => code::INVALID_PARAMS,
            FleetError::Busy(_) => code::REQUEST_TIMEOUT,
            FleetError::Unusable { .. }
            | FleetError::Down { .. }
            | FleetError::Gone(_)
            | FleetError::Replaced(_) => code::CONNECTION_CLOSED,
            FleetError::Session { source, .. } => match source {
                SessionError::TimedOut(_) => code::REQUEST_TIMEOUT,
                // The server's own code.
                SessionError::Refused { code, .. } => {
                    i32::try_from(*code).unwrap_or(code::INTERNAL_ERROR)
                }
                SessionError::Ended(_) | SessionError::Expired | SessionError::Transport(_) => {
                    code::CONNECTION_CLOSED
                }
                _ => code::INTERNAL_ERROR,
            },
        };
        let message = match &error {
            // Callers may be models. How to allow a blocked server is for the operator alone.
            FleetError::Unusable { server, state: ServerState::Blocked(block) } => {
                format!("server `{server}` is blocked: {}", block.reason)
            }
            FleetError::Down { failure, .. } => match &failure.hint {
                Some(hint) => format!("{error}; hint: {hint}"),
                None => error.to_string(),
            },
            _ => error.to_string(),
        };
        Self::new(code, message)
    }
}

/// A request that was denied or not approved in time.
#[derive(Debug)]
pub(crate) struct Denial(Box<DenialDetails>);

/// The contents of a denial.
#[derive(Debug)]
struct DenialDetails {
    effect: Effect,
    because: String,
    /// The id of the pending approval.
    id: Option<String>,
    /// The text for the caller.
    message: String,
}

impl Denial {
    fn new(effect: Effect, because: String, id: Option<String>, message: String) -> Self {
        Self(Box::new(DenialDetails { effect, because, id, message }))
    }

    /// Returns a denial for this reason.
    pub(crate) fn from_reason(because: String) -> Self {
        let message = format!("refused: {because}");
        Self::new(Effect::Deny, because, None, message)
    }

    /// Returns the denial of a call that was not approved: pending with an `id`, otherwise denied.
    pub(crate) fn unapproved(because: String, id: Option<String>, message: String) -> Self {
        let effect = if id.is_some() { Effect::Ask } else { Effect::Deny };
        Self::new(effect, because, id, message)
    }

    /// Returns the denial for a request that cannot be recorded.
    pub(crate) fn journal_unavailable(error: &JournalError) -> Self {
        Self::from_reason(format!(
            "the journal cannot be written, so only calls known to be read-only are allowed: \
             {error}"
        ))
    }

    fn to_json(&self) -> String {
        let DenialDetails { effect, because, id, .. } = &*self.0;
        let id = id.as_ref().map(|id| format!(",\"id\":{}", string::encode(id)));
        let (because, id) = (string::encode(because), id.unwrap_or_default());
        format!("{{\"effect\":\"{effect}\",\"because\":{because}{id}}}")
    }

    /// Returns the answer for the caller: a tool error that a model can read, or a protocol error
    /// if no tool was called. Both carry the decision for programs.
    pub(crate) fn answer(self, context: &CallContext<'_>) -> Result<Frame, GateError> {
        let decision = self.to_json();
        let calls = context.request.is(method::TOOLS_CALL);
        let params = context.request.params().unwrap_or_default();
        if calls && !arguments::wants_task(context.view, context.id, params, context.caller) {
            let text = string::encode(&self.0.message);
            let result = format!(
                r#"{{"content":[{{"type":"text","text":{text}}}],"isError":true,"_meta":{{"{DECISION}":{decision}}}}}"#
            );
            return own_tools::tool_result(&result, context.caller.revision);
        }
        Err(GateError { code: code::REFUSED, message: self.0.message, data: Some(decision.into()) })
    }
}

/// Why a request ends without an answer from its server.
pub(crate) enum CallError {
    /// The request was denied.
    Denied(Denial),
    /// The request was not sent, because its server was replaced after the decision.
    Replaced(GateError),
    /// The request failed.
    Failed(GateError),
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

impl From<Denial> for CallError {
    fn from(refused: Denial) -> Self {
        Self::Denied(refused)
    }
}

impl From<GateError> for CallError {
    fn from(refusal: GateError) -> Self {
        Self::Failed(refusal)
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
