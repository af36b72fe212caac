//! What a dialect reader is given and what it gives back.
//!
//! The set of dialects is closed here: a new one is a new file, a variant and its lines below.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolgate_model::{Diagnostic, Origin, Prefix, Scope, ServerSpec};

use crate::Interpolation;

/// The file a text came from: for origins, relative paths and what its scope may say.
#[derive(Debug, Clone)]
pub struct FileRef {
    /// Where it lies; absolute, so that relative paths inside it have one meaning.
    pub path: Arc<PathBuf>,
    /// Whose word it is.
    pub scope: Scope,
}

impl FileRef {
    /// Names a file.
    pub fn new(path: impl Into<PathBuf>, scope: Scope) -> Self {
        Self { path: Arc::new(path.into()), scope }
    }

    /// The folder relative paths are resolved against.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// A place in this file.
    pub fn origin(&self, line: u32, column: u32) -> Origin {
        Origin { scope: self.scope, file: Some(Arc::clone(&self.path)), line, column }
    }
}

/// A server as one file declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// The server, its variables not yet expanded.
    pub spec: ServerSpec,
    /// Where its entry begins.
    pub origin: Origin,
    /// How variables are written in it.
    pub interpolation: Interpolation,
}

/// What one file says beside its servers; what it leaves out is for a farther file to say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// What `roots/list` answers, as written.
    pub roots: Option<Vec<PathBuf>>,
    /// When exposed names carry their server's name.
    pub prefix: Option<Prefix>,
}

/// Everything one file says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reading {
    /// The servers that could be understood, in the file's order.
    pub servers: Vec<Declared>,
    /// What it says beside them.
    pub settings: Settings,
    /// What is wrong with it, in the file's order.
    pub diagnostics: Vec<Diagnostic>,
}

/// A way of writing servers down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Ours: `toolgate.toml`, and the user's and the system's `config.toml`.
    Toolgate,
    /// `.mcp.json`, as Claude Code and others read it.
    McpJson,
}

impl Dialect {
    /// The dialect of a file that is named explicitly: by its extension, else by its first
    /// character.
    pub fn of(path: &Path, text: &str) -> Self {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("toml") => Self::Toolgate,
            Some("json" | "jsonc") => Self::McpJson,
            _ if text.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '/']) => {
                Self::McpJson
            }
            _ => Self::Toolgate,
        }
    }

    /// The name people know it by.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Toolgate => "toolgate",
            Self::McpJson => ".mcp.json",
        }
    }

    /// Whether it is our own: ours wins over a foreign file in the same place.
    pub fn is_ours(self) -> bool {
        matches!(self, Self::Toolgate)
    }

    /// Reads a text in this dialect.
    pub fn read(self, text: &str, at: &FileRef) -> Reading {
        match self {
            Self::Toolgate => crate::toolgate(text, at),
            Self::McpJson => crate::mcp_json(text, at),
        }
    }
}
