//! Config dialects: the text of one file becomes declared servers, settings and diagnostics.
//!
//! One file per dialect. A reader is lenient per entry: what is wrong with one server is a
//! diagnostic with its place and a hint, and never hides another server. Nothing here opens a file,
//! decides between two files or expands a variable: `edges/config` does.

mod duration;
mod fields;
mod file;
mod interpolation;
mod json;
mod mcp_json;
mod nearest;
mod report;
mod server;
mod toml;
mod toolgate;
mod tree;

pub use duration::parse as parse_duration;
pub use file::{Declared, Dialect, FileRef, Reading, Settings};
pub use interpolation::{Interpolation, Unset};
pub use mcp_json::mcp_json;
pub use toolgate::toolgate;
