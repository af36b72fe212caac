//! Changing JSON without re-encoding it: edits are collected and applied in one pass.
//!
//! Everything no edit touches is copied byte for byte. What is put in must be valid JSON; that is
//! the caller's business, and checked in debug builds only.

use bytes::Bytes;

use crate::{
    Fault, Span, WireError,
    scan::{self, Place},
    string,
};

/// Edits of one JSON document.
#[derive(Debug, Clone)]
pub struct Splice<'a> {
    source: &'a [u8],
    texts: Vec<u8>,
    edits: Vec<Edit>,
    objects: Vec<Object>,
}

/// Bytes `from..to` of the source give way to a part of the texts.
#[derive(Debug, Clone, Copy)]
struct Edit {
    from: usize,
    to: usize,
    text: Span,
}

/// What happens to the members of one object. Collected, because commas depend on all of it.
#[derive(Debug, Clone)]
struct Object {
    at: Span,
    inserts: Vec<Span>,
    deletes: Vec<String>,
}

impl<'a> Splice<'a> {
    /// Begins to change `source`. Spans are relative to it.
    pub fn new(source: &'a [u8]) -> Self {
        Self { source, texts: Vec::new(), edits: Vec::new(), objects: Vec::new() }
    }

    /// Puts `json` in place of the value at `span`.
    pub fn replace(mut self, span: Span, json: impl AsRef<[u8]>) -> Self {
        debug_assert!(scan::is_valid(json.as_ref()), "a replacement is JSON");
        let text = self.keep(&[json.as_ref()]);
        self.edits.push(Edit { from: span.start(), to: span.end(), text });
        self
    }

    /// Adds a member at the head of the object at `object`, which must not have that key: see
    /// [`Splice::set_member`] where it may.
    pub fn insert_member(mut self, object: Span, key: &str, json: impl AsRef<[u8]>) -> Self {
        debug_assert!(scan::is_valid(json.as_ref()), "a new member is JSON");
        let text = self.keep(&[string::encode(key).as_bytes(), b":", json.as_ref()]);
        self.object(object).inserts.push(text);
        self
    }

    /// Removes a member, if it is there, with its comma; all of them, should the key repeat.
    pub fn delete_member(mut self, object: Span, key: &str) -> Self {
        self.object(object).deletes.push(key.to_owned());
        self
    }

    /// Replaces the value of a member, or adds the member.
    pub fn set_member(self, object: Span, key: &str, json: impl AsRef<[u8]>) -> Self {
        match scan::member(object.of(self.source), key) {
            Some(value) => self.replace(value.within(object), json),
            None => self.insert_member(object, key, json),
        }
    }

    /// Applies the edits.
    ///
    /// Edits that overlap, reach beyond the source, or change members of what is no object are a
    /// bug of the caller; they are refused, since half of an edit would be another message.
    pub fn finish(mut self) -> Result<Bytes, WireError> {
        for object in std::mem::take(&mut self.objects) {
            self.resolve(&object)?;
        }
        self.edits.sort_by_key(|edit| (edit.from, edit.to));
        let mut out = Vec::with_capacity(self.source.len() + self.texts.len());
        let mut done = 0;
        for edit in &self.edits {
            out.extend_from_slice(self.source.get(done..edit.from).ok_or(Fault::Splice)?);
            out.extend_from_slice(edit.text.of(&self.texts));
            done = edit.to;
        }
        out.extend_from_slice(self.source.get(done..).ok_or(Fault::Splice)?);
        Ok(out.into())
    }

    fn keep(&mut self, parts: &[&[u8]]) -> Span {
        let start = self.texts.len();
        parts.iter().for_each(|part| self.texts.extend_from_slice(part));
        Span::new(start, self.texts.len())
    }

    fn object(&mut self, at: Span) -> &mut Object {
        let index = self.objects.iter().position(|object| object.at == at).unwrap_or_else(|| {
            self.objects.push(Object { at, inserts: Vec::new(), deletes: Vec::new() });
            self.objects.len() - 1
        });
        &mut self.objects[index]
    }

    /// Turns the changes of one object into edits, commas included.
    fn resolve(&mut self, object: &Object) -> Result<(), Fault> {
        let raw = object.at.of(self.source);
        if raw.first() != Some(&b'{') {
            return Err(Fault::Splice);
        }
        let kept_some = if object.deletes.is_empty() {
            scan::places(raw).next().is_some()
        } else {
            self.delete(object, raw)
        };
        let mut text = Vec::new();
        for insert in object.inserts.iter().rev() {
            if !text.is_empty() {
                text.push(b',');
            }
            text.extend_from_slice(insert.of(&self.texts));
        }
        if text.is_empty() {
            return Ok(());
        }
        if kept_some {
            text.push(b',');
        }
        let text = self.keep(&[&text]);
        let head = object.at.start() + 1;
        self.edits.push(Edit { from: head, to: head, text });
        Ok(())
    }

    /// Removes the object's deleted members and says whether any member stays.
    ///
    /// A member goes with the comma behind it; those behind the last one that stays go in one
    /// piece with the comma before them.
    fn delete(&mut self, object: &Object, raw: &[u8]) -> bool {
        let places: Vec<Place> = scan::places(raw).collect();
        let goes = |place: &Place| {
            let key = string::decode(place.key.of(raw)).unwrap_or_default();
            object.deletes.iter().any(|delete| *delete == key)
        };
        let last_kept = places.iter().rposition(|place| !goes(place));
        let mut cut = |from: usize, to: usize| {
            let base = object.at.start();
            self.edits.push(Edit { from: base + from, to: base + to, text: Span::new(0, 0) });
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
