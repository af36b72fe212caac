//! Keeps the questions of a task in the format of 2025-11-25 for a caller that uses the extension's
//! format. The caller fetches them with `tasks/get` and answers with `tasks/update`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::AbortHandle;
use toolgate_session::{Answer, CallerId, Interactor, Question};
use toolgate_wire::{Frame, JsonEdit, Span, scan, string};

/// The most questions of one task that may be open at once.
const MAX_OPEN: usize = 16;
/// How long a caller that queries the task waits for its first question.
const FIRST: Duration = Duration::from_secs(1);

/// The open questions of one task.
pub(super) struct TaskQuestions {
    scope: CallerId,
    /// The capabilities of the caller's client. Other questions are not asked.
    capabilities: Bytes,
    state: Mutex<TaskQuestionsState>,
    changed: Notify,
    /// One permit: for the lookup after a notification of the server.
    lookup_turn: Arc<Semaphore>,
}

/// The open questions and the background wait.
#[derive(Default)]
struct TaskQuestionsState {
    open: BTreeMap<u64, OpenTaskQuestion>,
    /// How many questions were asked. Keys are never reused within a task.
    asked: u64,
    /// The background wait for the outcome, during which the server asks.
    listening: Option<AbortHandle>,
}

/// A question without an answer yet.
struct OpenTaskQuestion {
    /// `{method, params}`, raw.
    request: String,
    answer: oneshot::Sender<Answer>,
}

impl TaskQuestions {
    pub(super) fn new(scope: CallerId, capabilities: Bytes) -> Arc<Self> {
        let (state, changed) = (Mutex::default(), Notify::new());
        let lookup_turn = Arc::new(Semaphore::new(1));
        Arc::new(Self { scope, capabilities, state, changed, lookup_turn })
    }

    /// Starts the background wait, unless it is running.
    pub(super) fn listen(&self, begin: impl FnOnce() -> AbortHandle) {
        let mut state = self.state.lock();
        if state.listening.is_none() {
            state.listening = Some(begin());
        }
    }

    pub(super) fn is_listening(&self) -> bool {
        self.state.lock().listening.is_some()
    }

    /// Takes the permit for a lookup after a notification; `None` while another lookup runs.
    pub(super) fn try_start_lookup(&self) -> Option<OwnedSemaphorePermit> {
        self.lookup_turn.clone().try_acquire_owned().ok()
    }

    /// Ends the background wait; open questions stay unanswered.
    pub(super) fn stop(&self) {
        let mut state = self.state.lock();
        state.open.clear();
        if let Some(listening) = state.listening.take() {
            listening.abort();
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// Returns the open questions as an `inputRequests` object; `None` if there are none.
    pub(super) fn questions(&self) -> Option<String> {
        let state = self.state.lock();
        let open = state.open.iter().map(|(at, open)| format!("\"{}\":{}", key(*at), open.request));
        let open: Vec<_> = open.collect();
        (!open.is_empty()).then(|| format!("{{{}}}", open.join(",")))
    }

    /// Waits briefly for a question or for the end.
    pub(super) async fn await_first(&self) {
        let arrived = async {
            loop {
                let changed = self.changed.notified();
                if !self.is_listening() || self.questions().is_some() {
                    return;
                }
                changed.await;
            }
        };
        let _ = tokio::time::timeout(FIRST, arrived).await;
    }

    /// Takes the answers of a `tasks/update`; answers to unknown questions are ignored.
    pub(super) fn answer(&self, responses: &[u8]) {
        let mut state = self.state.lock();
        for (name, span) in scan::members(responses) {
            let at = state.open.keys().copied().find(|at| key(*at) == name);
            if let Some(open) = at.and_then(|at| state.open.remove(&at)) {
                let answer = Bytes::copy_from_slice(span.slice(responses));
                let _ = open.answer.send(Answer::Result(answer));
            }
        }
    }

    fn put(&self, question: &Question) -> Option<(u64, oneshot::Receiver<Answer>)> {
        let request = request(&question.frame)?;
        let mut state = self.state.lock();
        if state.open.len() >= MAX_OPEN || !question.kind.is_declared_in(&self.capabilities) {
            return None;
        }
        let (answer, answered) = oneshot::channel();
        state.asked += 1;
        let at = state.asked;
        state.open.insert(at, OpenTaskQuestion { request, answer });
        drop(state);
        self.changed.notify_waiters();
        Some((at, answered))
    }
}

impl Interactor for TaskQuestions {
    fn scope(&self) -> CallerId {
        self.scope
    }

    /// Drops the event: the extension has neither progress nor log messages for tasks.
    fn tell(&self, _event: Frame) {}

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            let Some((at, answered)) = self.put(&question) else { return Answer::Unsupported };
            let _open = TaskQuestionGuard { inbox: self, at };
            answered.await.unwrap_or(Answer::Unsupported)
        })
    }
}

