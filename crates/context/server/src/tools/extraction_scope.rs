//! Selects the passages to extract from: matches of a query, one document, or the newest documents.

use serde::Serialize;
use serde_json::{Value, json};
use toolgate_host::local::ToolOutput;

use super::schema;
use crate::arguments::ToolArguments;
use crate::cite::{PassageQuote, format_quotes};
use crate::passage::{NOTICE, QuotedPassage};
use crate::service::{ContextService, describe_error};

/// The default number of results. Each is one line, so there are more than for passages.
const USUAL: usize = 20;
/// The maximum number of results.
const MOST: usize = 200;
/// The maximum number of passages that match a query.
const FITTING: usize = 100;
/// The maximum number of passages in all.
const PASSAGES: usize = 2_000;
/// The number of newest documents.
const NEW: usize = 25;

/// The passages to extract from.
#[derive(Debug, Clone)]
pub(super) struct ExtractionScope {
    /// How they were selected: `query`, `source` or `recent`.
    pub kind: &'static str,
    pub passages: Vec<QuotedPassage>,
    pub notice: String,
    /// The maximum number of results.
    pub limit: usize,
}

/// Returns the input schema.
pub(super) fn input(what: &str) -> Value {
    let limit = json!({
        "type": "integer", "minimum": 1, "maximum": MOST, "default": USUAL,
        "description": format!("How many {what} to give at most; {USUAL} if not given"),
    });
    schema::arguments(
        [
            ("query", schema::query("Look only through passages that fit this")),
            (
                "source",
                schema::text(
                    "Look only through this document: its `source`, or the end of its path. Not \
                     together with `query`; without both, the newest documents are looked through",
                ),
            ),
            ("limit", limit),
        ],
        &[],
    )
}

/// Returns the output schema.
pub(super) fn output(list: (&'static str, Value)) -> Value {
    schema::object([
        list,
        ("scope", schema::one_of(&["query", "source", "recent"], "What was looked through")),
        ("looked_at", schema::integer("How many passages were looked through")),
        ("total", schema::integer("How many were found, of which only `limit` are given")),
        schema::notice(),
    ])
}

/// Something that was extracted from a passage: its words, and what is stated about it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ExtractedItem {
    #[serde(flatten)]
    pub quote: PassageQuote,
    /// What is stated, as further members.
    #[serde(flatten)]
    pub members: Value,
    /// The same as text.
    #[serde(skip)]
    pub details: String,
}

impl ExtractionScope {
    /// Selects the passages by the arguments.
    pub(super) async fn from_arguments(
        service: &ContextService,
        arguments: &Value,
    ) -> Result<Self, String> {
        let arguments = ToolArguments(arguments);
        let limit = arguments.number("limit", (1, MOST), USUAL)?;
        let (query, source) = (arguments.optional_query("query")?, arguments.text("source")?);
        let (kind, passages, notice) = match (query, source) {
            (Some(_), Some(_)) => return Err("give `query` or `source`, not both".to_owned()),
            (Some(query), None) => {
                let found = service.search(query, FITTING).await?;
                let notice = found.notice();
                ("query", found.passages, notice)
            }
            (None, Some(source)) => {
                ("source", service.document_passages(source).await?, NOTICE.to_owned())
            }
            (None, None) => {
                let (passages, notice) = newest(service).await?;
                ("recent", passages, notice)
            }
        };
        let passages = passages.into_iter().take(PASSAGES).collect();
        Ok(Self { kind, passages, notice, limit })
    }

    /// Returns the result of an extraction: the items under the name of their list, and as quotes.
    /// `what` names them in the notice.
    pub(super) fn result(
        &self,
        (list, what): (&str, &str),
        items: Vec<ExtractedItem>,
        total: usize,
    ) -> ToolOutput {
        let looked_at = self.passages.len();
        let notice = match (total, looked_at) {
            (0, 1..) => format!("no {what} in the {looked_at} passages looked through"),
            _ => self.notice.clone(),
        };
        let structured = json!({
            list: items, "scope": self.kind, "looked_at": looked_at, "total": total,
            "notice": notice,
        });
        let quotes: Vec<_> = items.iter().map(|it| (&it.quote, it.details.clone())).collect();
        ToolOutput::Both { text: format_quotes(&notice, &quotes), structured }
    }
}

async fn newest(service: &ContextService) -> Result<(Vec<QuotedPassage>, String), String> {
    let nothing = || (Vec::new(), service.empty_library_notice());
    let Some(library) = service.library().await? else { return Ok(nothing()) };
    let mut passages = Vec::new();
    for key in library.recent_keys(NEW).await.map_err(describe_error)? {
        if passages.len() >= PASSAGES {
            break;
        }
        let hits = library.document_passages(&key).await.map_err(describe_error)?;
        passages.extend(hits.into_iter().map(QuotedPassage::from));
    }
    Ok(if passages.is_empty() { nothing() } else { (passages, NOTICE.to_owned()) })
}
