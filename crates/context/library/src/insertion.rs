//! Stores documents: a whole batch, with its terms and counts, in one transaction.

use std::collections::HashSet;

use sqlx::SqliteConnection;
use toolgate_reading::terms::fold as folded;
use toolgate_reading::{Passage, PassageLocation};

use crate::bulk_insert::{InsertRow, bulk_insert};
use crate::frequencies::sample_weight;
use crate::prepared_document::PreparedPassage;
use crate::totals::{self, LibraryTotals, TotalsChange};
use crate::{
    DocumentOrigin, DocumentTrust, Library, LibraryResult, PreparedDocument, SourceStamp, removal,
};
use toolgate_store::now_millis;

const DOCUMENTS: &str = "insert into documents (id, key, kind, folder, server, uri, title, folded, \
     digest, bytes, modified, kept, trusted, passages, length) ";

const PASSAGES: &str = "insert into passages (id, document, heading, text, first, last, counted) ";

const TERMS: &str = "insert into terms (rowid, title, heading, path, body) ";

const RESTAMP: &str = "update documents set digest = $2, bytes = $3, modified = $4 where key = $1";

/// The maximum number of index pages that one step of optimizing writes.
const TIDY_PAGES: i64 = 2000;

impl Library {
    /// Like [`Library::keep`], for documents that the caller has already prepared.
    pub async fn keep_prepared(&self, documents: Vec<PreparedDocument>) -> LibraryResult<()> {
        let documents = last_of_each_key(documents);
        if documents.is_empty() {
            return Ok(());
        }
        self.run("store documents", async {
            let mut transaction = self.begin().await?;
            write(&mut transaction, documents).await?;
            transaction.commit().await
        })
        .await
    }

    /// Updates the stamps of sources whose text has not changed.
    pub async fn update_stamps(&self, stamps: Vec<(String, SourceStamp)>) -> LibraryResult<()> {
        if stamps.is_empty() {
            return Ok(());
        }
        self.run("update the stamps of documents", async {
            let mut transaction = self.begin().await?;
            for (key, stamp) in stamps {
                let query = sqlx::query(RESTAMP).bind(key).bind(stamp.digest.to_string());
                let query = query.bind(to_sql_integer(stamp.bytes)).bind(stamp.modified);
                query.execute(&mut *transaction).await?;
            }
            transaction.commit().await
        })
        .await
    }

    /// Sets the trust of these documents.
    pub async fn set_trust(&self, keys: &[String], trust: DocumentTrust) -> LibraryResult<()> {
        if keys.is_empty() {
            return Ok(());
        }
        let keys = serde_json::Value::from_iter(keys.iter().map(String::as_str)).to_string();
        let query = sqlx::query(
            "update documents set trusted = $1 where key in (select value from json_each($2))",
        );
        let query = query.bind(trust == DocumentTrust::Trusted).bind(keys);
        self.run("set the trust of documents", query.execute(&self.writer)).await.map(drop)
    }

    /// Does one bounded step of optimizing the index for searches. Returns true if there is more to
    /// do. This is optional after an ingest.
    pub async fn tidy(&self) -> LibraryResult<bool> {
        self.run("optimize the index", async {
            let mut transaction = self.begin().await?;
            let changes = || sqlx::query_scalar::<_, i64>("select total_changes()");
            let before = changes().fetch_one(&mut *transaction).await?;
            let merge = sqlx::query("insert into terms (terms, rank) values ('merge', $1)");
            merge.bind(TIDY_PAGES).execute(&mut *transaction).await?;
            let after = changes().fetch_one(&mut *transaction).await?;
            transaction.commit().await?;
            Ok(after - before >= 2)
        })
        .await
    }
}

fn last_of_each_key(documents: Vec<PreparedDocument>) -> Vec<PreparedDocument> {
    let mut known = HashSet::new();
    let is_last = |document: &PreparedDocument| known.insert(document.key.clone());
    let mut kept: Vec<_> = documents.into_iter().rev().filter(is_last).collect();
    kept.reverse();
    kept
}

