//! What a modern HTTP request repeats of its body in headers (SEP-2243).
//!
//! `Mcp-Method`, `Mcp-Name`, and `Mcp-Param-*` for the arguments a tool's schema marks with
//! `x-mcp-header`. Here is how a value is spelled in a header, which arguments a definition marks,
//! and whether header and body agree. No HTTP types: names are lower-case text.

mod rules;
mod spelling;

pub use rules::{Invalid, Rule, rules};
pub use spelling::{agree, decode, encode};

/// The header that repeats the method.
pub const METHOD: &str = "mcp-method";
/// The header that repeats the name, URI or task a request is about.
pub const NAME: &str = "mcp-name";
/// What the header of every mirrored argument begins with.
pub const PARAM_PREFIX: &str = "mcp-param-";
