//! The wire: JSON-RPC messages of MCP as the bytes they came in.
//!
//! A [`Frame`] is a message's bytes plus the places of what routing and policy decide on (id,
//! method, params, name, progress token). It is read by one strict scan that accepts or refuses
//! the whole document, and changed only by splicing, so unknown members, key order and the
//! spelling of numbers reach the other side untouched.
//!
//! Absent on purpose: IO, async, typed models of MCP messages (only the small [`view`]s that
//! naming, policy and lifecycle need), and any re-encoding of what a peer wrote.

pub mod build;
pub mod canonical;
pub mod code;
mod edit;
mod envelope;
mod error;
mod frame;
mod id;
mod keys;
pub mod large;
mod limits;
mod line;
mod message;
pub mod meta;
pub mod method;
pub mod mirror;
mod params;
mod remembered;
mod revision;
pub mod scan;
mod scanner;
mod span;
mod splice;
pub mod string;
mod swar;
pub mod view;

pub use edit::Edit;
pub use error::{Fault, WireError};
pub use frame::{Frame, Kind};
pub use id::{Id, OwnedId};
pub use limits::Limits;
pub use line::line;
pub use message::Message;
pub use remembered::Remembered;
pub use revision::{Era, Revision, UnknownRevision};
pub use span::Span;
pub use splice::Splice;
