//! Edits JSON without re-encoding it: collects edits and applies them in one pass.
//!
//! Bytes that no edit touches are copied unchanged. Inserted text must be valid JSON; this is
//! checked in debug builds only.

use std::sync::Arc;

use bytes::Bytes;

use crate::{
    Frame, MessageLimits, Span, WireError, WireErrorKind,
    large::DetachedValues,
    scan::{self, MemberSpans},
    string,
};

/// A set of edits to one JSON document, applied together by [`JsonEdit::finish`].
#[derive(Debug, Clone)]
#[must_use = "edits do nothing until they are finished"]
pub struct JsonEdit<'a> {
    source: &'a [u8],
    /// The removed values of the message that is edited, if it is the skeleton of a large response.
    detached: Option<Arc<DetachedValues>>,
    /// True if an edit names a value that the document does not have.
    lacks_target: bool,
    texts: Vec<u8>,
    edits: Vec<ByteReplacement>,
    objects: Vec<ObjectEdit>,
}

/// A replacement of the source bytes `from..to` by the slice `text` of the stored texts.
#[derive(Debug, Clone, Copy)]
struct ByteReplacement {
    from: usize,
    to: usize,
    text: Span,
}

/// The edits to the members of one object. They are collected first, because the commas depend on
/// all of them.
#[derive(Debug, Clone)]
struct ObjectEdit {
    at: Span,
    inserts: Vec<Span>,
    deleted_keys: Vec<String>,
}

impl<'a> JsonEdit<'a> {
    /// Starts to edit `source`. Spans are relative to it.
    pub fn new(source: &'a [u8]) -> Self {
        Self {
            source,
            detached: None,
            lacks_target: false,
            texts: Vec::new(),
            edits: Vec::new(),
            objects: Vec::new(),
        }
    }

    /// Starts to edit a message.
    pub(crate) fn of_frame(frame: &'a Frame) -> Self {
        Self { detached: frame.detached_values().cloned(), ..Self::new(frame.bytes()) }
    }

    /// Replaces the value at `span` by `json`. Without a span, `finish` fails.
    pub fn replace_found(mut self, span: Option<Span>, json: impl AsRef<[u8]>) -> Self {
        self.lacks_target |= span.is_none();
        match span {
            Some(span) => self.replace(span, json),
            None => self,
        }
    }

