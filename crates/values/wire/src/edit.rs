//! Changing a frame: the edits a gateway makes on a message that passes through.

use bytes::Bytes;

use crate::{Fault, Frame, Limits, Span, Splice, WireError};

/// Edits of one [`Frame`], applied together by [`Edit::finish`].
///
/// An edit that does not fit (an id for a message that has none, overlapping places) is refused
/// when the edits are applied.
#[derive(Debug, Clone)]
#[must_use = "edits do nothing until they are finished"]
pub struct Edit<'a> {
    frame: &'a Frame,
    splice: Splice<'a>,
    fault: Option<Fault>,
}

impl<'a> Edit<'a> {
    pub(crate) fn new(frame: &'a Frame) -> Self {
        Self { frame, splice: Splice::new(frame.bytes()), fault: None }
    }

    /// Puts another id (raw JSON) in place of the message's.
    pub fn replace_id(self, raw: impl AsRef<[u8]>) -> Self {
        self.replace_known(Frame::id_span, raw)
    }

    /// Puts another name (raw JSON string) in place of what [`Frame::name`] says.
    pub fn replace_name(self, raw: impl AsRef<[u8]>) -> Self {
        self.replace_known(Frame::name_span, raw)
    }

    /// Puts another id (raw JSON) in place of what [`Frame::request_ref`] says.
    pub fn replace_request_ref(self, raw: impl AsRef<[u8]>) -> Self {
        self.replace_known(Frame::request_ref_span, raw)
    }

    /// Sets the progress token (raw JSON), making the `_meta` and `params` around it where there
    /// are none.
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

    /// Puts `json` in place of the value at `span`.
    pub fn replace(mut self, span: Span, json: impl AsRef<[u8]>) -> Self {
        self.splice = self.splice.replace(span, json);
        self
    }

    /// Adds a member at the head of an object: [`Splice::insert_member`].
    pub fn insert_member(mut self, object: Span, key: &str, json: impl AsRef<[u8]>) -> Self {
        self.splice = self.splice.insert_member(object, key, json);
        self
    }

    /// Removes a member of an object: [`Splice::delete_member`].
    pub fn delete_member(mut self, object: Span, key: &str) -> Self {
        self.splice = self.splice.delete_member(object, key);
        self
    }

    /// Replaces or adds a member of an object: [`Splice::set_member`].
    pub fn set_member(mut self, object: Span, key: &str, json: impl AsRef<[u8]>) -> Self {
        self.splice = self.splice.set_member(object, key, json);
        self
    }

    /// The changed message.
    pub fn finish(self) -> Result<Bytes, WireError> {
        match self.fault {
            Some(fault) => Err(fault.into()),
            None => self.splice.finish(),
        }
    }

    /// The changed message, read again: the places have moved. What lies beside it stays there.
    pub fn frame(self) -> Result<Frame, WireError> {
        let aside = self.frame.aside().cloned();
        Ok(Frame::parse(self.finish()?, &Limits::WIDEST)?.beside(aside))
    }

    fn replace_known(mut self, place: fn(&Frame) -> Option<Span>, raw: impl AsRef<[u8]>) -> Self {
        match place(self.frame) {
            Some(span) => self.replace(span, raw),
            None => {
                self.fault = Some(Fault::Splice);
                self
            }
        }
    }
}
