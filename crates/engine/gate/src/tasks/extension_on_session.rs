//! A caller of the extension's form asks after a task that runs in the form of 2025-11-25.
//!
//! That form asks its questions only while somebody waits for the outcome. So once the task wants
//! to ask, the gate waits for the outcome in the caller's stead and keeps the questions; meanwhile
//! it answers for the task itself.

use std::sync::Arc;

use bytes::Bytes;
use toolgate_bridge::tasks::{self, Detail, Form, Status, TaskView};
use toolgate_session::Interactor;
use toolgate_wire::{Frame, code, method, scan};

use super::inbox::Inbox;
use super::methods::About;
use super::outcome::Outcome;
use super::{show, unreadable};
use crate::Refusal;

const DONE: &[u8] = b"{}";

pub(super) async fn take(
    about: &About<'_>,
    request: &Frame,
    inbox: &Arc<Inbox>,
) -> Result<Frame, Refusal> {
    match request.method().as_deref() {
        Some(method::TASKS_UPDATE) => {
            let params = request.params().unwrap_or_default();
            if let Some(responses) = scan::member(params, "inputResponses") {
                inbox.answer(responses.of(params));
            }
            show::modern(DONE, about.caller.revision)
        }
        Some(method::TASKS_CANCEL) => cancel(about, inbox).await,
        _ => show::modern(&detailed(about, inbox).await?, about.caller.revision),
    }
}

/// What `tasks/get` answers.
pub(super) async fn detailed(about: &About<'_>, inbox: &Arc<Inbox>) -> Result<Bytes, Refusal> {
    if about.task.outcome().is_none() && !inbox.is_listening() {
        look(about, inbox).await?;
    }
    if inbox.is_listening() {
        inbox.first().await;
    }
    let seen = about.task.seen();
    let written = |status, detail: Detail<'_>| {
        tasks::detailed(&seen, Form::Session, status, detail).ok_or_else(unreadable)
    };
    if let Some(outcome) = about.task.outcome() {
        return match about.shown(outcome)? {
            Outcome::Result(result) => {
                let result = tasks::unrelated(&result).ok_or_else(unreadable)?;
                written(Status::Completed, Detail::Result(&result))
            }
            Outcome::Error(error) => written(Status::Failed, Detail::Error(&error)),
            Outcome::Cancelled => written(Status::Cancelled, Detail::Nothing),
        };
    }
    match inbox.questions() {
        Some(asked) => written(Status::InputRequired, Detail::Questions(asked.as_bytes())),
        None => written(Status::Working, Detail::Nothing),
    }
}

/// Asks the server how the task stands, and fetches what that calls for.
async fn look(about: &About<'_>, inbox: &Arc<Inbox>) -> Result<(), Refusal> {
    let port: Arc<dyn Interactor> = inbox.clone();
    let upstream = about.upstream(port)?;
    let seen = match upstream.get().await {
        Err(refusal) if refusal.code == code::INVALID_PARAMS => {
            about.gate.tasks.forget(about.task);
            return Err(refusal);
        }
        seen => seen?,
    };
    about.task.observe(&seen);
    match TaskView::of(&seen, Form::Session).ok_or_else(unreadable)?.status {
        Status::Working => {}
        Status::InputRequired => listen(about, inbox)?,
        Status::Cancelled => about.gate.tasks.settle(about.task, Outcome::Cancelled),
        Status::Completed | Status::Failed => {
            if let Some(outcome) = upstream.result().await? {
                about.gate.tasks.settle(about.task, outcome);
            }
        }
    }
    Ok(())
}

/// Waits for the outcome in the background, so that the server has whom to ask.
fn listen(about: &About<'_>, inbox: &Arc<Inbox>) -> Result<(), Refusal> {
    let port: Arc<dyn Interactor> = inbox.clone();
    let upstream = about.upstream(port)?;
    let (ledger, task, own) = (about.gate.tasks.clone(), Arc::downgrade(about.task), inbox.clone());
    inbox.listen(|| {
        let waiting = async move {
            let outcome = upstream.result().await;
            if let (Ok(Some(outcome)), Some(task)) = (outcome, task.upgrade()) {
                ledger.settle(&task, outcome);
            }
            own.stop();
        };
        tokio::spawn(waiting).abort_handle()
    });
    Ok(())
}

/// Cancels as far as the server can; to cancel what has ended, or twice, is no fault.
async fn cancel(about: &About<'_>, inbox: &Arc<Inbox>) -> Result<Frame, Refusal> {
    if about.task.outcome().is_none() {
        let port: Arc<dyn Interactor> = inbox.clone();
        match about.upstream(port)?.cancel().await {
            Err(refusal) if refusal.code != code::INVALID_PARAMS => return Err(refusal),
            _ => inbox.stop(),
        }
    }
    show::modern(DONE, about.caller.revision)
}
