//! `recall`: passages that match a query.

use serde_json::Value;
use toolgate_host::local::{Tool, ToolOutput};

use super::{read_only_tool, schema};
use crate::arguments::ToolArguments;
use crate::service::ContextService;

pub(super) fn tool(service: &ContextService) -> Tool {
    tool_named(
        service,
        &service.names.tool_name("recall"),
        "Find passages in the user's documents that fit a query, best first, each whole, with its \
         source, place, time, score and trust. For reading what was written; to get an answer, use \
         the tools that answer.",
    )
    .title("Recall passages")
}

/// Returns the tool under this name and description.
pub(crate) fn tool_named(service: &ContextService, name: &str, description: &str) -> Tool {
    let input = schema::arguments(
        [
            ("query", schema::query("What to look for: words, a name, or a question")),
            ("limit", schema::limit("passages")),
        ],
        &["query"],
    );
    let output = schema::object([
        ("query", schema::text("What was looked for")),
        ("passages", schema::list(schema::passage(), "The passages that fit, best first")),
        schema::notice(),
    ]);
    read_only_tool(service, name, description, input, |service, call| async move {
        run(&service, &call.arguments).await
    })
    .output_schema(output)
}

async fn run(service: &ContextService, arguments: &Value) -> Result<ToolOutput, String> {
    let arguments = ToolArguments(arguments);
    let (query, limit) = (arguments.query("query")?, arguments.limit()?);
    let found = service.search(query, limit).await?;
    Ok(ToolOutput::Both { text: found.to_text(), structured: found.to_json(query) })
}
