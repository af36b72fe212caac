//! What requests offered, one JSON object per line.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use serde_json::json;

use super::script::{Conversation, Tool};

/// The file that requests are written down in.
pub(super) struct Record(File);

impl Record {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        File::create(path).map(Self)
    }

    /// Writes a request down, before it is answered.
    pub(super) fn add(&self, path: &str, conversation: &Conversation) -> io::Result<()> {
        let tools: Vec<_> = conversation.tools.iter().map(Tool::full_name).collect();
        let line = json!({ "path": path, "tools": tools, "results": conversation.results });
        (&self.0).write_all(format!("{line}\n").as_bytes())
    }
}
