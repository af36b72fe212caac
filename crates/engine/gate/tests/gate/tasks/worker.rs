//! A server that runs tasks, in one of the two forms, on a real pair of streams.
//!
//! How a task goes is said by the argument `end`: `result` and `mistake` (a tool's own error) after
//! a look or two, `crash` (an error of the protocol), `ask` and `sample` after their question was
//! answered, `idle` never.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::AbortHandle;
use toolgate_fleet::BuiltInServer;
use toolgate_wire::Era;

pub const EXTENSION: &str = "io.modelcontextprotocol/tasks";
pub const RELATED: &str = "io.modelcontextprotocol/related-task";

#[derive(Clone)]
pub struct Worker {
    era: Era,
    name: &'static str,
    /// Every message that came in.
    pub seen: Arc<Mutex<Vec<Value>>>,
    tasks: Arc<Mutex<HashMap<String, Task>>>,
    connections: Arc<Mutex<Vec<mpsc::UnboundedSender<Value>>>>,
    ends: Arc<Mutex<Vec<AbortHandle>>>,
}

struct Task {
    end: String,
    looks: usize,
    status: watch::Sender<&'static str>,
    answer: Option<Value>,
}

/// One connection to the server.
#[derive(Clone)]
struct Line {
    worker: Worker,
    send: mpsc::UnboundedSender<Value>,
    answers: Arc<Mutex<HashMap<String, oneshot::Sender<Value>>>>,
}

impl Worker {
    pub fn new(era: Era, name: &'static str) -> Self {
        let (seen, tasks, connections, ends) = Default::default();
        Self { era, name, seen, tasks, connections, ends }
    }

    pub fn count(&self, method: &str) -> usize {
        self.seen.lock().unwrap().iter().filter(|message| message["method"] == method).count()
    }

    /// Sends a notification on every connection.
    pub fn notify(&self, method: &str, params: Value) {
        for connection in self.connections.lock().unwrap().iter() {
            let _ =
                connection.send(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
        }
    }

    /// Ends every connection.
    pub fn hang_up(&self) {
        self.ends.lock().unwrap().drain(..).for_each(|end| end.abort());
    }

    /// The state of a task, as a notification would tell it.
    pub fn state(&self, id: &str) -> Value {
        let mut state = self.task(id);
        state.as_object_mut().unwrap().remove("resultType");
        state
    }

    fn tools(&self) -> Value {
        let tool = |name: &str, support: &str| match self.era {
            Era::Legacy => json!({ "name": name, "inputSchema": { "type": "object" },
                "execution": { "taskSupport": support } }),
            Era::Modern => json!({ "name": name, "inputSchema": { "type": "object" } }),
        };
        json!([tool("quick", "forbidden"), tool("work", "optional"), tool("must", "required")])
    }

    fn capabilities(&self) -> Value {
        match self.era {
            Era::Legacy => json!({ "tools": {},
                "tasks": { "cancel": {}, "requests": { "tools": { "call": {} } } } }),
            Era::Modern => json!({ "tools": {}, "extensions": { EXTENSION: {} } }),
        }
    }

    fn begin(&self, arguments: &Value) -> Value {
        let mut tasks = self.tasks.lock().unwrap();
        let id = format!("{}-{}", self.name, tasks.len() + 1);
        let end = arguments["end"].as_str().unwrap_or("result").to_owned();
        let status = watch::Sender::new(if asks(&end) { "input_required" } else { "working" });
        tasks.insert(id.clone(), Task { end, looks: 0, status, answer: None });
        drop(tasks);
        let mut task = self.task(&id);
        match self.era {
            Era::Legacy => json!({ "task": task }),
            Era::Modern => {
                for beside in ["inputRequests", "result", "error"] {
                    task.as_object_mut().unwrap().remove(beside);
                }
                task["resultType"] = json!("task");
                task
            }
        }
    }

    /// The task object as this server writes it.
    fn task(&self, id: &str) -> Value {
        let tasks = self.tasks.lock().unwrap();
        let task = &tasks[id];
        let status = *task.status.borrow();
        let mut object = json!({ "taskId": id, "status": status, "statusMessage": "as said",
            "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z" });
        match self.era {
            Era::Legacy => (object["ttl"], object["pollInterval"]) = (json!(60000), json!(50)),
            Era::Modern => {
                (object["ttlMs"], object["pollIntervalMs"]) = (json!(60000), json!(50));
                object["resultType"] = json!("complete");
                match status {
                    "input_required" => {
                        object["inputRequests"] = json!({ "who": question(&task.end) })
                    }
                    "completed" => object["result"] = task.result(self.era),
                    "failed" => object["error"] = crash(),
                    _ => {}
                }
            }
        }
        object
    }

    fn looked_at(&self, id: &str) {
        let mut tasks = self.tasks.lock().unwrap();
        let task = tasks.get_mut(id).unwrap();
        task.looks += 1;
        if task.looks > 1 && *task.status.borrow() == "working" && task.end != "idle" {
            task.finish(self.era);
        }
    }

    /// The task learns what it wanted to know, and ends.
    pub fn answered(&self, id: &str, answer: Value) {
        let mut tasks = self.tasks.lock().unwrap();
        let task = tasks.get_mut(id).unwrap();
        task.answer = Some(answer);
        task.finish(self.era);
    }
}

impl Task {
    fn finish(&self, era: Era) {
        self.status.send_replace(match (self.end.as_str(), era) {
            ("crash", _) => "failed",
            // The older form calls a tool's own mistake a failure of the task.
            ("mistake", Era::Legacy) => "failed",
            _ => "completed",
        });
    }

