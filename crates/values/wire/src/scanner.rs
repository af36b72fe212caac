//! The single scan over a message: strict JSON (RFC 8259) within limits.
//!
//! The scanner accepts or rejects, and reports the spans of values. It builds nothing, decodes
//! nothing but keys, and does not know JSON-RPC. [`check_size_and_encoding`] rejects invalid UTF-8
//! before the scan.

use crate::{
    CachedMeta, MessageLimits, Span, WireErrorKind,
    keys::{JsonKey, KeyStack, ObjectKeys},
    meta::ClientMetaSpans,
    swar,
};

/// How the scanner treats JSON that two readers may understand differently: a key repeated in its
/// object, and the escape of half a surrogate pair, which no UTF-8 string can hold (JavaScript
/// writes it where a text was cut inside an emoji).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AmbiguousJsonHandling {
    /// The gateway decides on the value, so ambiguous JSON is an error.
    Refused,
    /// The gateway only forwards the value, so the peer has to interpret it.
    Tolerated,
}

/// Checks the size and the encoding of the whole input.
pub(crate) fn check_size_and_encoding(
    bytes: &[u8],
    limits: &MessageLimits,
) -> Result<(), WireErrorKind> {
    if bytes.len() > limits.bytes.min(MessageLimits::MAX_BYTES) {
        return Err(WireErrorKind::TooLarge);
    }
    // Nearly every message is ASCII, and this check is faster.
    if bytes.is_ascii() {
        return Ok(());
    }
    match std::str::from_utf8(bytes) {
        Ok(_) => Ok(()),
        Err(error) => Err(WireErrorKind::Encoding(offset(error.valid_up_to()))),
    }
}

pub(crate) fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// A scanner at a position in a message, with the limits that remain.
pub(crate) struct JsonScanner<'a> {
    bytes: &'a [u8],
    at: usize,
    origin: usize,
    depth_left: usize,
    /// The number of values that the limit still allows.
    pub(crate) nodes_left: usize,
    open_keys: KeyStack<'a>,
    deferred_error: Option<WireErrorKind>,
    cached_meta: &'a [CachedMeta],
}

impl<'a> JsonScanner<'a> {
    /// Starts at the first byte. The bytes must have passed [`check_size_and_encoding`].
    pub(crate) fn new(bytes: &'a [u8], limits: &MessageLimits) -> Self {
        Self {
            bytes,
            at: 0,
            origin: 0,
            depth_left: limits.depth.min(MessageLimits::MAX_DEPTH),
            nodes_left: limits.nodes,
            open_keys: KeyStack::default(),
            deferred_error: None,
            cached_meta: &[],
        }
    }

    /// Lets the scanner skip `_meta` objects that it has scanned before.
    pub(crate) fn with_cached_meta(self, known: &'a [CachedMeta]) -> Self {
        Self { cached_meta: known, ..self }
    }

    /// Skips a cached `_meta` if one starts here and the limits allow it. Returns its span and the
    /// spans of its members.
    pub(crate) fn skip_cached_meta(&mut self) -> Option<(Span, ClientMetaSpans)> {
        let rest = self.bytes.get(self.at..)?;
        let known = self.cached_meta.iter().find(|known| rest.starts_with(known.bytes()))?;
        if known.depth > self.depth_left {
            return None;
        }
        self.nodes_left = self.nodes_left.checked_sub(known.nodes)?;
        let start = self.at;
        self.at += known.bytes().len();
        let place = self.span_from(start);
        Some((place, known.client_meta.within(place)))
    }

    /// Makes spans relative to the current position, for a message inside a batch.
    pub(crate) fn rebase(&mut self) {
        self.origin = self.at;
    }

