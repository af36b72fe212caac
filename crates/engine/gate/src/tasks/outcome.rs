//! How a task ended, whichever form told it.

use bytes::Bytes;
use toolgate_bridge::tasks::Status;
use toolgate_wire::{Frame, Kind, build, code, scan};

use super::{failed, own_frame};
use crate::Refusal;

/// The end of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The result of the call, raw.
    Result(Bytes),
    /// The error object, raw.
    Error(Bytes),
    /// It was stopped.
    Cancelled,
}

impl Outcome {
    /// The outcome a server's answer to `tasks/result` tells.
    pub(super) fn told(answer: &Frame) -> Self {
        match (answer.kind(), answer.error()) {
            (Kind::Failure, Some(error)) => Self::Error(Bytes::copy_from_slice(error)),
            _ => Self::Result(Bytes::copy_from_slice(answer.result().unwrap_or(b"{}"))),
        }
    }

    /// The outcome inlined in the extension's `tasks/get`, if the task has ended.
    pub(super) fn inlined(task: &[u8], status: Status) -> Option<Self> {
        let member = |key: &str, or: &'static [u8]| {
            let found = scan::member(task, key).map(|at| at.of(task));
            Bytes::copy_from_slice(found.unwrap_or(or))
        };
        match status {
            Status::Completed => Some(Self::Result(member("result", b"{}"))),
            Status::Failed => Some(Self::Error(member("error", UNSAID))),
            Status::Cancelled => Some(Self::Cancelled),
            Status::Working | Status::InputRequired => None,
        }
    }

    /// The end as an answer to the call itself.
    pub(super) fn answer(&self) -> Result<Frame, Refusal> {
        match self {
            Self::Result(result) => own_frame(build::response("0", result)),
            Self::Error(error) => failed(error),
            Self::Cancelled => Err(Refusal {
                code: code::REQUEST_CANCELLED,
                message: "the task was cancelled".into(),
                data: None,
            }),
        }
    }

    /// How many bytes it takes to keep.
    pub(super) fn weight(&self) -> usize {
        match self {
            Self::Result(bytes) | Self::Error(bytes) => bytes.len(),
            Self::Cancelled => 0,
        }
    }
}

const UNSAID: &[u8] = br#"{"code":-32603,"message":"the server did not say why"}"#;
