//! Detects which task format a peer supports.

use bytes::Bytes;
use toolgate_wire::meta::TASKS_EXTENSION;
use toolgate_wire::{Era, JsonEdit, Revision, Span, code, scan};

/// A wire format of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskFormat {
    /// The format of 2025-11-25, where tasks belong to a session.
    Session,
    /// The format of the extension to 2026-07-28.
    Extension,
}

impl TaskFormat {
    /// Returns the format in which a server runs tool calls as tasks, from its declared
    /// capabilities.
    pub fn of_server(revision: Revision, capabilities: &[u8]) -> Option<Self> {
        let has = |path: &[&str]| scan::pointer(capabilities, path).is_some();
        match revision.era() {
            Era::Legacy if !revision.has_core_tasks() => None,
            Era::Legacy => has(&["tasks", "requests", "tools", "call"]).then_some(Self::Session),
            Era::Modern => has(&["extensions", TASKS_EXTENSION]).then_some(Self::Extension),
        }
    }

    /// Returns the format that a client supports, from its revision and declared capabilities.
    pub fn of_client(revision: Revision, capabilities: &[u8]) -> Option<Self> {
        match revision.era() {
            Era::Legacy => revision.has_core_tasks().then_some(Self::Session),
            Era::Modern => {
                let declared = scan::pointer(capabilities, &["extensions", TASKS_EXTENSION]);
                declared.map(|_| Self::Extension)
            }
        }
    }
}

/// Adds the extension to client capabilities.
pub fn declare_extension(capabilities: &Bytes) -> Bytes {
    let whole = Span::of_object(capabilities);
    let edited = match scan::member(capabilities, "extensions") {
        Some(extensions) => {
            JsonEdit::new(capabilities).set_member(extensions, TASKS_EXTENSION, b"{}").finish()
        }
        None => {
            let extensions = format!("{{\"{TASKS_EXTENSION}\":{{}}}}");
            JsonEdit::new(capabilities).insert_member(whole, "extensions", extensions).finish()
        }
    };
    // Capabilities that are not an object declare nothing.
    edited.unwrap_or_else(|_| format!("{{\"extensions\":{{\"{TASKS_EXTENSION}\":{{}}}}}}").into())
}

/// Returns the `data` of the error that tells a modern client to declare the extension.
pub fn missing_capability_data() -> Bytes {
    format!("{{\"requiredCapabilities\":{{\"extensions\":{{\"{TASKS_EXTENSION}\":{{}}}}}}}}").into()
}

/// Returns true if an error object reports that the extension was not declared.
pub fn is_missing_tasks_error(error: &[u8]) -> bool {
    let code = scan::member(error, "code").map(|span| span.slice(error));
    let path = ["data", "requiredCapabilities", "extensions", TASKS_EXTENSION];
    code == Some(code::MISSING_CLIENT_CAPABILITY.to_string().as_bytes())
        && scan::pointer(error, &path).is_some()
}

/// Returns a tool definition that allows tasks, for a client of `revision` and a server that uses
/// the extension's format, where every tool may become a task. Returns `None` if the definition
/// stays unchanged.
pub fn mark_task_support(
    definition: &[u8],
    server: Option<TaskFormat>,
    revision: Revision,
) -> Option<Bytes> {
    if !revision.has_core_tasks() || server != Some(TaskFormat::Extension) {
        return None;
    }
    let optional = r#"{"taskSupport":"optional"}"#;
    JsonEdit::new(definition)
        .set_member(Span::of_object(definition), "execution", optional)
        .finish()
        .ok()
}
