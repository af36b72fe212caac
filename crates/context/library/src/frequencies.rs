//! The approximate number of passages that contain each term.
//!
//! A search needs these numbers before it queries the index, which would have to read the whole
//! list of a term to count it. Counting every term of every passage would slow down an ingest. From
//! [`EXACT`] passages on, only one of [`STRIDE`] passages is counted, with the weight of all: the
//! numbers matter only for terms in many passages. Terms specific to the text's own language are
//! always counted, because a search queries the index only for those that it finds here.

use std::collections::HashMap;

use sqlx::SqliteConnection;

use crate::bulk_insert::bulk_insert;
use crate::prepared_document::OWN_LANGUAGE_SUFFIX;
use crate::{Library, LibraryResult};

/// Up to this number of passages, all are counted.
const EXACT: i64 = 32_768;

/// Beyond that, one of this many passages is counted.
const STRIDE: i64 = 8;

const ADD: (&str, &str) = (
    "insert into frequencies (term, passages) ",
    " on conflict (term) do update set passages = passages + excluded.passages",
);

const GONE: &str = "delete from frequencies where passages <= 0 \
     and term in (select value from json_each($1))";

/// Returns the weight of a new passage in a library of `passages` passages.
pub(crate) fn sample_weight(number: i64, passages: i64, terms: &str) -> i64 {
    match (passages < EXACT || terms.contains(OWN_LANGUAGE_SUFFIX), number % STRIDE) {
        (true, _) => 1,
        (false, 0) => STRIDE,
        (false, _) => 0,
    }
}

/// The changes to the frequencies of terms.
#[derive(Debug, Default)]
pub(crate) struct FrequencyChanges(HashMap<String, i64>);

impl FrequencyChanges {
    /// Counts the terms of a passage (title, headings, text), each once, as `weight` passages.
    pub(crate) fn count(&mut self, terms: [&str; 3], weight: i64) {
        let mut terms: Vec<&str> = terms.iter().flat_map(|text| text.split(' ')).collect();
        terms.sort_unstable();
        terms.dedup();
        for term in terms.into_iter().filter(|term| !term.is_empty()) {
            match self.0.get_mut(term) {
                Some(passages) => *passages += weight,
                None => drop(self.0.insert(term.to_owned(), weight)),
            }
        }
    }

    /// Writes the changes.
    pub(crate) async fn apply(self, connection: &mut SqliteConnection) -> sqlx::Result<()> {
        let mut changes: Vec<_> = self.0.into_iter().filter(|(_, by)| *by != 0).collect();
        // Sorted like the table, because neighbours share a page.
        changes.sort_unstable();
        let fewer = changes.iter().filter(|(_, by)| *by < 0).map(|(term, _)| term.as_str());
        let fewer = serde_json::Value::from_iter(fewer).to_string();
        bulk_insert(connection, ADD, changes, |mut row, (term, by)| {
            row.push_bind(term).push_bind(by);
        })
        .await?;
        if fewer != "[]" {
            sqlx::query(GONE).bind(fewer).execute(connection).await?;
        }
        Ok(())
    }
}

/// Returns the approximate number of passages for each of these terms. Terms in no passage, or in
/// too few to be counted, are missing. The query returns a single row, because each row costs a
/// thread switch.
pub(crate) async fn load_frequencies(
    connection: &mut SqliteConnection,
    terms: impl Iterator<Item = &str>,
) -> sqlx::Result<HashMap<String, i64>> {
    let terms = serde_json::Value::from_iter(terms).to_string();
    let query = "select json_group_object(term, passages) from frequencies \
         where term in (select value from json_each($1))";
    let known: String = sqlx::query_scalar(query).bind(terms).fetch_one(connection).await?;
    serde_json::from_str(&known).map_err(|error| sqlx::Error::Decode(Box::new(error)))
}

impl Library {
    /// Returns the approximate share of passages that contain each of these terms. A term that is
    /// too rare to be counted is treated as one that occurs in one passage.
    pub async fn term_shares(&self, terms: &[String]) -> LibraryResult<HashMap<String, f64>> {
        let read = async {
            let mut connection = self.readers.acquire().await?;
            let asked = terms.iter().map(String::as_str);
            let known = load_frequencies(&mut connection, asked).await?;
            let all = sqlx::query_scalar("select passages from totals");
            Ok((known, all.fetch_one(&mut *connection).await?))
        };
        let (known, all): (_, i64) = self.run("read word frequencies", read).await?;
        let share = |term: &String| {
            let passages = known.get(term).copied().unwrap_or(1).clamp(1, all.max(1));
            (term.clone(), passages as f64 / all.max(1) as f64)
        };
        Ok(terms.iter().map(share).collect())
    }
}
