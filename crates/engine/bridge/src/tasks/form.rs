//! Which form of tasks a peer knows.

use bytes::Bytes;
use toolgate_wire::meta::TASKS_EXTENSION;
use toolgate_wire::{Era, Revision, Span, Splice, code, scan};

/// One of the two wire forms of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// That of 2025-11-25, where tasks belong to a session.
    Session,
    /// That of the extension to 2026-07-28.
    Extension,
}

impl Form {
    /// The form in which a server runs tool calls as tasks, by what it declared.
    pub fn of_server(revision: Revision, capabilities: &[u8]) -> Option<Self> {
        let has = |path: &[&str]| scan::pointer(capabilities, path).is_some();
        match revision.era() {
            Era::Legacy if !revision.core_tasks() => None,
            Era::Legacy => has(&["tasks", "requests", "tools", "call"]).then_some(Self::Session),
            Era::Modern => has(&["extensions", TASKS_EXTENSION]).then_some(Self::Extension),
        }
    }

    /// The form a client can speak, by its revision and what it declared.
    pub fn of_client(revision: Revision, capabilities: &[u8]) -> Option<Self> {
        match revision.era() {
            Era::Legacy => revision.core_tasks().then_some(Self::Session),
            Era::Modern => {
                let declared = scan::pointer(capabilities, &["extensions", TASKS_EXTENSION]);
                declared.map(|_| Self::Extension)
            }
        }
    }
}

/// Client capabilities with the extension among them.
pub fn declared(capabilities: &Bytes) -> Bytes {
    let whole = object(capabilities);
    let edited = match scan::member(capabilities, "extensions") {
        Some(extensions) => {
            Splice::new(capabilities).set_member(extensions, TASKS_EXTENSION, b"{}").finish()
        }
        None => {
            let extensions = format!("{{\"{TASKS_EXTENSION}\":{{}}}}");
            Splice::new(capabilities).insert_member(whole, "extensions", extensions).finish()
        }
    };
    // Capabilities that are no object declare nothing.
    edited.unwrap_or_else(|_| format!("{{\"extensions\":{{\"{TASKS_EXTENSION}\":{{}}}}}}").into())
}

/// The `data` of the error that tells a modern client to declare the extension.
pub fn missing_capability() -> Bytes {
    format!("{{\"requiredCapabilities\":{{\"extensions\":{{\"{TASKS_EXTENSION}\":{{}}}}}}}}").into()
}

/// Whether an error object says that the extension was not declared.
pub fn missing_tasks(error: &[u8]) -> bool {
    let said = scan::member(error, "code").map(|span| span.of(error));
    let path = ["data", "requiredCapabilities", "extensions", TASKS_EXTENSION];
    said == Some(code::MISSING_CLIENT_CAPABILITY.to_string().as_bytes())
        && scan::pointer(error, &path).is_some()
}

/// A tool definition as a client of `revision` may see it, of a server that runs tasks in the
/// extension's form: there every tool may become a task. `None` where it stays as it is.
pub fn listed(definition: &[u8], server: Option<Form>, revision: Revision) -> Option<Bytes> {
    if !revision.core_tasks() || server != Some(Form::Extension) {
        return None;
    }
    let optional = r#"{"taskSupport":"optional"}"#;
    Splice::new(definition).set_member(object(definition), "execution", optional).finish().ok()
}

/// The place of the object that `bytes` hold.
pub(super) fn object(bytes: &[u8]) -> Span {
    let start = bytes.iter().position(|&byte| byte == b'{').unwrap_or(0);
    let end = bytes.iter().rposition(|&byte| byte == b'}').map_or(0, |last| last + 1);
    Span::new(start, end)
}
