//! Approvals by a form in the caller's client: only who was asked can answer, for this call, once.
//!
//! The forms are answered by hand, by those who should and by those who should not. That released
//! clients show and answer them is the part of `people`.

use std::thread;

use serde_json::{Map, Value, json};
use toolgate_e2e::{StatelessTestClient, TestClient, TestGateway, within};

use super::{PATIENCE, Stage, made, refused};

const ASKING: &str = "[policy]\nask = [\"mcp:coat/*\"]\n[pins]\nrecheck = \"0s\"\n";
const ACT: &str = "coat__act";

fn opened(stage: &Stage) -> TestGateway {
    for name in ["ada", "eve"] {
        stage.setup.key(name).unwrap();
    }
    let gateway = stage.serve();
    gateway.client_with(&[ACT]).unwrap();
    gateway
}

fn visitor(stage: &Stage, gateway: &TestGateway, name: &str) -> StatelessTestClient {
    let key = stage.setup.key(name).unwrap();
    StatelessTestClient::new(&gateway.url, Some(&key), json!({"elicitation": {}})).unwrap()
}

fn once() -> Value {
    json!({"action": "accept", "content": {"choice": "once"}})
}

/// A call in the modern era whose caller was asked, and which waits for his answer.
struct Parked {
    arguments: Value,
    key: String,
    state: String,
}

impl Parked {
    fn by(visitor: &StatelessTestClient, text: &str) -> Self {
        let arguments = json!({ "text": text });
        let asked = visitor.call(ACT, &arguments).unwrap();
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
        let questions = asked["result"]["inputRequests"].as_object().unwrap();
        assert_eq!(questions.len(), 1, "{asked}");
        let (key, question) = questions.iter().next().unwrap();
        assert_eq!(question["method"], "elicitation/create", "{asked}");
        let state = asked["result"]["requestState"].as_str().unwrap().to_owned();
        Self { arguments, key: key.clone(), state }
    }

    fn answered_by(&self, visitor: &StatelessTestClient) -> Value {
        self.retried(visitor, &self.arguments, &self.key)
    }

    fn retried(&self, visitor: &StatelessTestClient, arguments: &Value, key: &str) -> Value {
        let answers: Map<String, Value> = [(key.to_owned(), once())].into_iter().collect();
        visitor.retry((ACT, arguments), &answers.into(), &self.state).unwrap()
    }
}

fn is_made(answer: &Value) -> bool {
    answer["result"]["content"].is_array() && answer["result"]["isError"] != true
}

#[test]
fn another_caller_cannot_answer() {
    let stage = Stage::new(ASKING);
    let gateway = opened(&stage);
    let (ada, eve) = (visitor(&stage, &gateway, "ada"), visitor(&stage, &gateway, "eve"));
    let parked = Parked::by(&ada, "a");
    let answer = parked.answered_by(&eve);
    assert!(!is_made(&answer), "{answer}");
    assert_eq!(stage.calls("coat"), 0);
    made(&parked.answered_by(&ada));
    assert_eq!(stage.calls("coat"), 1);
}

#[test]
fn an_answer_is_for_the_call_it_was_asked_about() {
    let stage = Stage::new(ASKING);
    let gateway = opened(&stage);
    let ada = visitor(&stage, &gateway, "ada");
    for text in ["other arguments", "more arguments", "another key"] {
        let parked = Parked::by(&ada, text);
        let answer = match text {
            "other arguments" => parked.retried(&ada, &json!({"text": "b"}), &parked.key),
            "more arguments" => {
                parked.retried(&ada, &json!({"text": text, "kind": "long"}), &parked.key)
            }
            _ => parked.retried(&ada, &parked.arguments, "approval-another"),
        };
        assert!(!is_made(&answer), "{text}: {answer}");
        assert_eq!(stage.calls("coat"), 0, "{text}");
    }
}

#[test]
fn an_answer_counts_once_however_often_it_is_given() {
    let stage = Stage::new(ASKING);
    let gateway = opened(&stage);
    let ada = visitor(&stage, &gateway, "ada");
    for round in 0..toolgate_e2e::count(50) {
        let parked = Parked::by(&ada, &format!("round {round}"));
        let answers: Vec<Value> = thread::scope(|scope| {
            let answering = [(); 6].map(|()| scope.spawn(|| parked.answered_by(&ada)));
            answering.into_iter().map(|answer| answer.join().unwrap()).collect()
        });
        assert_eq!(answers.iter().filter(|answer| is_made(answer)).count(), 1, "{answers:?}");
        // And replayed when it is over.
        let again = parked.answered_by(&ada);
        assert!(!is_made(&again), "{again}");
        assert_eq!(stage.calls("coat"), round + 1);
    }
}

#[test]
fn an_answer_after_the_expiry_counts_nothing() {
    let stage = Stage::new(&format!("{ASKING}[approvals]\nexpiry = \"2s\"\n"));
    let gateway = opened(&stage);
    let ada = visitor(&stage, &gateway, "ada");
    let parked = Parked::by(&ada, "late");
    assert!(within(PATIENCE, || stage.pending().is_empty()));
    let answer = parked.answered_by(&ada);
    assert!(!is_made(&answer), "{answer}");
    assert_eq!(stage.calls("coat"), 0);
}

#[test]
fn what_changed_while_somebody_was_asked_is_not_called() {
    let stage = Stage::new(ASKING);
    let gateway = opened(&stage);
    let ada = visitor(&stage, &gateway, "ada");
    let parked = Parked::by(&ada, "a");
    let change = super::tool_change("act", "/description", json!("Does more."));
    stage.turn("coat", vec![change], false);
    refused(&parked.answered_by(&ada));
    assert_eq!(stage.calls("coat"), 0);
}

/// In a session, where the question is a request of the gateway.
#[test]
fn another_session_cannot_answer() {
    let stage = Stage::new(ASKING);
    let gateway = opened(&stage);
    let session = |name: &str| {
        let credential = Some(stage.setup.key(name).unwrap());
        TestClient::connect_as(credential, &gateway.url, &json!({"elicitation": {}})).unwrap()
    };
    // The same person in another session is not who was asked, either.
    let (ada, others) = (session("ada"), [session("eve"), session("ada")]);
    let declined = json!({"action": "decline"});
    // What the others say is the opposite: the outcome shows who was heard.
    for (theirs, hers) in [(once(), declined.clone()), (declined, once())] {
        let (id, events) = ada.begin(ACT, &json!({"text": "a"}), "t").unwrap();
        let messages = events.map(|event| event.unwrap().data).filter(|data| !data.is_empty());
        let mut messages = messages.map(|data| serde_json::from_str::<Value>(&data).unwrap());
        let question = messages.find(|message| message["method"] == "elicitation/create").unwrap();
        let answer = |result: &Value| {
            json!({"jsonrpc": "2.0", "id": question["id"], "result": result}).to_string()
        };
        for other in &others {
            other.post(&answer(&theirs)).unwrap();
        }
        assert_eq!(stage.calls("coat"), 0);
        assert_eq!(stage.pending().len(), 1);
        ada.post(&answer(&hers)).unwrap();
        ada.post(&answer(&hers)).unwrap();
        let outcome = messages.find(|it| it["id"] == id && it["method"].is_null()).unwrap();
        match hers["action"] == "accept" {
            true => made(&outcome),
            false => assert_eq!(refused(&outcome)["effect"], "deny", "{outcome}"),
        }
    }
    drop(gateway);
    stage.is_left();
    assert_eq!(stage.calls("coat"), 1);
}
