//! Questions of a task that runs in the form of 2025-11-25, kept for a caller of the extension's
//! form, who fetches them with `tasks/get` and answers with `tasks/update`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::AbortHandle;
use toolgate_session::{Answer, AskKind, Interactor, Question, Scope};
use toolgate_wire::{Frame, Span, Splice, scan, string};

/// How many questions of one task may be open at once.
const MAX_OPEN: usize = 16;
/// How long a caller who asks after the task waits for its first question to arrive.
const FIRST: Duration = Duration::from_secs(1);

/// The open questions of one task.
pub(super) struct Inbox {
    scope: Scope,
    /// What the caller's client declared: it is asked nothing else.
    capabilities: Bytes,
    desk: Mutex<Desk>,
    changed: Notify,
    /// One: whoever looks after the task because its server told of it.
    elaborating: Arc<Semaphore>,
}

#[derive(Default)]
struct Desk {
    open: BTreeMap<u64, Open>,
    /// How many were asked: keys are never used twice in a task's life.
    asked: u64,
    /// Whoever waits at the server for the outcome, and for questions meanwhile.
    listening: Option<AbortHandle>,
}

struct Open {
    /// `{method, params}`, raw.
    request: String,
    answer: oneshot::Sender<Answer>,
}

impl Inbox {
    pub(super) fn new(scope: Scope, capabilities: Bytes) -> Arc<Self> {
        let (desk, changed) = (Mutex::default(), Notify::new());
        let elaborating = Arc::new(Semaphore::new(1));
        Arc::new(Self { scope, capabilities, desk, changed, elaborating })
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to listen, unless somebody does.
    pub(super) fn listen(&self, begin: impl FnOnce() -> AbortHandle) {
        let mut desk = self.desk();
        if desk.listening.is_none() {
            desk.listening = Some(begin());
        }
    }

    pub(super) fn is_listening(&self) -> bool {
        self.desk().listening.is_some()
    }

    /// The turn to look after the task because its server told of it; `None` while another does.
    pub(super) fn elaborate(&self) -> Option<OwnedSemaphorePermit> {
        self.elaborating.clone().try_acquire_owned().ok()
    }

    /// Nobody listens any more; open questions go unanswered.
    pub(super) fn stop(&self) {
        let mut desk = self.desk();
        desk.open.clear();
        if let Some(listening) = desk.listening.take() {
            listening.abort();
        }
        drop(desk);
        self.changed.notify_waiters();
    }

    /// The open questions as an `inputRequests` object; `None` if there are none.
    pub(super) fn questions(&self) -> Option<String> {
        let desk = self.desk();
        let open = desk.open.iter().map(|(at, open)| format!("\"{}\":{}", key(*at), open.request));
        let open: Vec<_> = open.collect();
        (!open.is_empty()).then(|| format!("{{{}}}", open.join(",")))
    }

    /// Waits a moment for a question, or for the end.
    pub(super) async fn first(&self) {
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

    /// Takes the answers of a `tasks/update`; those to no open question are ignored.
    pub(super) fn answer(&self, responses: &[u8]) {
        let mut desk = self.desk();
        for (name, span) in scan::members(responses) {
            let at = desk.open.keys().copied().find(|at| key(*at) == name);
            if let Some(open) = at.and_then(|at| desk.open.remove(&at)) {
                let answer = Bytes::copy_from_slice(span.of(responses));
                let _ = open.answer.send(Answer::Result(answer));
            }
        }
    }

    fn put(&self, question: &Question) -> Option<(u64, oneshot::Receiver<Answer>)> {
        let request = request(&question.frame)?;
        let mut desk = self.desk();
        if desk.open.len() >= MAX_OPEN || !may_be_asked(&self.capabilities, question.kind) {
            return None;
        }
        let (answer, answered) = oneshot::channel();
        desk.asked += 1;
        let at = desk.asked;
        desk.open.insert(at, Open { request, answer });
        drop(desk);
        self.changed.notify_waiters();
        Some((at, answered))
    }
}

impl Interactor for Inbox {
    fn scope(&self) -> Scope {
        self.scope
    }

    /// The extension has neither progress nor log lines for tasks.
    fn tell(&self, _event: Frame) {}

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            let Some((at, answered)) = self.put(&question) else { return Answer::Unsupported };
            let _open = Asked { inbox: self, at };
            answered.await.unwrap_or(Answer::Unsupported)
        })
    }
}

