//! `open_loops`: open tasks, unanswered questions, and promises.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};
use toolgate_extraction::{OpenLoop, OpenLoopKind, extract_open_loops};
use toolgate_host::local::{Tool, ToolOutput};

use super::extraction_scope::{self, ExtractionScope};
use super::{read_only_tool, schema};
use crate::cite::{Quote, format_quotes, source_passages, span_text};
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
    let mut open = schema::quote();
    open.extend([
        ("kind", schema::one_of(&["task", "question", "promise"], "What kind of thing is open")),
        ("owner", schema::optional_text("Who is responsible, where that is stated")),
        ("due", schema::optional_text("When it is due, in the words it is stated in")),
        ("date", schema::optional_text("The same as YYYY-MM-DD, where a whole date is stated")),
    ]);
    extraction_scope::output(("loops", schema::list(schema::object(open), "What is open")))
}

/// An open loop in a result.
#[derive(Debug, Clone, Serialize)]
struct OpenLoopJson {
    #[serde(flatten)]
    quote: Quote,
    kind: &'static str,
    owner: Option<String>,
    due: Option<String>,
    date: Option<String>,
}

impl OpenLoopJson {
    fn of(open: OpenLoop, scope: &ExtractionScope) -> Option<Self> {
        Some(Self {
            quote: Quote::from_span(open.span, &scope.passages)?,
            kind: match open.kind {
                OpenLoopKind::Task => "task",
                OpenLoopKind::Question => "question",
                OpenLoopKind::Promise => "promise",
            },
            owner: open.owner.and_then(|it| span_text(it, &scope.passages)),
            due: open.due.and_then(|it| span_text(it, &scope.passages)),
            date: open.date,
        })
    }

    /// Returns the details as text.
    fn details(&self) -> String {
        let mut known = self.kind.to_owned();
        for (what, stated) in [("owner", &self.owner), ("due", &self.due), ("date", &self.date)] {
            if let Some(stated) = stated {
                // Writing to a String cannot fail.
                let _ = write!(known, "; {what}: {stated}");
            }
        }
        known
    }
}

async fn run(service: &ContextService, arguments: &Value) -> Result<ToolOutput, String> {
    let scope = ExtractionScope::from_arguments(service, arguments).await?;
    let found = extract_open_loops(&source_passages(&scope.passages));
    let total = found.len();
    let open: Vec<_> =
        found.into_iter().take(scope.limit).filter_map(|it| OpenLoopJson::of(it, &scope)).collect();
    let notice = scope.notice(total, "open loops");
    let quotes: Vec<_> = open.iter().map(|it| (&it.quote, it.details())).collect();
    let text = format_quotes(&notice, &quotes);
    let structured = json!({
        "loops": open, "scope": scope.kind, "looked_at": scope.passages.len(), "total": total,
        "notice": notice,
    });
    Ok(ToolOutput::Both { text, structured })
}
