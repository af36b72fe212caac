//! The tools face, one file per tool.
//!
//! A tool reads its arguments, lets the library and the rules do the work, and says the result twice:
//! as data by its schema, and as text in which everything that is quoted stands between marks.

mod ask;
mod decisions;
mod grounded;
mod ingest;
mod intake;
mod loops;
mod meeting;
mod pack;
pub(crate) mod recall;
pub(crate) mod schema;
mod scope;
mod sheet;

use serde_json::{Value, json};
use toolgate_host::local::{Output, Tool, ToolCall};

pub use intake::Intake;

use crate::desk::Desk;

/// All of them.
pub(crate) fn all(desk: &Desk, intake: Intake) -> Vec<Tool> {
    vec![
        ask::tool(desk),
        ingest::tool(desk, intake),
        pack::tool(desk),
        loops::tool(desk),
        decisions::tool(desk),
        grounded::tool(desk),
        recall::tool(desk),
        meeting::tool(desk),
    ]
}

/// A tool that only reads, with its function.
fn reading<F, A>(desk: &Desk, name: &str, description: &str, input: Value, function: F) -> Tool
where
    F: Fn(Desk, ToolCall) -> A + Send + Sync + 'static,
    A: Future<Output = Result<Output, String>> + Send + 'static,
{
    let desk = desk.clone();
    let tool = Tool::new(name, description, input, move |call| function(desk.clone(), call));
    tool.annotations(json!({ "readOnlyHint": true, "openWorldHint": false }))
}
