//! The open questions of one call, and the result that asks them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use tokio::sync::oneshot;
use toolgate_model::ServerName;
use toolgate_wire::{Frame, Span, Splice, meta, scan, string};

use crate::upstreams::{Answer, Question};

/// Answers of a client by the keys it was asked under.
pub(crate) type Answers = HashMap<String, Bytes>;

/// When the open questions are put to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// At once: the server has said all it wants to know.
    Now,
    /// Soon: others may be asked in the same moment.
    Soon,
}

/// The questions nobody has answered yet.
#[derive(Default)]
pub(crate) struct Asking {
    open: Vec<Open>,
    minted: u64,
    /// Answers that came before their questions.
    given: Answers,
}

struct Open {
    server: ServerName,
    key: String,
    /// `method` and `params`, raw.
    request: Bytes,
    answer: oneshot::Sender<Answer>,
    due: Option<Due>,
}

impl Asking {
    pub(crate) fn new(given: Answers) -> Self {
        Self { given, ..Self::default() }
    }

    /// Adds a question, unless its answer is here already.
    pub(crate) fn add(&mut self, question: Question, due: Due) -> oneshot::Receiver<Answer> {
        let (answer, coming) = oneshot::channel();
        let (request, server) = (request(&question), question.server.clone());
        let key = question.key.or_else(|| suggested(&question.frame));
        let key = key.filter(|key| !self.open.iter().any(|open| open.key == *key));
        let key = key.unwrap_or_else(|| self.mint());
        match self.given.remove(&key) {
            Some(given) => drop(answer.send(Answer::Result(given))),
            None => self.open.push(Open { server, key, request, answer, due: Some(due) }),
        }
        coming
    }

    fn mint(&mut self) -> String {
        loop {
            self.minted += 1;
            let key = format!("q{}", self.minted);
            if !self.open.iter().any(|open| open.key == key) {
                return key;
            }
        }
    }

    /// Who asks.
    pub(crate) fn server(&self) -> Option<ServerName> {
        self.open.first().map(|open| open.server.clone())
    }

    /// When the client must be asked something; none if it need not.
    pub(crate) fn due(&mut self) -> Option<Due> {
        // What a server no longer wants to know is not asked.
        self.open.retain(|open| !open.answer.is_closed());
        let mut due = self.open.iter().filter_map(|open| open.due);
        due.clone().find(|due| *due == Due::Now).or_else(|| due.next())
    }

    /// All open questions as `inputRequests`, raw. They count as asked.
    pub(crate) fn ask(&mut self) -> Vec<u8> {
        let mut map = b"{".to_vec();
        for (at, open) in self.open.iter_mut().enumerate() {
            open.due = None;
            map.extend_from_slice(if at == 0 { b"" } else { b"," });
            map.extend_from_slice(string::encode(&open.key).as_bytes());
            map.push(b':');
            map.extend_from_slice(&open.request);
        }
        map.push(b'}');
        map
    }

    /// Takes the client's answers. What it left out is asked again; keys nobody asked mean nothing.
    pub(crate) fn answer(&mut self, mut answers: Answers) {
        for mut open in std::mem::take(&mut self.open) {
            match answers.remove(&open.key).filter(|_| open.due.is_none()) {
                // The server may have lost interest in this moment.
                Some(answer) => drop(open.answer.send(Answer::Result(answer))),
                None => {
                    open.due = Some(Due::Now);
                    self.open.push(open);
                }
            }
        }
    }

    /// Nobody can be asked: that is the answer to everything open.
    pub(crate) fn give_up(&mut self) {
        for open in self.open.drain(..) {
            let _ = open.answer.send(Answer::Unsupported);
        }
    }
}

/// What a server without keys would like its question to be called.
fn suggested(question: &Frame) -> Option<String> {
    let meta = question.meta_span()?.of(question.bytes());
    scan::text(meta, meta::INPUT_KEY).map(Cow::into_owned)
}

/// The elicitation ids that were created here.
static ELICITATIONS: AtomicU64 = AtomicU64::new(1);

