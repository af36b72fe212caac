//! JSON-RPC messages of MCP, kept as the bytes they arrived in.
//!
//! A [`Frame`] holds a message's bytes and the spans that routing and policy need: id, method,
//! params, name and progress token. One strict scan accepts or rejects the whole message. Messages
//! are changed only by splicing, so unknown members, key order and number spelling reach the other
//! side untouched.
//!
//! The crate does no IO and no async work, and it never re-encodes what a peer wrote. It has no
//! typed models of MCP messages beyond the small [`view`]s that naming, policy and lifecycle need.

pub mod build;
mod cached_meta;
pub mod canonical;
pub mod code;
mod envelope;
mod error;
mod frame;
pub mod hex;
mod id;
mod json_edit;
mod keys;
pub mod large;
mod limits;
pub mod mcp_headers;
mod message;
pub mod meta;
pub mod method;
mod params;
mod revision;
pub mod scan;
mod scanner;
mod single_line;
mod span;
pub mod string;
mod swar;
pub mod view;
mod words;

pub use cached_meta::CachedMeta;
pub use error::{WireError, WireErrorKind};
pub use frame::{Frame, MessageKind};
pub use id::{JsonRpcId, OwnedRequestId, RequestId};
pub use json_edit::JsonEdit;
pub use limits::MessageLimits;
pub use message::MessageOrBatch;
pub use revision::{Era, Revision};
pub use single_line::to_single_line;
pub use span::Span;
pub use words::UnknownWord;
