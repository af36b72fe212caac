//! The dialects, one file each: how an entry is read and written.

pub(crate) mod claude_code;
pub(crate) mod claude_desktop;
pub(crate) mod cline;
pub(crate) mod codex;
pub(crate) mod continue_dev;
pub(crate) mod copilot;
pub(crate) mod core_agent;
pub(crate) mod cursor;
pub(crate) mod gemini;
pub(crate) mod goose;
pub(crate) mod mcp_json;
pub(crate) mod nyzhi;
pub(crate) mod opencode;
pub(crate) mod second_brain;
pub(crate) mod sidekick;
pub(crate) mod toolgate;
pub(crate) mod vscode;
pub(crate) mod windsurf;
pub(crate) mod zed;