/// A question that is no longer open once nobody waits for its answer.
struct Asked<'a> {
    inbox: &'a Inbox,
    at: u64,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.inbox.desk().open.remove(&self.at);
    }
}

fn key(at: u64) -> String {
    format!("question-{at}")
}

/// A server's request as the extension shows it: without what only the older form has.
fn request(frame: &Frame) -> Option<String> {
    let method = string::encode(&frame.method()?);
    let params = frame.params().unwrap_or(b"{}");
    let whole = Span::new(0, params.len());
    let gone = ["_meta", "task", "elicitationId"];
    let params = gone.iter().fold(Splice::new(params), |edit, key| edit.delete_member(whole, key));
    let params = params.finish().ok()?;
    Some(format!("{{\"method\":{method},\"params\":{}}}", std::str::from_utf8(&params).ok()?))
}

/// Whether a client declared that it answers questions of this kind.
fn may_be_asked(capabilities: &[u8], kind: AskKind) -> bool {
    let has = |path: &[&str]| scan::pointer(capabilities, path).is_some();
    match kind {
        AskKind::Roots => has(&["roots"]),
        AskKind::Sampling => has(&["sampling"]),
        AskKind::Url => has(&["elicitation", "url"]),
        // An elicitation that names no mode means forms.
        AskKind::Form => {
            has(&["elicitation", "form"]) || has(&["elicitation"]) && !has(&["elicitation", "url"])
        }
    }
}

#[cfg(test)]
mod tests {
    use toolgate_model::ServerName;
    use toolgate_wire::Limits;

    use super::*;

    fn inbox() -> Arc<Inbox> {
        let inbox = Inbox::new(Scope(1), Bytes::from_static(br#"{"elicitation":{}}"#));
        inbox.listen(|| tokio::spawn(std::future::pending::<()>()).abort_handle());
        inbox
    }

    fn question(text: &str) -> Question {
        let text = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,{text}}}");
        let frame = Frame::parse(text.into(), &Limits::default()).unwrap();
        let server = ServerName::new("s").unwrap();
        Question { server, kind: AskKind::of(&frame).unwrap(), key: None, frame }
    }

    fn ask(inbox: &Arc<Inbox>, message: &str) -> tokio::task::JoinHandle<Answer> {
        let params = format!("{{\"message\":\"{message}\",\"task\":{{}},\"_meta\":{{}}}}");
        let form = question(&format!("\"method\":\"elicitation/create\",\"params\":{params}"));
        let inbox = inbox.clone();
        tokio::spawn(async move { inbox.ask(form).await })
    }

    #[tokio::test]
    async fn an_answered_question_is_gone_and_the_other_stays_open() {
        let inbox = inbox();
        let (one, two) = (ask(&inbox, "one"), ask(&inbox, "two"));
        while inbox.desk().open.len() < 2 {
            tokio::task::yield_now().await;
        }
        inbox.answer(br#"{"question-1":{"a":1},"question-9":{}}"#);
        assert_eq!(one.await.unwrap(), Answer::Result(Bytes::from_static(br#"{"a":1}"#)));
        let left = r#"{"question-2":{"method":"elicitation/create","params":{"message":"two"}}}"#;
        assert_eq!(inbox.questions().unwrap(), left);
        let three = ask(&inbox, "three");
        while inbox.desk().open.len() < 2 {
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
        inbox.first().await;
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
