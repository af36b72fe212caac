//! The open questions of one modern call. Renders them as `inputRequests`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use tokio::sync::oneshot;
use toolgate_host::{Answer, Question};
use toolgate_model::ServerName;
use toolgate_wire::{Frame, JsonEdit, Span, meta, scan, string};

/// The answers of a client, by the keys of the questions.
pub(crate) type InputResponses = HashMap<String, Bytes>;

/// When the open questions go to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum QuestionSendTime {
    /// At once: the server has asked all its questions.
    Now,
    /// Soon: the server may ask more questions within moments.
    Soon,
}

/// The questions without an answer.
#[derive(Default)]
pub(crate) struct RoundQuestions {
    open: Vec<PendingQuestion>,
    last_key: u64,
    /// Answers that came before their questions.
    early_answers: InputResponses,
}

/// A question without an answer.
struct PendingQuestion {
    server: ServerName,
    key: String,
    /// `method` and `params`, raw.
    request: Bytes,
    answer: oneshot::Sender<Answer>,
    /// When the question goes to the client; `None` if it was sent.
    timing: Option<QuestionSendTime>,
}

impl RoundQuestions {
    pub(crate) fn new(given: InputResponses) -> Self {
        Self { early_answers: given, ..Self::default() }
    }

    /// Adds a question, unless its answer is already there.
    pub(crate) fn add(
        &mut self,
        question: Question,
        timing: QuestionSendTime,
    ) -> oneshot::Receiver<Answer> {
        let (answer, receiver) = oneshot::channel();
        let (request, server) = (to_input_request(&question), question.server.clone());
        let key = question.key.or_else(|| suggested_key(&question.frame));
        let key = key.filter(|key| !self.open.iter().any(|open| open.key == *key));
        let key = key.unwrap_or_else(|| self.new_key());
        match self.early_answers.remove(&key) {
            Some(given) => drop(answer.send(Answer::Result(given))),
            None => {
                let timing = Some(timing);
                self.open.push(PendingQuestion { server, key, request, answer, timing });
            }
        }
        receiver
    }

    fn new_key(&mut self) -> String {
        loop {
            self.last_key += 1;
            let key = format!("q{}", self.last_key);
            if !self.open.iter().any(|open| open.key == key) {
                return key;
            }
        }
    }

    /// Returns the server that asks.
    pub(crate) fn asking_server(&self) -> Option<ServerName> {
        self.open.first().map(|open| open.server.clone())
    }

    /// Returns when the client must be asked, or `None` if all open questions were sent.
    pub(crate) fn timing(&mut self) -> Option<QuestionSendTime> {
        // Questions that a server has withdrawn are not asked.
        self.open.retain(|open| !open.answer.is_closed());
        self.open.iter().filter_map(|open| open.timing).min()
    }

    /// Returns all open questions as raw `inputRequests` and marks them as sent.
    pub(crate) fn take_input_requests(&mut self) -> Vec<u8> {
        let mut map = b"{".to_vec();
        for (at, open) in self.open.iter_mut().enumerate() {
            open.timing = None;
            map.extend_from_slice(if at == 0 { b"" } else { b"," });
            map.extend_from_slice(string::encode(&open.key).as_bytes());
            map.push(b':');
            map.extend_from_slice(&open.request);
        }
        map.push(b'}');
        map
    }

    /// Takes the client's answers. Questions without an answer are asked again; unknown keys are
    /// ignored.
    pub(crate) fn apply_answers(&mut self, mut answers: InputResponses) {
        for mut open in std::mem::take(&mut self.open) {
            match answers.remove(&open.key).filter(|_| open.timing.is_none()) {
                // The server may have withdrawn the question; then the answer is dropped.
                Some(answer) => drop(open.answer.send(Answer::Result(answer))),
                None => {
                    open.timing = Some(QuestionSendTime::Now);
                    self.open.push(open);
                }
            }
        }
    }

    /// Answers all open questions as unsupported.
    pub(crate) fn reject_all(&mut self) {
        for open in self.open.drain(..) {
            let _ = open.answer.send(Answer::Unsupported);
        }
    }
}

/// Returns the key that a server suggests for its question.
fn suggested_key(question: &Frame) -> Option<String> {
    let meta = question.meta_span()?.slice(question.bytes());
    scan::member_text(meta, meta::INPUT_KEY).map(Cow::into_owned)
}

/// The next elicitation id.
static NEXT_ELICITATION_ID: AtomicU64 = AtomicU64::new(1);

