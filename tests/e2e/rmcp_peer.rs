//! The official Rust SDK as a client peer: plays a plan (see `plan`) in this process.
//!
//! Requests are built from JSON and results turned back into it: the SDK's own types decide what
//! it can read and write, and the report looks like the other peers'. Calls go through the SDK's
//! helpers, which answer the questions of the modern era too.

// The protocol calls sampling deprecated from its next revision on; this one still has it.
#![expect(deprecated, reason = "sampling is tested for the revisions that have it")]

use std::sync::Mutex;
use std::time::Duration;

use rmcp::model::{
    ClientConfig, ClientRequest, CreateMessageRequestParams, CreateMessageResult,
    ElicitRequestParams, ElicitResult, ErrorData, ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{
    NotificationContext, Peer, PeerRequestOptions, RequestContext, RoleClient, RunningService,
    ServiceError,
};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::Notify;

/// Longer than anything a plan waits for.
const STEP: Duration = Duration::from_secs(45);

/// Plays a plan.
pub fn play(plan: &Value) -> Value {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let service = connect(plan).await;
        let mut steps = Vec::new();
        for step in plan["steps"].as_array().unwrap() {
            steps.push(played(&service, step).await);
        }
        let asked = std::mem::take(&mut service.service().seen.lock().unwrap().asked);
        let revision = service.peer_info().map(|server| server.protocol_version.clone());
        service.cancel().await.unwrap();
        json!({"steps": steps, "asked": asked, "revision": revision})
    })
}

type Service = RunningService<RoleClient, Answering>;

async fn connect(plan: &Value) -> Service {
    let handler = Answering {
        answers: plan["answers"].clone(),
        seen: Mutex::default(),
        progressed: Notify::new(),
    };
    let lifecycle = match plan["era"].as_str().unwrap() {
        "modern" => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
        _ => ClientLifecycleMode::Initialize,
    };
    if let Some(url) = plan["http"].as_str() {
        let transport = StreamableHttpClientTransport::from_uri(url.to_owned());
        return handler.serve_with_lifecycle(transport, lifecycle).await.unwrap();
    }
    let words: Vec<String> = serde_json::from_value(plan["stdio"].clone()).unwrap();
    let mut command = tokio::process::Command::new(&words[0]);
    command.args(&words[1..]);
    let transport = TokioChildProcess::new(command).unwrap();
    handler.serve_with_lifecycle(transport, lifecycle).await.unwrap()
}

/// Answers as the plan says and remembers what it saw.
struct Answering {
    answers: Value,
    seen: Mutex<Seen>,
    progressed: Notify,
}

#[derive(Default)]
struct Seen {
    asked: Vec<Value>,
    progress: Vec<Value>,
}

impl Answering {
    fn answer<R: DeserializeOwned>(
        &self,
        method: &str,
        params: &impl Serialize,
        key: &str,
    ) -> Result<R, ErrorData> {
        let params = serde_json::to_value(params).unwrap();
        self.seen.lock().unwrap().asked.push(json!({"method": method, "params": params}));
        Ok(serde_json::from_value(self.answers[key].clone()).unwrap())
    }

    async fn first_progress(&self) {
        // A wake-up may be left over from an earlier call, so the list decides.
        while self.seen.lock().unwrap().progress.is_empty() {
            self.progressed.notified().await;
        }
    }
}

impl ClientHandler for Answering {
    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.answer("sampling/createMessage", &params, "sampling")
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.answer("elicitation/create", &params, "elicitation")
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let mut report = serde_json::to_value(&params).unwrap();
        report.as_object_mut().unwrap().remove("progressToken");
        self.seen.lock().unwrap().progress.push(report);
        self.progressed.notify_one();
    }

    fn get_info(&self) -> ClientConfig {
        let opening = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"sampling": {}, "elicitation": {}, "roots": {}},
            "clientInfo": {"name": "rmcp-peer", "version": "1"},
        });
        serde_json::from_value(opening).unwrap()
    }
}

/// A step that hangs is reported like one that failed.
async fn played(service: &Service, step: &Value) -> Value {
    let Ok(outcome) = tokio::time::timeout(STEP, outcome(service, step)).await else {
        return json!({"error": {"code": null, "message": format!("nothing within {STEP:?}")}});
    };
    outcome.unwrap_or_else(|error| match error {
        ServiceError::McpError(error) => json!({"error": error}),
        other => json!({"error": {"code": null, "message": other.to_string()}}),
    })
}

async fn outcome(service: &Service, step: &Value) -> Result<Value, ServiceError> {
    match step["do"].as_str().unwrap() {
        "list" => listed(service.peer(), step).await,
        "call" => called(service, step).await,
        "cancel" => cancelled(service, step).await,
        "read" => {
            let params = serde_json::from_value(json!({"uri": step["uri"]})).unwrap();
            Ok(json!({"result": service.read_resource(params).await?}))
        }
        "prompt" => {
            let params = serde_json::from_value(of_name(step)).unwrap();
            Ok(json!({"result": service.get_prompt(params).await?}))
        }
        other => panic!("no step `{other}`"),
    }
}

async fn listed(peer: &Peer<RoleClient>, step: &Value) -> Result<Value, ServiceError> {
    let wanted = step["until"].as_array().unwrap();
    let tools = loop {
        let names = every_page(peer, "tools", "name").await?;
        if wanted.iter().all(|name| names.contains(name)) {
            break names;
        }
        // Servers behind a gateway may still be starting when we are already connected.
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    let resources = every_page(peer, "resources", "uri").await?;
    let prompts = every_page(peer, "prompts", "name").await?;
    Ok(json!({"tools": tools, "resources": resources, "prompts": prompts}))
}

async fn every_page(
    peer: &Peer<RoleClient>,
    list: &str,
    key: &str,
) -> Result<Vec<Value>, ServiceError> {
    let mut names = Vec::new();
    let mut params = json!({});
    loop {
        let page = sent(peer, &format!("{list}/list"), params).await?;
        let entries = page["result"][list].as_array().unwrap();
        names.extend(entries.iter().map(|entry| entry[key].clone()));
        match &page["result"]["nextCursor"] {
            Value::Null => return Ok(names),
            cursor => params = json!({"cursor": cursor}),
        }
    }
}

async fn called(service: &Service, step: &Value) -> Result<Value, ServiceError> {
    service.service().seen.lock().unwrap().progress.clear();
    let params = serde_json::from_value(of_name(step)).unwrap();
    let result = service.call_tool(params).await?;
    let progress = service.service().seen.lock().unwrap().progress.clone();
    Ok(json!({"result": result, "progress": progress}))
}

async fn cancelled(service: &Service, step: &Value) -> Result<Value, ServiceError> {
    service.service().seen.lock().unwrap().progress.clear();
    let call = request("tools/call", of_name(step));
    let options = PeerRequestOptions::no_options();
    let handle = service.peer().send_cancellable_request(call, options).await?;
    let patience = Duration::from_millis(step["after"].as_u64().unwrap());
    _ = tokio::time::timeout(patience, service.service().first_progress()).await;
    handle.cancel(Some("enough".to_owned())).await?;
    Ok(json!({"cancelled": true}))
}

async fn sent(peer: &Peer<RoleClient>, method: &str, params: Value) -> Result<Value, ServiceError> {
    let result = peer.send_request(request(method, params)).await?;
    Ok(json!({"result": result}))
}

fn request(method: &str, params: Value) -> ClientRequest {
    serde_json::from_value(json!({"method": method, "params": params})).unwrap()
}

fn of_name(step: &Value) -> Value {
    json!({"name": step["name"], "arguments": step["arguments"]})
}
