//! `open_loops`: open tasks, unanswered questions, and promises.

use serde::Serialize;
use serde_json::{Value, json};
use toolgate_extraction::{OpenLoop, OpenLoopKind, PassageSpan, extract_open_loops};
use toolgate_host::local::{Tool, ToolOutput};

use super::extraction_scope::{self, ExtractionScope};
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

/// An open loop, or an action of a meeting, in a result.
#[derive(Debug, Clone, Serialize)]
pub(super) struct OpenLoopJson {
    #[serde(flatten)]
    pub quote: PassageQuote,
    /// The kind; none for an action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    owner: Option<String>,
    due: Option<String>,
    date: Option<String>,
}

impl OpenLoopJson {
    /// Returns the open loop as data. `words` returns the text of a span.
    pub(super) fn new(
        open: OpenLoop,
        quote: PassageQuote,
        words: impl Fn(PassageSpan) -> Option<String>,
    ) -> Self {
        let kind = match open.kind {
            OpenLoopKind::Task => "task",
            OpenLoopKind::Question => "question",
            OpenLoopKind::Promise => "promise",
        };
        let (owner, due) = (open.owner.and_then(&words), open.due.and_then(&words));
        Self { quote, kind: Some(kind), owner, due, date: open.date }
    }

    /// Returns the details as text.
    pub(super) fn details(&self) -> String {
        let stated = [("owner", &self.owner), ("due", &self.due), ("date", &self.date)];
        details_text(self.kind.unwrap_or("action"), &stated)
    }
}

async fn run(service: &ContextService, arguments: &Value) -> Result<ToolOutput, String> {
    let scope = ExtractionScope::from_arguments(service, arguments).await?;
    let found = extract_open_loops(&source_passages(&scope.passages));
    let total = found.len();
    let open = found.into_iter().take(scope.limit).filter_map(|it| {
        let quote = PassageQuote::from_span(it.span, &scope.passages)?;
        Some(OpenLoopJson::new(it, quote, |span| span_text(span, &scope.passages)))
    });
    let open: Vec<_> = open.collect();
    let quotes: Vec<_> = open.iter().map(|it| (&it.quote, it.details())).collect();
    Ok(scope.result(("loops", "open loops"), json!(open), &quotes, total))
}
