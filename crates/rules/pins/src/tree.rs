//! JSON as it is digested and compared: nothing of its meaning is lost, and nothing of its spelling
//! is kept.
//!
//! A parser that knows numbers as doubles would take `9007199254740993` for its neighbour and refuse
//! `1e400`, and one that knows only Unicode would refuse half a surrogate pair: both are sent by real
//! servers, and a change in them is a change. So this one is written for the purpose. What two
//! readers may take differently (a key that is repeated) it does not read at all.

use std::cmp::Ordering;

use crate::number::Number;

/// Nested objects and arrays; as the wire has it. The reader recurses once per level.
const MAX_DEPTH: usize = 128;

/// One value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Json {
    Null,
    Flag(bool),
    Number(Number),
    Text(Text),
    List(Vec<Json>),
    /// Members in the order of their keys; no key twice.
    Object(Vec<(Text, Json)>),
}

/// A text: UTF-8, in which half a surrogate pair may stand as the three bytes it would have.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Text(pub(crate) Vec<u8>);

impl Text {
    /// The text for people: halves of pairs are replaced.
    pub(crate) fn lossy(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }

    /// The UTF-16 code units of it.
    fn units(&self) -> impl Iterator<Item = u16> + '_ {
        let mut rest = self.0.as_slice();
        let mut low = None;
        std::iter::from_fn(move || {
            if let Some(low) = low.take() {
                return Some(low);
            }
            let (point, length) = code_point(rest)?;
            rest = rest.get(length..).unwrap_or_default();
            match u16::try_from(point) {
                Ok(unit) => Some(unit),
                Err(_) => {
                    let above = point - 0x1_0000;
                    low = u16::try_from(0xDC00 + (above & 0x3FF)).ok();
                    u16::try_from(0xD800 + (above >> 10)).ok()
                }
            }
        })
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    /// By UTF-16 code units, as RFC 8785 sorts.
    fn cmp(&self, other: &Self) -> Ordering {
        match self.0.is_ascii() && other.0.is_ascii() {
            true => self.0.cmp(&other.0),
            false => self.units().cmp(other.units()),
        }
    }
}

/// The code point some bytes begin with, and how many of them it takes.
fn code_point(bytes: &[u8]) -> Option<(u32, usize)> {
    let first = *bytes.first()?;
    let (lead, length) = match first {
        0x00..=0x7F => (u32::from(first), 1),
        0x80..=0xDF => (u32::from(first & 0x1F), 2),
        0xE0..=0xEF => (u32::from(first & 0x0F), 3),
        _ => (u32::from(first & 0x07), 4),
    };
    let tail = bytes.get(1..length).unwrap_or_default();
    let point = tail.iter().fold(lead, |point, byte| point << 6 | u32::from(byte & 0x3F));
    Some((point, length))
}