    fn result(&self, era: Era) -> Value {
        let text = match &self.answer {
            Some(answer) => answer["content"]["name"].as_str().unwrap_or("nobody").to_owned(),
            None => "done".to_owned(),
        };
        let mut result = json!({ "content": [{ "type": "text", "text": text }] });
        if self.end == "mistake" {
            result["isError"] = json!(true);
        }
        if era == Era::Modern {
            result["resultType"] = json!("complete");
        }
        result
    }
}

fn asks(end: &str) -> bool {
    ["ask", "sample"].contains(&end)
}

fn question(end: &str) -> Value {
    if end == "sample" {
        return json!({ "method": "sampling/createMessage",
            "params": { "messages": [], "maxTokens": 1 } });
    }
    json!({ "method": "elicitation/create", "params": { "message": "Who?",
        "requestedSchema": { "type": "object", "properties": { "name": { "type": "string" } } } } })
}

fn crash() -> Value {
    json!({ "code": -32050, "message": "it broke", "data": { "why": 1 } })
}

fn error(code: i32, data: Value) -> Value {
    json!({ "error": { "code": code, "message": "refused", "data": data } })
}

impl Line {
    /// The result, or an object with an `error`.
    async fn answer(&self, message: &Value) -> Value {
        let (worker, params) = (&self.worker, &message["params"]);
        let method = message["method"].as_str().unwrap();
        match method {
            "initialize" => json!({ "protocolVersion": "2025-11-25",
                "capabilities": worker.capabilities(), "serverInfo": { "name": "w", "version": "1" } }),
            "server/discover" => json!({ "resultType": "complete", "ttlMs": 0,
                "cacheScope": "private", "supportedVersions": ["2026-07-28"],
                "capabilities": worker.capabilities(),
                "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "w", "version": "1" } } }),
            "tools/list" => json!({ "tools": worker.tools(), "resultType": "complete",
                "ttlMs": 0, "cacheScope": "private" }),
            "tools/call" => self.call(params),
            _ if !worker.tasks.lock().unwrap().contains_key(id(params)) => {
                error(-32602, Value::Null)
            }
            "tasks/get" => {
                worker.looked_at(id(params));
                worker.task(id(params))
            }
            "tasks/result" => self.outcome(id(params)).await,
            "tasks/update" => {
                worker.answered(id(params), params["inputResponses"]["who"].clone());
                json!({ "resultType": "complete" })
            }
            "tasks/cancel" => self.cancel(id(params)),
            _ => error(-32601, Value::Null),
        }
    }

    fn call(&self, params: &Value) -> Value {
        let meta = &params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        let declared = meta["extensions"].get(EXTENSION).is_some();
        let missing = json!({ "requiredCapabilities": { "extensions": { EXTENSION: {} } } });
        let name = params["name"].as_str().unwrap();
        let wants = match self.worker.era {
            Era::Legacy => params.get("task").is_some(),
            Era::Modern => declared,
        };
        match (name, wants) {
            ("quick", true) if self.worker.era == Era::Legacy => error(-32601, Value::Null),
            ("quick", _) | ("work", false) => {
                json!({ "resultType": "complete", "content": [{ "type": "text", "text": "at once" }] })
            }
            ("must", false) if self.worker.era == Era::Legacy => error(-32601, Value::Null),
            ("must", false) => error(-32021, missing),
            _ => self.worker.begin(&params["arguments"]),
        }
    }

    fn cancel(&self, id: &str) -> Value {
        let tasks = self.worker.tasks.lock().unwrap();
        let over = ["completed", "failed", "cancelled"].contains(&*tasks[id].status.borrow());
        match (over, self.worker.era) {
            (true, Era::Legacy) => return error(-32602, Value::Null),
            (true, Era::Modern) => {}
            (false, _) => {
                tasks[id].status.send_replace("cancelled");
            }
        }
        drop(tasks);
        match self.worker.era {
            Era::Legacy => self.worker.task(id),
            Era::Modern => json!({ "resultType": "complete" }),
        }
    }

    /// `tasks/result`: blocks, and asks what the task wants to know.
    async fn outcome(&self, id: &str) -> Value {
        self.worker.looked_at(id);
        self.worker.looked_at(id);
        let mut status = self.worker.tasks.lock().unwrap()[id].status.subscribe();
        if *status.borrow() == "input_required" {
            let answer = self.ask(id).await;
            self.worker.answered(id, answer);
        }
        let over = |status: &&str| !["working", "input_required"].contains(status);
        let over = status.wait_for(over).await.map(|status| *status).unwrap();
        let tasks = self.worker.tasks.lock().unwrap();
        match (over, tasks[id].end.as_str()) {
            ("cancelled", _) => error(-32603, Value::Null),
            (_, "crash") => json!({ "error": crash() }),
            _ => {
                let mut result = tasks[id].result(Era::Legacy);
                result["_meta"] = json!({ RELATED: { "taskId": id } });
                result
            }
        }
    }

    async fn ask(&self, id: &str) -> Value {
        let end = self.worker.tasks.lock().unwrap()[id].end.clone();
        let mut request = question(&end);
        request["jsonrpc"] = json!("2.0");
        request["id"] = json!(format!("ask-{id}"));
        request["params"]["_meta"] = json!({ RELATED: { "taskId": id } });
        let (send, answer) = oneshot::channel();
        self.answers.lock().unwrap().insert(format!("ask-{id}"), send);
        let _ = self.send.send(request);
        answer.await.unwrap_or(Value::Null)
    }

    async fn take(self, message: Value) {
        if message.get("method").is_none() {
            let id = message["id"].as_str().unwrap_or_default();
            if let Some(answer) = self.answers.lock().unwrap().remove(id) {
                let _ = answer.send(message["result"].clone());
            }
            return;
        }
        if message.get("id").is_none() {
            return;
        }
        let mut answer = json!({ "jsonrpc": "2.0", "id": message["id"] });
        let result = self.answer(&message).await;
        match result.get("error") {
            Some(error) if result.get("status").is_none() => answer["error"] = error.clone(),
            _ => answer["result"] = result,
        }
        let _ = self.send.send(answer);
    }
}

fn id(params: &Value) -> &str {
    params["taskId"].as_str().unwrap_or_default()
}

impl BuiltInServer for Worker {
    fn era(&self) -> Era {
        self.era
    }

    fn serve(&self, pipe: DuplexStream) {
        let (input, mut output) = tokio::io::split(pipe);
        let (send, mut waiting) = mpsc::unbounded_channel::<Value>();
        self.connections.lock().unwrap().push(send.clone());
        let writer = tokio::spawn(async move {
            while let Some(message) = waiting.recv().await {
                if output.write_all(format!("{message}\n").as_bytes()).await.is_err() {
                    return;
                }
            }
        });
        let line = Line { worker: self.clone(), send, answers: Arc::default() };
        let reader = tokio::spawn(async move {
            let mut lines = BufReader::new(input).lines();
            while let Ok(Some(text)) = lines.next_line().await {
                let message: Value = serde_json::from_str(&text).unwrap();
                line.worker.seen.lock().unwrap().push(message.clone());
                tokio::spawn(line.clone().take(message));
            }
        });
        self.ends.lock().unwrap().extend([writer.abort_handle(), reader.abort_handle()]);
    }
}
