//! The server's side of one task: what is asked of it, in the form it speaks.

use std::sync::Arc;

use bytes::Bytes;
use toolgate_bridge::tasks::Form;
use toolgate_fleet::{FleetError, Pool};
use toolgate_session::{Interactor, Outbound, SessionError};
use toolgate_wire::{Frame, build, method, scan, string};

use super::outcome::Outcome;
use super::port::Declaring;
use super::{own_frame, reworded, unreadable};
use crate::Refusal;

#[derive(Clone)]
pub(super) struct Upstream {
    pub(super) pool: Arc<Pool>,
    pub(super) form: Form,
    pub(super) id: String,
    /// Who is asked meanwhile.
    pub(super) port: Arc<dyn Interactor>,
}

impl Upstream {
    /// How the task stands: the server's answer to `tasks/get`.
    pub(super) async fn get(&self) -> Result<Bytes, Refusal> {
        let task = settled(&self.call(method::TASKS_GET, "", true).await?)?;
        match scan::text(&task, "taskId").as_deref() == Some(&self.id) {
            true => Ok(task),
            false => Err(unreadable()), // it speaks of another
        }
    }

    /// The outcome, once there is one (2025-11-25); `None` if the server was silent for too long.
    pub(super) async fn result(&self) -> Result<Option<Outcome>, Refusal> {
        match self.try_call(method::TASKS_RESULT, "", true).await? {
            Ok(answer) => Ok(Some(Outcome::told(&answer))),
            Err(FleetError::Session { source: SessionError::TimedOut(_), .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Answers questions of the task (extension).
    pub(super) async fn update(&self, responses: &str) -> Result<(), Refusal> {
        let responses = format!(",\"inputResponses\":{responses}");
        let answer = self.call(method::TASKS_UPDATE, &responses, false).await?;
        settled(&answer).map(drop)
    }

    /// Stops the task, if the server can.
    pub(super) async fn cancel(&self) -> Result<(), Refusal> {
        if self.form == Form::Session && !self.cancels() {
            return Ok(());
        }
        let answer = self.call(method::TASKS_CANCEL, "", true).await?;
        settled(&answer).map(drop)
    }

    fn cancels(&self) -> bool {
        let catalog = self.pool.catalog();
        let path = ["tasks", "cancel"];
        catalog.is_some_and(|catalog| scan::pointer(&catalog.capabilities, &path).is_some())
    }

    async fn call(&self, method: &str, more: &str, again: bool) -> Result<Frame, Refusal> {
        Ok(self.try_call(method, more, again).await??)
    }

    /// The outer error is about the request we wrote, the inner one about the server.
    async fn try_call(
        &self,
        method: &str,
        more: &str,
        again: bool,
    ) -> Result<Result<Frame, FleetError>, Refusal> {
        let params = format!("{{\"taskId\":{}{more}}}", string::encode(&self.id));
        let frame = own_frame(build::request("0", method, Some(params.as_bytes())))?;
        let port: Arc<dyn Interactor> = match self.form {
            Form::Session => self.port.clone(),
            Form::Extension => Arc::new(Declaring(self.port.clone())),
        };
        Ok(self.pool.call(&Outbound { frame, rename: None, port }, || again).await)
    }
}

fn settled(answer: &Frame) -> Result<Bytes, Refusal> {
    match answer.error() {
        Some(error) => Err(reworded(error)),
        None => Ok(Bytes::copy_from_slice(answer.result().unwrap_or(b"{}"))),
    }
}
