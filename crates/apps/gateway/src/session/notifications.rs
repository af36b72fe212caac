//! The notifications that the gateway itself sends.

use bytes::Bytes;
use serde_json::{Value, json};
use toolgate_host::Caller;
use toolgate_model::CapabilityKind;
use toolgate_wire::view::LogLevel;
use toolgate_wire::{build, method};

/// The level of the gateway's own log messages about the session.
pub(crate) const LOG_LEVEL: LogLevel = LogLevel::Info;

/// Returns the log message for a session that is ready.
pub(crate) fn session_ready(caller: &Caller) -> Bytes {
    log(json!({
        "event": "session-ready",
        "protocolVersion": caller.revision.as_str(),
        "client": caller.client.name,
    }))
}

/// Returns the log message for a changed log level.
pub(crate) fn level_changed(level: LogLevel) -> Bytes {
    log(json!({ "event": "level-changed", "level": level.as_str() }))
}

fn log(data: Value) -> Bytes {
    let params = json!({ "level": LOG_LEVEL.as_str(), "logger": "toolgate", "data": data });
    build::notification(method::MESSAGE, Some(params.to_string().as_bytes()))
}

/// Returns the notification for a changed list.
pub(crate) fn list_changed(kind: CapabilityKind) -> Bytes {
    build::notification(list_changed_method(kind), None)
}

/// Returns the method of the notification for a changed list.
pub(crate) fn list_changed_method(kind: CapabilityKind) -> &'static str {
    match kind {
        // No list contains methods. This reports that the server's capabilities have changed.
        CapabilityKind::Tool | CapabilityKind::Method => method::TOOLS_LIST_CHANGED,
        CapabilityKind::Prompt => method::PROMPTS_LIST_CHANGED,
        CapabilityKind::Resource | CapabilityKind::Template => method::RESOURCES_LIST_CHANGED,
    }
}
