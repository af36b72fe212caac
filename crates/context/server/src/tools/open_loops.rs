//! `open_loops`: open tasks, unanswered questions, and promises.

use serde_json::{Value, json};
use toolgate_extraction::{OpenLoop, OpenLoopKind, PassageSpan, extract_open_loops};
use toolgate_host::local::{Tool, ToolOutput};

use super::extraction_scope::{self, ExtractedItem, ExtractionScope};
use super::{read_only_tool, schema};
use crate::cite::{PassageQuote, details_text, source_passages, span_text};
use crate::service::ContextService;

pub(super) fn tool(service: &ContextService) -> Tool {
    read_only_tool(
        service,
        &service.names.tool_name("open_loops"),
        "Find what is still open in the user's documents: unfinished tasks, unanswered questions and \
         promises, with owner and due date where they are stated, each quoted verbatim and cited.",
        extraction_scope::input("open things"),
        |service, call| async move { run(&service, &call.arguments).await },
    )
    .title("Find open loops")
    .output_schema(output())
}

fn output() -> Value {
    let kind = schema::one_of(&["task", "question", "promise"], "What kind of thing is open");
    let mut open = schema::quote();
    open.push(("kind", kind));
    open.extend(detail_schemas());
    extraction_scope::output(("loops", schema::list(schema::object(open), "What is open")))
}

/// Returns the schemas of a task's details.
pub(super) fn detail_schemas() -> [(&'static str, Value); 3] {
    [
        ("owner", schema::optional_text("Who is responsible, where that is stated")),
        ("due", schema::optional_text("When it is due, in the words it is stated in")),
        ("date", schema::optional_text("The same as YYYY-MM-DD, where a whole date is stated")),
    ]
}

/// Returns an open loop and what is stated about it, in the words of the passages. The actions of
/// a meeting have no kind.
pub(super) fn item(
    open: OpenLoop,
    kind: Option<&str>,
    quote: PassageQuote,
    words: impl Fn(PassageSpan) -> Option<String>,
) -> ExtractedItem {
    let (owner, due) = (open.owner.and_then(&words), open.due.and_then(&words));
    let stated = [("owner", &owner), ("due", &due), ("date", &open.date)];
    let details = details_text(kind.unwrap_or("action"), &stated);
    let mut members = kind.map_or(json!({}), |kind| json!({ "kind": kind }));
    for (name, value) in stated {
        members[name] = json!(value);
    }
    ExtractedItem { quote, members, details }
}

async fn run(service: &ContextService, arguments: &Value) -> Result<ToolOutput, String> {
    let scope = ExtractionScope::from_arguments(service, arguments).await?;
    let found = extract_open_loops(&source_passages(&scope.passages));
    let total = found.len();
    let items = found.into_iter().take(scope.limit).filter_map(|it| {
        let quote = PassageQuote::from_span(it.span, &scope.passages)?;
        let kind = match it.kind {
            OpenLoopKind::Task => "task",
            OpenLoopKind::Question => "question",
            OpenLoopKind::Promise => "promise",
        };
        Some(item(it, Some(kind), quote, |span| span_text(span, &scope.passages)))
    });
    Ok(scope.result(("loops", "open loops"), items.collect(), total))
}
