//! Translates messages between MCP revisions.
//!
//! The functions are pure and work on bytes. Each one takes the revision of the sender and that of
//! the receiver; if they are equal, the bytes pass unchanged. Members that no revision defines pass
//! unchanged, too.
//!
//! State, IO, names and callers belong to the gate, and so does the way questions travel.

mod capabilities;
mod content;
mod definition;
pub mod describe;
mod error;
mod question;
mod result;
mod schema;
pub mod tasks;
mod translation;

pub use capabilities::gateway_capabilities;
pub use definition::translate_tool;
pub use error::{gateway_error_code, translate_error};
pub use question::translate_question;
pub use result::{SERVER_INFO, mark_private, modern_list_members, translate_result};
pub use translation::ResponseTranslation;