    /// Returns true if there is nothing to edit.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.objects.is_empty()
    }

    /// Replaces the value at `span` by `json`.
    pub fn replace(mut self, span: Span, json: impl AsRef<[u8]>) -> Self {
        debug_assert!(scan::is_valid(json.as_ref()), "a replacement is JSON");
        let text = self.store_text(&[json.as_ref()]);
        self.edits.push(ByteReplacement { from: span.start(), to: span.end(), text });
        self
    }

    /// Adds a member at the start of the object at `object`. The object must not have that key; use
    /// [`JsonEdit::set_member`] if it may.
    pub fn insert_member(mut self, object: Span, key: &str, json: impl AsRef<[u8]>) -> Self {
        debug_assert!(scan::is_valid(json.as_ref()), "a new member is JSON");
        let text = self.store_text(&[string::encode(key).as_bytes(), b":", json.as_ref()]);
        self.object_edit(object).inserts.push(text);
        self
    }

    /// Removes a member and its comma, if the member exists. Removes all of them if the key
    /// repeats.
    pub fn delete_member(mut self, object: Span, key: &str) -> Self {
        self.object_edit(object).deleted_keys.push(key.to_owned());
        self
    }

    /// Replaces the value of a member, or adds the member.
    pub fn set_member(self, object: Span, key: &str, json: impl AsRef<[u8]>) -> Self {
        match scan::member(object.slice(self.source), key) {
            Some(value) => self.replace(value.within(object), json),
            None => self.insert_member(object, key, json),
        }
    }

    /// Applies the edits.
    ///
    /// Returns an error if edits overlap, reach beyond the source, lack their target, or change
    /// members of a value that is not an object. These are bugs of the caller; a partly applied edit would be a
    /// different message.
    pub fn finish(mut self) -> Result<Bytes, WireError> {
        if self.lacks_target {
            return Err(WireErrorKind::Splice.into());
        }
        for object in std::mem::take(&mut self.objects) {
            self.resolve_object(&object)?;
        }
        self.edits.sort_by_key(|edit| (edit.from, edit.to));
        let mut out = Vec::with_capacity(self.source.len() + self.texts.len());
        let mut done = 0;
        for edit in &self.edits {
            out.extend_from_slice(self.source.get(done..edit.from).ok_or(WireErrorKind::Splice)?);
            out.extend_from_slice(edit.text.slice(&self.texts));
            done = edit.to;
        }
        out.extend_from_slice(self.source.get(done..).ok_or(WireErrorKind::Splice)?);
        Ok(out.into())
    }

    /// Returns the edited message, parsed again because its spans have moved. Removed values of a
    /// large response stay attached.
    pub fn finish_frame(mut self) -> Result<Frame, WireError> {
        let detached = self.detached.take();
        Ok(Frame::parse(self.finish()?, &MessageLimits::MAX)?.with_detached(detached))
    }

    fn store_text(&mut self, parts: &[&[u8]]) -> Span {
        let start = self.texts.len();
        parts.iter().for_each(|part| self.texts.extend_from_slice(part));
        Span::new(start, self.texts.len())
    }

    fn object_edit(&mut self, at: Span) -> &mut ObjectEdit {
        let index = self.objects.iter().position(|object| object.at == at).unwrap_or_else(|| {
            self.objects.push(ObjectEdit { at, inserts: Vec::new(), deleted_keys: Vec::new() });
            self.objects.len() - 1
        });
        &mut self.objects[index]
    }

    /// Turns the edits of one object into byte replacements, including commas.
    fn resolve_object(&mut self, object: &ObjectEdit) -> Result<(), WireErrorKind> {
        let raw = object.at.slice(self.source);
        if raw.first() != Some(&b'{') {
            return Err(WireErrorKind::Splice);
        }
        let kept_some = if object.deleted_keys.is_empty() {
            scan::member_spans(raw).next().is_some()
        } else {
            self.delete_members(object, raw)
        };
        let mut text = Vec::new();
        for insert in object.inserts.iter().rev() {
            if !text.is_empty() {
                text.push(b',');
            }
            text.extend_from_slice(insert.slice(&self.texts));
        }
        if text.is_empty() {
            return Ok(());
        }
        if kept_some {
            text.push(b',');
        }
        let text = self.store_text(&[&text]);
        let head = object.at.start() + 1;
        self.edits.push(ByteReplacement { from: head, to: head, text });
        Ok(())
    }

    /// Removes the deleted members of an object. Returns true if any member remains.
    ///
    /// A deleted member goes together with the comma after it. Deleted members after the last
    /// remaining one go in one piece, together with the comma before them.
    fn delete_members(&mut self, object: &ObjectEdit, raw: &[u8]) -> bool {
        let places: Vec<MemberSpans> = scan::member_spans(raw).collect();
        let goes = |place: &MemberSpans| {
            let key = string::decode(place.key.slice(raw)).unwrap_or_default();
            object.deleted_keys.iter().any(|delete| *delete == key)
        };
        let last_kept = places.iter().rposition(|place| !goes(place));
        let mut cut = |from: usize, to: usize| {
            let base = object.at.start();
            self.edits.push(ByteReplacement {
                from: base + from,
                to: base + to,
                text: Span::new(0, 0),
            });
        };
        let staying = last_kept.map_or(0, |last| last + 1);
        for (place, next) in places.iter().zip(places.iter().skip(1)).take(staying) {
            if goes(place) {
                cut(place.key.start(), next.key.start());
            }
        }
        if let (Some(first), Some(last)) = (places.get(staying), places.last()) {
            let before = last_kept.and_then(|kept| places.get(kept));
            cut(before.map_or(first.key.start(), |kept| kept.value.end()), last.value.end());
        }
        last_kept.is_some()
    }
}
