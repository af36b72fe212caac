//! The Rust SDK `rmcp` as a server of one era or of both:
//! `rmcp_server <modern|legacy|both> <name> [--http]`.
//!
//! The same tools, resource and prompt as `server.mjs` and `server.py` beside it. Over HTTP the first
//! line of stdout is the address. It knows nothing of the gateway.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a peer of the tests: when it cannot go on, the test sees it end"
)]
#![expect(deprecated, reason = "sampling is tested for the revisions that have it")]

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CreateMessageResult,
    ElicitResult, ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    InputRequiredResult, InputResponses, ListPromptsResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer, ServiceError};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, stdio};
use rmcp::{ServerHandler, ServiceExt};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let revisions = match words[0].as_str() {
        "modern" => &[ProtocolVersion::V_2026_07_28],
        "legacy" => ProtocolVersion::known_up_to(&ProtocolVersion::V_2025_11_25),
        "both" => ProtocolVersion::KNOWN_VERSIONS,
        other => panic!("no era `{other}`"),
    };
    let server = Interviewer { revisions, name: words[1].clone() };
    if words.len() > 2 {
        listen(server).await;
    } else {
        // A client may only look which era this is and leave again.
        if let Ok(service) = server.serve(stdio()).await {
            _ = service.waiting().await;
        }
    }
}

async fn listen(server: Interviewer) {
    let config = StreamableHttpServerConfig::default();
    let sessions = Arc::<LocalSessionManager>::default();
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("http://{}/mcp", listener.local_addr().unwrap());
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let service = service.clone();
        let answer = service_fn(move |request| {
            let service = service.clone();
            async move { Ok::<_, Infallible>(service.handle(request).await) }
        });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
    }
}

#[derive(Clone)]
struct Interviewer {
    revisions: &'static [ProtocolVersion],
    name: String,
}

/// The SDK's types are read from JSON, as everybody else writes them.
fn of<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn person_form() -> Value {
    let text = json!({"type": "string"});
    json!({
        "message": "Who are you?",
        "requestedSchema": {
            "type": "object",
            "properties": {"username": text, "email": text},
            "required": ["username", "email"],
        },
    })
}

fn thought(topic: &str) -> Value {
    let content = json!({"type": "text", "text": format!("Say something about {topic}.")});
    json!({"messages": [{"role": "user", "content": content}], "maxTokens": 50})
}

fn said(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

fn refused(error: &ServiceError) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

/// A round that asks one question; what was learned before travels in the state.
fn question(method: &str, params: Value, state: &Value) -> CallToolResponse {
    let requests = of(json!({"question": {"method": method, "params": params}}));
    InputRequiredResult::new(Some(requests), Some(state.to_string())).into()
}

async fn report(context: &RequestContext<RoleServer>, step: u8) -> Result<(), ErrorData> {
    let Some(token) = context.meta.get_progress_token() else {
        return Ok(());
    };
    let mut progress = ProgressNotificationParam::new(token, f64::from(step));
    progress.total = Some(3.0);
    progress.message = Some(format!("step {step}"));
    context.peer.notify_progress(progress).await.map_err(|error| refused(&error))
}

impl Interviewer {
    /// The legacy era: both questions are requests of ours while the call runs.
    async fn interview(
        topic: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        report(context, 1).await?;
        let asked = context.peer.create_elicitation(of(person_form())).await;
        let person: ElicitResult = asked.map_err(|error| refused(&error))?;
        let sampled = context.peer.create_message(of(thought(topic))).await;
        let sampled: CreateMessageResult = sampled.map_err(|error| refused(&error))?;
        report(context, 2).await?;
        report(context, 3).await?;
        let (person, sampled) = (json!(person), json!(sampled));
        Ok(said(told(&person["content"]["username"], topic, &sampled["content"]["text"])))
    }

    /// The modern era: a round for each question.
    async fn interview_in_rounds(
        topic: &str,
        (state, answers): (Option<String>, Option<InputResponses>),
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let state: Option<Value> = state.map(|state| serde_json::from_str(&state).unwrap());
        let answer = answers.and_then(|mut answers| answers.remove("question"));
        match (state, answer) {
            (Some(Value::Object(known)), Some(thought)) => {
                report(context, 2).await?;
                report(context, 3).await?;
                Ok(said(told(&known["username"], topic, &thought["content"]["text"])))
            }
            (Some(Value::Null), Some(person)) => {
                let known = json!({"username": person["content"]["username"]});
                Ok(question("sampling/createMessage", thought(topic), &known))
            }
            (None, None) => {
                report(context, 1).await?;
                Ok(question("elicitation/create", person_form(), &Value::Null))
            }
            other => Err(ErrorData::invalid_params(format!("no such round: {other:?}"), None)),
        }
    }
}

fn told(username: &Value, topic: &str, text: &Value) -> String {
    let word = |value: &Value| value.as_str().unwrap_or("nobody").to_owned();
    format!("{} on {topic}: {}", word(username), word(text))
}

impl ServerHandler for Interviewer {
    fn get_info(&self) -> ServerConfig {
        of(json!({
            "protocolVersion": self.revisions.last(),
            "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
            "serverInfo": {"name": self.name, "version": "3"},
        }))
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(self.revisions)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = |properties: Value| json!({"type": "object", "properties": properties});
        let number = json!({"type": "number"});
        Ok(ListToolsResult::with_all_items(of(json!([
            {"name": "interview", "inputSchema": schema(json!({"topic": {"type": "string"}}))},
            {"name": "add", "inputSchema": schema(json!({"a": number, "b": number}))},
        ]))))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::from(request.arguments.unwrap_or_default());
        let topic = arguments["topic"].as_str().unwrap_or_default();
        match request.name.as_ref() {
            "interview" if context.protocol_version().is_some_and(|it| !it.has_initialize()) => {
                let round = (request.request_state, request.input_responses);
                Self::interview_in_rounds(topic, round, &context).await
            }
            "interview" => Self::interview(topic, &context).await,
            "add" => {
                let number = |name: &str| arguments[name].as_i64().unwrap_or_default();
                Ok(said((number("a") + number("b")).to_string()))
            }
            other => Err(ErrorData::invalid_params(format!("no tool `{other}`"), None)),
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let note = json!({"uri": format!("note://{}", self.name), "name": "note"});
        Ok(ListResourcesResult::with_all_items(of(json!([note]))))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let text = format!("a note of {}", self.name);
        let note = json!({"uri": request.uri, "mimeType": "text/plain", "text": text});
        Ok(ReadResourceResult::new(of(json!([note]))).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let arguments = json!([{"name": "who", "required": true}]);
        let greet = json!([{"name": "greet", "arguments": arguments}]);
        Ok(ListPromptsResult::with_all_items(of(greet)))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = Value::from(request.arguments.unwrap_or_default());
        let text = format!("Greet {}.", arguments["who"].as_str().unwrap_or("nobody"));
        let message = json!({"role": "user", "content": {"type": "text", "text": text}});
        Ok(GetPromptResult::new(of(json!([message]))).into())
    }
}
