//! The first stage of a search: finds candidates by the ranking of the index.

use sqlx::SqliteConnection;

use super::index_queries::{IndexQuery, plan_index_queries};
use super::library_query::WeightedLibraryQuery;
use super::rank::PassageCandidate;
use crate::listing::location;
use crate::totals::LibraryTotals;
use crate::{DocumentOrigin, DocumentTrust, PassageHit};

/// The minimum number of candidates to read.
const READ: usize = 64;

/// Selects the candidates in a single row, because each row costs a thread switch. The arguments of
/// `bm25` are the weights of a term in title, headings, path and text. Headings are also part of
/// the text.
const BEST: &str = "select json_group_array(json_array(json_array(p.id, p.document, \
     p.heading, p.text, p.first, p.last), json_array(d.key, d.folder, d.server, d.uri, d.title, \
     d.modified, d.trusted, d.length))) \
     from (select rowid from terms where terms match $1 and rowid >= $2 \
         and rank match 'bm25(0.5, 0.3, 0.3, 1.0)' order by rank limit $3) best \
     join passages p on p.id = best.rowid join documents d on d.id = p.document";

/// The columns of a candidate: those of the passage, then those of its document.
type CandidateRow = (
    (i64, i64, String, String, u32, Option<u32>),
    (String, Option<String>, Option<String>, Option<String>, String, i64, u8, i64),
);

/// Returns the candidates, unsorted.
pub(super) async fn find(
    connection: &mut SqliteConnection,
    query: &WeightedLibraryQuery,
    totals: &LibraryTotals,
    limit: usize,
) -> sqlx::Result<Vec<PassageCandidate>> {
    let most = READ.max(limit);
    let mut found: Vec<PassageCandidate> = Vec::new();
    for look in plan_index_queries(query, totals) {
        if found.len() < most {
            let more = query_index(connection, look, most).await?;
            let is_known =
                |hit: &PassageHit| found.iter().any(|known| known.hit.passage == hit.passage);
            let more: Vec<_> = more.into_iter().filter(|more| !is_known(&more.hit)).collect();
            found.extend(more);
        }
    }
    Ok(found)
}

async fn query_index(
    connection: &mut SqliteConnection,
    look: IndexQuery,
    most: usize,
) -> sqlx::Result<Vec<PassageCandidate>> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let query = sqlx::query_scalar(BEST).bind(look.matching).bind(look.since).bind(most);
    let found: String = query.fetch_one(connection).await?;
    let rows: Vec<CandidateRow> =
        serde_json::from_str(&found).map_err(|error| sqlx::Error::Decode(Box::new(error)))?;
    Ok(rows.into_iter().map(candidate_from_row).collect())
}

fn candidate_from_row(row: CandidateRow) -> PassageCandidate {
    let ((passage, document, heading, text, first, last), of) = row;
    let (key, folder, server, uri, title, modified, trusted, document_length) = of;
    let hit = PassageHit {
        passage,
        key,
        origin: DocumentOrigin::from_columns(folder, server, uri),
        title,
        heading,
        text,
        place: location(first, last),
        modified,
        trust: DocumentTrust::of(trusted != 0),
        score: 0.0,
    };
    PassageCandidate { hit, document, document_length }
}
