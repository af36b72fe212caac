//! Redacts records before they are written: known secrets by a [`Mask`], others by their form and
//! by the names of their members. The output is valid JSON for any input.

use std::borrow::Cow;

use toolgate_model::{Digest, Mask};
use toolgate_wire::{scan, string};

use crate::{json, secret_patterns};

/// The maximum length of arguments and of notes.
pub(crate) const MOST: usize = 16 << 10;
/// How much of a longer value is kept.
const HEAD: usize = 1 << 10;
/// How much of a longer value is searched for secrets, so that a secret at the cut is found.
const WINDOW: usize = 8 << 10;
/// The maximum length of other texts.
const LONGEST_TEXT: usize = 4 << 10;
/// The maximum depth of values. Messages on the wire have fewer levels.
const DEEPEST: usize = 128;

/// A writer of redacted JSON.
#[derive(Clone, Copy)]
pub(crate) struct Redactor<'m> {
    pub(crate) mask: &'m Mask,
}

impl Redactor<'_> {
    /// Writes a text of a person or a server as a JSON string.
    pub(crate) fn write_text(self, text: &str, out: &mut Vec<u8>) {
        match text.len() > LONGEST_TEXT {
            true => json::write_string(&self.redacted_head(text, LONGEST_TEXT), out),
            false => json::write_string(&self.redact(text), out),
        }
    }

    /// Writes a name as a JSON string. Only known secrets are removed, because readers look records
    /// up by name.
    pub(crate) fn write_name(self, name: &str, out: &mut Vec<u8>) {
        match name.len() > LONGEST_TEXT {
            true => json::write_string(
                truncate(&self.mask.apply(truncate(name, WINDOW)), LONGEST_TEXT),
                out,
            ),
            false => json::write_string(&self.mask.apply(name), out),
        }
    }

    /// Writes a JSON value with sorted members.
    pub(crate) fn write_value(self, raw: &[u8], out: &mut Vec<u8>) {
        self.write_nested(raw.trim_ascii(), DEEPEST, out);
    }

    /// Writes the summary of a value longer than [`MOST`].
    pub(crate) fn write_oversize(self, raw: &[u8], digest: Option<&Digest>, out: &mut Vec<u8>) {
        let window = &raw[..raw.len().min(2 * WINDOW)];
        let digest = digest.copied().unwrap_or_else(|| Digest::of(raw));
        let mut object = json::ObjectWriter::begin(out);
        object.integer("bytes", raw.len() as u64);
        object.text("digest", &digest.to_string());
        object.text("head", &self.redacted_head(&String::from_utf8_lossy(window), HEAD));
        object.end();
    }

    /// Returns the redacted beginning of a long text.
    fn redacted_head(self, text: &str, length: usize) -> String {
        let shown = self.redact(truncate(text, length + WINDOW)).into_owned();
        truncate(&shown, length).to_owned()
    }

    fn redact(self, text: &str) -> Cow<'_, str> {
        match self.mask.apply(text) {
            Cow::Borrowed(text) => secret_patterns::redact_secrets(text),
            Cow::Owned(masked) => Cow::Owned(secret_patterns::redact_secrets(&masked).into_owned()),
        }
    }

    fn write_nested(self, raw: &[u8], depth: usize, out: &mut Vec<u8>) {
        match raw.first() {
            Some(_) if depth == 0 => write_hidden(out),
            Some(b'{') => self.write_object(raw, depth, out),
            Some(b'[') => {
                out.push(b'[');
                for (index, element) in scan::elements(raw).enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    self.write_nested(element.slice(raw), depth - 1, out);
                }
                out.push(b']');
            }
            Some(b'"') => match string::decode(raw) {
                Some(text) => json::write_string(&self.redact(&text), out),
                None => write_hidden(out),
            },
            _ => self.write_scalar(raw, out),
        }
    }

    fn write_scalar(self, raw: &[u8], out: &mut Vec<u8>) {
        match std::str::from_utf8(raw) {
            Ok(word @ ("true" | "false" | "null")) => out.extend_from_slice(word.as_bytes()),
            Ok(number) if matches!(self.mask.apply(number), Cow::Borrowed(_)) => {
                json::write_number(number, out);
            }
            _ => write_hidden(out),
        }
    }

    fn write_object(self, raw: &[u8], depth: usize, out: &mut Vec<u8>) {
        let mut members: Vec<_> = scan::members(raw)
            .map(|(key, value)| {
                let is_secret = secret_patterns::is_secret_name(&key);
                let masked = match self.mask.apply(&key) {
                    Cow::Owned(masked) => Some(masked),
                    Cow::Borrowed(_) => None,
                };
                (masked.map_or(key, Cow::Owned), is_secret, value.slice(raw))
            })
            .collect();
        if !members.is_sorted_by(|one, other| json::compare_keys(&one.0, &other.0).is_lt()) {
            members.sort_by(|one, other| json::compare_keys(&one.0, &other.0));
            // Keep the first of equal keys, which masking can produce.
            members.dedup_by(|later, earlier| later.0 == earlier.0);
        }
        let mut object = json::ObjectWriter::begin(out);
        for (key, is_secret, value) in &members {
            self.write_member(*is_secret, value, depth, object.key(key));
        }
        object.end();
    }

    /// Writes a member. Hides the whole value of a secret-like name, unless it is a boolean or
    /// null.
    fn write_member(self, is_secret: bool, value: &[u8], depth: usize, out: &mut Vec<u8>) {
        let says_nothing = matches!(value, b"true" | b"false" | b"null");
        match is_secret && !says_nothing {
            true => write_hidden(out),
            false => self.write_nested(value, depth - 1, out),
        }
    }
}

fn write_hidden(out: &mut Vec<u8>) {
    json::write_string(secret_patterns::HIDDEN, out);
}

/// Returns the beginning of a text, at most `length` bytes, without cutting a character.
fn truncate(text: &str, length: usize) -> &str {
    &text[..text.floor_char_boundary(length)]
}
