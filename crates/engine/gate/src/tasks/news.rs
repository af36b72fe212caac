//! What servers tell of tasks unasked, as those hear it whose tasks they are.

use std::sync::{Arc, Weak};

use tokio::sync::OwnedSemaphorePermit;
use toolgate_bridge::tasks::{self, Form, TaskView};
use toolgate_model::ServerName;
use toolgate_wire::{Frame, build, method};

use super::methods::About;
use super::task::{Course, Task};
use super::{extension_on_session, own_frame};
use crate::{Caller, Gate, GateEvent};

impl Gate {
    /// A caller wants to hear what becomes of a task; `false` if it is not his. Where its server
    /// does not tell, he must go on asking.
    pub fn watch_task(&self, caller: &Caller, id: &str) -> bool {
        let Ok(task) = self.tasks.find(caller, id) else { return false };
        if !matches!(task.course, Course::Held)
            && let Ok(pool) = task.pool(&self.fleet)
        {
            task.watch(pool);
        }
        true
    }

    /// A server says how a task stands. What its owner is to hear, if that can be said at once.
    pub(crate) fn task_news(
        self: &Arc<Self>,
        server: &ServerName,
        frame: Frame,
    ) -> Option<GateEvent> {
        let task = self.tasks.of_server(server, &frame.name()?)?;
        let told = frame.params().unwrap_or_default();
        let terminal = TaskView::of(told, task.course.run())?.status.is_terminal();
        let frame = match &task.course {
            Course::Straight(form) if !frame.is(said_in(*form)) => return None,
            Course::Straight(_) => {
                task.observe(told);
                frame
            }
            // That it was cancelled is final, whatever its server still does.
            Course::SessionOnExtension(_) if task.outcome().is_some() => return None,
            Course::SessionOnExtension(_) => {
                task.observe(told);
                let state = tasks::state(told, Form::Extension, Form::Session)?;
                own_frame(build::notification(method::TASKS_STATUS, Some(&state))).ok()?
            }
            // While the gate waits for the outcome it is told of it there.
            Course::ExtensionOnSession(inbox) if inbox.is_listening() && !terminal => return None,
            Course::ExtensionOnSession(inbox) => {
                // However often its server tells, it is looked after once at a time.
                if let Some(turn) = inbox.elaborate() {
                    tokio::spawn(elaborate(Arc::downgrade(self), task.clone(), turn));
                }
                return None;
            }
            Course::Held => return None,
        };
        Some(event(&task, frame))
    }
}

/// The extension's notification says all that `tasks/get` would, which must be fetched first.
async fn elaborate(gate: Weak<Gate>, task: Arc<Task>, _turn: OwnedSemaphorePermit) {
    let (Some(gate), Course::ExtensionOnSession(inbox)) = (gate.upgrade(), &task.course) else {
        return;
    };
    let about = About { gate: &gate, task: &task, caller: &task.caller };
    let Ok(detailed) = extension_on_session::detailed(&about, inbox).await else { return };
    let Some(params) = tasks::notified(&detailed) else { return };
    if let Ok(frame) = own_frame(build::notification(method::TASKS_CHANGED, Some(&params))) {
        // Nobody listening is no fault.
        let _ = gate.events.send(event(&task, frame));
    }
}

/// The notification by which a form tells how a task stands.
fn said_in(form: Form) -> &'static str {
    match form {
        Form::Session => method::TASKS_STATUS,
        Form::Extension => method::TASKS_CHANGED,
    }
}

fn event(task: &Task, frame: Frame) -> GateEvent {
    GateEvent::TaskStatus { caller: task.caller.id, principal: task.caller.principal, frame }
}
