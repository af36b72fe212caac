//! Calls a tool on a server with tasks, as its caller wants it and its server needs it.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::Mutex;
use toolgate_bridge::tasks::{self, TaskFormat, TaskView};
use toolgate_fleet::Pool;
use toolgate_model::CapabilityId;
use toolgate_session::{Interactor, OutboundRequest};
use toolgate_transport::spool;
use toolgate_wire::view::TaskSupport;
use toolgate_wire::{Era, Frame, Span, scan};

use super::outcome::TaskOutcome;
use super::progress::ProgressReporter;
use super::questions::TaskQuestions;
use super::table::TaskTable;
use super::task::{Task, TaskFormatPair};
use super::task_servers::ToolTaskMode;
use super::upstream::UpstreamTask;
use super::wait::TaskWaiter;
use super::{missing, now, own_response, task_aware, unreadable};
use crate::admit::CallPermit;
use crate::error::CallError;
use crate::{Caller, GateError};

/// How long an immediate result is kept, by default and at most.
const HELD: Duration = Duration::from_secs(3600);
const HELD_AT_MOST: Duration = Duration::from_secs(24 * 3600);

/// One call of a tool.
pub(crate) struct OutboundCall<'a> {
    pub(crate) tool: &'a CapabilityId,
    pub(crate) pool: &'a Arc<Pool>,
    pub(crate) caller: &'a Arc<Caller>,
    pub(crate) outbound: &'a OutboundRequest,
    /// Whether the tool may be called again if its server provably did not run it.
    pub(crate) repeatable: &'a (dyn Fn() -> bool + Sync),
    /// Held while the server works on the call.
    pub(crate) permit: CallPermit<'a>,
}

