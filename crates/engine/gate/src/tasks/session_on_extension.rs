//! Pairs a caller that uses the format of 2025-11-25 with a task in the extension's format.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::Mutex;
use toolgate_bridge::tasks::{self, TaskFormat, TaskStatus, TaskView};
use toolgate_session::Interactor;
use toolgate_wire::{Frame, method};

use super::methods::TaskRequest;
use super::outcome::TaskOutcome;
use super::wait::TaskWaiter;
use super::{now, unreadable};
use crate::GateError;

pub(super) async fn handle_request(
    about: &TaskRequest<'_>,
    request: &Frame,
    answered: &Mutex<HashSet<String>>,
    port: Arc<dyn Interactor>,
) -> Result<Frame, GateError> {
    match request.method().as_deref() {
        Some(method::TASKS_RESULT) => await_outcome(about, answered, port).await,
        Some(method::TASKS_CANCEL) => cancel(about, port).await,
        _ => {
            look(about, port).await?;
            about.task_status()
        }
    }
}

/// Queries the task, unless it was cancelled, which is final.
async fn look(about: &TaskRequest<'_>, port: Arc<dyn Interactor>) -> Result<TaskStatus, GateError> {
    if about.task.outcome() == Some(TaskOutcome::Cancelled) {
        return Ok(TaskStatus::Cancelled);
    }
    let seen = about.upstream(port)?.get().await?;
    about.observe(&seen);
    Ok(TaskView::of(&seen, TaskFormat::Extension).ok_or_else(unreadable)?.status)
}

/// Waits until the task has ended; the caller answers its questions meanwhile.
async fn await_outcome(
    about: &TaskRequest<'_>,
    answered: &Mutex<HashSet<String>>,
    port: Arc<dyn Interactor>,
) -> Result<Frame, GateError> {
    if about.task.outcome() == Some(TaskOutcome::Cancelled) {
        return about.answer_outcome(TaskOutcome::Cancelled);
    }
    let upstream = about.upstream(port)?;
    let wait = TaskWaiter { upstream: &upstream, answered, caller_knows_task: true };
    let look = |seen: &Bytes, _: &TaskView<'_>| {
        about.observe(seen);
        about.task.outcome() // it may have been cancelled since, which is final
    };
    let outcome = wait.await_end(look).await?;
    about.answer_outcome(outcome)
}

/// Cancels the task. The extension only requests it; in 2025-11-25 the answer means it is done.
async fn cancel(about: &TaskRequest<'_>, port: Arc<dyn Interactor>) -> Result<Frame, GateError> {
    if look(about, port.clone()).await?.is_terminal() {
        return Err(about.terminal());
    }
    about.upstream(port)?.cancel().await?;
    let cancelled =
        tasks::cancelled_task(&about.task.last_seen(), &now()).ok_or_else(unreadable)?;
    about.task.observe(&cancelled);
    about.gate.tasks.set_outcome(about.task, TaskOutcome::Cancelled);
    about.task_status()
}
