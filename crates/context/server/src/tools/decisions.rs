//! `decision_extract`: decisions with their reasons, dates and people.

use serde::Serialize;
use serde_json::{Value, json};
use toolgate_extraction::{
    ExtractedDecision, ExtractedDecisionStatus, PassageSpan, extract_decisions,
};
use toolgate_host::local::{Tool, ToolOutput};

use super::extraction_scope::{self, ExtractionScope};
use super::{read_only_tool, schema};
use crate::cite::{PassageQuote, details_text, source_passages, span_text};
use crate::service::ContextService;

pub(super) fn tool(service: &ContextService) -> Tool {
    read_only_tool(
        service,
        &service.names.tool_name("decision_extract"),
        "Find decisions in the user's documents, with reason, date and people where they are stated, \
         each quoted verbatim and cited.",
        extraction_scope::input("decisions"),
        |service, call| async move { run(&service, &call.arguments).await },
    )
    .title("Extract decisions")
    .output_schema(output())
}

fn output() -> Value {
    let mut decision = schema::quote();
    decision.extend(detail_schemas());
    extraction_scope::output((
        "decisions",
        schema::list(schema::object(decision), "What was decided"),
    ))
}

/// Returns the schemas of a decision's details.
pub(super) fn detail_schemas() -> Vec<(&'static str, Value)> {
    let people = schema::list(schema::text("A name"), "Who decided, where it is stated");
    vec![
        ("reason", schema::optional_text("Why, where it is stated")),
        ("date", schema::optional_text("When, in the words it is stated in")),
        ("day", schema::optional_text("The same as YYYY-MM-DD, where a whole date is stated")),
        ("people", people),
        (
            "standing",
            schema::one_of(
                &["accepted", "rejected", "superseded"],
                "The current status of the decision",
            ),
        ),
    ]
}

/// A decision in a result.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ExtractedDecisionJson {
    #[serde(flatten)]
    pub quote: PassageQuote,
    reason: Option<String>,
    date: Option<String>,
    day: Option<String>,
    people: Vec<String>,
    standing: &'static str,
}

impl ExtractedDecisionJson {
    /// Returns the decision as data. `words` returns the text of a span.
    pub(super) fn new(
        decision: ExtractedDecision,
        quote: PassageQuote,
        words: impl Fn(PassageSpan) -> Option<String>,
    ) -> Self {
        Self {
            quote,
            reason: decision.reason.and_then(&words),
            date: decision.date.and_then(&words),
            day: decision.day,
            people: decision.people.into_iter().filter_map(&words).collect(),
            standing: match decision.status {
                ExtractedDecisionStatus::Accepted => "accepted",
                ExtractedDecisionStatus::Rejected => "rejected",
                ExtractedDecisionStatus::Superseded => "superseded",
            },
        }
    }

    /// Returns the details as text.
    pub(super) fn details(&self) -> String {
        let people = (!self.people.is_empty()).then(|| self.people.join(", "));
        let stated = [
            ("reason", &self.reason),
            ("date", &self.date),
            ("day", &self.day),
            ("people", &people),
        ];
        details_text(self.standing, &stated)
    }
}

async fn run(service: &ContextService, arguments: &Value) -> Result<ToolOutput, String> {
    let scope = ExtractionScope::from_arguments(service, arguments).await?;
    let found = extract_decisions(&source_passages(&scope.passages));
    let total = found.len();
    let decided = found.into_iter().take(scope.limit).filter_map(|it| {
        let quote = PassageQuote::from_span(it.span, &scope.passages)?;
        Some(ExtractedDecisionJson::new(it, quote, |span| span_text(span, &scope.passages)))
    });
    let decided: Vec<_> = decided.collect();
    let quotes: Vec<_> = decided.iter().map(|it| (&it.quote, it.details())).collect();
    Ok(scope.result(("decisions", "decisions"), json!(decided), &quotes, total))
}
