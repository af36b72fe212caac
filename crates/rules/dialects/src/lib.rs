//! Config dialects: the text of one file becomes declared servers, settings and diagnostics, and
//! servers become text again.
//!
//! One file per dialect, in `forms`; what they share is in `form` and `frame`. A reader is lenient
//! per entry: what is wrong with one server is a diagnostic with its place and a hint, and never
//! hides another server. A writer says what its dialect has no words for. Nothing here opens a
//! file, decides between two files or looks a variable up: `edges/config` does.

mod declared;
mod detect;
mod dialect;
mod document;
mod duration;
mod edit;
mod form;
mod forms;
mod frame;
mod grammar;
mod listing;
mod losses;
mod schema;
mod syntax;
pub mod template;

pub use toolgate_model::Mode;

pub use declared::{
    Amendment, ClientProfile, Declared, FileApprovals, FileContext, FileRef, Foreign, Input,
    Permissions, Reading, Said, Settings,
};
pub use dialect::{Dialect, Written};
pub use duration::parse as parse_duration;
pub use edit::EditError;
pub use form::Meaning;
pub use frame::nearest::nearest;
pub use grammar::Grammar;
pub use losses::Loss;
pub use schema::schema;
pub use syntax::Syntax;
