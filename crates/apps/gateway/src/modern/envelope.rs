//! The envelope of a modern request: the members of `_meta` that describe its client.
//!
//! The parser of the message has already located them. Their values stay raw bytes; only the
//! version and the log level are decoded here.

use std::borrow::Cow;

use bytes::Bytes;
use toolgate_wire::view::LogLevel;
use toolgate_wire::{Frame, Span, meta, string};

use crate::rejection::Rejection;

/// The description of the client in a request.
#[derive(Debug, Clone)]
pub(crate) struct RequestEnvelope {
    /// The client's capabilities, raw.
    pub(crate) capabilities: Bytes,
    /// The client's `clientInfo`, raw. Empty if it is missing.
    pub(crate) client: Bytes,
    /// The lowest level of log messages that the request wants, or `None` if it wants none.
    pub(crate) level: Option<LogLevel>,
}

/// Parses the envelope of a message. The envelope may be incomplete.
#[derive(Debug)]
pub(crate) struct EnvelopeParser<'a> {
    bytes: &'a [u8],
    members: meta::ClientMetaSpans,
}

impl<'a> EnvelopeParser<'a> {
    /// Returns a parser if the message contains any member of the envelope, and so claims to be
    /// modern.
    pub(crate) fn new(frame: &'a Frame) -> Option<Self> {
        let at = frame.client_meta_spans();
        at.has_any().then_some(Self { bytes: frame.bytes(), members: at })
    }

    /// Returns the version in the envelope, or `None` if it is missing or not a string.
    pub(crate) fn version(&self) -> Option<Cow<'a, str>> {
        string::decode(self.members.version?.slice(self.bytes))
    }

    /// Returns the envelope, or an error if a member is missing or malformed.
    pub(crate) fn parse(&self, frame: &Frame) -> Result<RequestEnvelope, Rejection> {
        let capabilities =
            self.object(frame, self.members.capabilities, meta::CLIENT_CAPABILITIES)?;
        let Some(capabilities) = capabilities else {
            return Err(missing_member(frame, meta::CLIENT_CAPABILITIES));
        };
        let client =
            self.object(frame, self.members.client, meta::CLIENT_INFO)?.unwrap_or_default();
        let level = self.members.level.map(|at| {
            let level = string::decode(at.slice(self.bytes));
            level
                .and_then(|level| level.parse().ok())
                .ok_or_else(|| malformed_member(frame, meta::LOG_LEVEL))
        });
        Ok(RequestEnvelope { capabilities, client, level: level.transpose()? })
    }

    fn object(
        &self,
        frame: &Frame,
        at: Option<Span>,
        key: &str,
    ) -> Result<Option<Bytes>, Rejection> {
        let Some(at) = at else { return Ok(None) };
        match at.slice(self.bytes).first() {
            Some(b'{') => Ok(Some(frame.bytes().slice(at.start()..at.end()))),
            _ => Err(malformed_member(frame, key)),
        }
    }
}

/// Returns the error for an envelope without the member `key`.
pub(crate) fn missing_member(frame: &Frame, key: &str) -> Rejection {
    Rejection::invalid_envelope(frame, format!("params._meta lacks {key}"))
}

fn malformed_member(frame: &Frame, key: &str) -> Rejection {
    Rejection::invalid_envelope(frame, format!("{key} in params._meta is malformed"))
}
