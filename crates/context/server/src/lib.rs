//! The local context: the user's documents, ready for agents to search, and the MCP servers that
//! offer them.
//!
//! This crate ingests folders and resources into the store, keeps them current, and answers
//! questions from them. Everything it returns from a document is marked as quoted text. It connects
//! to no server: resources reach it through the gate.

mod arguments;
mod cite;
pub mod compile;
mod error;
pub mod ingest;
mod library_handle;
pub mod packing;
mod passage;
mod pdf;
mod pdf_pages;
mod server;
mod service;
mod tools;
mod watch;

pub use error::ContextError;
pub use ingest::Ingester;
pub use library_handle::{LibraryHandle, shell_word};
pub use passage::{format_time, single_line};
pub use pdf::{PdfReader, helper_main};
pub use server::{gateway_server, tools_server};
pub use tools::IngestPermissions;

pub use toolgate_library::{
    Document, DocumentOrigin, DocumentTrust, Library, LibraryStatus, NewDocument, PassageHit,
    SourceStamp, heading_path,
};
pub use toolgate_model::ContextNamingStyle as Names;
pub use toolgate_store::StoreError;
pub use watch::{WatchEvent, keep_current, watch_paths};

/// The types of documents and passages, and the terms that the index uses.
pub mod reading {
    pub use toolgate_reading::{ParsedDocument, Passage, PassageLocation, terms};
}
