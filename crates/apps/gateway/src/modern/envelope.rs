//! What a message's `_meta` says of its sender: the envelope of a modern request.
//!
//! Its places were noted when the message was read. Values stay the bytes they came in; only the
//! version and the log level are understood here.

use std::borrow::Cow;

use bytes::Bytes;
use toolgate_wire::view::LogLevel;
use toolgate_wire::{Frame, Span, meta, string};

use super::Fault;

/// What a request says of its client.
#[derive(Debug, Clone)]
pub(crate) struct Envelope {
    /// What the client can do, raw.
    pub(crate) capabilities: Bytes,
    /// What the client calls itself, raw; empty if it does not say.
    pub(crate) client: Bytes,
    /// The least level of log lines the request wants; none if it wants none at all.
    pub(crate) level: Option<LogLevel>,
}

/// The envelope of a message that has one, whole or not.
#[derive(Debug)]
pub(crate) struct Claim<'a> {
    bytes: &'a [u8],
    at: meta::Claim,
}

impl<'a> Claim<'a> {
    /// The claim of a message to be modern, rightly or not: any member of the envelope is one.
    pub(crate) fn of(frame: &'a Frame) -> Option<Self> {
        let at = frame.claim();
        at.is_made().then_some(Self { bytes: frame.bytes(), at })
    }

    /// The version it claims; none if it is not there or no string.
    pub(crate) fn version(&self) -> Option<Cow<'a, str>> {
        string::decode(self.at.version?.of(self.bytes))
    }

    /// The envelope, if nothing of it is missing or malformed.
    pub(crate) fn open(&self, frame: &Frame) -> Result<Envelope, Fault> {
        let capabilities = self.object(frame, self.at.capabilities, meta::CLIENT_CAPABILITIES)?;
        let Some(capabilities) = capabilities else {
            return Err(missing(frame, meta::CLIENT_CAPABILITIES));
        };
        let client = self.object(frame, self.at.client, meta::CLIENT_INFO)?.unwrap_or_default();
        let level = self.at.level.map(|at| {
            let level = string::decode(at.of(self.bytes));
            level
                .and_then(|level| level.parse().ok())
                .ok_or_else(|| malformed(frame, meta::LOG_LEVEL))
        });
        Ok(Envelope { capabilities, client, level: level.transpose()? })
    }

    fn object(&self, frame: &Frame, at: Option<Span>, key: &str) -> Result<Option<Bytes>, Fault> {
        let Some(at) = at else { return Ok(None) };
        match at.of(self.bytes).first() {
            Some(b'{') => Ok(Some(frame.bytes().slice(at.start()..at.end()))),
            _ => Err(malformed(frame, key)),
        }
    }
}

/// The fault of an envelope without one of its members.
pub(crate) fn missing(frame: &Frame, key: &str) -> Fault {
    Fault::envelope(frame, format!("params._meta lacks {key}"))
}

fn malformed(frame: &Frame, key: &str) -> Fault {
    Fault::envelope(frame, format!("{key} in params._meta is malformed"))
}
