//! `tasks/*`: a caller asks after his tasks, answers their questions, or stops them.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::join_all;
use tokio::time::Instant;
use toolgate_bridge::tasks::{self, Form, TaskView};
use toolgate_bridge::{self as bridge, Passage};
use toolgate_fleet::{FleetError, Pool};
use toolgate_session::{Interactor, Outbound, SessionError};
use toolgate_wire::{Era, Frame, Kind, build, code, method};

use super::finish::PATIENCE;
use super::outcome::Outcome;
use super::show::Shown;
use super::task::{Course, Task};
use super::upstream::Upstream;
use super::{
    extension_on_session, missing, no_method, own_frame, session_on_extension, unreadable,
};
use crate::admit::admit_wait;
use crate::{Caller, Gate, Refusal};

/// How many tasks of a list are looked after anew; the others stand as last seen.
const MAX_LOOKS: usize = 64;

impl Gate {
    /// Takes a request about tasks.
    pub(crate) async fn task(
        &self,
        request: &Frame,
        caller: &Caller,
        port: Arc<dyn Interactor>,
    ) -> Result<Frame, Refusal> {
        let name = request.method().unwrap_or_default();
        let _place = match name.as_ref() {
            method::TASKS_RESULT => admit_wait(caller)?,
            _ => self.queue.admit_short(caller).await?,
        };
        let form = Form::of_client(caller.revision, &caller.capabilities);
        let form = match (form, name.as_ref()) {
            (Some(Form::Session), method::TASKS_LIST) => {
                return self.list_tasks(caller, port).await;
            }
            (
                Some(form @ Form::Session),
                method::TASKS_GET | method::TASKS_RESULT | method::TASKS_CANCEL,
            )
            | (
                Some(form @ Form::Extension),
                method::TASKS_GET | method::TASKS_UPDATE | method::TASKS_CANCEL,
            ) => form,
            (None, method::TASKS_GET | method::TASKS_UPDATE | method::TASKS_CANCEL)
                if caller.revision.era() == Era::Modern =>
            {
                return Err(missing());
            }
            _ => return Err(no_method(&name)),
        };
        let id = request.name().ok_or_else(|| Refusal::incomplete("taskId"))?;
        let task = self.tasks.find(caller, &id)?;
        if task.course.spoken() != form {
            return Err(Refusal::unknown("task", &id));
        }
        self.on_course(request, &task, caller, port).await
    }

    async fn on_course(
        &self,
        request: &Frame,
        task: &Arc<Task>,
        caller: &Caller,
        port: Arc<dyn Interactor>,
    ) -> Result<Frame, Refusal> {
        let about = About { gate: self, task, caller };
        match &task.course {
            Course::Straight(form) => about.straight(request, *form, port).await,
            Course::SessionOnExtension(answered) => {
                session_on_extension::take(&about, request, answered, port).await
            }
            Course::ExtensionOnSession(inbox) => {
                extension_on_session::take(&about, request, inbox).await
            }
            Course::Held => about.held(request),
        }
    }

    /// `tasks/list`: this caller's own tasks on all servers, and nobody else's.
    async fn list_tasks(
        &self,
        caller: &Caller,
        port: Arc<dyn Interactor>,
    ) -> Result<Frame, Refusal> {
        let mut own = self.tasks.of(caller.principal);
        own.retain(|task| task.course.spoken() == Form::Session);
        let old = own.len().saturating_sub(MAX_LOOKS);
        let looks = own.iter().enumerate().map(|(index, task)| {
            let (about, port) = (About { gate: self, task, caller }, port.clone());
            async move { about.listed(port, index >= old).await }
        });
        let listed = join_all(looks).await.into_iter().flatten();
        let listed: Vec<_> =
            listed.map(|task| String::from_utf8_lossy(&task).into_owned()).collect();
        own_frame(build::response("0", format!("{{\"tasks\":[{}]}}", listed.join(",")).as_bytes()))
    }
}

/// A request about one task.
pub(super) struct About<'a> {
    pub(super) gate: &'a Gate,
    pub(super) task: &'a Arc<Task>,
    pub(super) caller: &'a Caller,
}

