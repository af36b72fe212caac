//! The first stage: passages worth reading, by the index's own ranking.

use sqlx::SqliteConnection;
use toolgate_reading::Place;

use super::asked::Weighed;
use super::looks::{Look, looks};
use super::rank::Candidate;
use crate::context::totals::Totals;
use crate::context::{Hit, Origin, Trust};

/// How many candidates are read at least.
const READ: usize = 64;

/// The candidates in one row, since each row costs two threads a meeting. What a term weighs in a
/// title, in headings, in a path and in a text is said here; a heading stands in the text too.
const BEST: &str = "select json_group_array(json_array(json_array(p.id, p.document, \
     p.heading, p.text, p.first, p.last), json_array(d.key, d.folder, d.server, d.uri, d.title, \
     d.modified, d.trusted, d.length))) \
     from (select rowid from terms where terms match $1 and rowid >= $2 \
         and rank match 'bm25(0.5, 0.3, 0.3, 1.0)' order by rank limit $3) best \
     join passages p on p.id = best.rowid join documents d on d.id = p.document";

/// A candidate as a row holds it.
type Row = (
    (i64, i64, String, String, u32, Option<u32>),
    (String, Option<String>, Option<String>, Option<String>, String, i64, u8, i64),
);

/// The candidates, in no order.
pub(super) async fn find(
    connection: &mut SqliteConnection,
    query: &Weighed,
    totals: &Totals,
    limit: usize,
) -> Result<Vec<Candidate>, sqlx::Error> {
    let most = READ.max(limit);
    let mut found: Vec<Candidate> = Vec::new();
    for look in looks(query, totals) {
        if found.len() < most {
            let more = see(connection, look, most).await?;
            let is_known = |hit: &Hit| found.iter().any(|known| known.hit.passage == hit.passage);
            let more: Vec<_> = more.into_iter().filter(|more| !is_known(&more.hit)).collect();
            found.extend(more);
        }
    }
    Ok(found)
}

async fn see(
    connection: &mut SqliteConnection,
    look: Look,
    most: usize,
) -> Result<Vec<Candidate>, sqlx::Error> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let query = sqlx::query_scalar(BEST).bind(look.matching).bind(look.since).bind(most);
    let found: String = query.fetch_one(connection).await?;
    let rows: Vec<Row> =
        serde_json::from_str(&found).map_err(|error| sqlx::Error::Decode(Box::new(error)))?;
    Ok(rows.into_iter().map(candidate).collect())
}

fn candidate(row: Row) -> Candidate {
    let ((passage, document, heading, text, first, last), of) = row;
    let (key, folder, server, uri, title, modified, trusted, document_length) = of;
    let hit = Hit {
        passage,
        key,
        origin: Origin::read(folder, server, uri),
        title,
        heading,
        text,
        place: last.map_or(Place::Page(first), |last| Place::Lines { first, last }),
        modified,
        trust: if trusted == 0 { Trust::Untrusted } else { Trust::Trusted },
        score: 0.0,
    };
    Candidate { hit, document, document_length }
}
