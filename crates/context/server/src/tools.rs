//! The tools of the tools server, one file per tool.
//!
//! A tool parses its arguments, runs a search or an extraction, and returns the result twice: as
//! structured data that fits its output schema, and as text with every quotation between marks.

mod ask;
mod decisions;
mod extraction_scope;
mod grounded_answer;
mod ingest;
mod ingest_permissions;
mod joined_passages;
mod meeting;
mod open_loops;
mod pack;
pub(crate) mod recall;
pub(crate) mod schema;

use serde_json::{Value, json};
use toolgate_host::local::{Tool, ToolCall, ToolOutput};

pub use ingest_permissions::IngestPermissions;

use crate::service::ContextService;

/// Returns all tools.
pub(crate) fn all(service: &ContextService, permissions: IngestPermissions) -> Vec<Tool> {
    vec![
        ask::tool(service),
        ingest::tool(service, permissions),
        pack::tool(service),
        open_loops::tool(service),
        decisions::tool(service),
        grounded_answer::tool(service),
        recall::tool(service),
        meeting::tool(service),
    ]
}

/// Returns a tool that only reads.
fn read_only_tool<F, A>(
    service: &ContextService,
    name: &str,
    description: &str,
    input: Value,
    function: F,
) -> Tool
where
    F: Fn(ContextService, ToolCall) -> A + Send + Sync + 'static,
    A: Future<Output = Result<ToolOutput, String>> + Send + 'static,
{
    let service = service.clone();
    let tool = Tool::new(name, description, input, move |call| function(service.clone(), call));
    tool.annotations(json!({ "readOnlyHint": true, "openWorldHint": false }))
}
