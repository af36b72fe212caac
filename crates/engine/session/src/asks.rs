//! Questions of the server, on their way to whoever can answer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;
use toolgate_wire::{Frame, OwnedId, build, code};

use crate::core::Core;
use crate::flights::{Settled, Whose};
use crate::inbound::{Came, refuse};
use crate::{Answer, AskKind, Interactor, Question};

/// How many questions of one server may be open at once.
const MAX_OPEN: usize = 64;
/// How many of them may belong to one call.
const MAX_OF_CALL: usize = 16;

/// The questions being answered, by the server's id.
#[derive(Default)]
pub(crate) struct Asks {
    open: Mutex<HashMap<OwnedId, Open>>,
}

struct Open {
    call: Option<u64>,
    task: AbortHandle,
}

impl Asks {
    fn open(&self) -> MutexGuard<'_, HashMap<OwnedId, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes back the questions of a call that is over.
    pub(crate) fn abort_of(&self, call: u64) {
        self.open().retain(|_, open| {
            let keep = open.call != Some(call);
            if !keep {
                open.task.abort();
            }
            keep
        });
    }

    pub(crate) fn abort_all(&self) {
        for (_, open) in self.open().drain() {
            open.task.abort();
        }
    }
}

/// Finds who answers, and has him answer.
pub(crate) fn receive(core: &Arc<Core>, frame: Frame, came: Came) {
    let Some(kind) = AskKind::of(&frame) else {
        if let Some(id) = frame.id() {
            let error = "this client does not know the method";
            core.post(build::failure(Some(id.raw()), code::METHOD_NOT_FOUND, error, None));
        }
        return;
    };
    let own = match came {
        Came::With(call) => core.flights.sign(call).map(|port| (call, port)),
        Came::Anywhere | Came::Listening => None,
    };
    if let Some((call, port)) = own {
        return ask(core, kind, frame, Some(call), port);
    }
    match core.flights.attribute(&frame) {
        Whose::Nobody => ask(core, kind, frame, None, core.ambient.clone()),
        Whose::Call(call, port) => ask(core, kind, frame, Some(call), port),
        Whose::Held => {}
        Whose::Ambiguous(questions) => refuse_all(core, &questions),
    }
}

fn refuse_all(core: &Core, questions: &[Frame]) {
    for question in questions {
        refuse(core, question, "several callers are waiting; whose question is this?");
    }
}

/// Goes on with the questions that were held until it was clear whose they are.
pub(crate) fn settle(core: &Arc<Core>) {
    match core.flights.settle() {
        Settled::Nothing => {}
        Settled::Known(questions) => {
            for question in questions {
                receive(core, question, Came::Anywhere);
            }
        }
        Settled::Nobodys(questions) => refuse_all(core, &questions),
    }
}

fn ask(
    core: &Arc<Core>,
    kind: AskKind,
    frame: Frame,
    call: Option<u64>,
    port: Arc<dyn Interactor>,
) {
    let Some(id) = frame.id().map(|id| id.to_owned()) else { return };
    let mut open = core.asks.open();
    let of_call = open.values().filter(|other| other.call == call).count();
    if open.len() >= MAX_OPEN || of_call >= MAX_OF_CALL || open.contains_key(&id) {
        drop(open);
        return refuse(core, &frame, "too many open questions, or one id twice");
    }
    // At once: what is sent next may have to go another way.
    if let Some(call) = call {
        core.flights.questions(call, 1);
    }
    let task = tokio::spawn(answer(core.clone(), kind, frame, call, port)).abort_handle();
    open.insert(id, Open { call, task });
}

async fn answer(
    core: Arc<Core>,
    kind: AskKind,
    frame: Frame,
    call: Option<u64>,
    port: Arc<dyn Interactor>,
) {
    let Some(id) = frame.id().map(|id| id.to_owned()) else { return };
    let question = Question { server: core.server.clone(), kind, key: None, frame };
    let answer = match port.ask(question).await {
        Answer::Unsupported => core.declined(kind, call.is_some()),
        answer => answer,
    };
    if let Some(call) = call {
        core.flights.questions(call, -1);
    }
    core.asks.open().remove(&id);
    core.post(match answer {
        Answer::Result(result) => build::response(id.raw(), &result),
        Answer::Failure { code, message, data } => {
            build::failure(Some(id.raw()), code, &message, data.as_deref())
        }
        Answer::Unsupported => return,
    });
}

/// The server no longer wants to know (`notifications/cancelled`).
pub(crate) fn take_back(core: &Core, frame: &Frame) {
    let Some(id) = frame.request_ref().map(|id| id.to_owned()) else { return };
    let Some(open) = core.asks.open().remove(&id) else { return };
    open.task.abort();
    if let Some(call) = open.call {
        core.flights.questions(call, -1);
    }
}