/// A question as it stands in a result: without the id of a request. An address to visit has an
/// `elicitationId`, though 2026-07-28 dropped it: released clients demand one, and others ignore it.
fn request(question: &Question) -> Bytes {
    let method = question.frame.method().unwrap_or_default();
    let head = format!("{{\"method\":{}", string::encode(&method));
    let Some(params) = question.frame.params() else { return format!("{head}}}").into() };
    let named = question.lacks_elicitation_id().then(|| {
        let id = format!("\"toolgate-{}\"", ELICITATIONS.fetch_add(1, Ordering::Relaxed));
        Splice::new(params).set_member(Span::new(0, params.len()), "elicitationId", id).finish()
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
    use toolgate_wire::{Limits, build};

    use super::*;
    use crate::upstreams::AskKind;

    fn question(key: Option<&str>, params: Value) -> Question {
        asked_by(AskKind::Form, key, params)
    }

    fn asked_by(kind: AskKind, key: Option<&str>, params: Value) -> Question {
        let params = params.to_string();
        let bytes = build::request("1", "elicitation/create", Some(params.as_bytes()));
        Question {
            server: ServerName::new("s").unwrap(),
            kind,
            key: key.map(str::to_owned),
            frame: Frame::parse(bytes, &Limits::default()).unwrap(),
        }
    }

    fn asked(asking: &mut Asking) -> Value {
        serde_json::from_slice(&asking.ask()).unwrap()
    }

    #[test]
    fn questions_keep_their_keys_and_those_without_get_one() {
        let mut asking = Asking::default();
        let _open = [
            asking.add(question(Some("name"), json!({"a": 1})), Due::Soon),
            asking.add(question(None, json!({"b": 2})), Due::Soon),
            asking.add(question(Some("name"), json!({})), Due::Soon),
            asking.add(question(None, json!({"_meta": {"dev.toolgate/inputKey": "k"}})), Due::Soon),
        ];
        let expected = |params: Value| json!({"method": "elicitation/create", "params": params});
        assert_eq!(
            asked(&mut asking),
            json!({
                "name": expected(json!({"a": 1})),
                "q1": expected(json!({"b": 2})),
                "q2": expected(json!({})),
                "k": expected(json!({"_meta": {"dev.toolgate/inputKey": "k"}})),
            })
        );
        assert_eq!(asking.due(), None, "they are asked once");
    }

    #[test]
    fn an_address_to_visit_keeps_its_elicitation_id_or_gets_one() {
        let mut asking = Asking::default();
        let visit = |key, params| asked_by(AskKind::Url, Some(key), params);
        let _open = [
            asking.add(visit("own", json!({"elicitationId": "x", "url": "u"})), Due::Soon),
            asking.add(visit("none", json!({"url": "u"})), Due::Soon),
            asking.add(visit("another", json!({"url": "u"})), Due::Soon),
        ];
        let asked = asked(&mut asking);
        let id = |key: &str| asked[key]["params"]["elicitationId"].clone();
        assert_eq!(id("own"), "x");
        assert!(id("none").as_str().is_some_and(|id| !id.is_empty()), "{asked}");
        assert_ne!(id("none"), id("another"));
    }

    #[test]
    fn what_is_left_out_is_asked_again_and_the_rest_delivered() {
        let mut asking = Asking::default();
        let mut first = asking.add(question(Some("a"), json!({})), Due::Now);
        let mut second = asking.add(question(Some("b"), json!({})), Due::Now);
        asking.ask();
        let given = Bytes::from_static(b"{}");
        asking.answer([("b", &given), ("z", &given)].map(|(k, v)| (k.into(), v.clone())).into());
        assert_eq!(second.try_recv(), Ok(Answer::Result(given)));
        assert!(first.try_recv().is_err());
        assert_eq!(asking.due(), Some(Due::Now));
        assert_eq!(asked(&mut asking).as_object().unwrap().len(), 1);
    }

    #[test]
    fn a_question_taken_back_is_not_asked() {
        let mut asking = Asking::default();
        drop(asking.add(question(None, json!({})), Due::Soon));
        assert_eq!(asking.due(), None);
    }

    #[test]
    fn an_answer_that_came_first_is_used_once() {
        let mut asking = Asking::new([("a".to_owned(), Bytes::from_static(b"{}"))].into());
        let mut first = asking.add(question(Some("a"), json!({})), Due::Now);
        let mut second = asking.add(question(Some("a"), json!({})), Due::Now);
        assert!(first.try_recv().is_ok());
        assert!(second.try_recv().is_err());
    }
}
