//! The client side of revision 2026-07-28: no sessions, no requests from the server, and
//! self-contained requests.
//!
//! ```text
//! probe          detects the era of a server
//! envelope       adds and removes the `_meta` of a request
//! headers        the HTTP headers that repeat parts of a request
//! post           error responses on HTTP
//! rounds         results that ask for more input
//! filter         what a listen request covers
//! listen_state   which changes callers want, and what the server agreed to
//! listen_task    keeps the listen request open
//! listen_stream  one open listen request
//! ```
//!
//! Results are returned as the server sent them, except for those that ask for input. Translating
//! them for callers of another era is left to others.

pub(crate) mod envelope;
pub(crate) mod filter;
pub(crate) mod headers;
pub(crate) mod listen_state;
mod listen_stream;
pub(crate) mod listen_task;
pub(crate) mod post;
pub(crate) mod probe;
pub(crate) mod rounds;

use bytes::Bytes;
use toolgate_wire::{Frame, MessageLimits, build, code, method};

use crate::SessionError;
use crate::core::SessionCore;

/// Answers methods that a modern server does not have: trivially where possible, otherwise with an
/// error. Returns `None` for all other methods.
pub(crate) fn answer_locally(
    core: &SessionCore,
    method: &str,
) -> Option<Result<Frame, SessionError>> {
    let id = || core.next_id().to_string();
    let answer = match method {
        method::PING | method::LOGGING_SET_LEVEL => build::response(&id(), b"{}"),
        method::INITIALIZE
        | method::RESOURCES_SUBSCRIBE
        | method::RESOURCES_UNSUBSCRIBE
        | method::TASKS_LIST
        | method::TASKS_RESULT => {
            let gone = "the server's protocol revision does not have this method";
            build::error_response(Some(&id()), code::METHOD_NOT_FOUND, gone, None)
        }
        _ => return None,
    };
    Some(parse_own(answer))
}

/// Returns true if a modern server accepts this notification.
pub(crate) fn accepts_notification(notification: &str) -> bool {
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

/// Parses a message that this session created.
fn parse_own(message: Bytes) -> Result<Frame, SessionError> {
    Ok(Frame::parse(message, &MessageLimits::MAX)?)
}
