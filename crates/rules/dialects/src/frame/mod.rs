//! The frame every reader works in: the tree of a document, typed access to its fields, and the
//! report of what is wrong.

pub(crate) mod excerpt;
pub(crate) mod fields;
pub(crate) mod nearest;
pub(crate) mod oauth;
pub(crate) mod report;
pub(crate) mod rules;
pub(crate) mod server;
pub(crate) mod tools;
pub(crate) mod tree;
pub(crate) mod writer;

pub(crate) use fields::Fields;
pub(crate) use report::Report;
pub(crate) use writer::Writer;
