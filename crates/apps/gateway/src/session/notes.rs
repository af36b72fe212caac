//! The notifications the gateway itself sends.

use bytes::Bytes;
use serde_json::{Value, json};
use toolgate_model::CapabilityKind;
use toolgate_wire::view::LogLevel;
use toolgate_wire::{build, method};

use crate::upstreams::Caller;

/// The level of what the gateway says about the session itself.
pub(crate) const LEVEL: LogLevel = LogLevel::Info;

/// The session is ready.
pub(crate) fn ready(caller: &Caller) -> Bytes {
    log(json!({
        "event": "session-ready",
        "protocolVersion": caller.revision.as_str(),
        "client": caller.client.name,
    }))
}

/// The client wants another level of log messages.
pub(crate) fn level_set(level: LogLevel) -> Bytes {
    log(json!({ "event": "level-changed", "level": level.as_str() }))
}

fn log(data: Value) -> Bytes {
    let params = json!({ "level": LEVEL.as_str(), "logger": "toolgate", "data": data });
    build::notification(method::MESSAGE, Some(params.to_string().as_bytes()))
}

/// What is listed has changed.
pub(crate) fn list_changed(kind: CapabilityKind) -> Bytes {
    build::notification(list_changed_method(kind), None)
}

/// The notification that says so.
pub(crate) fn list_changed_method(kind: CapabilityKind) -> &'static str {
    match kind {
        // No list holds methods; what a server can do has changed.
        CapabilityKind::Tool | CapabilityKind::Method => method::TOOLS_LIST_CHANGED,
        CapabilityKind::Prompt => method::PROMPTS_LIST_CHANGED,
        CapabilityKind::Resource | CapabilityKind::Template => method::RESOURCES_LIST_CHANGED,
    }
}
