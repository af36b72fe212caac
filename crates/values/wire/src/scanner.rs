//! The one pass over a message: strict JSON by RFC 8259, within limits.
//!
//! The scanner accepts or refuses and reports where values stand. It builds nothing, decodes
//! nothing but keys, and knows nothing of JSON-RPC. Invalid UTF-8 is refused before it runs
//! ([`admit`]).

use crate::{
    Fault, Limits, Remembered, Span,
    keys::{Key, OpenKeys, Seen},
    meta::Claim,
    swar,
};

/// What JSON means that two readers may take differently: a key that is repeated in its object, and
/// the escape of half a surrogate pair, which no UTF-8 string can hold (JavaScript writes it where
/// a text was cut inside an emoji).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doubtful {
    /// It is decided on, so it must have one meaning.
    Refused,
    /// It is only passed on: its meaning is the peer's affair.
    Tolerated,
}

/// Checks what concerns the bytes as a whole: size and encoding.
pub(crate) fn admit(bytes: &[u8], limits: &Limits) -> Result<(), Fault> {
    if bytes.len() > limits.bytes.min(Limits::MAX_BYTES) {
        return Err(Fault::TooLarge);
    }
    // Nearly everything is ASCII, and that is seen faster.
    if bytes.is_ascii() {
        return Ok(());
    }
    match std::str::from_utf8(bytes) {
        Ok(_) => Ok(()),
        Err(error) => Err(Fault::Encoding(offset(error.valid_up_to()))),
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// A position in a message, and what may still be spent on it.
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    origin: usize,
    depth_left: usize,
    nodes_left: usize,
    open_keys: OpenKeys<'a>,
    doubt: Option<Fault>,
    known: &'a [Remembered],
}

impl<'a> Scanner<'a> {
    /// Begins at the first byte. The bytes must have passed [`admit`].
    pub(crate) fn new(bytes: &'a [u8], limits: &Limits) -> Self {
        Self {
            bytes,
            at: 0,
            origin: 0,
            depth_left: limits.depth.min(Limits::MAX_DEPTH),
            nodes_left: limits.nodes,
            open_keys: OpenKeys::default(),
            doubt: None,
            known: &[],
        }
    }

    /// Lets it recognise envelopes that were read before.
    pub(crate) fn knowing(self, known: &'a [Remembered]) -> Self {
        Self { known, ..self }
    }

    /// Steps over an envelope that is remembered, if one begins here and the limits allow it: its
    /// place, and those of its members.
    pub(crate) fn recall(&mut self) -> Option<(Span, Claim)> {
        let rest = self.bytes.get(self.at..)?;
        let known = self.known.iter().find(|known| rest.starts_with(known.bytes()))?;
        if known.depth() > self.depth_left {
            return None;
        }
        self.nodes_left = self.nodes_left.checked_sub(known.nodes())?;
        let start = self.at;
        self.at += known.bytes().len();
        let place = self.span_from(start);
        Some((place, known.claim().within(place)))
    }

    /// What may still be spent on values.
    pub(crate) fn nodes_left(&self) -> usize {
        self.nodes_left
    }

    /// Lets spans count from here, for a message inside a batch.
    pub(crate) fn rebase(&mut self) {
        self.origin = self.at;
    }

    /// Where the scanner stands, counted from the first byte of the input.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// The next byte; 0, which is legal nowhere outside a string, at the end.
    #[inline]
    pub(crate) fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    /// Takes the next byte if it is `byte`.
    #[inline]
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let there = self.peek() == byte;
        self.at += usize::from(there);
        there
    }

    /// Skips white space.
    #[inline]
    pub(crate) fn space(&mut self) {
        if self.peek() <= b' ' {
            while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
                self.at += 1;
            }
        }
    }

    /// Nothing but white space may follow.
    pub(crate) fn end(&mut self) -> Result<(), Fault> {
        self.space();
        if self.at == self.bytes.len() { Ok(()) } else { Err(self.syntax()) }
    }

    /// The fault of not finding JSON here.
    pub(crate) fn syntax(&self) -> Fault {
        Fault::Syntax(offset(self.at))
    }

    /// The fault of the key that was just read.
    pub(crate) fn lookalike(&self) -> Fault {
        Fault::LookalikeKey(offset(self.at))
    }

    /// Notes a fault that does not keep the rest from being read: the scan goes on, so that the
    /// id of the message can still be found. The first one counts.
    pub(crate) fn doubt(&mut self, fault: Fault) {
        self.doubt.get_or_insert(fault);
    }

    /// The fault that was noted, if any.
    pub(crate) fn take_doubt(&mut self) -> Option<Fault> {
        self.doubt.take()
    }

    /// One value of any kind.
    pub(crate) fn value(&mut self, doubtful: Doubtful) -> Result<Span, Fault> {
        let start = self.at;
        match self.peek() {
            b'{' => {
                return self.object(doubtful, |scanner, _| scanner.value(doubtful).map(drop));
            }
            b'[' => {
                self.array(|scanner| scanner.value(doubtful).map(drop))?;
                return Ok(self.span_from(start));
            }
            b'"' => {
                self.string(doubtful)?;
            }
            b'-' | b'0'..=b'9' => self.number()?,
            b't' => self.literal(b"true")?,
            b'f' => self.literal(b"false")?,
            b'n' => self.literal(b"null")?,
            _ => return Err(self.syntax()),
        }
        self.count()?;
        Ok(self.span_from(start))
    }

    /// An object; `member` is given each key and must take the value behind it.
    pub(crate) fn object(
        &mut self,
        doubtful: Doubtful,
        mut member: impl FnMut(&mut Self, Key<'a>) -> Result<(), Fault>,
    ) -> Result<Span, Fault> {
        let start = self.enter()?;
        if !self.eat(b'}') {
            let mut seen = self.open_keys.open();
            loop {
                let key = self.key(doubtful, &mut seen)?;
                member(self, key)?;
                if self.closes(b'}')? {
                    break;
                }
            }
            self.open_keys.close(seen);
        }
        self.depth_left += 1;
        Ok(self.span_from(start))
    }

    /// An array; `element` must take each value.
    pub(crate) fn array(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.enter()?;
        if !self.eat(b']') {
            loop {
                element(self)?;
                if self.closes(b']')? {
                    break;
                }
            }
        }
        self.depth_left += 1;
        Ok(())
    }

    /// Steps into an object or array, up to its first key or element.
    fn enter(&mut self) -> Result<usize, Fault> {
        self.count()?;
        let start = self.at;
        self.depth_left = self.depth_left.checked_sub(1).ok_or(Fault::TooDeep(offset(self.at)))?;
        self.at += 1;
        self.space();
        Ok(start)
    }

    /// Behind a member or element: whether the container ends here or goes on.
    #[inline]
    fn closes(&mut self, close: u8) -> Result<bool, Fault> {
        self.space();
        if self.eat(b',') {
            self.space();
            return Ok(false);
        }
        if self.eat(close) { Ok(true) } else { Err(self.syntax()) }
    }

    #[inline]
    fn key(&mut self, doubtful: Doubtful, seen: &mut Seen<'a>) -> Result<Key<'a>, Fault> {
        let start = self.at;
        if self.string(doubtful)? {
            self.open_keys.note_escape();
        }
        let key = Key(self.bytes.get(start + 1..self.at - 1).unwrap_or_default());
        if doubtful == Doubtful::Refused && !self.open_keys.insert(seen, key) {
            self.doubt(Fault::DuplicateKey(offset(start)));
        }
        self.space();
        if !self.eat(b':') {
            return Err(self.syntax());
        }
        self.space();
        Ok(key)
    }

    /// A string; says whether it holds an escape.
    #[inline]
    fn string(&mut self, doubtful: Doubtful) -> Result<bool, Fault> {
        if !self.eat(b'"') {
            return Err(self.syntax());
        }
        let mut escaped = false;
        loop {
            self.at = swar::plain_end(self.bytes, self.at);
            match self.peek() {
                b'"' => break,
                b'\\' => self.escape(doubtful)?,
                _ => return Err(self.syntax()),
            }
            escaped = true;
        }
        self.at += 1;
        Ok(escaped)
    }

    fn escape(&mut self, doubtful: Doubtful) -> Result<(), Fault> {
        self.at += 1;
        match self.peek() {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {
                self.at += 1;
                Ok(())
            }
            b'u' => match self.code_unit()? {
                0xD800..=0xDFFF if doubtful == Doubtful::Tolerated => Ok(()),
                0xD800..=0xDBFF => self.low_surrogate(),
                0xDC00..=0xDFFF => Err(self.syntax()),
                _ => Ok(()),
            },
            _ => Err(self.syntax()),
        }
    }

    fn low_surrogate(&mut self) -> Result<(), Fault> {
        let escaped = self.eat(b'\\') && self.peek() == b'u';
        if escaped && matches!(self.code_unit()?, 0xDC00..=0xDFFF) {
            Ok(())
        } else {
            Err(self.syntax())
        }
    }

    /// The `uXXXX` of an escape.
    fn code_unit(&mut self) -> Result<u32, Fault> {
        self.at += 1;
        let digits = self.bytes.get(self.at..self.at + 4).unwrap_or_default();
        let digit = |&byte: &u8| char::from(byte).to_digit(16);
        let unit = digits.iter().try_fold(0, |unit, byte| Some(unit << 4 | digit(byte)?));
        match unit {
            Some(unit) if digits.len() == 4 => {
                self.at += 4;
                Ok(unit)
            }
            _ => Err(self.syntax()),
        }
    }

    fn number(&mut self) -> Result<(), Fault> {
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

    fn digits(&mut self) -> Result<(), Fault> {
        if !self.peek().is_ascii_digit() {
            return Err(self.syntax());
        }
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        Ok(())
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), Fault> {
        if !self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(word)) {
            return Err(self.syntax());
        }
        self.at += word.len();
        Ok(())
    }

    #[inline]
    fn count(&mut self) -> Result<(), Fault> {
        self.nodes_left =
            self.nodes_left.checked_sub(1).ok_or(Fault::TooManyNodes(offset(self.at)))?;
        Ok(())
    }

    fn span_from(&self, start: usize) -> Span {
        Span::new(start - self.origin, self.at - self.origin)
    }
}
