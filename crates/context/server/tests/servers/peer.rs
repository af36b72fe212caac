//! A minimal client: lines over a pipe, and a model with scripted answers.

use std::collections::HashMap;
use std::sync::Arc;

use jsonschema::Validator;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};
use toolgate_host::local::InProcessServer;

/// How the client's model answers a sampling request.
#[derive(Debug, Clone)]
pub enum Model {
    /// There is none, and it is not declared.
    None,
    /// It says this.
    Says(String),
    /// It is declared, and whoever stands before it says no.
    Refuses,
    /// It answers with this, whatever that is.
    Gives(Value),
}

pub struct Peer {
    input: Lines<BufReader<tokio::io::ReadHalf<DuplexStream>>>,
    output: tokio::io::WriteHalf<DuplexStream>,
    model: Model,
    last: u64,
    schemas: HashMap<String, Validator>,
    /// What must not go before it.
    pub room: Option<Arc<TempDir>>,
    /// What its model was asked.
    pub asked: Vec<Value>,
    /// What it was welcomed with.
    pub welcome: Value,
    /// The tools it was listed.
    pub tools: Vec<Value>,
}

impl Peer {
    pub async fn meet(server: &InProcessServer, model: Model) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let server = server.clone();
        tokio::spawn(async move {
            let (input, output) = tokio::io::split(theirs);
            server.serve_on(input, output).await;
        });
        let (input, output) = tokio::io::split(ours);
        let input = BufReader::new(input).lines();
        let (asked, tools, schemas) = Default::default();
        let welcome = Value::Null;
        let room = None;
        let mut peer = Self { input, output, model, last: 0, schemas, room, asked, welcome, tools };
        let capabilities = match peer.model {
            Model::None => json!({}),
            _ => json!({ "sampling": {} }),
        };
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": { "name": "peer", "version": "0" },
        });
        peer.welcome = peer.ask("initialize", hello).await;
        peer.tools = peer.ask("tools/list", json!({})).await["tools"].as_array().unwrap().clone();
        for tool in &peer.tools {
            let schema = jsonschema::draft202012::new(&tool["outputSchema"]).unwrap();
            peer.schemas.insert(tool["name"].as_str().unwrap().to_owned(), schema);
        }
        peer
    }

    async fn send(&mut self, message: Value) {
        self.output.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    /// The whole answer to a request, result or error.
    pub async fn request(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        loop {
            let line = self.input.next_line().await.unwrap().expect("the server went away");
            let message: Value = serde_json::from_str(&line).unwrap();
            match message["method"].as_str() {
                Some("sampling/createMessage") => self.answer(&message).await,
                Some(_) => {}
                None if message["id"] == id => return message,
                None => panic!("an answer to nothing: {message}"),
            }
        }
    }

    async fn answer(&mut self, question: &Value) {
        self.asked.push(question["params"].clone());
        let mut answer = json!({ "jsonrpc": "2.0", "id": question["id"] });
        match self.model.clone() {
            Model::None => panic!("nobody is to be asked: {question}"),
            Model::Says(text) => {
                answer["result"] = json!({
                    "role": "assistant", "model": "scripted", "stopReason": "endTurn",
                    "content": { "type": "text", "text": text },
                });
            }
            Model::Refuses => {
                answer["error"] = json!({ "code": -1, "message": "User rejected sampling" });
            }
            Model::Gives(result) => answer["result"] = result,
        }
        self.send(answer).await;
    }

    /// The result of a request that succeeds.
    pub async fn ask(&mut self, method: &str, params: Value) -> Value {
        let answer = self.request(method, params).await;
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// What a tool gives back: its data, which is what it declared, and its text.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> (Value, String) {
        let result = self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        assert!(result["isError"].is_null(), "{tool}: {result}");
        let data = result["structuredContent"].clone();
        let faults: Vec<_> =
            self.schemas[tool].iter_errors(&data).map(|it| it.to_string()).collect();
        assert!(faults.is_empty(), "{tool}: {faults:?}: {data:#}");
        (data, result["content"][0]["text"].as_str().unwrap().to_owned())
    }

    /// What a tool says when it cannot do it.
    pub async fn failing(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        assert_eq!(result["isError"], true, "{tool}: {result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// The text of a resource.
    pub async fn read(&mut self, uri: &str) -> Value {
        let result = self.ask("resources/read", json!({ "uri": uri })).await;
        result["contents"][0].clone()
    }

    /// What may be typed on.
    pub async fn complete(&mut self, about: Value, name: &str, value: &str) -> Vec<String> {
        let argument = json!({ "name": name, "value": value });
        let params = json!({ "ref": about, "argument": argument });
        let result = self.ask("completion/complete", params).await;
        let values = result["completion"]["values"].as_array().unwrap();
        values.iter().map(|it| it.as_str().unwrap().to_owned()).collect()
    }
}
