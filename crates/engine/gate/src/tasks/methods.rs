//! `tasks/*`: a caller queries its tasks, answers their questions, or cancels them.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::join_all;
use tokio::time::Instant;
use toolgate_bridge::tasks::{self, TaskFormat, TaskView};
use toolgate_bridge::{self as bridge, ResponseTranslation};
use toolgate_fleet::{FleetError, Pool};
use toolgate_model::ErrorCode;
use toolgate_session::{Interactor, OutboundRequest, SessionError};
use toolgate_wire::{Era, Frame, MessageKind, code, method};

use super::outcome::TaskOutcome;
use super::task::{Task, TaskFormatPair};
use super::upstream::UpstreamTask;
use super::wait::PATIENCE;
use super::{
    extension_on_session, method_not_found, missing, own_response, session_on_extension, unreadable,
};
use crate::admit::admit_wait;
use crate::gate::GateRequest;
use crate::present::ResponseContext;
use crate::profile_view::ProfileView;
use crate::{Caller, Gate, GateError};

/// The most tasks of a list that are queried again; the others are shown as last seen.
const MAX_LOOKS: usize = 64;

impl Gate {
    /// Answers a request about tasks.
    pub(crate) async fn handle_task_request(
        &self,
        GateRequest { frame: request, caller, port }: GateRequest<'_>,
    ) -> Result<Frame, GateError> {
        let port = port.clone();
        let name = request.method().unwrap_or_default();
        let _permit = match name.as_ref() {
            method::TASKS_RESULT => admit_wait(caller)?,
            _ => self.queue.admit_short(caller).await?,
        };
        let form = TaskFormat::of_client(caller.revision, &caller.capabilities);
        let form = match (form, name.as_ref()) {
            (Some(TaskFormat::Session), method::TASKS_LIST) => {
                return self.list_tasks(caller, port).await;
            }
            (
                Some(form @ TaskFormat::Session),
                method::TASKS_GET | method::TASKS_RESULT | method::TASKS_CANCEL,
            )
            | (
                Some(form @ TaskFormat::Extension),
                method::TASKS_GET | method::TASKS_UPDATE | method::TASKS_CANCEL,
            ) => form,
            (None, method::TASKS_GET | method::TASKS_UPDATE | method::TASKS_CANCEL)
                if caller.revision.era() == Era::Modern =>
            {
                return Err(missing());
            }
            _ => return Err(method_not_found(&name)),
        };
        let id = request.name().ok_or_else(|| GateError::missing_param("taskId"))?;
        let task = self.tasks.find(caller, &id)?;
        if task.route.client_form() != form {
            return Err(GateError::unknown("task", &id));
        }
        let about = TaskRequest { gate: self, task: &task, caller };
        match &task.route {
            TaskFormatPair::Direct(form) => about.forward_direct(request, *form, port).await,
            TaskFormatPair::SessionOnExtension(answered) => {
                session_on_extension::handle_request(&about, request, answered, port).await
            }
            TaskFormatPair::ExtensionOnSession(inbox) => {
                extension_on_session::handle_request(&about, request, inbox).await
            }
            TaskFormatPair::Stored => about.answer_stored(request),
        }
    }

    /// Answers `tasks/list`: the tasks of this caller's principal, on all servers.
    async fn list_tasks(
        &self,
        caller: &Caller,
        port: Arc<dyn Interactor>,
    ) -> Result<Frame, GateError> {
        let mut own = self.tasks.tasks_of(caller.principal);
        own.retain(|task| task.route.client_form() == TaskFormat::Session);
        let old = own.len().saturating_sub(MAX_LOOKS);
        let looks = own.iter().enumerate().map(|(index, task)| {
            let (about, port) = (TaskRequest { gate: self, task, caller }, port.clone());
            async move { about.listed(port, index >= old).await }
        });
        let listed = join_all(looks).await.into_iter().flatten();
        let listed: Vec<_> =
            listed.map(|task| String::from_utf8_lossy(&task).into_owned()).collect();
        own_response(format!("{{\"tasks\":[{}]}}", listed.join(",")).as_bytes())
    }
}

/// A request about one task.
pub(super) struct TaskRequest<'a> {
    pub(super) gate: &'a Gate,
    pub(super) task: &'a Arc<Task>,
    pub(super) caller: &'a Caller,
}

