//! The role of a client of 2026-07-28: no session, no requests of the server, every request for
//! itself.
//!
//! ```text
//! probe      which era the server is of
//! envelope   what a request says of itself, put on or taken off
//! headers    what HTTP repeats of it
//! post       one request on HTTP
//! rounds     a result that asks for more before it can be given
//! listen     what changes callers want to be told of
//! ear        the one stream they are told on, and stream, one opening of it
//! ```
//!
//! What a caller of another era must see of all this is not decided here: results leave as the
//! server made them, but for those that ask.

pub(crate) mod ear;
pub(crate) mod envelope;
pub(crate) mod filter;
pub(crate) mod headers;
pub(crate) mod listen;
pub(crate) mod post;
pub(crate) mod probe;
pub(crate) mod rounds;
mod stream;

use bytes::Bytes;
use toolgate_wire::{Frame, Limits, build, code, method};

use crate::SessionError;
use crate::core::Core;

/// What a modern server must not be asked any more: what is trivial is answered for it, the rest it
/// does not know.
pub(crate) fn answered_here(core: &Core, method: &str) -> Option<Result<Frame, SessionError>> {
    let id = || core.next_id().to_string();
    let answer = match method {
        method::PING | method::LOGGING_SET_LEVEL => build::response(&id(), b"{}"),
        method::INITIALIZE
        | method::RESOURCES_SUBSCRIBE
        | method::RESOURCES_UNSUBSCRIBE
        | method::TASKS_LIST
        | method::TASKS_RESULT => {
            let gone = "the server speaks a revision that has no such method";
            build::failure(Some(&id()), code::METHOD_NOT_FOUND, gone, None)
        }
        _ => return None,
    };
    Some(own(answer))
}

/// Whether a notification means something to a modern server.
pub(crate) fn takes(notification: &str) -> bool {
    !matches!(
        notification,
        method::INITIALIZED
            | method::ROOTS_LIST_CHANGED
            | method::PROGRESS
            | method::ELICITATION_COMPLETE
            | method::TASKS_STATUS
            | method::CANCELLED
    )
}

/// A message we made.
fn own(message: Bytes) -> Result<Frame, SessionError> {
    Ok(Frame::parse(message, &Limits::WIDEST)?)
}