    /// Returns the current position, counted from the first byte of the input.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Returns the next byte, or 0 at the end. A 0 byte is not valid JSON anywhere outside a
    /// string.
    #[inline]
    pub(crate) fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    /// Consumes the next byte if it is `byte`.
    #[inline]
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let there = self.peek() == byte;
        self.at += usize::from(there);
        there
    }

    /// Skips white space.
    #[inline]
    pub(crate) fn skip_whitespace(&mut self) {
        if self.peek() <= b' ' {
            while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
                self.at += 1;
            }
        }
    }

    /// Returns an error if anything but white space follows.
    pub(crate) fn expect_end(&mut self) -> Result<(), WireErrorKind> {
        self.skip_whitespace();
        if self.at == self.bytes.len() { Ok(()) } else { Err(self.syntax_error()) }
    }

    /// Returns the error for invalid JSON at the current position.
    pub(crate) fn syntax_error(&self) -> WireErrorKind {
        WireErrorKind::Syntax(offset(self.at))
    }

    /// Returns the error for the key that was just read.
    pub(crate) fn lookalike_error(&self) -> WireErrorKind {
        WireErrorKind::LookalikeKey(offset(self.at))
    }

    /// Records an error that does not prevent reading the rest. The scan continues, so that it can
    /// still find the id of the message. Only the first error is kept.
    pub(crate) fn defer_error(&mut self, fault: WireErrorKind) {
        self.deferred_error.get_or_insert(fault);
    }

    /// Takes the recorded error, if any.
    pub(crate) fn take_deferred_error(&mut self) -> Option<WireErrorKind> {
        self.deferred_error.take()
    }

    /// Scans one value of any type.
    pub(crate) fn value(
        &mut self,
        ambiguity: AmbiguousJsonHandling,
    ) -> Result<Span, WireErrorKind> {
        let start = self.at;
        match self.peek() {
            b'{' => {
                return self.object(ambiguity, |scanner, _| scanner.value(ambiguity).map(drop));
            }
            b'[' => {
                self.array(|scanner| scanner.value(ambiguity).map(drop))?;
                return Ok(self.span_from(start));
            }
            b'"' => {
                self.string(ambiguity)?;
            }
            b'-' | b'0'..=b'9' => self.number()?,
            b't' => self.literal(b"true")?,
            b'f' => self.literal(b"false")?,
            b'n' => self.literal(b"null")?,
            _ => return Err(self.syntax_error()),
        }
        self.count_node()?;
        Ok(self.span_from(start))
    }

    /// Scans an object. Calls `member` with each key; `member` must consume the value after it.
    pub(crate) fn object(
        &mut self,
        ambiguity: AmbiguousJsonHandling,
        mut member: impl FnMut(&mut Self, JsonKey<'a>) -> Result<(), WireErrorKind>,
    ) -> Result<Span, WireErrorKind> {
        let start = self.enter()?;
        if !self.eat(b'}') {
            let mut seen = self.open_keys.open();
            loop {
                let key = self.key(ambiguity, &mut seen)?;
                member(self, key)?;
                if self.ends_container(b'}')? {
                    break;
                }
            }
            self.open_keys.close(seen);
        }
        self.depth_left += 1;
        Ok(self.span_from(start))
    }

    /// Scans an array; `element` must consume each value.
    pub(crate) fn array(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<(), WireErrorKind>,
    ) -> Result<(), WireErrorKind> {
        self.enter()?;
        if !self.eat(b']') {
            loop {
                element(self)?;
                if self.ends_container(b']')? {
                    break;
                }
            }
        }
        self.depth_left += 1;
        Ok(())
    }

    /// Enters an object or array, up to its first key or element.
    fn enter(&mut self) -> Result<usize, WireErrorKind> {
        self.count_node()?;
        let start = self.at;
        self.depth_left =
            self.depth_left.checked_sub(1).ok_or(WireErrorKind::TooDeep(offset(self.at)))?;
        self.at += 1;
        self.skip_whitespace();
        Ok(start)
    }

    /// Returns true if the container ends after a member or element, false if a comma follows.
    #[inline]
    fn ends_container(&mut self, close: u8) -> Result<bool, WireErrorKind> {
        self.skip_whitespace();
        if self.eat(b',') {
            self.skip_whitespace();
            return Ok(false);
        }
        if self.eat(close) { Ok(true) } else { Err(self.syntax_error()) }
    }

    #[inline]
    fn key(
        &mut self,
        ambiguity: AmbiguousJsonHandling,
        seen: &mut ObjectKeys<'a>,
    ) -> Result<JsonKey<'a>, WireErrorKind> {
        let start = self.at;
        if self.string(ambiguity)? {
            self.open_keys.note_escape();
        }
        let key = JsonKey(self.bytes.get(start + 1..self.at - 1).unwrap_or_default());
        if ambiguity == AmbiguousJsonHandling::Refused && !self.open_keys.insert(seen, key) {
            self.defer_error(WireErrorKind::DuplicateKey(offset(start)));
        }
        self.skip_whitespace();
        if !self.eat(b':') {
            return Err(self.syntax_error());
        }
        self.skip_whitespace();
        Ok(key)
    }

    /// Scans a string. Returns true if it contains an escape.
    #[inline]
    fn string(&mut self, ambiguity: AmbiguousJsonHandling) -> Result<bool, WireErrorKind> {
        if !self.eat(b'"') {
            return Err(self.syntax_error());
        }
        let mut escaped = false;
        loop {
            self.at = swar::plain_end(self.bytes, self.at);
            match self.peek() {
                b'"' => break,
                b'\\' => self.escape(ambiguity)?,
                _ => return Err(self.syntax_error()),
            }
            escaped = true;
        }
        self.at += 1;
        Ok(escaped)
    }

    fn escape(&mut self, ambiguity: AmbiguousJsonHandling) -> Result<(), WireErrorKind> {
        self.at += 1;
        match self.peek() {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {
                self.at += 1;
                Ok(())
            }
            b'u' => match self.code_unit()? {
                0xD800..=0xDFFF if ambiguity == AmbiguousJsonHandling::Tolerated => Ok(()),
                0xD800..=0xDBFF => self.low_surrogate(),
                0xDC00..=0xDFFF => Err(self.syntax_error()),
                _ => Ok(()),
            },
            _ => Err(self.syntax_error()),
        }
    }

    fn low_surrogate(&mut self) -> Result<(), WireErrorKind> {
        let escaped = self.eat(b'\\') && self.peek() == b'u';
        if escaped && matches!(self.code_unit()?, 0xDC00..=0xDFFF) {
            Ok(())
        } else {
            Err(self.syntax_error())
        }
    }

    /// Scans the `uXXXX` of an escape.
    fn code_unit(&mut self) -> Result<u32, WireErrorKind> {
        self.at += 1;
        let digits = self.bytes.get(self.at..self.at + 4).unwrap_or_default();
        let digit = |&byte: &u8| char::from(byte).to_digit(16);
        let unit = digits.iter().try_fold(0, |unit, byte| Some(unit << 4 | digit(byte)?));
        match unit {
            Some(unit) if digits.len() == 4 => {
                self.at += 4;
                Ok(unit)
            }
            _ => Err(self.syntax_error()),
        }
    }

    fn number(&mut self) -> Result<(), WireErrorKind> {
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits()?;
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), WireErrorKind> {
        if !self.peek().is_ascii_digit() {
            return Err(self.syntax_error());
        }
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        Ok(())
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), WireErrorKind> {
        if !self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(word)) {
            return Err(self.syntax_error());
        }
        self.at += word.len();
        Ok(())
    }

    #[inline]
    fn count_node(&mut self) -> Result<(), WireErrorKind> {
        self.nodes_left =
            self.nodes_left.checked_sub(1).ok_or(WireErrorKind::TooManyNodes(offset(self.at)))?;
        Ok(())
    }

    fn span_from(&self, start: usize) -> Span {
        Span::new(start - self.origin, self.at - self.origin)
    }
}
