//! Tasks of 2025-11-25: a call that goes on after it was answered, and is asked after later.
//!
//! The gate remembers which server runs a task and for whom. A task is its caller's own: nobody
//! else can ask after it, cancel it or see it listed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use toolgate_model::ServerName;
use toolgate_session::{Interactor, Outbound};
use toolgate_wire::{Frame, Limits, build, method, scan};

use crate::{Caller, CallerId, Gate, Refusal, present};

/// How many tasks are remembered; beyond that the oldest callers' are forgotten first.
const MAX_TASKS: usize = 10_000;

#[derive(Default)]
pub(crate) struct Tasks {
    known: Mutex<HashMap<String, Vec<Owned>>>,
}

#[derive(Clone, PartialEq, Eq)]
struct Owned {
    caller: CallerId,
    server: ServerName,
}

impl Tasks {
    fn known(&self) -> MutexGuard<'_, HashMap<String, Vec<Owned>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers the task an answer announces, if it announces one.
    pub(crate) fn note(&self, caller: CallerId, server: &ServerName, answer: &Frame) {
        let result = answer.result().unwrap_or_default();
        let Some(task) = scan::member(result, "task") else { return };
        let Some(id) = scan::text(task.of(result), "taskId") else { return };
        let mut known = self.known();
        if known.len() >= MAX_TASKS
            && let Some(oldest) = known.values().flatten().map(|owned| owned.caller).min()
        {
            forget(&mut known, oldest);
        }
        let owned = Owned { caller, server: server.clone() };
        let owners = known.entry(id.into_owned()).or_default();
        if !owners.contains(&owned) {
            owners.push(owned);
        }
    }

    /// The server that runs this caller's task.
    fn server(&self, caller: CallerId, task: &str) -> Result<ServerName, Refusal> {
        let known = self.known();
        let mut own = known.get(task).into_iter().flatten().filter(|owned| owned.caller == caller);
        match (own.next(), own.next()) {
            (Some(owned), None) => Ok(owned.server.clone()),
            (Some(one), Some(two)) => {
                let (one, two) = (&one.server, &two.server);
                let message = format!("servers `{one}` and `{two}` both call a task `{task}`");
                Err(Refusal { message, ..Refusal::unknown("task", task) })
            }
            (None, _) => Err(Refusal::unknown("task", task)),
        }
    }

    fn servers(&self, caller: CallerId) -> Vec<ServerName> {
        let known = self.known();
        let own = known.values().flatten().filter(|owned| owned.caller == caller);
        let mut servers: Vec<_> = own.map(|owned| owned.server.clone()).collect();
        servers.sort();
        servers.dedup();
        servers
    }

    /// Whose a server's task is.
    pub(crate) fn caller(&self, server: &ServerName, task: &str) -> Option<CallerId> {
        let known = self.known();
        known.get(task)?.iter().find(|owned| owned.server == *server).map(|owned| owned.caller)
    }

    pub(crate) fn release(&self, caller: CallerId) {
        forget(&mut self.known(), caller);
    }
}

fn forget(known: &mut HashMap<String, Vec<Owned>>, caller: CallerId) {
    known.retain(|_, owners| {
        owners.retain(|owned| owned.caller != caller);
        !owners.is_empty()
    });
}

impl Gate {
    /// `tasks/get`, `tasks/result`, `tasks/cancel`: to the server that runs the task.
    pub(crate) async fn pass_task(
        &self,
        request: &Frame,
        caller: &Caller,
        port: Arc<dyn Interactor>,
    ) -> Result<Frame, Refusal> {
        let task = request.name().ok_or_else(|| Refusal::incomplete("taskId"))?;
        let server = self.tasks.server(caller.id, &task)?;
        let pool = self.fleet.pool(&server, &caller.tenant())?;
        let outbound = Outbound { frame: request.clone(), rename: None, port };
        Ok(pool.call(&outbound, || !request.is(method::TASKS_CANCEL)).await?)
    }

    /// `tasks/list`: this caller's own tasks on all servers, and nobody else's.
    pub(crate) async fn list_tasks(
        &self,
        caller: &Caller,
        port: Arc<dyn Interactor>,
    ) -> Result<Frame, Refusal> {
        let mut listed = Vec::new();
        for server in self.tasks.servers(caller.id) {
            let pool = self.fleet.pool(&server, &caller.tenant())?;
            let frame = own_frame(build::request("0", method::TASKS_LIST, Some(b"{}")))?;
            let outbound = Outbound { frame, rename: None, port: port.clone() };
            let answer = pool.call(&outbound, || true).await?;
            let own = |task: &[u8]| {
                let id = scan::text(task, "taskId").unwrap_or_default();
                self.tasks.caller(&server, &id) == Some(caller.id)
            };
            let result = answer.result().unwrap_or_default();
            listed.extend(present::elements_where(result, "tasks", own));
        }
        let result = format!("{{\"tasks\":[{}]}}", listed.join(","));
        own_frame(build::response("0", result.as_bytes()))
    }
}

fn own_frame(message: Bytes) -> Result<Frame, Refusal> {
    Frame::parse(message, &Limits::default()).map_err(|error| Refusal {
        code: error.code(),
        message: error.to_string(),
        data: None,
    })
}
