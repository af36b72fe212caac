//! A client that starts its server and speaks lines, in either era, and lends it a model if told to.

use serde_json::{Value, json};
use toolgate_e2e::process::TestProcess;
use toolgate_e2e::{mcp, stateless_client};

use super::{House, PATIENCE};
use crate::plan::Era;

/// A client and the server it started.
pub struct Lines {
    process: TestProcess,
    era: Era,
    /// What its model says; none: it has no model.
    model: Option<String>,
    last: u64,
    /// What its model was asked.
    pub asked: Vec<Value>,
}

impl Lines {
    /// Starts `context serve` with these options.
    pub fn start(house: &House, era: Era, options: &[&str]) -> Self {
        Self::lending(house, era, options, None)
    }

    /// The same, with a model that says this.
    pub fn lending(house: &House, era: Era, options: &[&str], model: Option<&str>) -> Self {
        let verb = [&["context", "serve"], options].concat();
        let process = TestProcess::start(&mut house.setup.command(&verb)).unwrap();
        let model = model.map(str::to_owned);
        let mut client = Self { process, era, model, last: 0, asked: Vec::new() };
        if era == Era::Legacy {
            client.process.send(&mcp::initialize(mcp::REVISION, &client.capabilities())).unwrap();
            assert_eq!(client.message()["result"]["protocolVersion"], mcp::REVISION);
            let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            client.process.send(&ready.to_string()).unwrap();
        }
        client
    }

    fn capabilities(&self) -> Value {
        if self.model.is_some() { json!({"sampling": {}}) } else { json!({}) }
    }

    fn message(&self) -> Value {
        serde_json::from_str(&self.process.line(PATIENCE).unwrap()).unwrap()
    }

    /// The whole answer to a request, after whatever was asked meanwhile.
    pub fn request(&mut self, method: &str, params: &Value) -> Value {
        let answer = self.exchange(method, params.clone());
        if answer["result"]["resultType"] != "input_required" {
            return answer;
        }
        let questions = answer["result"]["inputRequests"].as_object().unwrap().clone();
        let mut answers = json!({});
        for (key, question) in questions {
            assert_eq!(question["method"], "sampling/createMessage", "{answer}");
            answers[key] = self.completed(&question["params"]);
        }
        let mut retry = params.clone();
        retry["inputResponses"] = answers;
        retry["requestState"] = answer["result"]["requestState"].clone();
        self.exchange(method, retry)
    }

    fn exchange(&mut self, method: &str, mut params: Value) -> Value {
        self.last += 1;
        if self.era == Era::Modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": stateless_client::REVISION,
                "io.modelcontextprotocol/clientCapabilities": self.capabilities(),
                "io.modelcontextprotocol/clientInfo": {"name": "toolgate-e2e", "version": "0"},
            });
        }
        let id = self.last;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.process.send(&message.to_string()).unwrap();
        loop {
            let message = self.message();
            if message["method"] == "sampling/createMessage" {
                let result = self.completed(&message["params"]);
                let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
                self.process.send(&answer.to_string()).unwrap();
            } else if message["id"] == id && message["method"].is_null() {
                return message;
            }
        }
    }

    fn completed(&mut self, params: &Value) -> Value {
        self.asked.push(params.clone());
        let text = self.model.clone().unwrap_or_default();
        json!({
            "role": "assistant", "model": "imagined", "stopReason": "endTurn",
            "content": {"type": "text", "text": text},
        })
    }

    /// The result of a request that succeeds.
    #[track_caller]
    pub fn ask(&mut self, method: &str, params: &Value) -> Value {
        let answer = self.request(method, params);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Calls a tool.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }
}
