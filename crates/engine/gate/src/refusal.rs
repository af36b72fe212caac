//! Why a request was not let through, or failed before the server answered.
//!
//! The one table from errors to JSON-RPC codes.

use bytes::Bytes;
use toolgate_fleet::FleetError;
use toolgate_model::Effect;
use toolgate_session::SessionError;
use toolgate_store::StoreError;
use toolgate_wire::{Frame, Revision, code, method, string};

use crate::decide::Matter;
use crate::{arguments, own};

/// Under which key a refused call says what was decided.
const DECISION: &str = "dev.toolgate/decision";

/// A JSON-RPC error of the gate's own.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// Its code.
    pub code: i32,
    /// What happened, and what to do.
    pub message: String,
    /// More, raw.
    pub data: Option<Bytes>,
}

impl Refusal {
    /// A request whose parameters name nothing that is there.
    pub(crate) fn unknown(what: &str, name: &str) -> Self {
        let message = format!("Unknown {what}: {name}");
        Self { code: code::INVALID_PARAMS, message, data: None }
    }

    /// The same refusal by the code a caller of this revision knows.
    pub(crate) fn fitted(self, to: Revision) -> Self {
        Self { code: toolgate_bridge::own_code(self.code, to), ..self }
    }

    /// A resource nobody has.
    pub(crate) fn no_resource(uri: &str) -> Self {
        let data = format!("{{\"uri\":{}}}", string::encode(uri));
        Self {
            code: code::RESOURCE_NOT_FOUND,
            message: format!("Resource not found: {uri}"),
            data: Some(data.into()),
        }
    }

    /// A request that lacks what it must say.
    pub(crate) fn incomplete(what: &str) -> Self {
        let message = format!("the request names no {what}");
        Self { code: code::INVALID_PARAMS, message, data: None }
    }
}

impl From<FleetError> for Refusal {
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
                // The server's own word.
                SessionError::Refused { code, .. } => {
                    i32::try_from(*code).unwrap_or(code::INTERNAL_ERROR)
                }
                SessionError::Ended(_) | SessionError::Expired | SessionError::Transport(_) => {
                    code::CONNECTION_CLOSED
                }
                _ => code::INTERNAL_ERROR,
            },
        };
        let hint = match &error {
            FleetError::Down { failure, .. } => failure.hint.as_deref(),
            _ => None,
        };
        let hint = hint.map(|hint| format!("; hint: {hint}")).unwrap_or_default();
        let message = format!("failed to {error}{hint}");
        // Callers may be models: what allows a server to start is for the operator alone.
        let message = match message.split_once(" with `toolgate consent ") {
            Some((message, _)) => message.to_owned(),
            None => message,
        };
        Self { code, message, data: None }
    }
}

/// A request that was decided against, or that nobody decided about in time.
#[derive(Debug)]
pub(crate) struct Refused(Box<Verdict>);

#[derive(Debug)]
struct Verdict {
    effect: Effect,
    because: String,
    /// The approval that is waited for.
    id: Option<String>,
    /// What its caller is told.
    message: String,
}

impl Refused {
    fn new(effect: Effect, because: String, id: Option<String>, message: String) -> Self {
        Self(Box::new(Verdict { effect, because, id, message }))
    }

    /// Refused by what is said or known.
    pub(crate) fn denied(because: String) -> Self {
        let message = format!("refused: {because}");
        Self::new(Effect::Deny, because, None, message)
    }

    /// Somebody was asked and has not answered; or said no, with this message.
    pub(crate) fn unapproved(because: String, id: Option<String>, message: String) -> Self {
        let effect = if id.is_some() { Effect::Ask } else { Effect::Deny };
        Self::new(effect, because, id, message)
    }

    /// It cannot be put on record.
    pub(crate) fn off_the_record(error: &StoreError) -> Self {
        Self::denied(format!(
            "the journal cannot be written, so that only what is known to only read may be done: \
             failed to {error}"
        ))
    }

    fn told(&self) -> String {
        let Verdict { effect, because, id, .. } = &*self.0;
        let id = id.as_ref().map(|id| format!(",\"id\":{}", string::encode(id)));
        let (because, id) = (string::encode(because), id.unwrap_or_default());
        format!("{{\"effect\":\"{effect}\",\"because\":{because}{id}}}")
    }

    /// What the caller is answered: a tool's error that a model can read, or an error of the
    /// protocol where no tool was called. Both carry the decision for programs.
    pub(crate) fn answer(self, matter: &Matter<'_>) -> Result<Frame, Refusal> {
        let told = self.told();
        let calls = matter.request.is(method::TOOLS_CALL);
        let params = matter.request.params().unwrap_or_default();
        if calls && !arguments::wants_task(matter.view, matter.id, params, matter.caller) {
            let text = string::encode(&self.0.message);
            let result = format!(
                r#"{{"content":[{{"type":"text","text":{text}}}],"isError":true,"_meta":{{"{DECISION}":{told}}}}}"#
            );
            return own::answer(&result, matter.caller.revision);
        }
        Err(Refusal { code: code::REFUSED, message: self.0.message, data: Some(told.into()) })
    }
}

/// Why a request ends before it is answered.
pub(crate) enum Stop {
    /// It was decided against.
    Refused(Refused),
    /// It was not sent, because its server was replaced by another after it had been decided about.
    Replaced(Refusal),
    /// It failed.
    Failed(Refusal),
}

impl Stop {
    /// What its caller is answered.
    pub(crate) fn answer(self, matter: &Matter<'_>) -> Result<Frame, Refusal> {
        match self {
            Self::Refused(refused) => refused.answer(matter),
            Self::Replaced(refusal) | Self::Failed(refusal) => Err(refusal),
        }
    }
}

impl From<Refused> for Stop {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Failed(refusal)
    }
}

impl From<FleetError> for Stop {
    fn from(error: FleetError) -> Self {
        match error {
            FleetError::Replaced(_) => Self::Replaced(error.into()),
            error => Self::Failed(error.into()),
        }
    }
}
