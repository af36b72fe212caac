//! Views of tool definitions.

use super::ObjectView;

/// A server's claims about the behaviour of a tool. They may be wrong.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolHints {
    /// `readOnlyHint`.
    pub read_only: Option<bool>,
    /// `destructiveHint`.
    pub destructive: Option<bool>,
    /// `idempotentHint`.
    pub idempotent: Option<bool>,
}

impl ToolHints {
    /// Reads the `annotations` of a raw tool definition.
    pub fn of(definition: &[u8]) -> Self {
        let notes = ObjectView::of(definition).and_then(|tool| tool.object("annotations"));
        let hint = |key| notes.and_then(|notes| notes.flag(key));
        Self {
            read_only: hint("readOnlyHint"),
            destructive: hint("destructiveHint"),
            idempotent: hint("idempotentHint"),
        }
    }
}

/// How a tool may be called as a task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TaskSupport {
    /// The tool cannot run as a task; the default.
    #[default]
    Forbidden,
    /// The client chooses.
    Optional,
    /// The tool must run as a task.
    Required,
}

impl TaskSupport {
    /// Reads `execution.taskSupport` of a raw tool definition.
    pub fn of(definition: &[u8]) -> Self {
        let execution = ObjectView::of(definition).and_then(|tool| tool.object("execution"));
        match execution.and_then(|execution| execution.text("taskSupport")).as_deref() {
            Some("required") => Self::Required,
            Some("optional") => Self::Optional,
            _ => Self::Forbidden,
        }
    }
}
