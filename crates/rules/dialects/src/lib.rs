//! Configuration dialects: parses the text of one file into servers, settings and diagnostics, and
//! writes servers as text.
//!
//! `formats` has one file per dialect; shared code is in `dialect_format` and `common`. Readers are
//! lenient per entry: an error in one server is a diagnostic with a position and a hint, and does
//! not affect other servers. Writers report what their dialect cannot express. This crate opens no
//! files, merges no files and looks up no variables: `edges/config` does.

mod common;
mod declaration;
mod detect;
mod dialect;
mod dialect_format;
mod document;
mod duration;
mod edit;
mod formats;
mod losses;
mod server_filter;
mod syntax;
pub mod template;
mod variable_syntax;

pub use toolgate_model::PolicyMode;

pub use common::diagnostics::UNREADABLE_FILE_HINT;
pub use common::nearest::nearest;
pub use declaration::{
    ClientProfile, Declaration, FileApprovalSettings, FileContextSettings, FileRef, FileSettings,
    ForeignFiles, InputSpec, LocatedValue, ParsedFile, Permissions, ServerOverride,
};
pub use dialect::{Dialect, WrittenConfigText};
pub use dialect_format::RuleTranslation;
pub use duration::parse as parse_duration;
pub use edit::EditError;
pub use losses::ConversionLoss;
pub use syntax::Syntax;
pub use variable_syntax::VariableSyntax;

/// The JSON Schema (draft 2020-12) of Toolgate's own file, for editors and people. Tests compare
/// it with the reader: the fields of every table, and the words that a field accepts.
pub const SCHEMA: &str = include_str!("../../../../schemas/toolgate.schema.json");
