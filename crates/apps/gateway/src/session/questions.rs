//! The questions that servers ask a legacy client, and its answers.
//!
//! The gateway assigns string ids with a prefix, so that a client with one table for both
//! directions cannot confuse them with its own requests. The client's capabilities are checked
//! before.

use std::collections::HashMap;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::oneshot;
use toolgate_host::{Answer, Question};
use toolgate_wire::view::RpcError;
use toolgate_wire::{Frame, JsonEdit, RequestId, build, code, method, to_single_line};

use crate::exchange::MessageSink;

/// The prefix of the gateway's ids.
const PREFIX: &str = "toolgate-";

/// The questions that the client has not answered yet.
#[derive(Default)]
pub(crate) struct LegacyQuestions {
    table: Mutex<LegacyQuestionTable>,
}

/// The open questions by number.
#[derive(Default)]
struct LegacyQuestionTable {
    last: u64,
    closed: bool,
    open: HashMap<u64, oneshot::Sender<Frame>>,
}

/// An open question. Dropping it before the answer cancels the question.
struct LegacyQuestionGuard<'a> {
    questions: &'a LegacyQuestions,
    sink: &'a dyn MessageSink,
    number: u64,
}

impl LegacyQuestions {
    /// Sends a question and waits for the client's answer.
    pub(crate) async fn ask(&self, question: Question, sink: &dyn MessageSink) -> Answer {
        let Some((number, answer)) = self.register() else { return client_gone() };
        let Ok(request) = to_legacy_request(&question, number).finish() else {
            self.table.lock().open.remove(&number);
            return failure("the question has no id");
        };
        let open = LegacyQuestionGuard { questions: self, sink, number };
        sink.send(to_single_line(&request).into());
        let answer = answer.await;
        drop(open);
        answer.map_or_else(|_| client_gone(), |frame| parse_answer(&frame))
    }

    fn register(&self) -> Option<(u64, oneshot::Receiver<Frame>)> {
        let mut table = self.table.lock();
        if table.closed {
            return None;
        }
        table.last += 1;
        let number = table.last;
        let (sender, receiver) = oneshot::channel();
        table.open.insert(number, sender);
        Some((number, receiver))
    }

    /// Delivers a response of the client. A response to an unknown question is dropped.
    pub(crate) fn deliver_answer(&self, answer: Frame) {
        let waiting =
            answer.id().and_then(parse_id).and_then(|n| self.table.lock().open.remove(&n));
        match waiting {
            // The server may have stopped waiting; then the answer is dropped.
            Some(waiting) => drop(waiting.send(answer)),
            None => {
                tracing::debug!(target: "toolgate::gateway", "ignored an unexpected answer")
            }
        }
    }

    /// Fails all open questions and rejects new ones, because the client is gone.
    pub(crate) fn close(&self) {
        let mut table = self.table.lock();
        table.closed = true;
        table.open.clear();
    }
}

impl Drop for LegacyQuestionGuard<'_> {
    fn drop(&mut self) {
        if self.questions.table.lock().open.remove(&self.number).is_some() {
            let id = format_id(self.number);
            let params = format!(r#"{{"requestId":{id},"reason":"no longer needed"}}"#);
            let cancelled = build::notification(method::CANCELLED, Some(params.as_bytes()));
            self.sink.send(cancelled.into());
        }
    }
}

/// Returns a question as a legacy client gets it. In 2025-11-25 a URL elicitation has an id, and
/// clients require it. If the server sent none, as in 2026-07-28, it gets the id of the question.
fn to_legacy_request(question: &Question, number: u64) -> JsonEdit<'_> {
    let edit = question.frame.edit().replace_found(question.frame.id_span(), format_id(number));
    match question.frame.params_span() {
        Some(params) if question.lacks_elicitation_id() => {
            edit.set_member(params, "elicitationId", format_id(number))
        }
        _ => edit,
    }
}

fn format_id(number: u64) -> String {
    format!("\"{PREFIX}{number}\"")
}

fn parse_id(id: RequestId<'_>) -> Option<u64> {
    id.as_text()?.strip_prefix(PREFIX)?.parse().ok()
}

fn parse_answer(answer: &Frame) -> Answer {
    if let Some(result) = answer.result_span() {
        return Answer::Result(answer.bytes().slice(result.start()..result.end()));
    }
    match RpcError::of(answer.error().unwrap_or_default()) {
        Some(error) => Answer::Failure {
            code: error.code.and_then(|code| code.try_into().ok()).unwrap_or(code::INTERNAL_ERROR),
            message: error.message.unwrap_or_default().into_owned(),
            data: error.data.map(Bytes::copy_from_slice),
        },
        None => failure("the client's answer has neither a result nor an error"),
    }
}

fn client_gone() -> Answer {
    let message = "the client has disconnected".into();
    Answer::Failure { code: code::CONNECTION_CLOSED, message, data: None }
}

fn failure(message: &str) -> Answer {
    Answer::Failure { code: code::INTERNAL_ERROR, message: message.into(), data: None }
}
