//! Finding capabilities by what somebody wants to do, and counting what they cost a model.
//!
//! Lexical and pure: an index in memory, changed one server at a time, and a ranking that says
//! which words of which fields matched. Who may see a capability is decided elsewhere; the caller
//! of [`Index::search`] says which of them count.
//!
//! The way of a text: `words` cuts it, `stem` takes endings off, `lexicon` says what else a word
//! may be called. A [`Document`] is read from a definition, the [`Index`] keeps which term stands
//! in which document, `query` turns a request into concepts, `rank` scores, `explain` says why.
//! Every number that was tuned stands in `weights`.

mod analysis;
mod background;
mod definition;
mod document;
mod entities;
mod explain;
mod focus;
mod fold;
mod hashed;
mod hit;
mod index;
mod lexicon;
mod manner;
mod postings;
mod query;
mod rank;
mod similar;
mod stem;
mod terms;
pub mod tokens;
mod weights;
mod words;

pub use document::{Document, Field};
pub use hit::{Hit, How, Match};
pub use index::Index;
