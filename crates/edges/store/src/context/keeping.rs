//! Keeping documents: all of a batch, with its terms and numbers, in one transaction.

use std::collections::HashMap;

use sqlx::SqliteConnection;
use toolgate_reading::Place;
use toolgate_reading::terms::fold as folded;

use super::frequencies::weight;
use super::prepared::Piece;
use super::rows::{Binding, Insert};
use super::totals::{self, Change, Totals};
use super::{Library, Origin, Prepared, Stamp, Trust, forgetting};
use crate::StoreError;
use crate::sqlite::now;

const DOCUMENTS: Insert = Insert {
    head: "insert into documents (id, key, kind, folder, server, uri, title, folded, digest, \
           bytes, modified, kept, trusted, passages, length) values",
    columns: 15,
    tail: "",
};

const PASSAGES: Insert = Insert {
    head: "insert into passages (id, document, heading, text, first, last, counted) values",
    columns: 7,
    tail: "",
};

const TERMS: Insert = Insert {
    head: "insert into terms (rowid, title, heading, path, body) values",
    columns: 5,
    tail: "",
};

const RESTAMP: &str = "update documents set digest = $2, bytes = $3, modified = $4 where key = $1";

/// How many pages of the index one step of tidying may write.
const TIDY_PAGES: i64 = 2000;

pub(super) async fn keep(library: &Library, documents: Vec<Prepared>) -> Result<(), StoreError> {
    let documents = last_of_each_key(documents);
    if documents.is_empty() {
        return Ok(());
    }
    let action = "keep documents";
    let mut transaction = library.begin(action).await?;
    let written = write(&mut transaction, documents).await;
    written.map_err(|source| library.failed(action, source))?;
    library.commit(action, transaction).await
}

fn last_of_each_key(documents: Vec<Prepared>) -> Vec<Prepared> {
    let mut places = HashMap::new();
    let mut kept: Vec<Prepared> = Vec::with_capacity(documents.len());
    for document in documents {
        match places.get(&document.key) {
            Some(&place) => kept[place] = document,
            None => {
                places.insert(document.key.clone(), kept.len());
                kept.push(document);
            }
        }
    }
    kept
}

async fn write(
    connection: &mut SqliteConnection,
    documents: Vec<Prepared>,
) -> Result<(), sqlx::Error> {
    let totals = totals::read(connection).await?;
    let keys: Vec<&str> = documents.iter().map(|document| document.key.as_str()).collect();
    let mut change = forgetting::remove(connection, &keys).await?;
    let batch = Batch::new(documents, &totals, &mut change);
    PASSAGES.run(connection, batch.passages.into_iter(), PassageRow::bind).await?;
    TERMS.run(connection, batch.terms.into_iter(), TermsRow::bind).await?;
    DOCUMENTS.run(connection, batch.documents.into_iter(), DocumentRow::bind).await?;
    change.apply(connection).await
}

/// Rows to write.
struct Batch {
    documents: Vec<DocumentRow>,
    passages: Vec<PassageRow>,
    terms: Vec<TermsRow>,
}

struct DocumentRow {
    id: i64,
    document: Prepared,
    kept: i64,
    passages: i64,
    length: i64,
}

struct PassageRow {
    id: i64,
    document: i64,
    heading: String,
    text: String,
    place: Place,
    counted: i64,
}

struct TermsRow {
    id: i64,
    title: String,
    heading: String,
    path: String,
    body: String,
}

impl Batch {
    /// Numbers everything, and counts it.
    fn new(documents: Vec<Prepared>, totals: &Totals, change: &mut Change) -> Self {
        let mut batch = Self { documents: Vec::new(), passages: Vec::new(), terms: Vec::new() };
        let kept = now();
        change.latest = Some(kept);
        for mut document in documents {
            let (id, length) = (totals.next_passage + change.numbers, document.length());
            let pieces = std::mem::take(&mut document.passages);
            let passages = pieces.len() as i64;
            for (number, piece) in (id..).zip(pieces) {
                let counted = weight(number, totals.passages + change.passages, &piece.body);
                batch.piece(number, id, (piece, counted), &document, change);
                change.passages += 1;
            }
            change.documents += 1;
            change.bytes += stored(document.stamp.bytes);
            change.length += length;
            // A document without passages has a number too.
            change.numbers += passages.max(1);
            change.source(&document.origin, 1);
            batch.documents.push(DocumentRow { id, document, kept, passages, length });
        }
        batch
    }

