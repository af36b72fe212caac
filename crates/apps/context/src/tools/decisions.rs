//! `decision_extract`: what was decided, why, when and by whom.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};
use toolgate_gleaning::{Decision, Span, Standing, decisions};
use toolgate_host::local::{Output, Tool};

use super::scope::{self, Scope};
use super::{reading, schema};
use crate::cite::{Quote, leaves, listed, words};
use crate::desk::Desk;

pub(super) fn tool(desk: &Desk) -> Tool {
    reading(
        desk,
        &desk.names.tool("decision_extract"),
        "Find decisions in the user's documents, with reason, date and people where they are stated, \
         each in the words of the document and cited.",
        scope::input("decisions"),
        |desk, call| async move { run(&desk, &call.arguments).await },
    )
    .title("Extract decisions")
    .output_schema(output())
}

fn output() -> Value {
    let mut decision = schema::quote();
    decision.extend(stated());
    scope::output(("decisions", schema::list(schema::object(decision), "What was decided")))
}

/// What is said of a decision beside its words.
pub(super) fn stated() -> Vec<(&'static str, Value)> {
    let people = schema::list(schema::text("A name"), "Who decided, where it is stated");
    vec![
        ("reason", schema::stated("Why, where it is stated")),
        ("date", schema::stated("When, in the words it is stated in")),
        ("day", schema::stated("The same as YYYY-MM-DD, where a whole date is stated")),
        ("people", people),
        (
            "standing",
            schema::one_of(&["accepted", "rejected", "superseded"], "How it stands today"),
        ),
    ]
}

/// A decision as it is given back.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Decided {
    #[serde(flatten)]
    pub quote: Quote,
    reason: Option<String>,
    date: Option<String>,
    day: Option<String>,
    people: Vec<String>,
    standing: &'static str,
}

impl Decided {
    /// A decision that stands there, with what its spans say.
    pub(super) fn of(
        decision: Decision,
        quote: Quote,
        words: impl Fn(Span) -> Option<String>,
    ) -> Self {
        Self {
            quote,
            reason: decision.reason.and_then(&words),
            date: decision.date.and_then(&words),
            day: decision.day,
            people: decision.people.into_iter().filter_map(&words).collect(),
            standing: match decision.standing {
                Standing::Accepted => "accepted",
                Standing::Rejected => "rejected",
                Standing::Superseded => "superseded",
            },
        }
    }

    /// What is known of it beside its words.
    pub(super) fn known(&self) -> String {
        let mut known = self.standing.to_owned();
        for (what, stated) in [("reason", &self.reason), ("date", &self.date), ("day", &self.day)] {
            if let Some(stated) = stated {
                // Writing to a String cannot fail.
                let _ = write!(known, "; {what}: {stated}");
            }
        }
        if !self.people.is_empty() {
            let _ = write!(known, "; people: {}", self.people.join(", "));
        }
        known
    }
}

async fn run(desk: &Desk, arguments: &Value) -> Result<Output, String> {
    let scope = Scope::of(desk, arguments).await?;
    let found = decisions(&leaves(&scope.passages));
    let total = found.len();
    let given = found.into_iter().take(scope.limit);
    let decided = given.filter_map(|it| {
        let quote = Quote::of(it.span, &scope.passages)?;
        Some(Decided::of(it, quote, |span| words(span, &scope.passages)))
    });
    let decided: Vec<_> = decided.collect();
    let notice = scope.notice(total, "decisions");
    let quotes: Vec<_> = decided.iter().map(|it| (&it.quote, it.known())).collect();
    let text = listed(&notice, &quotes);
    let structured = json!({
        "decisions": decided, "scope": scope.kind, "looked_at": scope.passages.len(),
        "total": total, "notice": notice,
    });
    Ok(Output::Both { text, structured })
}
