//! Shared parts of all readers: the tree of a document, typed access to its fields, and
//! diagnostics.

pub(crate) mod diagnostics;
pub(crate) mod entry;
pub(crate) mod excerpt;
pub(crate) mod fields;
pub(crate) mod nearest;
pub(crate) mod oauth;
pub(crate) mod rules;
pub(crate) mod server;
pub(crate) mod tool_filter;
pub(crate) mod tree;
pub(crate) mod writer;

pub(crate) use diagnostics::FileDiagnostics;
pub(crate) use fields::TableFields;
pub(crate) use writer::EntryWriter;