impl Json {
    /// Reads one value; `None` if the bytes are no JSON, repeat a key, or are nested too deeply.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        std::str::from_utf8(bytes).ok()?;
        let mut reader = Reader { bytes, at: 0 };
        reader.space();
        let value = reader.value(MAX_DEPTH)?;
        reader.space();
        (reader.at == bytes.len()).then_some(value)
    }

    /// The value of a member, if this is an object that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        let at = |(name, _): &&(Text, Self)| *name == *key;
        self.members().iter().find(at).map(|(_, value)| value)
    }

    /// The members of an object; none of anything else.
    pub(crate) fn members(&self) -> &[(Text, Self)] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    /// The elements of an array; none of anything else.
    pub(crate) fn elements(&self) -> &[Self] {
        match self {
            Self::List(elements) => elements,
            _ => &[],
        }
    }

    /// A text, if this is one.
    pub(crate) fn text(&self) -> Option<&Text> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        let there = self.at < self.bytes.len() && self.peek() == byte;
        self.at += usize::from(there);
        there.then_some(())
    }

    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        match self.peek() {
            b'{' => self.object(depth.checked_sub(1)?),
            b'[' => self.list(depth.checked_sub(1)?),
            b'"' => self.string().map(Json::Text),
            b'-' | b'0'..=b'9' => self.number().map(Json::Number),
            b't' => self.word(b"true", Json::Flag(true)),
            b'f' => self.word(b"false", Json::Flag(false)),
            b'n' => self.word(b"null", Json::Null),
            _ => None,
        }
    }

    fn object(&mut self, depth: usize) -> Option<Json> {
        let mut members = Vec::new();
        self.at += 1;
        self.space();
        if self.eat(b'}').is_some() {
            return Some(Json::Object(members));
        }
        loop {
            let key = self.string()?;
            self.space();
            self.eat(b':')?;
            self.space();
            members.push((key, self.value(depth)?));
            if self.closes(b'}')? {
                break;
            }
        }
        members.sort_by(|(one, _), (other, _)| one.cmp(other));
        let repeated = members.windows(2).any(|pair| matches!(pair, [(a, _), (b, _)] if a == b));
        (!repeated).then_some(Json::Object(members))
    }

    fn list(&mut self, depth: usize) -> Option<Json> {
        let mut elements = Vec::new();
        self.at += 1;
        self.space();
        if self.eat(b']').is_some() {
            return Some(Json::List(elements));
        }
        loop {
            elements.push(self.value(depth)?);
            if self.closes(b']')? {
                return Some(Json::List(elements));
            }
        }
    }

    /// Behind a member or element: whether the container ends here or goes on.
    fn closes(&mut self, close: u8) -> Option<bool> {
        self.space();
        if self.eat(b',').is_some() {
            self.space();
            return Some(false);
        }
        self.eat(close).map(|()| true)
    }

    fn word(&mut self, word: &[u8], value: Json) -> Option<Json> {
        let there = self.bytes.get(self.at..)?.starts_with(word);
        self.at += word.len();
        there.then_some(value)
    }

    fn string(&mut self) -> Option<Text> {
        self.eat(b'"')?;
        let mut text = Vec::new();
        loop {
            let rest = self.bytes.get(self.at..)?;
            let stops = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1F);
            let plain = rest.iter().position(stops)?;
            text.extend_from_slice(rest.get(..plain)?);
            self.at += plain + 1;
            match rest.get(plain) {
                Some(b'"') => return Some(Text(text)),
                Some(b'\\') => self.escape(&mut text)?,
                _ => return None,
            }
        }
    }

    fn escape(&mut self, text: &mut Vec<u8>) -> Option<()> {
        let letter = self.peek();
        self.at += 1;
        let byte = match letter {
            b'"' | b'\\' | b'/' => letter,
            b'b' => 0x08,
            b'f' => 0x0C,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let unit = self.code_unit()?;
                let point = self.pair(unit).unwrap_or(unit);
                push(text, point);
                return Some(());
            }
            _ => return None,
        };
        text.push(byte);
        Some(())
    }

    /// The code point of a surrogate pair, if the second half follows the first.
    fn pair(&mut self, high: u32) -> Option<u32> {
        let before = self.at;
        let low = (0xD800..=0xDBFF).contains(&high).then(|| {
            self.eat(b'\\')?;
            self.eat(b'u')?;
            self.code_unit().filter(|low| (0xDC00..=0xDFFF).contains(low))
        });
        match low? {
            Some(low) => Some(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00)),
            None => {
                self.at = before;
                None
            }
        }
    }

    fn code_unit(&mut self) -> Option<u32> {
        let digits = self.bytes.get(self.at..self.at + 4)?;
        let unit =
            digits.iter().try_fold(0, |unit, b| Some(unit << 4 | char::from(*b).to_digit(16)?))?;
        self.at += 4;
        Some(unit)
    }

    fn number(&mut self) -> Option<Number> {
        let start = self.at;
        let _ = self.eat(b'-');
        if self.eat(b'0').is_none() {
            self.digits()?;
        }
        if self.eat(b'.').is_some() {
            self.digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.at += 1;
            }
            self.digits()?;
        }
        let spelling = std::str::from_utf8(self.bytes.get(start..self.at)?).ok()?;
        Some(Number::read(spelling))
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }
}

/// Adds a code point, half a pair too, in the manner of UTF-8.
fn push(text: &mut Vec<u8>, point: u32) {
    if let Some(c) = char::from_u32(point) {
        text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        return;
    }
    let low = |shift: u32| 0x80 | (point >> shift & 0x3F) as u8;
    text.extend_from_slice(&[0xE0 | (point >> 12) as u8, low(6), low(0)]);
}
