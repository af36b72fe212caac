//! In about how many passages each term stands.
//!
//! A search must know it before it asks the index: the index itself would have to read the whole
//! list of a term to count it. Counting every term of every passage would cost an ingest more than
//! it is worth, so once there are [`EXACT`] passages only one of [`STRIDE`] is counted, for all of
//! them: the terms whose number matters are those that stand in many. Only the terms that texts have
//! by their own language are always counted, since a search asks the index for those it finds here.

use std::collections::HashMap;

use sqlx::SqliteConnection;

use super::prepared::OWN;
use super::rows::{Binding, Insert};

/// Up to how many passages all are counted.
const EXACT: i64 = 32_768;

/// Of how many passages one is counted from then on.
const STRIDE: i64 = 8;

const ADD: Insert = Insert {
    head: "insert into frequencies (term, passages) values",
    columns: 2,
    tail: "on conflict (term) do update set passages = passages + excluded.passages",
};

const GONE: &str = "delete from frequencies where passages <= 0 \
     and term in (select value from json_each($1))";

/// For how many passages one counts that is kept now, beside so many.
pub(super) fn weight(number: i64, passages: i64, terms: &str) -> i64 {
    match (passages < EXACT || terms.contains(OWN), number % STRIDE) {
        (true, _) => 1,
        (false, 0) => STRIDE,
        (false, _) => 0,
    }
}

/// What changes in the numbers of terms.
#[derive(Debug, Default)]
pub(super) struct Frequencies(HashMap<String, i64>);

impl Frequencies {
    /// Counts the terms of a passage (title, headings, text), each once, as `weight` passages.
    pub(super) fn count(&mut self, terms: [&str; 3], weight: i64) {
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

    /// Writes the changes down.
    pub(super) async fn apply(self, connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        let mut changes: Vec<_> = self.0.into_iter().filter(|(_, by)| *by != 0).collect();
        // In the order of the table: neighbours share a page.
        changes.sort_unstable();
        let fewer = changes.iter().filter(|(_, by)| *by < 0).map(|(term, _)| term.as_str());
        let fewer = serde_json::Value::from_iter(fewer).to_string();
        let bind = |query: Binding, (term, by): (String, i64)| query.bind(term).bind(by);
        ADD.run(connection, changes.into_iter(), bind).await?;
        if fewer != "[]" {
            sqlx::query(GONE).bind(fewer).execute(connection).await?;
        }
        Ok(())
    }
}

/// In about how many passages each of these terms stands; those that stand in none, or in too few
/// to have been counted, are missing. All come in one row: each costs two threads a meeting.
pub(super) async fn of(
    connection: &mut SqliteConnection,
    terms: impl Iterator<Item = &str>,
) -> Result<HashMap<String, i64>, sqlx::Error> {
    let terms = serde_json::Value::from_iter(terms).to_string();
    let query = "select json_group_object(term, passages) from frequencies \
         where term in (select value from json_each($1))";
    let known: String = sqlx::query_scalar(query).bind(terms).fetch_one(connection).await?;
    serde_json::from_str(&known).map_err(|error| sqlx::Error::Decode(Box::new(error)))
}