async fn write(
    connection: &mut SqliteConnection,
    documents: Vec<PreparedDocument>,
) -> sqlx::Result<()> {
    let totals = totals::read(connection).await?;
    let keys: Vec<&str> = documents.iter().map(|document| document.key.as_str()).collect();
    let mut change = removal::remove(connection, &keys).await?;
    let batch = InsertBatch::new(documents, &totals, &mut change);
    bulk_insert(connection, (PASSAGES, ""), batch.passages, |mut row, it| {
        let (id, document, passage, counted) = it;
        let (first, last) = match passage.place {
            PassageLocation::Lines(first, last) => (first, Some(last)),
            PassageLocation::Page(page) => (page, None),
        };
        row.push_bind(id).push_bind(document).push_bind(passage.heading).push_bind(passage.text);
        row.push_bind(first).push_bind(last).push_bind(counted);
    })
    .await?;
    bulk_insert(connection, (TERMS, ""), batch.terms, |mut row, (id, terms)| {
        row.push_bind(id);
        terms.into_iter().for_each(|terms| _ = row.push_bind(terms));
    })
    .await?;
    bulk_insert(connection, (DOCUMENTS, ""), batch.documents, push_document).await?;
    change.apply(connection).await
}

/// The rows of one batch.
#[derive(Default)]
struct InsertBatch {
    documents: Vec<DocumentRow>,
    /// The id, the id of the document, the passage and its weight.
    passages: Vec<(i64, i64, Passage, i64)>,
    /// The id of the passage and the terms of its title, headings, path and text.
    terms: Vec<(i64, [String; 4])>,
}

/// A new row of `documents`.
struct DocumentRow {
    id: i64,
    document: PreparedDocument,
    kept: i64,
    passages: i64,
    length: i64,
}

impl InsertBatch {
    /// Assigns ids to documents and passages, and adds them to the totals.
    fn new(
        documents: Vec<PreparedDocument>,
        totals: &LibraryTotals,
        change: &mut TotalsChange,
    ) -> Self {
        let mut batch = Self::default();
        let kept = now_millis();
        change.latest = Some(kept);
        for mut document in documents {
            let (id, length) = (totals.next_passage + change.numbers, document.term_count());
            let pieces = std::mem::take(&mut document.passages);
            let passages = pieces.len() as i64;
            for (number, piece) in (id..).zip(pieces) {
                let PreparedPassage { passage, heading, body, .. } = piece;
                let counted = sample_weight(number, totals.passages + change.passages, &body);
                let (title, path) = (document.title_terms.clone(), document.path_terms.clone());
                if counted != 0 {
                    change.frequencies.count([&title, &heading, &body], counted);
                }
                batch.passages.push((number, id, passage, counted));
                batch.terms.push((number, [title, heading, path, body]));
                change.passages += 1;
            }
            change.documents += 1;
            change.bytes += to_sql_integer(document.stamp.bytes);
            change.length += length;
            // A document without passages also uses an id.
            change.numbers += passages.max(1);
            change.count_source(&document.origin, 1);
            batch.documents.push(DocumentRow { id, document, kept, passages, length });
        }
        batch
    }
}

fn push_document(mut row: InsertRow<'_>, it: DocumentRow) {
    let PreparedDocument { key, origin, stamp, trust, title, .. } = it.document;
    let (kind, folder, server, uri) = match origin {
        DocumentOrigin::File { folder } => ("file", Some(folder), None, None),
        DocumentOrigin::Resource { server, uri } => ("resource", None, Some(server), Some(uri)),
        DocumentOrigin::Note => ("note", None, None, None),
    };
    let folded = folded(&title);
    row.push_bind(it.id).push_bind(key).push_bind(kind).push_bind(folder).push_bind(server);
    row.push_bind(uri).push_bind(title).push_bind(folded).push_bind(stamp.digest.to_string());
    row.push_bind(to_sql_integer(stamp.bytes)).push_bind(stamp.modified).push_bind(it.kept);
    row.push_bind(trust == DocumentTrust::Trusted).push_bind(it.passages).push_bind(it.length);
}

/// Converts a number of bytes to SQLite's integer type.
fn to_sql_integer(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
