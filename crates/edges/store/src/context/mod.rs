//! The local context on disk: documents, their passages, and the index that finds them, in one
//! SQLite file (`context.db`).
//!
//! A document is kept whole or not at all. Several processes may have the file open: one that
//! writes, and others that search meanwhile. What is a document, and whether it may be kept, is for
//! the context server to know.

mod completing;
mod document;
mod forgetting;
mod frequencies;
mod glance;
mod hit;
mod keeping;
mod library;
mod listing;
mod prepared;
mod reindexing;
mod rows;
mod search;
mod totals;
mod trusting;

pub use document::{Card, Fresh, Origin, Stamp, Trust};
pub use hit::{Hit, Status};
pub use library::Library;
pub use prepared::Prepared;
