//! The ordinary server under every mode: two tools and correct answers. It handles everything that
//! a mode does not replace.

use bytes::Bytes;
use serde_json::{Value, json};

use super::context::HookContext;

const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The ordinary answer to the scene's request.
pub(super) fn answer(scene: &HookContext) -> Bytes {
    match scene.request.method.as_deref().unwrap_or_default() {
        "initialize" => scene.result(&opening(&scene.request.params)),
        "ping" | "logging/setLevel" => scene.result(&json!({})),
        "tools/list" => scene.tools(&tools()),
        "tools/call" => call(scene),
        _ => failure(scene, -32601, "no such method"),
    }
}

/// The two tools of every mode.
pub(super) fn tools() -> [Value; 2] {
    [
        tool("echo", "Returns the text it was given."),
        tool("trigger", "Starts what this server's mode does at calls."),
    ]
}

/// A tool that takes a text.
pub(super) fn tool(name: &str, description: &str) -> Value {
    json!({
        "name": name,
        "description": description,
        "inputSchema": { "type": "object", "properties": { "text": { "type": "string" } } },
    })
}

fn opening(params: &Value) -> Value {
    let asked = params["protocolVersion"].as_str().unwrap_or_default();
    let version = LEGACY.into_iter().find(|known| *known == asked).unwrap_or("2025-11-25");
    json!({
        "protocolVersion": version,
        "capabilities": { "tools": { "listChanged": true }, "logging": {} },
        "serverInfo": { "name": "toolgate-hostile", "version": env!("CARGO_PKG_VERSION") },
    })
}

fn call(scene: &HookContext) -> Bytes {
    match scene.request.params["name"].as_str() {
        Some("echo") => scene.text(scene.argument("text").as_str().unwrap_or_default()),
        Some("trigger") => scene.text("triggered"),
        _ => failure(scene, -32602, "no such tool"),
    }
}

fn failure(scene: &HookContext, code: i32, message: &str) -> Bytes {
    let error = json!({ "code": code, "message": message });
    Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, scene.id()))
}
