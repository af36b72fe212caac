//! Forwards the server's questions to the interactor that can answer them.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::task::AbortHandle;
use toolgate_wire::{Frame, OwnedRequestId, build, code};

use crate::core::SessionCore;
use crate::inbound::{MessageSource, refuse};
use crate::pending_requests::{HeldQuestionOutcome, QuestionOwner};
use crate::{Answer, Interactor, Question, QuestionKind};

/// The maximum number of open questions per server.
const MAX_OPEN: usize = 64;
/// The maximum number of open questions per call.
const MAX_OF_CALL: usize = 16;

/// The open questions, by the server's request id.
#[derive(Default)]
pub(crate) struct OpenQuestions {
    open: Mutex<HashMap<OwnedRequestId, QuestionEntry>>,
}

/// An open question: its call, if it has one, and the task that answers it.
struct QuestionEntry {
    call: Option<u64>,
    task: AbortHandle,
}

impl OpenQuestions {
    /// Withdraws the questions of a call that ended.
    pub(crate) fn abort_of(&self, call: u64) {
        for (_, open) in self.open.lock().extract_if(|_, open| open.call == Some(call)) {
            open.task.abort();
        }
    }

    pub(crate) fn abort_all(&self) {
        for (_, open) in self.open.lock().drain() {
            open.task.abort();
        }
    }
}

/// Forwards a question to the interactor of its call, or holds it until the call is known.
pub(crate) fn receive(core: &Arc<SessionCore>, frame: Frame, came: MessageSource) {
    let Some(kind) = QuestionKind::of(&frame) else {
        if let Some(id) = frame.id() {
            let error = "this client does not support the method";
            core.post(build::error_response(Some(id.raw()), code::METHOD_NOT_FOUND, error, None));
        }
        return;
    };
    let own = match came {
        MessageSource::Call(call) => core.pending_requests.touch(call).map(|port| (call, port)),
        MessageSource::Shared | MessageSource::Listen => None,
    };
    if let Some((call, port)) = own {
        return ask(core, kind, frame, Some(call), port);
    }
    match core.pending_requests.attribute(&frame) {
        QuestionOwner::Nobody => ask(core, kind, frame, None, core.default_interactor.clone()),
        QuestionOwner::Call(call, port) => ask(core, kind, frame, Some(call), port),
        QuestionOwner::Held => {}
        QuestionOwner::Ambiguous(questions) => refuse_all(core, &questions),
    }
}

fn refuse_all(core: &SessionCore, questions: &[Frame]) {
    for question in questions {
        refuse(core, question, "the question cannot be attributed: several callers are waiting");
    }
}

/// Forwards or refuses held questions whose call can now be determined.
pub(crate) fn release_held(core: &Arc<SessionCore>) {
    match core.pending_requests.take_settled() {
        HeldQuestionOutcome::StillHeld => {}
        HeldQuestionOutcome::Attributable(questions) => {
            for question in questions {
                receive(core, question, MessageSource::Shared);
            }
        }
        HeldQuestionOutcome::Unattributable(questions) => refuse_all(core, &questions),
    }
}

fn ask(
    core: &Arc<SessionCore>,
    kind: QuestionKind,
    frame: Frame,
    call: Option<u64>,
    port: Arc<dyn Interactor>,
) {
    let Some(id) = frame.id().map(|id| id.to_owned()) else { return };
    let mut open = core.open_questions.open.lock();
    let of_call = open.values().filter(|other| other.call == call).count();
    if open.len() >= MAX_OPEN || of_call >= MAX_OF_CALL || open.contains_key(&id) {
        drop(open);
        return refuse(core, &frame, "too many open questions, or a duplicate request id");
    }
    // Count it now, because the next call may need another connection.
    if let Some(call) = call {
        core.pending_requests.adjust_open_questions(call, 1);
    }
    let task = tokio::spawn(answer(core.clone(), kind, frame, call, port)).abort_handle();
    open.insert(id, QuestionEntry { call, task });
}

async fn answer(
    core: Arc<SessionCore>,
    kind: QuestionKind,
    frame: Frame,
    call: Option<u64>,
    port: Arc<dyn Interactor>,
) {
    let Some(id) = frame.id().map(|id| id.to_owned()) else { return };
    let question = Question { server: core.server.clone(), kind, key: None, frame };
    let answer = match port.ask(question).await {
        Answer::Unsupported => core.decline(kind, call.is_some()),
        answer => answer,
    };
    if let Some(call) = call {
        core.pending_requests.adjust_open_questions(call, -1);
    }
    core.open_questions.open.lock().remove(&id);
    core.post(match answer {
        Answer::Result(result) => build::response(id.raw(), &result),
        Answer::Failure { code, message, data } => {
            build::error_response(Some(id.raw()), code, &message, data.as_deref())
        }
        Answer::Unsupported => return,
    });
}

/// Withdraws a question that the server cancelled (`notifications/cancelled`).
pub(crate) fn take_back(core: &SessionCore, frame: &Frame) {
    let Some(id) = frame.request_ref().map(|id| id.to_owned()) else { return };
    let Some(open) = core.open_questions.open.lock().remove(&id) else { return };
    open.task.abort();
    if let Some(call) = open.call {
        core.pending_requests.adjust_open_questions(call, -1);
    }
}
