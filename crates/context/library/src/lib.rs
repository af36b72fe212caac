//! The local context on disk: documents, their passages and the search index, in one SQLite file
//! (`context.db`).
//!
//! A document is stored completely or not at all. Several processes may open the file: one writes
//! while others search. The context server decides what is a document and whether to store it.

mod bulk_insert;
mod document;
mod frequencies;
mod insertion;
mod library;
mod listing;
mod passage_hit;
mod prepared_document;
mod query_completion;
mod reindexing;
mod removal;
mod search;
mod totals;

/// The result of an operation on the library.
pub(crate) type LibraryResult<T> = Result<T, toolgate_store::StoreError>;

pub use document::{Document, DocumentOrigin, DocumentTrust, NewDocument, SourceStamp};
pub use library::Library;
pub use passage_hit::{LibraryStatus, PassageHit, heading_path};
pub use prepared_document::PreparedDocument;