impl About<'_> {
    pub(super) fn upstream(&self, port: Arc<dyn Interactor>) -> Result<Upstream, Refusal> {
        let pool = self.task.pool(&self.gate.fleet)?;
        let port = self.gate.guarded(&pool, port);
        Ok(Upstream { pool, form: self.task.course.run(), id: self.task.id.clone(), port })
    }

    /// Both sides speak the same form.
    async fn straight(
        &self,
        request: &Frame,
        form: Form,
        port: Arc<dyn Interactor>,
    ) -> Result<Frame, Refusal> {
        let pool = self.task.pool(&self.gate.fleet)?;
        let port = self.gate.guarded(&pool, port);
        let outbound = Outbound { frame: request.clone(), rename: None, port };
        let answer = sent(&pool, &outbound).await?;
        if answer.kind() == Kind::Failure {
            let method = request.method().unwrap_or_default();
            let (from, to) = (self.caller.revision, self.caller.revision);
            return Ok(bridge::error(answer, &Passage { method: &method, from, to }));
        }
        if request.is(method::TASKS_GET) {
            self.task.observe(answer.result().unwrap_or_default());
        }
        // The extension's answer holds the outcome; one that was cancelled has none to wait for.
        let fetches = [method::TASKS_RESULT, method::TASKS_CANCEL];
        if fetches.into_iter().any(|method| request.is(method))
            || form == Form::Extension && !self.task.is_open()
        {
            self.task.fetched();
        }
        let view = self.gate.view(self.caller);
        if !view.sharing.contains(&self.task.tool.server) {
            return Ok(answer);
        }
        // Two servers share a URI that this result may name.
        let (caller, tool) = (self.caller, &self.task.tool);
        let shown = Shown { view: &view, caller, pool: &pool, tool };
        match (form, answer.result(), request.method().as_deref()) {
            (Form::Session, Some(result), Some(method::TASKS_RESULT)) => {
                own_frame(build::response("0", &shown.result(result)?))
            }
            (Form::Extension, Some(task), Some(method::TASKS_GET)) => {
                own_frame(build::response("0", &shown.inlined(task)?))
            }
            _ => Ok(answer),
        }
    }

    /// The task ended when it began, and its result is here.
    fn held(&self, request: &Frame) -> Result<Frame, Refusal> {
        let outcome = self.task.outcome().ok_or_else(unreadable)?;
        match request.method().as_deref() {
            Some(method::TASKS_RESULT) => self.concluded(outcome),
            Some(method::TASKS_CANCEL) => Err(self.terminal()),
            _ => self.stands(),
        }
    }

    /// `tasks/get` of 2025-11-25, from what was last seen.
    pub(super) fn stands(&self) -> Result<Frame, Refusal> {
        let (run, spoken) = (self.task.course.run(), self.task.course.spoken());
        let state = tasks::state(&self.task.seen(), run, spoken).ok_or_else(unreadable)?;
        own_frame(build::response("0", &state))
    }

    /// What `tasks/result` answers: what the call itself would have, with the mark of its task.
    pub(super) fn concluded(&self, outcome: Outcome) -> Result<Frame, Refusal> {
        self.task.fetched();
        match self.shown(outcome)? {
            Outcome::Result(result) => {
                let result = tasks::related(&result, &self.task.id).ok_or_else(unreadable)?;
                own_frame(build::response("0", &result))
            }
            other => other.answer(),
        }
    }

    /// How the tool ended, as this caller must see it.
    pub(super) fn shown(&self, outcome: Outcome) -> Result<Outcome, Refusal> {
        let view = self.gate.view(self.caller);
        let pool = self.task.pool(&self.gate.fleet)?;
        let shown = Shown { view: &view, caller: self.caller, pool: &pool, tool: &self.task.tool };
        Ok(match outcome {
            Outcome::Result(result) => Outcome::Result(shown.result(&result)?),
            Outcome::Error(error) => Outcome::Error(shown.error(&error)?),
            Outcome::Cancelled => Outcome::Cancelled,
        })
    }

    pub(super) fn terminal(&self) -> Refusal {
        let message = format!("the task `{}` has ended and cannot be cancelled", self.task.id);
        Refusal { code: code::INVALID_PARAMS, message, data: None }
    }

    /// The task as `tasks/list` shows it, looked after if it may have changed. One its server has
    /// forgotten is not shown.
    async fn listed(&self, port: Arc<dyn Interactor>, look: bool) -> Option<Bytes> {
        let (run, spoken) = (self.task.course.run(), self.task.course.spoken());
        let ended = TaskView::of(&self.task.seen(), run)?.status.is_terminal();
        if look && !ended {
            match self.upstream(port).ok()?.get().await {
                Ok(seen) => self.observe(&seen),
                Err(refusal) if refusal.code == code::INVALID_PARAMS => return None,
                // It stands as last seen while its server cannot be reached.
                Err(_) => {}
            }
        }
        tasks::state(&self.task.seen(), run, spoken)
    }

    /// Notes how the task stands, unless it was cancelled: that is final in 2025-11-25.
    pub(super) fn observe(&self, seen: &[u8]) {
        if self.task.outcome() != Some(Outcome::Cancelled) {
            self.task.observe(seen);
        }
    }
}

/// Sends a request about a task. A server may be silent as long as the task takes: who waits for
/// the outcome waits on.
async fn sent(pool: &Pool, outbound: &Outbound) -> Result<Frame, FleetError> {
    let request = &outbound.frame;
    let again = !request.is(method::TASKS_CANCEL) && !request.is(method::TASKS_UPDATE);
    let patience = Instant::now() + PATIENCE;
    loop {
        match pool.call(outbound, || again).await {
            Err(FleetError::Session { source: SessionError::TimedOut(_), .. })
                if request.is(method::TASKS_RESULT) && Instant::now() < patience => {}
            answer => return answer,
        }
    }
}
