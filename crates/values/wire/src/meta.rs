//! The keys of `_meta` that the specification itself gives a meaning, and which of them belong to
//! one hop only.

use crate::{Frame, scan};

/// The revision a modern request speaks.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// What the client behind a modern request can do.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// What the client behind a modern request calls itself.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// The least level of log lines a modern request wants.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// What a modern server calls itself, on its results.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// The listen request a modern notification belongs to.
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// The task an answer or a question belongs to (2025-11-25).
pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
/// The tasks extension of 2026-07-28, as it is named among `extensions`.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// What a modern request says of itself; a server of an older revision must not see it.
pub const ENVELOPE: [&str; 4] = [PROTOCOL_VERSION, CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL];

/// Whether a message claims to be modern, rightly or not.
pub fn is_enveloped(frame: &Frame) -> bool {
    let Some(meta) = frame.meta_span() else { return false };
    scan::member(meta.of(frame.bytes()), PROTOCOL_VERSION).is_some()
}
