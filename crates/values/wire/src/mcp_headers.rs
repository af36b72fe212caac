//! The headers in which a modern HTTP request repeats parts of its body (SEP-2243).
//!
//! These are `Mcp-Method`, `Mcp-Name`, and `Mcp-Param-*` for the arguments that a tool's schema
//! marks with `x-mcp-header`. This module encodes header values, finds the marked arguments of a
//! definition, and compares headers with the body. It uses no HTTP types; header names are
//! lower-case text.

mod argument_header;
mod encoding;

pub use argument_header::{ArgumentHeader, ArgumentHeaderError, argument_headers};
pub use encoding::{decode, encode, matches_json_string};

/// The header that repeats the method.
pub const METHOD: &str = "mcp-method";
/// The header that repeats the name, URI or task id that a request targets.
pub const NAME: &str = "mcp-name";
/// The prefix of the headers that mirror arguments.
pub const PARAM_PREFIX: &str = "mcp-param-";
