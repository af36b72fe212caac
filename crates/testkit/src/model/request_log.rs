//! Logs what requests offer, one JSON object per line.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use serde_json::json;

use super::script::{ModelConversation, ModelRequestTool};

/// The log file of requests.
pub(super) struct ModelRequestLog(File);

impl ModelRequestLog {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        File::create(path).map(Self)
    }

    /// Writes a request down, before it is answered.
    pub(super) fn add(&self, path: &str, conversation: &ModelConversation) -> io::Result<()> {
        let tools: Vec<_> = conversation.tools.iter().map(ModelRequestTool::full_name).collect();
        let line = json!({ "path": path, "tools": tools, "results": conversation.results });
        (&self.0).write_all(format!("{line}\n").as_bytes())
    }
}
