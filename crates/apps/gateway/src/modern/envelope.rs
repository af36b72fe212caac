//! The envelope of a modern request: the members of `_meta` that describe its client.
//!
//! The parser of the message has already located them. Their values stay raw bytes; only the
//! version and the log level are decoded here.

use std::borrow::Cow;

use bytes::Bytes;
use toolgate_wire::view::LogLevel;
use toolgate_wire::{Frame, Span, code, meta, string};

use crate::rejection::Rejection;

/// The description of the client in a request.
#[derive(Debug, Clone)]
pub(crate) struct ClientMeta {
    /// The client's capabilities, raw.
    pub(crate) capabilities: Bytes,
    /// The client's `clientInfo`, raw. Empty if it is missing.
    pub(crate) client: Bytes,
    /// The lowest level of log messages that the request wants, or `None` if it wants none.
    pub(crate) level: Option<LogLevel>,
}

/// Returns true if a message contains any member of the envelope, and so claims to be modern.
pub(crate) fn has_envelope(frame: &Frame) -> bool {
    frame.client_meta_spans().has_any()
}

/// Returns the version in the envelope, or `None` if it is missing or not a string.
pub(crate) fn envelope_version(frame: &Frame) -> Option<Cow<'_, str>> {
    string::decode(frame.client_meta_spans().version?.slice(frame.bytes()))
}

impl ClientMeta {
    /// Returns the envelope of a message, or an error if a member is missing or malformed.
    pub(crate) fn parse(frame: &Frame) -> Result<Self, Rejection> {
        let members = frame.client_meta_spans();
        let object = |at: Span, key| match at.slice(frame.bytes()).first() {
            Some(b'{') => Ok(frame.bytes().slice(at.start()..at.end())),
            _ => Err(malformed_member(frame, key)),
        };
        let key = meta::CLIENT_CAPABILITIES;
        let capabilities = members.capabilities.ok_or_else(|| missing_member(frame, key))?;
        let client = members.client.map(|at| object(at, meta::CLIENT_INFO)).transpose()?;
        let level = members.level.map(|at| {
            let level = string::decode(at.slice(frame.bytes()));
            let level = level.and_then(|level| level.parse().ok());
            level.ok_or_else(|| malformed_member(frame, meta::LOG_LEVEL))
        });
        Ok(Self {
            capabilities: object(capabilities, key)?,
            client: client.unwrap_or_default(),
            level: level.transpose()?,
        })
    }
}

/// Returns the error for an envelope without the member `key`.
pub(crate) fn missing_member(frame: &Frame, key: &str) -> Rejection {
    Rejection::of_frame(frame, code::INVALID_PARAMS, format!("params._meta lacks {key}"))
}

fn malformed_member(frame: &Frame, key: &str) -> Rejection {
    Rejection::of_frame(frame, code::INVALID_PARAMS, format!("{key} in params._meta is malformed"))
}