impl OutboundCall<'_> {
    /// Calls the tool. If the answer is a task, returns it in the caller's format.
    pub(crate) async fn run(
        self,
        mode: ToolTaskMode,
        table: &TaskTable,
    ) -> Result<Frame, CallError> {
        let modern = self.caller.revision.era() == Era::Modern;
        match (self.wanted(), mode) {
            (Some(form @ TaskFormat::Session), ToolTaskMode::Session(_))
            | (Some(form @ TaskFormat::Extension), ToolTaskMode::Extension) => {
                self.call_direct(form, table).await
            }
            (Some(TaskFormat::Session), ToolTaskMode::Extension) => {
                self.session_on_extension(table).await
            }
            (_, ToolTaskMode::Session(TaskSupport::Forbidden))
            | (None, ToolTaskMode::Session(TaskSupport::Optional)) => {
                // In a modern request, the older format's `task` member has no meaning.
                match modern && scan::member(self.params(), "task").is_some() {
                    true => self.send(&self.with_task_hint(None, self.port())?).await,
                    false => self.send(self.outbound).await,
                }
            }
            (Some(TaskFormat::Extension), ToolTaskMode::Session(_)) => {
                self.extension_on_session(table).await
            }
            // A modern caller can react to the error; an older one cannot.
            (None, ToolTaskMode::Session(TaskSupport::Required)) if modern => Err(missing().into()),
            (None, ToolTaskMode::Session(TaskSupport::Required)) => {
                let answer = self.send(&self.with_task_hint(Some("{}"), self.port())?).await?;
                self.await_task(answer, TaskFormat::Session).await
            }
            (None, ToolTaskMode::Extension) => self.blocking_on_extension(modern).await,
        }
    }

    /// Returns the task format that the caller requests or understands for this call.
    fn wanted(&self) -> Option<TaskFormat> {
        let form = TaskFormat::of_client(self.caller.revision, &self.caller.capabilities)?;
        let hinted = || scan::member(self.params(), "task").is_some();
        (form == TaskFormat::Extension || hinted()).then_some(form)
    }

    fn params(&self) -> &[u8] {
        self.outbound.frame.params().unwrap_or_default()
    }

    async fn send(&self, outbound: &OutboundRequest) -> Result<Frame, CallError> {
        Ok(self.pool.call(outbound, self.repeatable).await?)
    }

    fn port(&self) -> Arc<dyn Interactor> {
        self.outbound.interactor.clone()
    }

    /// Returns the request with another `task` member, or without one.
    fn with_task_hint(
        &self,
        hint: Option<&str>,
        port: Arc<dyn Interactor>,
    ) -> Result<OutboundRequest, GateError> {
        let OutboundRequest { frame, rename, .. } = self.outbound;
        let params: Span = frame.params_span().ok_or_else(|| GateError::missing_param("name"))?;
        let mut edit = frame.edit();
        if let Some((span, name)) = rename {
            edit = edit.replace(*span, name);
        }
        edit = match hint {
            Some(hint) => edit.set_member(params, "task", hint),
            None => edit.delete_member(params, "task"),
        };
        let frame = edit.finish_frame().map_err(|_| unreadable())?;
        Ok(OutboundRequest { frame, rename: None, interactor: port })
    }

    /// Creates the entry for a new task.
    fn new_task(&self, route: TaskFormatPair, task: &[u8]) -> Result<Task, GateError> {
        let goes_on = !matches!(route, TaskFormatPair::Stored);
        let begun = Task::new(self.caller, self.pool.is_per_caller(), self.tool, route, task);
        let begun = begun.ok_or_else(unreadable)?;
        Ok(if goes_on { begun.with_lease(self.pool.lease_for_task()) } else { begun })
    }

    async fn call_direct(&self, form: TaskFormat, table: &TaskTable) -> Result<Frame, CallError> {
        let answer = self.send(self.outbound).await?;
        if let Some(task) = tasks::task_in_result(answer.result().unwrap_or_default(), form) {
            table.add(self.new_task(TaskFormatPair::Direct(form), task)?);
        }
        Ok(answer)
    }

    async fn session_on_extension(&self, table: &TaskTable) -> Result<Frame, CallError> {
        let answer = self.send(&self.with_task_hint(None, task_aware(self.port()))?).await?;
        // A stored result must be complete.
        let answer = spool::load_frame(answer).await.map_err(|_| unreadable())?;
        let Some(result) = answer.result() else { return Ok(answer) };
        let created = match tasks::task_in_result(result, TaskFormat::Extension) {
            Some(task) => {
                let route = TaskFormatPair::SessionOnExtension(Mutex::default());
                table.add(self.new_task(route, task)?);
                tasks::creation_result(task, TaskFormat::Extension, TaskFormat::Session)
            }
            None => self.store_result(Bytes::copy_from_slice(result), table)?,
        };
        Ok(own_response(&created.ok_or_else(unreadable)?)?)
    }

    /// Stores the result of a server that answered at once, as a completed task.
    fn store_result(&self, result: Bytes, table: &TaskTable) -> Result<Option<Bytes>, GateError> {
        let params = self.params();
        let asked = scan::pointer(params, &["task", "ttl"]).map(|at| at.slice(params));
        let asked = asked.and_then(|raw| std::str::from_utf8(raw).ok()?.parse().ok());
        let ttl = asked.map_or(HELD, Duration::from_millis).min(HELD_AT_MOST);
        let id = fresh_id().ok_or_else(unreadable)?;
        let finished = tasks::completed_task(&id, &now(), ttl);
        let task = table.add(self.new_task(TaskFormatPair::Stored, &finished)?);
        table.set_outcome(&task, TaskOutcome::Result(result));
        Ok(tasks::creation_result(&finished, TaskFormat::Extension, TaskFormat::Session))
    }

    async fn extension_on_session(&self, table: &TaskTable) -> Result<Frame, CallError> {
        let answer = self.send(&self.with_task_hint(Some("{}"), self.port())?).await?;
        let Some(task) =
            tasks::task_in_result(answer.result().unwrap_or_default(), TaskFormat::Session)
        else {
            return Ok(answer);
        };
        let inbox = TaskQuestions::new(self.caller.id, self.caller.capabilities.clone());
        table.add(self.new_task(TaskFormatPair::ExtensionOnSession(inbox), task)?);
        let created = tasks::creation_result(task, TaskFormat::Session, TaskFormat::Extension);
        Ok(own_response(&created.ok_or_else(unreadable)?)?)
    }

    /// Declares the extension only if the server requires it: most servers answer at once.
    async fn blocking_on_extension(self, modern: bool) -> Result<Frame, CallError> {
        let answer = self.send(self.outbound).await?;
        let answer = match answer.error() {
            // The server refused before it ran the tool, so calling again runs it once.
            Some(error) if tasks::is_missing_tasks_error(error) && !modern => {
                self.send(&self.with_task_hint(None, task_aware(self.port()))?).await?
            }
            _ => answer,
        };
        self.await_task(answer, TaskFormat::Extension).await
    }

    /// Returns the outcome of the task in an answer, if there is one. The task may take long, so
    /// the server's slot is released meanwhile.
    async fn await_task(self, answer: Frame, form: TaskFormat) -> Result<Frame, CallError> {
        let Some(task) = tasks::task_in_result(answer.result().unwrap_or_default(), form) else {
            return Ok(answer);
        };
        let id = scan::member_text(task, "taskId").ok_or_else(unreadable)?.into_owned();
        let upstream = UpstreamTask { pool: self.pool.clone(), form, id, port: self.port() };
        let mut abandoned = CancelTaskGuard(Some(upstream.clone()));
        let mut reporter = ProgressReporter::new(&self.outbound.frame, self.port());
        let answered = Mutex::new(HashSet::new());
        let wait =
            TaskWaiter { upstream: &upstream, answered: &answered, caller_knows_task: false };
        let _permit = self.permit.release_server();
        let report = |_: &Bytes, view: &TaskView<'_>| {
            reporter.tell(view);
            None
        };
        let outcome = wait.await_end(report).await?;
        abandoned.0 = None;
        let outcome = match outcome {
            TaskOutcome::Result(result) => {
                TaskOutcome::Result(tasks::remove_related_task(&result).unwrap_or(result))
            }
            outcome => outcome,
        };
        Ok(outcome.to_response()?)
    }
}

/// Cancels a task at its server if the caller stops waiting for it.
struct CancelTaskGuard(Option<UpstreamTask>);

impl Drop for CancelTaskGuard {
    fn drop(&mut self) {
        let running = tokio::runtime::Handle::try_current().ok();
        if let (Some(upstream), Some(running)) = (self.0.take(), running) {
            running.spawn(async move {
                if let Err(error) = upstream.cancel().await {
                    tracing::debug!(target: "toolgate::gate", %error, "a task was not cancelled");
                }
            });
        }
    }
}

fn fresh_id() -> Option<String> {
    let mut random = [0_u8; 16];
    getrandom::fill(&mut random).ok()?;
    Some(format!("task-{:032x}", u128::from_ne_bytes(random)))
}
