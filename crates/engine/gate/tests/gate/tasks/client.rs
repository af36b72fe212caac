//! A client of the gate that knows tasks in one of the two forms, or in none.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use toolgate_gate::{Caller, CallerId, Client as Program, Gate, Principal};
use toolgate_session::{Answer, Interactor, Question, QuestionKind};
use toolgate_wire::{Era, Frame, MessageLimits, Revision};

use super::worker::EXTENSION;

pub struct Client {
    pub caller: Arc<Caller>,
    pub person: Arc<Person>,
}

/// Answers every form with one name and nothing else, and remembers what it was told and asked.
pub struct Person {
    scope: CallerId,
    capabilities: Bytes,
    pub asked: Mutex<Vec<Value>>,
    pub told: Mutex<Vec<Value>>,
}

/// How a call ended, in whatever form it was told.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    Said(String),
    Mistake(String),
    Error(i64),
    Cancelled,
}

impl Interactor for Person {
    fn scope(&self) -> CallerId {
        self.scope
    }

    fn tell(&self, event: Frame) {
        self.told.lock().unwrap().push(serde_json::from_slice(event.bytes()).unwrap());
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        self.asked.lock().unwrap().push(serde_json::from_slice(question.frame.bytes()).unwrap());
        let ada = Bytes::from_static(br#"{"action":"accept","content":{"name":"Ada"}}"#);
        Box::pin(std::future::ready(match question.kind {
            QuestionKind::Form => Answer::Result(ada),
            _ => Answer::Unsupported,
        }))
    }

    fn capabilities(&self) -> Bytes {
        self.capabilities.clone()
    }
}

impl Client {
    pub fn new(revision: Revision, capabilities: Value) -> Self {
        let id = CallerId::fresh();
        let capabilities = Bytes::from(capabilities.to_string());
        let person = Arc::new(Person {
            scope: id,
            capabilities: capabilities.clone(),
            asked: Mutex::default(),
            told: Mutex::default(),
        });
        let caller = Caller::new(id, Program::default(), revision, capabilities, person.clone());
        Self { caller: Arc::new(caller), person }
    }

    /// Speaks the form of 2025-11-25.
    pub fn session() -> Self {
        Self::new(Revision::V2025_11_25, json!({ "elicitation": {} }))
    }

    /// Speaks the extension's form.
    pub fn extension() -> Self {
        Self::new(
            Revision::V2026_07_28,
            json!({ "elicitation": {}, "extensions": { EXTENSION: {} } }),
        )
    }

    /// Comes as one of a principal's.
    pub fn of(self, principal: Principal) -> Self {
        let Self { caller, person } = self;
        let Some(caller) = Arc::into_inner(caller) else { panic!("it is in use") };
        Self { caller: Arc::new(caller.with_principal(principal)), person }
    }

    fn modern(&self) -> bool {
        self.caller.revision.era() == Era::Modern
    }

    /// The result, or the error object.
    pub async fn ask(&self, gate: &Gate, method: &str, params: Value) -> Result<Value, Value> {
        let mut params = params;
        if self.modern() {
            let capabilities: Value = serde_json::from_slice(&self.caller.capabilities).unwrap();
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities;
            params["_meta"]["io.modelcontextprotocol/clientInfo"] =
                json!({ "name": "c", "version": "1" });
        }
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let frame = Frame::parse(request.to_string().into(), &MessageLimits::default()).unwrap();
        match gate.pass(&frame, &self.caller, self.person.clone()).await {
            Ok(frame) => match frame.error() {
                Some(error) => Err(serde_json::from_slice(error).unwrap()),
                None => Ok(serde_json::from_slice(frame.result().unwrap()).unwrap()),
            },
            Err(refusal) => {
                let data = refusal.data.map(|data| serde_json::from_slice(&data).unwrap());
                let data: Value = data.unwrap_or_default();
                Err(json!({ "code": refusal.rpc_code, "message": refusal.message, "data": data }))
            }
        }
    }

    pub async fn call(&self, gate: &Gate, tool: &str, end: &str) -> Result<Value, Value> {
        let mut params = json!({ "name": tool, "arguments": { "end": end } });
        if self.caller.revision == Revision::V2025_11_25 {
            params["task"] = json!({});
        }
        self.ask(gate, "tools/call", params).await
    }

    /// Begins a task and gives its id.
    pub async fn begin(&self, gate: &Gate, end: &str) -> String {
        let created = self.call(gate, "w__work", end).await.unwrap();
        let task = if self.modern() {
            assert_eq!(created["resultType"], "task", "{created}");
            assert!(created.get("ttl").is_none() && created["ttlMs"].is_u64(), "{created}");
            created
        } else {
            let task = created["task"].clone();
            assert!(task.get("ttlMs").is_none() && task["ttl"].is_u64(), "{created}");
            task
        };
        task["taskId"].as_str().unwrap().to_owned()
    }

    pub async fn get(&self, gate: &Gate, id: &str) -> Result<Value, Value> {
        self.ask(gate, "tasks/get", json!({ "taskId": id })).await
    }

    pub async fn cancel(&self, gate: &Gate, id: &str) -> Result<Value, Value> {
        self.ask(gate, "tasks/cancel", json!({ "taskId": id })).await
    }

    /// Waits for the end of a task as its form does it, answering what it asks.
    pub async fn end(&self, gate: &Gate, id: &str) -> End {
        if !self.modern() {
            let answer = self.ask(gate, "tasks/result", json!({ "taskId": id })).await;
            if let Ok(result) = &answer {
                let related = &result["_meta"][super::worker::RELATED]["taskId"];
                assert_eq!(related, id, "{result}");
            }
            return end_of(answer);
        }
        loop {
            let task = self.get(gate, id).await.unwrap();
            assert_eq!((&task["taskId"], &task["resultType"]), (&json!(id), &json!("complete")));
            match task["status"].as_str().unwrap() {
                "completed" => {
                    let meta = task["result"]["_meta"].get(super::worker::RELATED);
                    assert_eq!(meta, None, "{task}");
                    return end_of(Ok(task["result"].clone()));
                }
                "failed" => return end_of(Err(task["error"].clone())),
                "cancelled" => return End::Cancelled,
                "input_required" => self.answer(gate, id, &task).await,
                _ => tokio::task::yield_now().await,
            }
        }
    }

    async fn answer(&self, gate: &Gate, id: &str, task: &Value) {
        let asked = task["inputRequests"].as_object().unwrap();
        let (key, question) = asked.iter().next().unwrap();
        assert_eq!(question["method"], "elicitation/create");
        assert_eq!(question["params"].get("_meta"), None, "{question}");
        let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
        let responses = json!({ key: answer, "nobody-asked": {} });
        let update = json!({ "taskId": id, "inputResponses": responses });
        let done = self.ask(gate, "tasks/update", update).await.unwrap();
        assert_eq!(done["resultType"], "complete");
        assert_eq!(done.get("taskId"), None);
    }
}

pub fn end_of(answer: Result<Value, Value>) -> End {
    match answer {
        Err(error) if error["code"] == -32800 => End::Cancelled,
        Err(error) => End::Error(error["code"].as_i64().unwrap()),
        Ok(result) => {
            let text = result["content"][0]["text"].as_str().unwrap().to_owned();
            if result["isError"] == true { End::Mistake(text) } else { End::Said(text) }
        }
    }
}
