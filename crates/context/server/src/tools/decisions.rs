//! `decision_extract`: decisions with their reasons, dates and people.

use serde_json::{Value, json};
use toolgate_extraction::{
    ExtractedDecision, ExtractedDecisionStatus, PassageSpan, extract_decisions,
};
use toolgate_host::local::{Tool, ToolOutput};

use super::extraction_scope::{self, ExtractedItem, ExtractionScope};
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

/// Returns a decision and what is stated about it, in the words of the passages.
pub(super) fn item(
    decision: ExtractedDecision,
    quote: PassageQuote,
    words: impl Fn(PassageSpan) -> Option<String>,
) -> ExtractedItem {
    let standing = match decision.status {
        ExtractedDecisionStatus::Accepted => "accepted",
        ExtractedDecisionStatus::Rejected => "rejected",
        ExtractedDecisionStatus::Superseded => "superseded",
    };
    let (reason, date) = (decision.reason.and_then(&words), decision.date.and_then(&words));
    let (day, people) = (decision.day, decision.people.into_iter().filter_map(&words));
    let people: Vec<String> = people.collect();
    let named = (!people.is_empty()).then(|| people.join(", "));
    let stated = [("reason", &reason), ("date", &date), ("day", &day), ("people", &named)];
    let details = details_text(standing, &stated);
    let members = json!({
        "reason": reason, "date": date, "day": day, "people": people, "standing": standing,
    });
    ExtractedItem { quote, members, details }
}

async fn run(service: &ContextService, arguments: &Value) -> Result<ToolOutput, String> {
    let scope = ExtractionScope::from_arguments(service, arguments).await?;
    let found = extract_decisions(&source_passages(&scope.passages));
    let total = found.len();
    let items = found.into_iter().take(scope.limit).filter_map(|it| {
        let quote = PassageQuote::from_span(it.span, &scope.passages)?;
        Some(item(it, quote, |span| span_text(span, &scope.passages)))
    });
    Ok(scope.result(("decisions", "decisions"), items.collect(), total))
}
