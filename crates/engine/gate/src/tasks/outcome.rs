//! The outcome of a task, in either format.

use bytes::Bytes;
use toolgate_bridge::tasks::TaskStatus;
use toolgate_model::ErrorCode;
use toolgate_wire::{Frame, MessageKind, scan};

use super::{error_response, own_response};
use crate::GateError;

/// The outcome of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TaskOutcome {
    /// The raw result of the call.
    Result(Bytes),
    /// The raw error object.
    Error(Bytes),
    /// The task was cancelled.
    Cancelled,
}

impl TaskOutcome {
    /// Reads the outcome from a server's answer to `tasks/result`.
    pub(super) fn from_answer(answer: &Frame) -> Self {
        match (answer.kind(), answer.error()) {
            (MessageKind::Failure, Some(error)) => Self::Error(Bytes::copy_from_slice(error)),
            _ => Self::Result(Bytes::copy_from_slice(answer.result().unwrap_or(b"{}"))),
        }
    }

    /// Reads the outcome inlined in the extension's `tasks/get`, if the task has ended.
    pub(super) fn from_inlined(task: &[u8], status: TaskStatus) -> Option<Self> {
        let member = |key: &str, or: &'static [u8]| {
            let found = scan::member(task, key).map(|at| at.slice(task));
            Bytes::copy_from_slice(found.unwrap_or(or))
        };
        match status {
            TaskStatus::Completed => Some(Self::Result(member("result", b"{}"))),
            TaskStatus::Failed => Some(Self::Error(member("error", UNSAID))),
            TaskStatus::Cancelled => Some(Self::Cancelled),
            TaskStatus::Working | TaskStatus::InputRequired => None,
        }
    }

    /// Returns the outcome as the answer to the call.
    pub(super) fn to_response(&self) -> Result<Frame, GateError> {
        match self {
            Self::Result(result) => own_response(result),
            Self::Error(error) => error_response(error),
            Self::Cancelled => {
                Err(GateError::new(ErrorCode::CallCancelled, "the task was cancelled"))
            }
        }
    }

    /// Returns the number of bytes needed to keep it.
    pub(super) fn weight(&self) -> usize {
        match self {
            Self::Result(bytes) | Self::Error(bytes) => bytes.len(),
            Self::Cancelled => 0,
        }
    }
}

const UNSAID: &[u8] = br#"{"code":-32603,"message":"the server gave no reason"}"#;
