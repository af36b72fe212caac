//! What is read off a task object of either form.

use std::borrow::Cow;
use std::time::Duration;

use toolgate_wire::scan;

use super::Form;

/// How a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// It runs.
    Working,
    /// It waits for an answer.
    InputRequired,
    /// It ended with a result.
    Completed,
    /// It ended with an error.
    Failed,
    /// It was stopped.
    Cancelled,
}

impl Status {
    /// The spelling on the wire, the same in both forms.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::InputRequired => "input_required",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether nothing will change any more.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// That of a task object; `None` for one we do not know.
    pub(super) fn of(task: &[u8]) -> Option<Self> {
        let text = scan::text(task, "status")?;
        let all =
            [Self::Working, Self::InputRequired, Self::Completed, Self::Failed, Self::Cancelled];
        all.into_iter().find(|status| status.as_str() == text)
    }
}

/// A task object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskView<'a> {
    /// `taskId`.
    pub id: Cow<'a, str>,
    /// `status`; one we do not know counts as working.
    pub status: Status,
    /// `statusMessage`.
    pub message: Option<Cow<'a, str>>,
    /// How long it is kept from its creation; `None` for ever.
    pub ttl: Option<Duration>,
    /// How often the server wants to be asked.
    pub poll: Option<Duration>,
}

impl<'a> TaskView<'a> {
    /// Reads a task object; `None` without an id.
    pub fn of(task: &'a [u8], form: Form) -> Option<Self> {
        let (ttl, poll) = members(form);
        Some(Self {
            id: scan::text(task, "taskId")?,
            status: Status::of(task).unwrap_or(Status::Working),
            message: scan::text(task, "statusMessage"),
            ttl: millis(task, ttl),
            poll: millis(task, poll),
        })
    }
}

/// The members that are named differently: how long it is kept, and how often to ask.
pub(super) fn members(form: Form) -> (&'static str, &'static str) {
    match form {
        Form::Session => ("ttl", "pollInterval"),
        Form::Extension => ("ttlMs", "pollIntervalMs"),
    }
}

fn millis(task: &[u8], key: &str) -> Option<Duration> {
    let raw = scan::member(task, key)?.of(task);
    let millis: f64 = std::str::from_utf8(raw).ok()?.parse().ok()?;
    // More than a duration can hold is longer than anybody waits.
    (millis >= 0.0).then(|| Duration::try_from_secs_f64(millis / 1e3).unwrap_or(Duration::MAX))
}
