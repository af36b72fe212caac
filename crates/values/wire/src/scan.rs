//! Lazy lookup of members, elements and paths in JSON that was accepted before.
//!
//! Nothing is validated again and nothing is built; each call walks the bytes once. On bytes that
//! are not JSON the results are meaningless, but no call panics or loops forever. If a key repeats,
//! the last one counts, as in common JSON parsers.

use std::borrow::Cow;

use crate::{
    MessageLimits, Span,
    scanner::{AmbiguousJsonHandling, JsonScanner, check_size_and_encoding},
    string, swar,
};

/// Returns the span of a member's value in the object `object`.
pub fn member(object: &[u8], key: &str) -> Option<Span> {
    member_spans(object)
        .filter(|member| {
            let raw = member.key.slice(object);
            let body = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
            body == key.as_bytes() || string::decode(raw).is_some_and(|decoded| decoded == key)
        })
        .last()
        .map(|member| member.value)
}

/// Iterates over the members of an object: decoded key and span of the value. Empty if `object` is
/// not an object.
pub fn members(object: &[u8]) -> impl Iterator<Item = (Cow<'_, str>, Span)> {
    member_spans(object)
        .filter_map(|member| Some((string::decode(member.key.slice(object))?, member.value)))
}

/// Iterates over the spans of the elements of an array. Empty if `array` is not an array.
pub fn elements(array: &[u8]) -> impl Iterator<Item = Span> {
    let mut walk = JsonWalker::enter(array, b'[');
    std::iter::from_fn(move || {
        let span = walk.next_value()?;
        walk.skip_separator();
        Some(span)
    })
}

/// Returns the span of the value at a path of keys.
pub fn pointer(value: &[u8], path: &[&str]) -> Option<Span> {
    let whole = Span::new(0, value.len());
    path.iter().try_fold(whole, |at, key| Some(member(at.slice(value), key)?.within(at)))
}

/// Returns the text of a string member, decoded.
pub fn member_text<'a>(object: &'a [u8], key: &str) -> Option<Cow<'a, str>> {
    string::decode(member(object, key)?.slice(object))
}

/// Returns true if a value is valid JSON, within the widest limits.
pub fn is_valid(value: &[u8]) -> bool {
    is_accepted(value, AmbiguousJsonHandling::Tolerated)
}

/// Returns true if a value is valid JSON and no object repeats a key, so that every reader sees the
/// same value.
pub fn is_unambiguous(value: &[u8]) -> bool {
    is_accepted(value, AmbiguousJsonHandling::Refused)
}

fn is_accepted(value: &[u8], ambiguity: AmbiguousJsonHandling) -> bool {
    let mut scanner = JsonScanner::new(value, &MessageLimits::MAX);
    scanner.skip_whitespace();
    check_size_and_encoding(value, &MessageLimits::MAX).is_ok()
        && scanner.value(ambiguity).is_ok()
        && scanner.expect_end().is_ok()
        && scanner.take_deferred_error().is_none()
}

/// The spans of one member.
#[derive(Debug, Clone, Copy)]
pub struct MemberSpans {
    /// The key, with its quotes.
    pub key: Span,
    /// The value.
    pub value: Span,
}

/// Iterates over the spans of an object's members.
pub fn member_spans(object: &[u8]) -> impl Iterator<Item = MemberSpans> {
    let mut walk = JsonWalker::enter(object, b'{');
    std::iter::from_fn(move || {
        let key = walk.next_value()?;
        walk.skip_separator();
        let value = walk.next_value()?;
        walk.skip_separator();
        Some(MemberSpans { key, value })
    })
}

/// A position between the tokens of a container.
struct JsonWalker<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> JsonWalker<'a> {
    /// Starts after the opening bracket, or at the end if there is none.
    fn enter(bytes: &'a [u8], open: u8) -> Self {
        let first = bytes.iter().position(|byte| !byte.is_ascii_whitespace());
        let inside = first.filter(|&first| bytes.get(first) == Some(&open));
        let mut walk = Self { bytes, at: inside.map_or(bytes.len(), |open| open + 1) };
        walk.skip_whitespace();
        walk
    }

    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    fn skip_whitespace(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    /// Skips the colon or comma after a token.
    fn skip_separator(&mut self) {
        self.skip_whitespace();
        if matches!(self.peek(), b':' | b',') {
            self.at += 1;
        }
        self.skip_whitespace();
    }

    /// Returns the span of the next value, or `None` at the closing bracket or the end.
    fn next_value(&mut self) -> Option<Span> {
        let start = self.at;
        match self.peek() {
            b'"' => self.skip_string(),
            b'{' | b'[' => self.skip_container(),
            _ => self.skip_scalar(),
        }
        (self.at > start).then(|| Span::new(start, self.at))
    }

    fn skip_string(&mut self) {
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

    fn skip_container(&mut self) {
        let mut depth = 0_usize;
        while self.at < self.bytes.len() {
            match self.peek() {
                b'"' => {
                    self.skip_string();
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

    fn skip_scalar(&mut self) {
        while matches!(self.peek(), b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z') {
            self.at += 1;
        }
    }
}
