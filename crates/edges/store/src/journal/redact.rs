//! What is taken out of a record before it is written: known values by a [`Mask`], others by their
//! looks and by the names they stand under. What is written is JSON whatever comes in.

use std::borrow::Cow;

use toolgate_model::{Digest, Mask};
use toolgate_wire::{scan, string};

use super::{json, patterns};

/// More than this of arguments, or of a note, is not kept.
pub(super) const MOST: usize = 16 << 10;
/// So much is kept of what is longer.
const HEAD: usize = 1 << 10;
/// So much of it is looked at, so that no secret is cut before it is found.
const WINDOW: usize = 8 << 10;
/// So much of any text beside arguments.
const LONGEST_TEXT: usize = 4 << 10;
/// Deeper values are not kept; the wire has fewer levels.
const DEEPEST: usize = 128;

/// Writes what may be kept.
#[derive(Clone, Copy)]
pub(super) struct Redactor<'m> {
    pub(super) mask: &'m Mask,
}

impl Redactor<'_> {
    /// A text of a person or a server, as a JSON string.
    pub(super) fn text(self, text: &str, out: &mut Vec<u8>) {
        match text.len() > LONGEST_TEXT {
            true => json::write_text(&self.head(text, LONGEST_TEXT), out),
            false => json::write_text(&self.shown(text), out),
        }
    }

    /// A name, as a JSON string: known values are taken out of it and nothing else, because it is
    /// looked up by what it is.
    pub(super) fn name(self, name: &str, out: &mut Vec<u8>) {
        match name.len() > LONGEST_TEXT {
            true => json::write_text(cut(&self.mask.apply(cut(name, WINDOW)), LONGEST_TEXT), out),
            false => json::write_text(&self.mask.apply(name), out),
        }
    }

    /// A JSON value, its members in order.
    pub(super) fn value(self, raw: &[u8], out: &mut Vec<u8>) {
        self.nested(raw.trim_ascii(), DEEPEST, out);
    }

    /// What is left of something longer than [`MOST`].
    pub(super) fn oversize(self, raw: &[u8], digest: Option<&Digest>, out: &mut Vec<u8>) {
        let window = &raw[..raw.len().min(2 * WINDOW)];
        out.extend_from_slice(b"{\"bytes\":");
        json::whole(raw.len() as u64, out);
        out.extend_from_slice(b",\"digest\":\"");
        let digest = digest.copied().unwrap_or_else(|| Digest::of(raw));
        super::body::digest(&digest, out);
        out.extend_from_slice(b"\",\"head\":");
        json::write_text(&self.head(&String::from_utf8_lossy(window), HEAD), out);
        out.push(b'}');
    }

    /// The beginning of a long text.
    fn head(self, text: &str, length: usize) -> String {
        let shown = self.shown(cut(text, length + WINDOW)).into_owned();
        cut(&shown, length).to_owned()
    }

    fn shown(self, text: &str) -> Cow<'_, str> {
        match self.mask.apply(text) {
            Cow::Borrowed(text) => patterns::hidden(text),
            Cow::Owned(masked) => Cow::Owned(patterns::hidden(&masked).into_owned()),
        }
    }

    fn nested(self, raw: &[u8], depth: usize, out: &mut Vec<u8>) {
        match raw.first() {
            Some(_) if depth == 0 => hidden(out),
            Some(b'{') => self.object(raw, depth, out),
            Some(b'[') => {
                out.push(b'[');
                for (index, element) in scan::elements(raw).enumerate() {
                    separate(index, out);
                    self.nested(element.of(raw), depth - 1, out);
                }
                out.push(b']');
            }
            Some(b'"') => match string::decode(raw) {
                Some(text) => json::write_text(&self.shown(&text), out),
                None => hidden(out),
            },
            _ => self.scalar(raw, out),
        }
    }

    fn scalar(self, raw: &[u8], out: &mut Vec<u8>) {
        match std::str::from_utf8(raw) {
            Ok(word @ ("true" | "false" | "null")) => out.extend_from_slice(word.as_bytes()),
            Ok(number) if matches!(self.mask.apply(number), Cow::Borrowed(_)) => {
                json::number(number, out);
            }
            _ => hidden(out),
        }
    }

    fn object(self, raw: &[u8], depth: usize, out: &mut Vec<u8>) {
        let mut members: Vec<_> = scan::members(raw)
            .map(|(key, value)| {
                let is_secret = patterns::is_secret_name(&key);
                let masked = match self.mask.apply(&key) {
                    Cow::Owned(masked) => Some(masked),
                    Cow::Borrowed(_) => None,
                };
                (masked.map_or(key, Cow::Owned), is_secret, value.of(raw))
            })
            .collect();
        if !members.is_sorted_by(|one, other| json::compare(&one.0, &other.0).is_lt()) {
            members.sort_by(|one, other| json::compare(&one.0, &other.0));
            // Of keys that are the same, perhaps because they were masked, the first stands for all.
            members.dedup_by(|later, earlier| later.0 == earlier.0);
        }
        out.push(b'{');
        for (index, (key, is_secret, value)) in members.iter().enumerate() {
            separate(index, out);
            json::write_text(key, out);
            out.push(b':');
            self.member(*is_secret, value, depth, out);
        }
        out.push(b'}');
    }

    /// A value under a secret-like name is hidden whole, unless it says no more than yes or no.
    fn member(self, is_secret: bool, value: &[u8], depth: usize, out: &mut Vec<u8>) {
        let says_nothing = matches!(value, b"true" | b"false" | b"null");
        match is_secret && !says_nothing {
            true => hidden(out),
            false => self.nested(value, depth - 1, out),
        }
    }
}

fn hidden(out: &mut Vec<u8>) {
    json::write_text(patterns::HIDDEN, out);
}

fn separate(index: usize, out: &mut Vec<u8>) {
    if index > 0 {
        out.push(b',');
    }
}

/// The beginning of a text, no longer than this, whole characters only.
fn cut(text: &str, length: usize) -> &str {
    &text[..text.floor_char_boundary(length)]
}
