//! The ordinary server under every mode: two tools, correct answers.
//!
//! It does NOT misbehave; whatever a mode does not replace, a client meets here.

use bytes::Bytes;
use serde_json::{Value, json};

use super::scene::Scene;

const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The ordinary answer to the scene's request.
pub(super) fn answer(scene: &Scene) -> Bytes {
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

fn call(scene: &Scene) -> Bytes {
    match scene.request.params["name"].as_str() {
        Some("echo") => scene.text(scene.argument("text").as_str().unwrap_or_default()),
        Some("trigger") => scene.text("triggered"),
        _ => failure(scene, -32602, "no such tool"),
    }
}

fn failure(scene: &Scene, code: i32, message: &str) -> Bytes {
    let error = json!({ "code": code, "message": message });
    Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, scene.id()))
}