    fn piece(
        &mut self,
        id: i64,
        document: i64,
        (piece, counted): (Piece, i64),
        of: &Prepared,
        change: &mut Change,
    ) {
        let (title, path) = (of.title_terms.clone(), of.path_terms.clone());
        if counted != 0 {
            change.frequencies.count([&title, &piece.heading, &piece.body], counted);
        }
        let Piece { passage, heading, body, .. } = piece;
        self.terms.push(TermsRow { id, title, heading, path, body });
        let (heading, text, place) = (passage.heading, passage.text, passage.place);
        self.passages.push(PassageRow { id, document, heading, text, place, counted });
    }
}

impl DocumentRow {
    fn bind(query: Binding, row: Self) -> Binding {
        let Prepared { key, origin, stamp, trust, title, .. } = row.document;
        let (kind, folder, server, uri) = match origin {
            Origin::File { folder } => ("file", Some(folder), None, None),
            Origin::Resource { server, uri } => ("resource", None, Some(server), Some(uri)),
            Origin::Note => ("note", None, None, None),
        };
        let folded = folded(&title);
        let query = query.bind(row.id).bind(key).bind(kind).bind(folder).bind(server).bind(uri);
        let query = query.bind(title).bind(folded).bind(stamp.digest.to_string());
        let query = query.bind(stored(stamp.bytes)).bind(stamp.modified).bind(row.kept);
        query.bind(trust == Trust::Trusted).bind(row.passages).bind(row.length)
    }
}

impl PassageRow {
    fn bind(query: Binding, row: Self) -> Binding {
        let (first, last) = match row.place {
            Place::Lines { first, last } => (first, Some(last)),
            Place::Page(page) => (page, None),
        };
        let query = query.bind(row.id).bind(row.document).bind(row.heading).bind(row.text);
        query.bind(first).bind(last).bind(row.counted)
    }
}

impl TermsRow {
    fn bind(query: Binding, row: Self) -> Binding {
        query.bind(row.id).bind(row.title).bind(row.heading).bind(row.path).bind(row.body)
    }
}

/// A number of bytes as SQLite holds it.
fn stored(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

pub(super) async fn restamp(
    library: &Library,
    stamps: Vec<(String, Stamp)>,
) -> Result<(), StoreError> {
    if stamps.is_empty() {
        return Ok(());
    }
    let action = "note how sources look now";
    let mut transaction = library.begin(action).await?;
    for (key, stamp) in stamps {
        let query = sqlx::query(RESTAMP).bind(key).bind(stamp.digest.to_string());
        let query = query.bind(stored(stamp.bytes)).bind(stamp.modified);
        let done = query.execute(&mut *transaction).await;
        done.map_err(|source| library.failed(action, source))?;
    }
    library.commit(action, transaction).await
}

/// One step of merging the parts of the index. SQLite counts what it wrote as changes: fewer than
/// two mean that nothing was left to merge.
pub(super) async fn tidy(library: &Library) -> Result<bool, StoreError> {
    let action = "tidy the index";
    let mut transaction = library.begin(action).await?;
    let failed = |source| library.failed(action, source);
    let changes = "select total_changes()";
    let before: i64 =
        sqlx::query_scalar(changes).fetch_one(&mut *transaction).await.map_err(failed)?;
    let merge = sqlx::query("insert into terms (terms, rank) values ('merge', $1)");
    merge.bind(TIDY_PAGES).execute(&mut *transaction).await.map_err(failed)?;
    let after: i64 =
        sqlx::query_scalar(changes).fetch_one(&mut *transaction).await.map_err(failed)?;
    library.commit(action, transaction).await?;
    Ok(after - before >= 2)
}
