//! A request that is refused before anybody looked at what it wants.

use std::borrow::Cow;

use serde_json::json;
use toolgate_wire::{Frame, OwnedId, Revision, build, code};

use crate::session::Reply;
use crate::upstreams::Refusal;

/// What is wrong with a message. Over HTTP it is always a bad request.
#[derive(Debug)]
pub(crate) struct Fault {
    code: i32,
    message: Cow<'static, str>,
    data: Option<String>,
    id: Option<OwnedId>,
}

impl Fault {
    fn new(frame: &Frame, code: i32, message: impl Into<Cow<'static, str>>) -> Self {
        let id = frame.id().map(|id| id.to_owned());
        Self { code, message: message.into(), data: None, id }
    }

    /// The envelope lacks something, or is not what it should be.
    pub(crate) fn envelope(frame: &Frame, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(frame, code::INVALID_PARAMS, message)
    }

    /// A header that is missing, there twice, unreadable, or says something else than the body.
    pub(crate) fn header(frame: &Frame, header: &str) -> Self {
        let message = format!("the {header} header is not what the body says");
        Self::new(frame, code::HEADER_MISMATCH, message)
    }

    /// A revision that is not served here.
    pub(crate) fn version(frame: &Frame, requested: &str, supported: Revision) -> Self {
        let data = json!({ "supported": [supported.as_str()], "requested": requested });
        Self {
            data: Some(data.to_string()),
            ..Self::new(
                frame,
                code::UNSUPPORTED_PROTOCOL_VERSION,
                format!("Unsupported protocol version: this is {supported}"),
            )
        }
    }

    /// A message that has no place in this revision.
    pub(crate) fn unfit(id: Option<OwnedId>, message: &'static str) -> Self {
        Self { code: code::INVALID_REQUEST, message: message.into(), data: None, id }
    }

    /// A client the gate does not take.
    pub(crate) fn refused(id: Option<OwnedId>, refusal: Refusal) -> Self {
        let Refusal { code, message, data, .. } = refusal;
        let data = data.map(|data| String::from_utf8_lossy(&data).into_owned());
        Self { code, message: message.into(), data, id }
    }

    /// The error that is sent back.
    pub(crate) fn into_reply(self) -> Reply {
        let id = self.id.as_ref().map(OwnedId::raw);
        let data = self.data.as_deref().map(str::as_bytes);
        Reply::whole(build::failure(id, self.code, &self.message, data))
    }

    #[cfg(test)]
    pub(crate) fn code(&self) -> i32 {
        self.code
    }
}
