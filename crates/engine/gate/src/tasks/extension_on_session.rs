//! Pairs a caller that uses the extension's format with a task in the format of 2025-11-25.
//!
//! That format asks its questions only while a client waits for the outcome. So once the task needs
//! input, the gate waits for the outcome on the caller's behalf and keeps the questions. Meanwhile
//! it answers for the task itself.

use std::sync::Arc;

use bytes::Bytes;
use toolgate_bridge::tasks::{self, TaskFormat, TaskStatus, TaskView};
use toolgate_wire::{Frame, code, method, scan};

use super::methods::TaskRequest;
use super::outcome::TaskOutcome;
use super::questions::TaskQuestions;
use super::{presentation, unreadable};
use crate::GateError;

const DONE: &[u8] = b"{}";

pub(super) async fn handle_request(
    about: &TaskRequest<'_>,
    request: &Frame,
    inbox: &Arc<TaskQuestions>,
) -> Result<Frame, GateError> {
    match request.method().as_deref() {
        Some(method::TASKS_UPDATE) => {
            let params = request.params().unwrap_or_default();
            if let Some(responses) = scan::member(params, "inputResponses") {
                inbox.answer(responses.slice(params));
            }
            presentation::modern_response(DONE, about.caller.revision)
        }
        Some(method::TASKS_CANCEL) => cancel(about, inbox).await,
        _ => {
            presentation::modern_response(&task_details(about, inbox).await?, about.caller.revision)
        }
    }
}

/// Returns the answer to `tasks/get`.
pub(super) async fn task_details(
    about: &TaskRequest<'_>,
    inbox: &Arc<TaskQuestions>,
) -> Result<Bytes, GateError> {
    if about.task.outcome().is_none() && !inbox.is_listening() {
        look(about, inbox).await?;
    }
    if inbox.is_listening() {
        inbox.await_first().await;
    }
    let seen = about.task.last_seen();
    let written = |status, detail: Option<(&str, &[u8])>| {
        tasks::detailed_result(&seen, TaskFormat::Session, status, detail).ok_or_else(unreadable)
    };
    if let Some(outcome) = about.task.outcome() {
        return match about.present_outcome(outcome)? {
            TaskOutcome::Result(result) => {
                let result = tasks::remove_related_task(&result).ok_or_else(unreadable)?;
                written(TaskStatus::Completed, Some(("result", &result)))
            }
            TaskOutcome::Error(error) => written(TaskStatus::Failed, Some(("error", &error))),
            TaskOutcome::Cancelled => written(TaskStatus::Cancelled, None),
        };
    }
    match inbox.questions() {
        Some(asked) => {
            written(TaskStatus::InputRequired, Some(("inputRequests", asked.as_bytes())))
        }
        None => written(TaskStatus::Working, None),
    }
}

/// Queries the task at its server, and fetches the outcome or listens for questions as needed.
async fn look(about: &TaskRequest<'_>, inbox: &Arc<TaskQuestions>) -> Result<(), GateError> {
    let upstream = about.upstream(inbox.clone())?;
    let seen = match upstream.get().await {
        Err(refusal) if refusal.rpc_code == code::INVALID_PARAMS => {
            about.gate.tasks.forget(about.task);
            return Err(refusal);
        }
        seen => seen?,
    };
    about.task.observe(&seen);
    match TaskView::of(&seen, TaskFormat::Session).ok_or_else(unreadable)?.status {
        TaskStatus::Working => {}
        TaskStatus::InputRequired => listen(about, inbox)?,
        TaskStatus::Cancelled => about.gate.tasks.set_outcome(about.task, TaskOutcome::Cancelled),
        TaskStatus::Completed | TaskStatus::Failed => {
            if let Some(outcome) = upstream.result().await? {
                about.gate.tasks.set_outcome(about.task, outcome);
            }
        }
    }
    Ok(())
}

/// Waits for the outcome in the background, so that the server can ask its questions.
fn listen(about: &TaskRequest<'_>, inbox: &Arc<TaskQuestions>) -> Result<(), GateError> {
    let upstream = about.upstream(inbox.clone())?;
    let (table, task, own) = (about.gate.tasks.clone(), Arc::downgrade(about.task), inbox.clone());
    inbox.listen(|| {
        let waiting = async move {
            let outcome = upstream.result().await;
            if let (Ok(Some(outcome)), Some(task)) = (outcome, task.upgrade()) {
                table.set_outcome(&task, outcome);
            }
            own.stop();
        };
        tokio::spawn(waiting).abort_handle()
    });
    Ok(())
}

/// Cancels the task if the server can. Cancelling a task twice or after its end is not an error.
async fn cancel(about: &TaskRequest<'_>, inbox: &Arc<TaskQuestions>) -> Result<Frame, GateError> {
    if about.task.outcome().is_none() {
        match about.upstream(inbox.clone())?.cancel().await {
            Err(refusal) if refusal.rpc_code != code::INVALID_PARAMS => return Err(refusal),
            _ => inbox.stop(),
        }
    }
    presentation::modern_response(DONE, about.caller.revision)
}
