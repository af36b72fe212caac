//! The bridge: a message of one revision, shaped for a peer of another.
//!
//! Pure functions over bytes. Each knows the revision a message came in and the revision it must
//! leave in; where the two are the same, the very same bytes leave. What no revision gives a
//! meaning passes untouched.
//!
//! Absent on purpose: state, IO, names and callers (those are the gate's), and how questions
//! travel, which is the question port's affair.

mod capabilities;
mod content;
mod definition;
mod error;
mod passage;
mod question;
mod result;
mod schema;
pub mod tasks;
pub mod words;

pub use capabilities::capabilities;
pub use definition::tool;
pub use error::{error, own_code};
pub use passage::Passage;
pub use question::question;
pub use result::{SERVER_INFO, confined, list_tail, result};
