//! The server's side of one task: requests in the server's format.

use std::sync::Arc;

use bytes::Bytes;
use toolgate_bridge::tasks::TaskFormat;
use toolgate_fleet::{FleetError, Pool};
use toolgate_session::{Interactor, OutboundRequest, SessionError};
use toolgate_wire::{Frame, build, method, scan, string};

use super::outcome::TaskOutcome;
use super::{own_frame, server_error, task_aware, unreadable};
use crate::GateError;

/// A task at its server, with the connection and interactor for requests about it.
#[derive(Clone)]
pub(super) struct UpstreamTask {
    pub(super) pool: Arc<Pool>,
    pub(super) form: TaskFormat,
    pub(super) id: String,
    /// Answers the server's questions meanwhile.
    pub(super) port: Arc<dyn Interactor>,
}

impl UpstreamTask {
    /// Returns the server's answer to `tasks/get`.
    pub(super) async fn get(&self) -> Result<Bytes, GateError> {
        let task = result_or_error(&self.call(method::TASKS_GET, "", true).await?)?;
        match scan::member_text(&task, "taskId").as_deref() == Some(&self.id) {
            true => Ok(task),
            false => Err(unreadable()), // another task
        }
    }

    /// Returns the outcome, once there is one (2025-11-25); `None` if the request timed out.
    pub(super) async fn result(&self) -> Result<Option<TaskOutcome>, GateError> {
        match self.try_call(method::TASKS_RESULT, "", true).await? {
            Ok(answer) => Ok(Some(TaskOutcome::from_answer(&answer))),
            Err(FleetError::Session { source: SessionError::TimedOut(_), .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Answers questions of the task (extension).
    pub(super) async fn update(&self, responses: &str) -> Result<(), GateError> {
        let responses = format!(",\"inputResponses\":{responses}");
        let answer = self.call(method::TASKS_UPDATE, &responses, false).await?;
        result_or_error(&answer).map(drop)
    }

    /// Cancels the task, if the server supports it.
    pub(super) async fn cancel(&self) -> Result<(), GateError> {
        if self.form == TaskFormat::Session && !self.can_cancel() {
            return Ok(());
        }
        let answer = self.call(method::TASKS_CANCEL, "", true).await?;
        result_or_error(&answer).map(drop)
    }

    fn can_cancel(&self) -> bool {
        let catalog = self.pool.catalog();
        let path = ["tasks", "cancel"];
        catalog.is_some_and(|catalog| scan::pointer(&catalog.capabilities, &path).is_some())
    }

    async fn call(&self, method: &str, more: &str, again: bool) -> Result<Frame, GateError> {
        Ok(self.try_call(method, more, again).await??)
    }

    /// Sends a request. The outer error is about the request itself, the inner one about the
    /// server.
    async fn try_call(
        &self,
        method: &str,
        more: &str,
        again: bool,
    ) -> Result<Result<Frame, FleetError>, GateError> {
        let params = format!("{{\"taskId\":{}{more}}}", string::encode(&self.id));
        let frame = own_frame(build::request("0", method, Some(params.as_bytes())))?;
        let interactor = match self.form {
            TaskFormat::Session => self.port.clone(),
            TaskFormat::Extension => task_aware(self.port.clone()),
        };
        let outbound = OutboundRequest { frame, rename: None, interactor };
        Ok(self.pool.call(&outbound, || again).await)
    }
}

fn result_or_error(answer: &Frame) -> Result<Bytes, GateError> {
    match answer.error() {
        Some(error) => Err(server_error(error)),
        None => Ok(Bytes::copy_from_slice(answer.result().unwrap_or(b"{}"))),
    }
}
