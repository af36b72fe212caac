//! Rebuilds the index from the passages, when a new version derives other terms from texts.
//!
//! This happens in one transaction when the file is opened: a search sees either the old index or
//! the new one.

use sqlx::{AssertSqlSafe, Row as _, SqliteConnection};
use toolgate_reading::terms::{TermIndexer, VERSION};

use crate::PassageHit;
use crate::frequencies::{FrequencyChanges, sample_weight};
use crate::listing::HIT;
use crate::prepared_document::{count_terms, index_terms, searchable_path};
use sqlx::FromRow as _;

/// The number of passages in memory at once.
const AT_ONCE: i64 = 2000;

const PASSAGE: &str =
    "insert into terms (rowid, title, heading, path, body) values ($1, $2, $3, $4, $5)";

/// Rebuilds the index if another version of the terms created it.
pub(crate) async fn reindex_if_outdated(connection: &mut SqliteConnection) -> sqlx::Result<()> {
    let (made, passages): (i64, i64) =
        sqlx::query_as("select terms, passages from totals").fetch_one(&mut *connection).await?;
    if made == i64::from(VERSION) {
        return Ok(());
    }
    if passages > 0 {
        rebuild_index(connection).await?;
    }
    let query = sqlx::query("update totals set terms = $1").bind(VERSION);
    query.execute(connection).await.map(drop)
}

async fn rebuild_index(connection: &mut SqliteConnection) -> sqlx::Result<()> {
    let clear = [
        "insert into terms (terms) values ('delete-all')",
        "delete from frequencies",
        "update documents set length = 0",
    ];
    for statement in clear {
        sqlx::query(statement).execute(&mut *connection).await?;
    }
    let (mut indexer, mut last, mut done) = (TermIndexer::new(), 0, 0);
    let page = format!("{HIT} where p.id > $1 order by p.id limit $2");
    loop {
        let query = sqlx::query(AssertSqlSafe(page.as_str())).bind(last).bind(AT_ONCE);
        let rows = query.fetch_all(&mut *connection).await?;
        let Some(end) = rows.last() else { break };
        last = end.try_get("id")?;
        let mut frequencies = FrequencyChanges::default();
        for row in &rows {
            let hit = PassageHit::from_row(row)?;
            let document: i64 = row.try_get("document")?;
            let counted = index_passage(connection, (&hit, document, done), &mut indexer).await?;
            let [title, heading, _, body] = &counted.0;
            frequencies.count([title, heading, body], counted.1);
            done += 1;
        }
        frequencies.apply(connection).await?;
    }
    let query = "update totals set length = (select coalesce(sum(length), 0) from documents)";
    sqlx::query(query).execute(connection).await.map(drop)
}

/// Adds one passage to the index. Returns its terms and the weight with which they count.
async fn index_passage(
    connection: &mut SqliteConnection,
    (hit, document, done): (&PassageHit, i64, i64),
    indexer: &mut TermIndexer,
) -> sqlx::Result<([String; 4], i64)> {
    let texts = [&hit.title, &hit.heading, searchable_path(&hit.key, &hit.origin), &hit.text];
    let terms = texts.map(|text| index_terms(text, indexer));
    let counted = sample_weight(hit.passage, done, &terms[3]);
    let mut query = sqlx::query(PASSAGE).bind(hit.passage);
    for part in &terms {
        query = query.bind(part.clone());
    }
    query.execute(&mut *connection).await?;
    let query = sqlx::query("update passages set counted = $2 where id = $1");
    query.bind(hit.passage).bind(counted).execute(&mut *connection).await?;
    let query = sqlx::query("update documents set length = length + $2 where id = $1");
    query.bind(document).bind(count_terms(&terms[3])).execute(connection).await?;
    Ok((terms, counted))
}
