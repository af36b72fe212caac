//! Views of task objects in either format.

use std::borrow::Cow;
use std::time::Duration;

use toolgate_wire::{scan, words};

use super::TaskFormat;

words! {
    /// The status of a task, the same on the wire in both formats.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum TaskStatus {
        /// The task is running.
        Working = "working",
        /// The task waits for input.
        InputRequired = "input_required",
        /// The task ended with a result.
        Completed = "completed",
        /// The task ended with an error.
        Failed = "failed",
        /// The task was cancelled.
        Cancelled = "cancelled",
    }
}

impl TaskStatus {
    /// Returns true if the status is final.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// Returns the status of a task object, or `None` if it is unknown.
    pub(super) fn from_task(task: &[u8]) -> Option<Self> {
        scan::member_text(task, "status")?.parse().ok()
    }
}

/// A view of a task object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskView<'a> {
    /// `taskId`.
    pub id: Cow<'a, str>,
    /// `status`; an unknown one counts as working.
    pub status: TaskStatus,
    /// `statusMessage`.
    pub message: Option<Cow<'a, str>>,
    /// How long the server keeps the task after its creation; `None`: forever.
    pub ttl: Option<Duration>,
    /// How often the server wants to be polled.
    pub poll: Option<Duration>,
}

impl<'a> TaskView<'a> {
    /// Reads a task object. Returns `None` if it has no id.
    pub fn of(task: &'a [u8], form: TaskFormat) -> Option<Self> {
        let (ttl, poll) = duration_keys(form);
        Some(Self {
            id: scan::member_text(task, "taskId")?,
            status: TaskStatus::from_task(task).unwrap_or(TaskStatus::Working),
            message: scan::member_text(task, "statusMessage"),
            ttl: parse_millis(task, ttl),
            poll: parse_millis(task, poll),
        })
    }
}

/// Returns the keys of the retention time and the poll interval, which differ between the formats.
pub(super) fn duration_keys(form: TaskFormat) -> (&'static str, &'static str) {
    match form {
        TaskFormat::Session => ("ttl", "pollInterval"),
        TaskFormat::Extension => ("ttlMs", "pollIntervalMs"),
    }
}

fn parse_millis(task: &[u8], key: &str) -> Option<Duration> {
    let raw = scan::member(task, key)?.slice(task);
    let millis: f64 = std::str::from_utf8(raw).ok()?.parse().ok()?;
    // A value that a duration cannot hold is longer than any caller waits.
    (millis >= 0.0).then(|| Duration::try_from_secs_f64(millis / 1e3).unwrap_or(Duration::MAX))
}
