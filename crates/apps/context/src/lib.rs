//! The local context: documents a user lets his agents search, and the MCP servers that offer them.
//!
//! It reads folders and resources into the store, keeps them current, and answers from them. What it
//! gives back is somebody's text and marked as such. It reaches no server itself: resources come to
//! it through the gate.

mod arguments;
mod cite;
pub mod compile;
mod desk;
mod error;
pub mod ingest;
pub mod packing;
mod passage;
mod pdf;
mod pdf_pages;
mod server;
mod shelf;
mod tools;
mod watch;

pub use error::ContextError;
pub use ingest::Ingest;
pub use pdf::{PdfReader, helper_main};
pub use server::{gateway_server, tools_server};
pub use shelf::{Shelf, shell_word};
pub use tools::Intake;

pub use toolgate_model::ContextNames as Names;
pub use toolgate_store::context::{Card, Fresh, Hit, Library, Origin, Stamp, Status, Trust};
pub use watch::{Followed, follow, keep_current};

/// What documents and passages are, and the terms they are found by.
pub mod reading {
    pub use toolgate_reading::{Document, Passage, Place, terms};
}
