//! Questions put to the client, and the answers that come back.
//!
//! Ids are minted here and are strings of our own, so that a client which keeps one table for both
//! directions cannot confuse them with its requests. Whether the client may be asked at all is
//! decided before, by its abilities.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::oneshot;
use toolgate_wire::view::RpcError;
use toolgate_wire::{Edit, Frame, Id, build, code, line, method};

use super::Outlet;
use crate::upstreams::{Answer, Question};

/// What our ids begin with.
const PREFIX: &str = "toolgate-";

/// The questions the client has not answered yet.
#[derive(Default)]
pub(crate) struct Asks {
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    last: u64,
    over: bool,
    open: HashMap<u64, oneshot::Sender<Frame>>,
}

/// One open question; dropping it takes the question back.
struct Open<'a> {
    asks: &'a Asks,
    outlet: &'a dyn Outlet,
    number: u64,
}

impl Asks {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the question out and waits for the client's answer.
    pub(crate) async fn ask(&self, question: Question, outlet: &dyn Outlet) -> Answer {
        let Some((number, answer)) = self.mint() else { return gone() };
        let Ok(request) = worded(&question, number).finish() else {
            self.table().open.remove(&number);
            return failure("the question has no id");
        };
        let open = Open { asks: self, outlet, number };
        outlet.send(line(&request));
        let answer = answer.await;
        drop(open);
        answer.map_or_else(|_| gone(), |frame| read(&frame))
    }

    fn mint(&self) -> Option<(u64, oneshot::Receiver<Frame>)> {
        let mut table = self.table();
        if table.over {
            return None;
        }
        table.last += 1;
        let number = table.last;
        let (sender, receiver) = oneshot::channel();
        table.open.insert(number, sender);
        Some((number, receiver))
    }

    /// Takes a response of the client. One nobody waits for is dropped.
    pub(crate) fn land(&self, answer: Frame) {
        let waiting = answer.id().and_then(numbered).and_then(|n| self.table().open.remove(&n));
        match waiting {
            // The asker may have left in this moment; then nobody wants it.
            Some(waiting) => drop(waiting.send(answer)),
            None => tracing::debug!(target: "toolgate::gateway", "an answer nobody waits for"),
        }
    }

    /// The client is gone: nothing will be answered any more.
    pub(crate) fn end(&self) {
        let mut table = self.table();
        table.over = true;
        table.open.clear();
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if self.asks.table().open.remove(&self.number).is_some() {
            let id = spelled(self.number);
            let params = format!(r#"{{"requestId":{id},"reason":"no longer needed"}}"#);
            self.outlet.send(build::notification(method::CANCELLED, Some(params.as_bytes())));
        }
    }
}

/// A question as a client of a session gets it. An address to visit has an id in 2025-11-25, and
/// clients demand it; where the server gave none, as in 2026-07-28, it gets that of the question.
fn worded(question: &Question, number: u64) -> Edit<'_> {
    let edit = question.frame.edit().replace_id(spelled(number));
    match question.frame.params_span() {
        Some(params) if question.lacks_elicitation_id() => {
            edit.set_member(params, "elicitationId", spelled(number))
        }
        _ => edit,
    }
}

fn spelled(number: u64) -> String {
    format!("\"{PREFIX}{number}\"")
}

fn numbered(id: Id<'_>) -> Option<u64> {
    id.as_text()?.strip_prefix(PREFIX)?.parse().ok()
}

fn read(answer: &Frame) -> Answer {
    if let Some(result) = answer.result_span() {
        return Answer::Result(answer.bytes().slice(result.start()..result.end()));
    }
    match RpcError::of(answer.error().unwrap_or_default()) {
        Some(error) => Answer::Failure {
            code: error.code.and_then(|code| code.try_into().ok()).unwrap_or(code::INTERNAL_ERROR),
            message: error.message.unwrap_or_default().into_owned(),
            data: error.data.map(Bytes::copy_from_slice),
        },
        None => failure("the client's answer says nothing"),
    }
}

fn gone() -> Answer {
    Answer::Failure {
        code: code::CONNECTION_CLOSED,
        message: "the client is gone".into(),
        data: None,
    }
}

fn failure(message: &str) -> Answer {
    Answer::Failure { code: code::INTERNAL_ERROR, message: message.into(), data: None }
}
