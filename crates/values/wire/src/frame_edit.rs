//! Edits that the gateway makes to a message it forwards.

use bytes::Bytes;

use crate::{Frame, JsonEdit, MessageLimits, Span, WireError, WireErrorKind};

/// A set of edits to one [`Frame`], applied together by [`FrameEdit::finish`].
///
/// An edit that does not fit (an id for a message without one, overlapping spans) makes `finish`
/// fail.
#[derive(Debug, Clone)]
#[must_use = "edits do nothing until they are finished"]
pub struct FrameEdit<'a> {
    frame: &'a Frame,
    splice: JsonEdit<'a>,
    error: Option<WireErrorKind>,
}

impl<'a> FrameEdit<'a> {
    pub(crate) fn new(frame: &'a Frame) -> Self {
        Self { frame, splice: JsonEdit::new(frame.bytes()), error: None }
    }

    /// Replaces the id of the message (raw JSON).
    pub fn replace_id(self, raw: impl AsRef<[u8]>) -> Self {
        self.replace_at(Frame::id_span, raw)
    }

    /// Replaces [`Frame::name`] (a raw JSON string).
    pub fn replace_name(self, raw: impl AsRef<[u8]>) -> Self {
        self.replace_at(Frame::name_span, raw)
    }

    /// Sets the progress token (raw JSON). Creates `_meta` and `params` if they are missing.
    pub fn set_progress_token(self, raw: impl AsRef<[u8]>) -> Self {
        let raw = raw.as_ref();
        let member =
            |key: &str, value: &[u8]| [b"{\"", key.as_bytes(), b"\":", value, b"}"].concat();
        let frame = self.frame;
        if let Some(token) = frame.progress_token_span() {
            return self.replace(token, raw);
        }
        if let Some(meta) = frame.meta_span() {
            return self.insert_member(meta, "progressToken", raw);
        }
        let meta = member("progressToken", raw);
        match frame.params_span() {
            Some(params) => self.insert_member(params, "_meta", meta),
            None => self.insert_member(frame.span(), "params", member("_meta", &meta)),
        }
    }

    /// Replaces the value at `span` by `json`.
    pub fn replace(mut self, span: Span, json: impl AsRef<[u8]>) -> Self {
        self.splice = self.splice.replace(span, json);
        self
    }

    /// Adds a member at the start of an object: [`JsonEdit::insert_member`].
    pub fn insert_member(mut self, object: Span, key: &str, json: impl AsRef<[u8]>) -> Self {
        self.splice = self.splice.insert_member(object, key, json);
        self
    }

    /// Removes a member of an object: [`JsonEdit::delete_member`].
    pub fn delete_member(mut self, object: Span, key: &str) -> Self {
        self.splice = self.splice.delete_member(object, key);
        self
    }

    /// Replaces or adds a member of an object: [`JsonEdit::set_member`].
    pub fn set_member(mut self, object: Span, key: &str, json: impl AsRef<[u8]>) -> Self {
        self.splice = self.splice.set_member(object, key, json);
        self
    }

    /// Returns the edited message.
    pub fn finish(self) -> Result<Bytes, WireError> {
        match self.error {
            Some(fault) => Err(fault.into()),
            None => self.splice.finish(),
        }
    }

    /// Returns the edited message, parsed again because its spans have moved. Removed values of a
    /// large response stay attached.
    pub fn finish_frame(self) -> Result<Frame, WireError> {
        let detached = self.frame.detached_values().cloned();
        Ok(Frame::parse(self.finish()?, &MessageLimits::MAX)?.with_detached(detached))
    }

    fn replace_at(mut self, place: fn(&Frame) -> Option<Span>, raw: impl AsRef<[u8]>) -> Self {
        match place(self.frame) {
            Some(span) => self.replace(span, raw),
            None => {
                self.error = Some(WireErrorKind::Splice);
                self
            }
        }
    }
}
