//! Lazy lookup in JSON that was accepted before: members, elements, paths.
//!
//! Nothing is validated again and nothing is built; each call walks the bytes once. On bytes that
//! are not JSON the answers are meaningless, but there is no panic and no endless loop. Where a
//! key repeats, the last one counts, as it does for the common parsers of peers.

use std::borrow::Cow;

use crate::{
    Limits, Span,
    scanner::{Doubtful, Scanner, admit},
    string, swar,
};

/// The value of a member of the object that `object` holds.
pub fn member(object: &[u8], key: &str) -> Option<Span> {
    places(object)
        .filter(|member| {
            let raw = member.key.of(object);
            let body = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
            body == key.as_bytes() || string::decode(raw).is_some_and(|decoded| decoded == key)
        })
        .last()
        .map(|member| member.value)
}

/// The members of an object: decoded key and place of the value. Nothing, if it is no object.
pub fn members(object: &[u8]) -> impl Iterator<Item = (Cow<'_, str>, Span)> {
    places(object).filter_map(|member| Some((string::decode(member.key.of(object))?, member.value)))
}

/// The places of the elements of an array. Nothing, if it is no array.
pub fn elements(array: &[u8]) -> impl Iterator<Item = Span> {
    let mut walk = Walk::into(array, b'[');
    std::iter::from_fn(move || {
        let span = walk.value()?;
        walk.step();
        Some(span)
    })
}

/// The value at the end of a path of keys.
pub fn pointer(value: &[u8], path: &[&str]) -> Option<Span> {
    let whole = Span::new(0, value.len());
    path.iter().try_fold(whole, |at, key| Some(member(at.of(value), key)?.within(at)))
}

/// The text of a string member, decoded.
pub fn text<'a>(object: &'a [u8], key: &str) -> Option<Cow<'a, str>> {
    string::decode(member(object, key)?.of(object))
}

/// Whether a value is valid JSON, within the widest limits.
pub fn is_valid(value: &[u8]) -> bool {
    accepts(value, Doubtful::Tolerated)
}

/// Whether a value is valid JSON without a repeated key in any of its objects, so that every
/// reader of it sees the same.
pub fn is_unambiguous(value: &[u8]) -> bool {
    accepts(value, Doubtful::Refused)
}

fn accepts(value: &[u8], doubtful: Doubtful) -> bool {
    let mut scanner = Scanner::new(value, &Limits::WIDEST);
    scanner.space();
    admit(value, &Limits::WIDEST).is_ok()
        && scanner.value(doubtful).is_ok()
        && scanner.end().is_ok()
        && scanner.take_doubt().is_none()
}

/// Key and value of one member; the key with its quotes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) key: Span,
    pub(crate) value: Span,
}

/// The members of an object, undecoded.
pub(crate) fn places(object: &[u8]) -> impl Iterator<Item = Place> {
    let mut walk = Walk::into(object, b'{');
    std::iter::from_fn(move || {
        let key = walk.value()?;
        walk.step();
        let value = walk.value()?;
        walk.step();
        Some(Place { key, value })
    })
}

/// A position between the tokens of a container.
struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Walk<'a> {
    /// Behind the opening bracket, or at the end if there is none.
    fn into(bytes: &'a [u8], open: u8) -> Self {
        let first = bytes.iter().position(|byte| !byte.is_ascii_whitespace());
        let inside = first.filter(|&first| bytes.get(first) == Some(&open));
        let mut walk = Self { bytes, at: inside.map_or(bytes.len(), |open| open + 1) };
        walk.space();
        walk
    }

    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    /// Over the colon or comma behind a token.
    fn step(&mut self) {
        self.space();
        if matches!(self.peek(), b':' | b',') {
            self.at += 1;
        }
        self.space();
    }

    /// One value; none at the closing bracket or the end.
    fn value(&mut self) -> Option<Span> {
        let start = self.at;
        match self.peek() {
            b'"' => self.string(),
            b'{' | b'[' => self.container(),
            _ => self.scalar(),
        }
        (self.at > start).then(|| Span::new(start, self.at))
    }

    fn string(&mut self) {
        self.at += 1;
        loop {
            self.at = swar::plain_end(self.bytes, self.at);
            match self.peek() {
                b'\\' => self.at = (self.at + 2).min(self.bytes.len()),
                b'"' => {
                    self.at += 1;
                    return;
                }
                _ if self.at >= self.bytes.len() => return,
                _ => self.at += 1,
            }
        }
    }

    fn container(&mut self) {
        let mut depth = 0_usize;
        while self.at < self.bytes.len() {
            match self.peek() {
                b'"' => {
                    self.string();
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }

    fn scalar(&mut self) {
        while matches!(self.peek(), b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z') {
            self.at += 1;
        }
    }
}
