//! Translates the servers' task notifications for the owners of the tasks.

use std::sync::{Arc, Weak};

use tokio::sync::OwnedSemaphorePermit;
use toolgate_bridge::tasks::{self, TaskFormat, TaskView};
use toolgate_model::ServerName;
use toolgate_wire::{Frame, build, method};

use super::methods::TaskRequest;
use super::task::{Task, TaskFormatPair};
use super::{extension_on_session, own_frame};
use crate::{Caller, Gate, GateEvent};

impl Gate {
    /// Subscribes a caller to a task; returns `false` if the task is not the caller's. If the
    /// server sends no notifications, the caller has to keep polling.
    pub fn watch_task(&self, caller: &Caller, id: &str) -> bool {
        let Ok(task) = self.tasks.find(caller, id) else { return false };
        if !matches!(task.route, TaskFormatPair::Stored)
            && let Ok(pool) = task.pool(&self.fleet)
        {
            task.watch(pool);
        }
        true
    }

    /// Returns the event for a server's task notification, if it can be built at once.
    pub(crate) fn task_event(
        self: &Arc<Self>,
        server: &ServerName,
        frame: Frame,
    ) -> Option<GateEvent> {
        let task = self.tasks.find_by_server(server, &frame.name()?)?;
        let params = frame.params().unwrap_or_default();
        let terminal = TaskView::of(params, task.route.server_form())?.status.is_terminal();
        let frame = match &task.route {
            TaskFormatPair::Direct(form) if !frame.is(status_method(*form)) => return None,
            TaskFormatPair::Direct(_) => {
                task.observe(params);
                frame
            }
            // A cancelled task stays cancelled, whatever its server reports.
            TaskFormatPair::SessionOnExtension(_) if task.outcome().is_some() => return None,
            TaskFormatPair::SessionOnExtension(_) => {
                task.observe(params);
                let state =
                    tasks::convert_task(params, TaskFormat::Extension, TaskFormat::Session)?;
                own_frame(build::notification(method::TASKS_STATUS, Some(&state))).ok()?
            }
            // While the gate waits for the outcome, it learns the status there.
            TaskFormatPair::ExtensionOnSession(inbox) if inbox.is_listening() && !terminal => {
                return None;
            }
            TaskFormatPair::ExtensionOnSession(inbox) => {
                // One lookup at a time, however often the server notifies.
                if let Some(turn) = inbox.try_start_lookup() {
                    tokio::spawn(send_details(Arc::downgrade(self), task.clone(), turn));
                }
                return None;
            }
            TaskFormatPair::Stored => return None,
        };
        Some(event(&task, frame))
    }
}

/// Sends the extension's notification, which contains all that `tasks/get` returns and so needs a
/// lookup.
async fn send_details(gate: Weak<Gate>, task: Arc<Task>, _turn: OwnedSemaphorePermit) {
    let (Some(gate), TaskFormatPair::ExtensionOnSession(inbox)) = (gate.upgrade(), &task.route)
    else {
        return;
    };
    let about = TaskRequest { gate: &gate, task: &task, caller: &task.caller };
    let Ok(detailed) = extension_on_session::task_details(&about, inbox).await else { return };
    let Some(params) = tasks::notification_params(&detailed) else { return };
    if let Ok(frame) = own_frame(build::notification(method::TASKS_CHANGED, Some(&params))) {
        // Fails only if there is no listener.
        let _ = gate.events.send(event(&task, frame));
    }
}

/// Returns the method of a format's status notification.
fn status_method(form: TaskFormat) -> &'static str {
    match form {
        TaskFormat::Session => method::TASKS_STATUS,
        TaskFormat::Extension => method::TASKS_CHANGED,
    }
}

fn event(task: &Task, frame: Frame) -> GateEvent {
    GateEvent::TaskStatus { caller: task.caller.id, principal: task.caller.principal, frame }
}
