//! Serves a local server's parts on lines: the server's side of a legacy session, kept small.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::AbortHandle;
use toolgate_transport::line::{LineReader, LineSender, writer};
use toolgate_transport::spool::BodyLimits;
use toolgate_wire::{Frame, Kind, Limits, OwnedId, Revision, build, code, method};

use super::Parts;

/// Calls under way, by the client's id.
type Running = Arc<Mutex<HashMap<OwnedId, AbortHandle>>>;

/// Serves until the input ends.
pub(super) async fn serve<R, W>(parts: Arc<Parts>, input: R, output: W)
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (out, work) = writer(output);
    let writing = tokio::spawn(work);
    let mut lines = LineReader::new(input, BodyLimits::default());
    let running = Running::default();
    while let Ok(Some(line)) = lines.next().await {
        match Frame::parse(line, &Limits::default()) {
            Ok(frame) => take(&parts, &out, &running, frame),
            Err(error) => {
                let id = error.id().map(|id| id.raw().to_owned());
                send(&out, build::failure(id.as_deref(), error.code(), &error.message(), None));
            }
        }
    }
    drop(out);
    let _ = writing.await;
}

fn send(out: &LineSender, message: bytes::Bytes) {
    // A client that is gone wants no answer.
    let _ = out.send(message);
}

fn take(parts: &Arc<Parts>, out: &LineSender, running: &Running, frame: Frame) {
    match frame.kind() {
        Kind::Request => {
            let Some(id) = frame.id().map(|id| id.to_owned()) else { return };
            let (parts, out, open) = (parts.clone(), out.clone(), running.clone());
            let key = id.clone();
            let mut table = lock(running);
            let task = tokio::spawn(async move {
                let answer = answer(&parts, &frame).await;
                lock(&open).remove(&id);
                send(
                    &out,
                    match answer {
                        Ok(result) => build::response(id.raw(), result.to_string().as_bytes()),
                        Err((code, message)) => {
                            build::failure(Some(id.raw()), code, &message, None)
                        }
                    },
                );
            });
            table.insert(key, task.abort_handle());
        }
        Kind::Notification if frame.is(method::CANCELLED) => {
            let cancelled = frame.request_ref().map(|id| id.to_owned());
            if let Some(task) = cancelled.and_then(|id| lock(running).remove(&id)) {
                task.abort();
            }
        }
        Kind::Notification | Kind::Response | Kind::Failure => {}
    }
}

fn lock(running: &Running) -> std::sync::MutexGuard<'_, HashMap<OwnedId, AbortHandle>> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn answer(parts: &Parts, frame: &Frame) -> Result<Value, (i32, String)> {
    let params: Value =
        serde_json::from_slice(frame.params().unwrap_or(b"{}")).unwrap_or_else(|_| json!({}));
    match frame.method().unwrap_or_default().as_ref() {
        method::INITIALIZE => Ok(welcome(parts, &params)),
        method::PING => Ok(json!({})),
        method::TOOLS_LIST => {
            let tools: Vec<_> = parts.tools.iter().map(|tool| tool.definition()).collect();
            Ok(json!({ "tools": tools }))
        }
        method::TOOLS_CALL => call(parts, &params).await,
        method::RESOURCES_LIST => Ok(json!({ "resources": resources(parts) })),
        method::RESOURCES_TEMPLATES_LIST => Ok(json!({ "resourceTemplates": [] })),
        method::RESOURCES_READ => read(parts, &params),
        method::PROMPTS_LIST => Ok(json!({ "prompts": prompts(parts) })),
        method::PROMPTS_GET => prompt(parts, &params),
        other => Err((code::METHOD_NOT_FOUND, format!("unknown method: {other}"))),
    }
}

fn welcome(parts: &Parts, params: &Value) -> Value {
    let asked = params["protocolVersion"].as_str().and_then(|text| text.parse::<Revision>().ok());
    let legacy = asked.filter(|revision| *revision <= Revision::LATEST_LEGACY);
    let mut welcome = json!({
        "protocolVersion": legacy.unwrap_or(Revision::LATEST_LEGACY).as_str(),
        "capabilities": { "tools": {}, "resources": {}, "prompts": {} },
        "serverInfo": { "name": parts.name, "version": env!("CARGO_PKG_VERSION") },
    });
    if let Some(text) = &parts.instructions {
        welcome["instructions"] = json!(text);
    }
    welcome
}

async fn call(parts: &Parts, params: &Value) -> Result<Value, (i32, String)> {
    let name = params["name"].as_str().unwrap_or_default();
    let tool = parts.tools.iter().find(|tool| tool.name() == name);
    let tool = tool.ok_or_else(|| (code::INVALID_PARAMS, format!("Unknown tool: {name}")))?;
    let arguments = params.get("arguments").cloned().unwrap_or_else(|| json!({}));
    Ok(tool.run(arguments).await)
}

fn resources(parts: &Parts) -> Vec<Value> {
    let listed = parts.resources.iter().map(|it| {
        json!({ "uri": it.uri, "name": it.name, "description": it.description,
            "mimeType": it.mime_type })
    });
    listed.collect()
}

fn read(parts: &Parts, params: &Value) -> Result<Value, (i32, String)> {
    let uri = params["uri"].as_str().unwrap_or_default();
    let found = parts.resources.iter().find(|resource| resource.uri == uri);
    let found =
        found.ok_or_else(|| (code::RESOURCE_NOT_FOUND, format!("Resource not found: {uri}")))?;
    let contents = json!({ "uri": uri, "mimeType": found.mime_type, "text": found.text });
    Ok(json!({ "contents": [contents] }))
}

fn prompts(parts: &Parts) -> Vec<Value> {
    let listed = parts.prompts.iter();
    listed.map(|it| json!({ "name": it.name, "description": it.description })).collect()
}

fn prompt(parts: &Parts, params: &Value) -> Result<Value, (i32, String)> {
    let name = params["name"].as_str().unwrap_or_default();
    let found = parts.prompts.iter().find(|prompt| prompt.name == name);
    let found = found.ok_or_else(|| (code::INVALID_PARAMS, format!("Unknown prompt: {name}")))?;
    let message = json!({ "role": "user", "content": { "type": "text", "text": found.text } });
    Ok(json!({ "description": found.description, "messages": [message] }))
}