/// An open question. Dropping this closes it, because its answer is no longer awaited.
struct TaskQuestionGuard<'a> {
    inbox: &'a TaskQuestions,
    at: u64,
}

impl Drop for TaskQuestionGuard<'_> {
    fn drop(&mut self) {
        self.inbox.state.lock().open.remove(&self.at);
    }
}

fn key(at: u64) -> String {
    format!("question-{at}")
}

/// Returns a server's request in the extension's format, without members that only the older one
/// has.
fn request(frame: &Frame) -> Option<String> {
    let method = string::encode(&frame.method()?);
    let params = frame.params().unwrap_or(b"{}");
    let whole = Span::new(0, params.len());
    let gone = ["_meta", "task", "elicitationId"];
    let params =
        gone.iter().fold(JsonEdit::new(params), |edit, key| edit.delete_member(whole, key));
    let params = params.finish().ok()?;
    Some(format!("{{\"method\":{method},\"params\":{}}}", std::str::from_utf8(&params).ok()?))
}

#[cfg(test)]
mod tests {
    use toolgate_model::ServerName;
    use toolgate_session::QuestionKind;
    use toolgate_wire::MessageLimits;

    use super::*;

    fn inbox() -> Arc<TaskQuestions> {
        let inbox = TaskQuestions::new(CallerId(1), Bytes::from_static(br#"{"elicitation":{}}"#));
        inbox.listen(|| tokio::spawn(std::future::pending::<()>()).abort_handle());
        inbox
    }

    fn question(text: &str) -> Question {
        let text = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,{text}}}");
        let frame = Frame::parse(text.into(), &MessageLimits::default()).unwrap();
        let server = ServerName::new("s").unwrap();
        Question { server, kind: QuestionKind::of(&frame).unwrap(), key: None, frame }
    }

    fn ask(inbox: &Arc<TaskQuestions>, message: &str) -> tokio::task::JoinHandle<Answer> {
        let params = format!("{{\"message\":\"{message}\",\"task\":{{}},\"_meta\":{{}}}}");
        let form = question(&format!("\"method\":\"elicitation/create\",\"params\":{params}"));
        let inbox = inbox.clone();
        tokio::spawn(async move { inbox.ask(form).await })
    }

    #[tokio::test]
    async fn an_answered_question_is_gone_and_the_other_stays_open() {
        let inbox = inbox();
        let (one, two) = (ask(&inbox, "one"), ask(&inbox, "two"));
        while inbox.state.lock().open.len() < 2 {
            tokio::task::yield_now().await;
        }
        inbox.answer(br#"{"question-1":{"a":1},"question-9":{}}"#);
        assert_eq!(one.await.unwrap(), Answer::Result(Bytes::from_static(br#"{"a":1}"#)));
        let left = r#"{"question-2":{"method":"elicitation/create","params":{"message":"two"}}}"#;
        assert_eq!(inbox.questions().unwrap(), left);
        let three = ask(&inbox, "three");
        while inbox.state.lock().open.len() < 2 {
            tokio::task::yield_now().await;
        }
        assert!(inbox.questions().unwrap().contains("question-3"), "no key is used twice");
        inbox.stop();
        assert_eq!(
            (two.await.unwrap(), three.await.unwrap()),
            (Answer::Unsupported, Answer::Unsupported)
        );
    }

    #[tokio::test]
    async fn a_question_nobody_waits_for_is_taken_back() {
        let inbox = inbox();
        let asked = ask(&inbox, "one");
        inbox.await_first().await;
        assert!(inbox.questions().is_some());
        asked.abort();
        let _ = asked.await;
        assert_eq!(inbox.questions(), None);
    }

    #[tokio::test]
    async fn a_client_is_asked_only_what_it_declared() {
        let inbox = inbox();
        let url = r#""method":"elicitation/create","params":{"mode":"url"}"#;
        let sampling = r#""method":"sampling/createMessage","params":{}"#;
        for text in [url, sampling, r#""method":"roots/list""#] {
            assert_eq!(inbox.ask(question(text)).await, Answer::Unsupported);
        }
    }
}
