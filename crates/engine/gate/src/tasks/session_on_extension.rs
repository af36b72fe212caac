//! A caller of 2025-11-25 asks after a task that runs in the extension's form.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::Mutex;
use toolgate_bridge::tasks::{self, Form, Status, TaskView};
use toolgate_session::Interactor;
use toolgate_wire::{Frame, method};

use super::finish::Wait;
use super::methods::About;
use super::outcome::Outcome;
use super::{clock, unreadable};
use crate::Refusal;

pub(super) async fn take(
    about: &About<'_>,
    request: &Frame,
    answered: &Mutex<HashSet<String>>,
    port: Arc<dyn Interactor>,
) -> Result<Frame, Refusal> {
    match request.method().as_deref() {
        Some(method::TASKS_RESULT) => outcome(about, answered, port).await,
        Some(method::TASKS_CANCEL) => cancel(about, port).await,
        _ => {
            look(about, port).await?;
            about.stands()
        }
    }
}

/// Looks at the task, unless it was cancelled: then it stays so, whatever its server says.
async fn look(about: &About<'_>, port: Arc<dyn Interactor>) -> Result<Status, Refusal> {
    if about.task.outcome() == Some(Outcome::Cancelled) {
        return Ok(Status::Cancelled);
    }
    let seen = about.upstream(port)?.get().await?;
    about.observe(&seen);
    Ok(TaskView::of(&seen, Form::Extension).ok_or_else(unreadable)?.status)
}

/// Blocks until the task has ended; its questions go to the caller meanwhile.
async fn outcome(
    about: &About<'_>,
    answered: &Mutex<HashSet<String>>,
    port: Arc<dyn Interactor>,
) -> Result<Frame, Refusal> {
    if about.task.outcome() == Some(Outcome::Cancelled) {
        return about.concluded(Outcome::Cancelled);
    }
    let upstream = about.upstream(port)?;
    let wait = Wait { upstream: &upstream, answered, known: true };
    let look = |seen: &Bytes, _: &TaskView<'_>| {
        about.observe(seen);
        about.task.outcome() // it may have been cancelled meanwhile, which is final
    };
    let outcome = wait.end(look).await?;
    about.concluded(outcome)
}

/// The extension cancels when it can; 2025-11-25 has cancelled when it answers.
async fn cancel(about: &About<'_>, port: Arc<dyn Interactor>) -> Result<Frame, Refusal> {
    if look(about, port.clone()).await?.is_terminal() {
        return Err(about.terminal());
    }
    about.upstream(port)?.cancel().await?;
    let cancelled = tasks::stopped(&about.task.seen(), &clock::now()).ok_or_else(unreadable)?;
    about.task.observe(&cancelled);
    about.gate.tasks.settle(about.task, Outcome::Cancelled);
    about.stands()
}
