//! Which passages are looked through: what fits a query, a whole document, or what is new.

use serde_json::Value;

use super::schema;
use crate::arguments::Arguments;
use crate::desk::{Desk, told};
use crate::passage::{NOTICE, Passage};

/// How many things are given where nobody says; more than passages, because each is a line.
const USUAL: usize = 20;
/// How many are given at most.
const MOST: usize = 200;
/// How many passages that fit a query are looked through.
const FITTING: usize = 100;
/// How many passages in all: of a document, or of what is new.
const PASSAGES: usize = 2_000;
/// How many documents count as what is new.
const NEW: usize = 25;

/// What is looked through.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    /// How it was chosen: `query`, `source` or `recent`.
    pub kind: &'static str,
    pub passages: Vec<Passage>,
    pub notice: String,
    /// How many things to give.
    pub limit: usize,
}

/// The arguments that choose it.
pub(super) fn input(what: &str) -> Value {
    let limit = serde_json::json!({
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

/// What every result says of it.
pub(super) fn output(list: (&'static str, Value)) -> Value {
    schema::object([
        list,
        ("scope", schema::one_of(&["query", "source", "recent"], "What was looked through")),
        ("looked_at", schema::whole("How many passages were looked through")),
        ("total", schema::whole("How many were found, of which only `limit` are given")),
        schema::notice(),
    ])
}

impl Scope {
    /// What these arguments choose.
    pub(super) async fn of(desk: &Desk, arguments: &Value) -> Result<Self, String> {
        let arguments = Arguments(arguments);
        let limit = arguments.number("limit", (1, MOST), USUAL)?;
        let (query, source) = (arguments.optional_query("query")?, arguments.text("source")?);
        let (kind, passages, notice) = match (query, source) {
            (Some(_), Some(_)) => return Err("give `query` or `source`, not both".to_owned()),
            (Some(query), None) => {
                let found = desk.find(query, FITTING).await?;
                let notice = found.notice();
                ("query", found.passages, notice)
            }
            (None, Some(source)) => ("source", desk.document(source).await?, NOTICE.to_owned()),
            (None, None) => {
                let (passages, notice) = newest(desk).await?;
                ("recent", passages, notice)
            }
        };
        let passages = passages.into_iter().take(PASSAGES).collect();
        Ok(Self { kind, passages, notice, limit })
    }

    /// What is said if nothing of the kind was found.
    pub(super) fn notice(&self, total: usize, what: &str) -> String {
        match (total, self.passages.len()) {
            (0, 1..) => format!("no {what} in the {} passages looked through", self.passages.len()),
            _ => self.notice.clone(),
        }
    }
}

async fn newest(desk: &Desk) -> Result<(Vec<Passage>, String), String> {
    let nothing = || (Vec::new(), desk.ingest_first());
    let Some(library) = desk.library().await? else { return Ok(nothing()) };
    let mut passages = Vec::new();
    for key in library.recent(NEW).await.map_err(told)? {
        if passages.len() >= PASSAGES {
            break;
        }
        let hits = library.document(&key).await.map_err(told)?;
        passages.extend(hits.into_iter().map(Passage::from));
    }
    Ok(if passages.is_empty() { nothing() } else { (passages, NOTICE.to_owned()) })
}
