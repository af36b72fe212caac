//! `recall`: passages that fit.

use serde_json::Value;
use toolgate_host::local::{Output, Tool};

use super::{reading, schema};
use crate::arguments::Arguments;
use crate::desk::Desk;
use crate::passage::marked;

pub(super) fn tool(desk: &Desk) -> Tool {
    named(
        desk,
        &desk.names.tool("recall"),
        "Find passages in the user's documents that fit a query, best first, each whole, with its \
         source, place, time, score and trust. For reading what was written; to get an answer, use \
         the tools that answer.",
    )
    .title("Recall passages")
}

/// The tool under another name and description.
pub(crate) fn named(desk: &Desk, name: &str, description: &str) -> Tool {
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
    reading(desk, name, description, input, |desk, call| async move {
        run(&desk, &call.arguments).await
    })
    .output_schema(output)
}

async fn run(desk: &Desk, arguments: &Value) -> Result<Output, String> {
    let arguments = Arguments(arguments);
    let (query, limit) = (arguments.query("query")?, arguments.limit()?);
    let found = desk.find(query, limit).await?;
    let notice = found.notice();
    let text = match found.passages.len() {
        0 => notice,
        _ => format!("{notice}\n\n{}", marked(&found.passages)),
    };
    Ok(Output::Both { text, structured: found.data(query) })
}