impl TaskRequest<'_> {
    pub(super) fn upstream(&self, port: Arc<dyn Interactor>) -> Result<UpstreamTask, GateError> {
        let pool = self.task.pool(&self.gate.fleet)?;
        let port = self.gate.guard_interactor(&pool, port);
        Ok(UpstreamTask {
            pool,
            form: self.task.route.server_form(),
            id: self.task.id.clone(),
            port,
        })
    }

    /// Forwards a request; both sides use the same format.
    async fn forward_direct(
        &self,
        request: &Frame,
        form: TaskFormat,
        port: Arc<dyn Interactor>,
    ) -> Result<Frame, GateError> {
        let pool = self.task.pool(&self.gate.fleet)?;
        let port = self.gate.guard_interactor(&pool, port);
        let outbound = OutboundRequest { frame: request.clone(), rename: None, interactor: port };
        let answer = send_request(&pool, &outbound).await?;
        if answer.kind() == MessageKind::Failure {
            let method = request.method().unwrap_or_default();
            let (from, to) = (self.caller.revision, self.caller.revision);
            return Ok(bridge::translate_error(
                answer,
                &ResponseTranslation { method: &method, from, to },
            ));
        }
        if request.is(method::TASKS_GET) {
            self.task.observe(answer.result().unwrap_or_default());
        }
        // The extension's answer contains the outcome; a cancelled task has none.
        let fetches = [method::TASKS_RESULT, method::TASKS_CANCEL];
        if fetches.into_iter().any(|method| request.is(method))
            || form == TaskFormat::Extension && !self.task.is_open()
        {
            self.task.release_server();
        }
        let view = self.gate.view(self.caller);
        if !view.uri_rewrites.contains(&self.task.tool.server) {
            return Ok(answer);
        }
        // Servers share a URI that this result may contain.
        let shown = self.presenter(&view, &pool);
        match (form, answer.result(), request.method().as_deref()) {
            (TaskFormat::Session, Some(result), Some(method::TASKS_RESULT)) => {
                own_response(&shown.result(result)?)
            }
            (TaskFormat::Extension, Some(task), Some(method::TASKS_GET)) => {
                own_response(&shown.inlined_result(task)?)
            }
            _ => Ok(answer),
        }
    }

    /// Answers for a task that was complete when it was created.
    fn answer_stored(&self, request: &Frame) -> Result<Frame, GateError> {
        let outcome = self.task.outcome().ok_or_else(unreadable)?;
        match request.method().as_deref() {
            Some(method::TASKS_RESULT) => self.answer_outcome(outcome),
            Some(method::TASKS_CANCEL) => Err(self.terminal()),
            _ => self.task_status(),
        }
    }

    /// Answers `tasks/get` of 2025-11-25 from the last known state.
    pub(super) fn task_status(&self) -> Result<Frame, GateError> {
        own_response(&self.state().ok_or_else(unreadable)?)
    }

    /// Returns the last known state of the task in the caller's format.
    fn state(&self) -> Option<Bytes> {
        let route = &self.task.route;
        tasks::convert_task(&self.task.last_seen(), route.server_form(), route.client_form())
    }

    /// Answers `tasks/result`: the answer to the call, marked with its task.
    pub(super) fn answer_outcome(&self, outcome: TaskOutcome) -> Result<Frame, GateError> {
        self.task.release_server();
        match self.present_outcome(outcome)? {
            TaskOutcome::Result(result) => {
                let result =
                    tasks::add_related_task(&result, &self.task.id).ok_or_else(unreadable)?;
                own_response(&result)
            }
            other => other.to_response(),
        }
    }

    /// Returns what presents the result of the tool, as that of an ordinary call.
    fn presenter<'a>(&'a self, view: &'a ProfileView, pool: &'a Pool) -> ResponseContext<'a> {
        let (caller, method, id) = (self.caller, method::TOOLS_CALL, Some(&self.task.tool));
        ResponseContext { view, caller, pool, method, id }
    }

    /// Returns the outcome as this caller sees it.
    pub(super) fn present_outcome(&self, outcome: TaskOutcome) -> Result<TaskOutcome, GateError> {
        let view = self.gate.view(self.caller);
        let pool = self.task.pool(&self.gate.fleet)?;
        let shown = self.presenter(&view, &pool);
        Ok(match outcome {
            TaskOutcome::Result(result) => TaskOutcome::Result(shown.result(&result)?),
            TaskOutcome::Error(error) => TaskOutcome::Error(shown.error(&error)?),
            TaskOutcome::Cancelled => TaskOutcome::Cancelled,
        })
    }

    pub(super) fn terminal(&self) -> GateError {
        let message = format!("the task `{}` has ended and cannot be cancelled", self.task.id);
        GateError::new(ErrorCode::CallGone, message)
    }

    /// Returns the task for `tasks/list`, queried again if it may have changed; `None` if its
    /// server no longer has it.
    async fn listed(&self, port: Arc<dyn Interactor>, look: bool) -> Option<Bytes> {
        let run = self.task.route.server_form();
        let ended = TaskView::of(&self.task.last_seen(), run)?.status.is_terminal();
        if look && !ended {
            match self.upstream(port).ok()?.get().await {
                Ok(seen) => self.observe(&seen),
                Err(refusal) if refusal.rpc_code == code::INVALID_PARAMS => return None,
                // An unreachable server's task is shown as last seen.
                Err(_) => {}
            }
        }
        self.state()
    }

    /// Stores the state of the task, unless it was cancelled, which is final in 2025-11-25.
    pub(super) fn observe(&self, seen: &[u8]) {
        if self.task.outcome() != Some(TaskOutcome::Cancelled) {
            self.task.observe(seen);
        }
    }
}

/// Sends a request about a task. A request for the outcome is sent again after a timeout, because a
/// server may be silent for as long as the task takes.
async fn send_request(pool: &Pool, outbound: &OutboundRequest) -> Result<Frame, FleetError> {
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
