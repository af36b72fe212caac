//! Stores documents: a whole batch, with its terms and counts, in one transaction.

use std::collections::HashMap;

use sqlx::SqliteConnection;
use toolgate_reading::PassageLocation;
use toolgate_reading::terms::fold as folded;

use crate::bulk_insert::{BulkInsert, InsertQuery};
use crate::frequencies::sample_weight;
use crate::prepared_document::PreparedPassage;
use crate::totals::{self, LibraryTotals, TotalsChange};
use crate::{
    DocumentOrigin, DocumentTrust, Library, LibraryResult, PreparedDocument, SourceStamp, removal,
};
use toolgate_store::now_millis;

const DOCUMENTS: BulkInsert = BulkInsert {
    head: "insert into documents (id, key, kind, folder, server, uri, title, folded, digest, \
           bytes, modified, kept, trusted, passages, length) values",
    columns: 15,
    tail: "",
};

const PASSAGES: BulkInsert = BulkInsert {
    head: "insert into passages (id, document, heading, text, first, last, counted) values",
    columns: 7,
    tail: "",
};

const TERMS: BulkInsert = BulkInsert {
    head: "insert into terms (rowid, title, heading, path, body) values",
    columns: 5,
    tail: "",
};

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
        let action = "store documents";
        let mut transaction = self.begin(action).await?;
        write(&mut transaction, documents).await.map_err(self.failed(action))?;
        self.commit(action, transaction).await
    }

    /// Updates the stamps of sources whose text has not changed.
    pub async fn update_stamps(&self, stamps: Vec<(String, SourceStamp)>) -> LibraryResult<()> {
        if stamps.is_empty() {
            return Ok(());
        }
        let action = "update the stamps of documents";
        let mut transaction = self.begin(action).await?;
        for (key, stamp) in stamps {
            let query = sqlx::query(RESTAMP).bind(key).bind(stamp.digest.to_string());
            let query = query.bind(to_sql_integer(stamp.bytes)).bind(stamp.modified);
            query.execute(&mut *transaction).await.map_err(self.failed(action))?;
        }
        self.commit(action, transaction).await
    }

    /// Does one bounded step of optimizing the index for searches. Returns true if there is more to
    /// do. This is optional after an ingest.
    pub async fn tidy(&self) -> LibraryResult<bool> {
        let action = "optimize the index";
        let mut transaction = self.begin(action).await?;
        let failed = self.failed(action);
        let changes = "select total_changes()";
        let before: i64 =
            sqlx::query_scalar(changes).fetch_one(&mut *transaction).await.map_err(failed)?;
        let merge = sqlx::query("insert into terms (terms, rank) values ('merge', $1)");
        merge.bind(TIDY_PAGES).execute(&mut *transaction).await.map_err(failed)?;
        let after: i64 =
            sqlx::query_scalar(changes).fetch_one(&mut *transaction).await.map_err(failed)?;
        self.commit(action, transaction).await?;
        Ok(after - before >= 2)
    }
}

fn last_of_each_key(documents: Vec<PreparedDocument>) -> Vec<PreparedDocument> {
    let mut positions = HashMap::new();
    let mut kept: Vec<PreparedDocument> = Vec::with_capacity(documents.len());
    for document in documents {
        match positions.get(&document.key) {
            Some(&position) => kept[position] = document,
            None => {
                positions.insert(document.key.clone(), kept.len());
                kept.push(document);
            }
        }
    }
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
    PASSAGES.run(connection, batch.passages.into_iter(), PassageRow::bind).await?;
    TERMS.run(connection, batch.terms.into_iter(), TermsRow::bind).await?;
    DOCUMENTS.run(connection, batch.documents.into_iter(), DocumentRow::bind).await?;
    change.apply(connection).await
}

/// The rows of one batch.
struct InsertBatch {
    documents: Vec<DocumentRow>,
    passages: Vec<PassageRow>,
    terms: Vec<TermsRow>,
}

/// A new row of `documents`.
struct DocumentRow {
    id: i64,
    document: PreparedDocument,
    kept: i64,
    passages: i64,
    length: i64,
}

/// A new row of `passages`.
struct PassageRow {
    id: i64,
    document: i64,
    heading: String,
    text: String,
    place: PassageLocation,
    counted: i64,
}

/// A new row of the search index `terms`.
struct TermsRow {
    id: i64,
    title: String,
    heading: String,
    path: String,
    body: String,
}

impl InsertBatch {
    /// Assigns ids to documents and passages, and adds them to the totals.
    fn new(
        documents: Vec<PreparedDocument>,
        totals: &LibraryTotals,
        change: &mut TotalsChange,
    ) -> Self {
        let mut batch = Self { documents: Vec::new(), passages: Vec::new(), terms: Vec::new() };
        let kept = now_millis();
        change.latest = Some(kept);
        for mut document in documents {
            let (id, length) = (totals.next_passage + change.numbers, document.term_count());
            let pieces = std::mem::take(&mut document.passages);
            let passages = pieces.len() as i64;
            for (number, piece) in (id..).zip(pieces) {
                let counted = sample_weight(number, totals.passages + change.passages, &piece.body);
                batch.push_passage(number, id, (piece, counted), &document, change);
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

    fn push_passage(
        &mut self,
        id: i64,
        document: i64,
        (piece, counted): (PreparedPassage, i64),
        of: &PreparedDocument,
        change: &mut TotalsChange,
    ) {
        let (title, path) = (of.title_terms.clone(), of.path_terms.clone());
        if counted != 0 {
            change.frequencies.count([&title, &piece.heading, &piece.body], counted);
        }
        let PreparedPassage { passage, heading, body, .. } = piece;
        self.terms.push(TermsRow { id, title, heading, path, body });
        let (heading, text, place) = (passage.heading, passage.text, passage.place);
        self.passages.push(PassageRow { id, document, heading, text, place, counted });
    }
}

impl DocumentRow {
    fn bind(query: InsertQuery, row: Self) -> InsertQuery {
        let PreparedDocument { key, origin, stamp, trust, title, .. } = row.document;
        let (kind, folder, server, uri) = match origin {
            DocumentOrigin::File { folder } => ("file", Some(folder), None, None),
            DocumentOrigin::Resource { server, uri } => ("resource", None, Some(server), Some(uri)),
            DocumentOrigin::Note => ("note", None, None, None),
        };
        let folded = folded(&title);
        let query = query.bind(row.id).bind(key).bind(kind).bind(folder).bind(server).bind(uri);
        let query = query.bind(title).bind(folded).bind(stamp.digest.to_string());
        let query = query.bind(to_sql_integer(stamp.bytes)).bind(stamp.modified).bind(row.kept);
        query.bind(trust == DocumentTrust::Trusted).bind(row.passages).bind(row.length)
    }
}

impl PassageRow {
    fn bind(query: InsertQuery, row: Self) -> InsertQuery {
        let (first, last) = match row.place {
            PassageLocation::Lines(first, last) => (first, Some(last)),
            PassageLocation::Page(page) => (page, None),
        };
        let query = query.bind(row.id).bind(row.document).bind(row.heading).bind(row.text);
        query.bind(first).bind(last).bind(row.counted)
    }
}

impl TermsRow {
    fn bind(query: InsertQuery, row: Self) -> InsertQuery {
        query.bind(row.id).bind(row.title).bind(row.heading).bind(row.path).bind(row.body)
    }
}

/// Converts a number of bytes to SQLite's integer type.
fn to_sql_integer(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