/// Returns a question as it appears in `inputRequests`, without a request id. A URL elicitation
/// gets an `elicitationId`, although 2026-07-28 dropped it: released clients require one, and
/// others ignore it.
fn to_input_request(question: &Question) -> Bytes {
    let method = question.frame.method().unwrap_or_default();
    let head = format!("{{\"method\":{}", string::encode(&method));
    let Some(params) = question.frame.params() else { return format!("{head}}}").into() };
    let named = question.lacks_elicitation_id().then(|| {
        let id = format!("\"toolgate-{}\"", NEXT_ELICITATION_ID.fetch_add(1, Ordering::Relaxed));
        JsonEdit::new(params).set_member(Span::new(0, params.len()), "elicitationId", id).finish()
    });
    let params = match &named {
        Some(Ok(named)) => named,
        _ => params,
    };
    [head.as_bytes(), b",\"params\":", params, b"}"].concat().into()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use toolgate_host::QuestionKind;
    use toolgate_wire::{MessageLimits, build};

    use super::*;

    fn question(key: Option<&str>, params: Value) -> Question {
        asked_by(QuestionKind::Form, key, params)
    }

    fn asked_by(kind: QuestionKind, key: Option<&str>, params: Value) -> Question {
        let params = params.to_string();
        let bytes = build::request("1", "elicitation/create", Some(params.as_bytes()));
        Question {
            server: ServerName::new("s").unwrap(),
            kind,
            key: key.map(str::to_owned),
            frame: Frame::parse(bytes, &MessageLimits::default()).unwrap(),
        }
    }

    fn asked(questions: &mut RoundQuestions) -> Value {
        serde_json::from_slice(&questions.take_input_requests()).unwrap()
    }

    #[test]
    fn questions_keep_their_keys_and_those_without_get_one() {
        let mut questions = RoundQuestions::default();
        let _open = [
            questions.add(question(Some("name"), json!({"a": 1})), QuestionSendTime::Soon),
            questions.add(question(None, json!({"b": 2})), QuestionSendTime::Soon),
            questions.add(question(Some("name"), json!({})), QuestionSendTime::Soon),
            questions.add(
                question(None, json!({"_meta": {"dev.toolgate/inputKey": "k"}})),
                QuestionSendTime::Soon,
            ),
        ];
        let expected = |params: Value| json!({"method": "elicitation/create", "params": params});
        assert_eq!(
            asked(&mut questions),
            json!({
                "name": expected(json!({"a": 1})),
                "q1": expected(json!({"b": 2})),
                "q2": expected(json!({})),
                "k": expected(json!({"_meta": {"dev.toolgate/inputKey": "k"}})),
            })
        );
        assert_eq!(questions.timing(), None, "they are asked once");
    }

    #[test]
    fn an_address_to_visit_keeps_its_elicitation_id_or_gets_one() {
        let mut questions = RoundQuestions::default();
        let visit = |key, params| asked_by(QuestionKind::Url, Some(key), params);
        let _open = [
            questions.add(
                visit("own", json!({"elicitationId": "x", "url": "u"})),
                QuestionSendTime::Soon,
            ),
            questions.add(visit("none", json!({"url": "u"})), QuestionSendTime::Soon),
            questions.add(visit("another", json!({"url": "u"})), QuestionSendTime::Soon),
        ];
        let asked = asked(&mut questions);
        let id = |key: &str| asked[key]["params"]["elicitationId"].clone();
        assert_eq!(id("own"), "x");
        assert!(id("none").as_str().is_some_and(|id| !id.is_empty()), "{asked}");
        assert_ne!(id("none"), id("another"));
    }

    #[test]
    fn what_is_left_out_is_asked_again_and_the_rest_delivered() {
        let mut questions = RoundQuestions::default();
        let mut first = questions.add(question(Some("a"), json!({})), QuestionSendTime::Now);
        let mut second = questions.add(question(Some("b"), json!({})), QuestionSendTime::Now);
        questions.take_input_requests();
        let given = Bytes::from_static(b"{}");
        questions.apply_answers(
            [("b", &given), ("z", &given)].map(|(k, v)| (k.into(), v.clone())).into(),
        );
        assert_eq!(second.try_recv(), Ok(Answer::Result(given)));
        assert!(first.try_recv().is_err());
        assert_eq!(questions.timing(), Some(QuestionSendTime::Now));
        assert_eq!(asked(&mut questions).as_object().unwrap().len(), 1);
    }

    #[test]
    fn a_question_taken_back_is_not_asked() {
        let mut questions = RoundQuestions::default();
        drop(questions.add(question(None, json!({})), QuestionSendTime::Soon));
        assert_eq!(questions.timing(), None);
    }

    #[test]
    fn an_answer_that_came_first_is_used_once() {
        let mut questions =
            RoundQuestions::new([("a".to_owned(), Bytes::from_static(b"{}"))].into());
        let mut first = questions.add(question(Some("a"), json!({})), QuestionSendTime::Now);
        let mut second = questions.add(question(Some("a"), json!({})), QuestionSendTime::Now);
        assert!(first.try_recv().is_ok());
        assert!(second.try_recv().is_err());
    }
}
