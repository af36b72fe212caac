//! Values removed from a large response, and the way to put them back.

use std::fmt::{self, Debug};
use std::io;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use memchr::memmem;

/// Random access to a complete large response. The implementor reads; this crate does no IO.
pub trait LargeResponseReader: Debug + Send + Sync {
    /// Fills `into` with the bytes that start at offset `at`.
    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()>;
}

/// The random token in the placeholders of one message. It is drawn after the message was written,
/// so that no text in the message can imitate a placeholder.
#[derive(Clone, PartialEq, Eq)]
pub struct PlaceholderToken(String);

impl PlaceholderToken {
    /// Makes a token from random bytes.
    pub fn new(random: [u8; 12]) -> Self {
        Self(format!("~{}.", URL_SAFE_NO_PAD.encode(random)))
    }

    /// Returns the placeholder for value `number`: JSON of the same type as the value.
    pub fn placeholder(&self, number: usize, form: DetachedValueKind) -> String {
        let Self(token) = self;
        let (before, after) = form.delimiters();
        format!("{before}{token}{number}{after}")
    }
}

impl Debug for PlaceholderToken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("PlaceholderToken(…)")
    }
}

/// The type of a removed value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DetachedValueKind {
    /// A string.
    Text,
    /// An object.
    Object,
    /// An array.
    Array,
}

impl DetachedValueKind {
    fn delimiters(self) -> (&'static str, &'static str) {
        match self {
            Self::Text => ("\"", "\""),
            Self::Object => ("{\"", "\":0}"),
            Self::Array => ("[\"", "\"]"),
        }
    }
}

/// The location of one removed value: its raw JSON in the complete response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DetachedValue {
    /// The offset of its first byte.
    pub start: u32,
    /// Its length in bytes, including quotes or brackets.
    pub len: u32,
    /// Its type.
    pub kind: DetachedValueKind,
}

/// The values behind the placeholders of one message.
pub struct DetachedValues {
    token: PlaceholderToken,
    finder: memmem::Finder<'static>,
    values: Vec<DetachedValue>,
    source: Arc<dyn LargeResponseReader>,
}

impl Debug for DetachedValues {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("DetachedValues")
            .field("values", &self.values.len())
            .finish_non_exhaustive()
    }
}

impl DetachedValues {
    /// Creates the set of removed values for a skeleton made with this token. `kept` reads the
    /// complete response.
    pub fn new(
        token: PlaceholderToken,
        holes: Vec<DetachedValue>,
        kept: Arc<dyn LargeResponseReader>,
    ) -> Self {
        let finder = memmem::Finder::new(token.0.as_bytes()).into_owned();
        Self { token, finder, values: holes, source: kept }
    }

    /// Returns the removed value that `value` stands for, or `None` if `value` is not a
    /// placeholder.
    pub fn resolve_placeholder(&self, value: &[u8]) -> Option<DetachedValue> {
        let PlaceholderToken(token) = &self.token;
        let inside = value.get(1..).and_then(|rest| match value.first() {
            Some(b'{' | b'[') => rest.get(1..),
            _ => Some(rest),
        })?;
        let hole = self.parse_number(inside.strip_prefix(token.as_bytes())?)?.0;
        let (before, after) = hole.kind.delimiters();
        (value.starts_with(before.as_bytes()) && value.ends_with(after.as_bytes())).then_some(hole)
    }

    /// Returns the length of a value: of the removed value if `value` is a placeholder, otherwise
    /// its own.
    pub fn value_len(&self, value: &[u8]) -> u64 {
        self.resolve_placeholder(value).map_or(value.len() as u64, |hole| u64::from(hole.len))
    }

    /// Returns the length of `text` with its placeholders filled in.
    pub fn expanded_len(self: &Arc<Self>, text: &Bytes) -> u64 {
        MessageChunks::new(text.clone(), Some(self.clone())).total_len()
    }

    /// Returns all removed values.
    pub fn values(&self) -> &[DetachedValue] {
        &self.values
    }

    /// Returns the reader of the complete response.
    pub fn source(&self) -> &Arc<dyn LargeResponseReader> {
        &self.source
    }

    /// Parses the number at the start of `text`. Returns the removed value with that number, and
    /// the count of digits.
    fn parse_number(&self, text: &[u8]) -> Option<(DetachedValue, usize)> {
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = std::str::from_utf8(text.get(..digits)?).ok()?;
        let hole = self.values.get(number.parse::<usize>().ok()?)?;
        Some((*hole, digits))
    }

    /// Finds the first placeholder in `text`. Returns its byte range and its value.
    fn find_placeholder(&self, text: &[u8]) -> Option<(usize, usize, DetachedValue)> {
        self.finder.find_iter(text).find_map(|at| self.placeholder_at(text, at))
    }

    /// Returns the placeholder whose token starts at `at`. A token in the middle of a string is not
    /// a placeholder: some code quoted the value in a text, and raw JSON there would break the
    /// message.
    fn placeholder_at(&self, text: &[u8], at: usize) -> Option<(usize, usize, DetachedValue)> {
        let PlaceholderToken(token) = &self.token;
        let behind = at + token.len();
        let (hole, digits) = self.parse_number(text.get(behind..)?)?;
        let (before, after) = hole.kind.delimiters();
        let from = at.checked_sub(before.len())?;
        let escaped = from.checked_sub(1).and_then(|at| text.get(at)) == Some(&b'\\');
        let whole = text.get(from..)?.starts_with(before.as_bytes())
            && text.get(behind + digits..)?.starts_with(after.as_bytes());
        (whole && !escaped).then_some((from, behind + digits + after.len(), hole))
    }
}

/// A chunk of a text with its placeholders filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageChunk {
    /// Literal text.
    Text(Bytes),
    /// A removed value.
    Detached(DetachedValue),
}

/// Iterates over the chunks of a text.
#[derive(Debug, Clone)]
pub struct MessageChunks {
    detached: Option<Arc<DetachedValues>>,
    rest: Bytes,
    next: Option<DetachedValue>,
}

impl MessageChunks {
    /// Splits `text`, with a chunk of its own for each placeholder of the removed values.
    pub fn new(text: Bytes, detached: Option<Arc<DetachedValues>>) -> Self {
        Self { detached, rest: text, next: None }
    }

    /// Returns the length of all chunks that are left, placeholders filled in.
    pub fn total_len(&self) -> u64 {
        let len = |chunk| match chunk {
            MessageChunk::Text(text) => text.len() as u64,
            MessageChunk::Detached(hole) => u64::from(hole.len),
        };
        self.clone().map(len).sum()
    }

    /// Returns the length of the text that is left.
    pub fn remaining_len(&self) -> usize {
        self.rest.len()
    }

    /// Returns the removed values of the message.
    pub fn detached_values(&self) -> Option<&Arc<DetachedValues>> {
        self.detached.as_ref()
    }
}

impl Iterator for MessageChunks {
    type Item = MessageChunk;

    fn next(&mut self) -> Option<MessageChunk> {
        if let Some(hole) = self.next.take() {
            return Some(MessageChunk::Detached(hole));
        }
        if self.rest.is_empty() {
            return None;
        }
        let found = self.detached.as_ref().and_then(|it| it.find_placeholder(&self.rest));
        let Some((from, to, hole)) = found else {
            return Some(MessageChunk::Text(std::mem::take(&mut self.rest)));
        };
        let mut text = self.rest.split_to(to.min(self.rest.len()));
        text.truncate(from);
        if text.is_empty() {
            return Some(MessageChunk::Detached(hole));
        }
        self.next = Some(hole);
        Some(MessageChunk::Text(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that fails every read.
    #[derive(Debug)]
    struct Nowhere;

    impl LargeResponseReader for Nowhere {
        fn read_at(&self, _: u64, _: &mut [u8]) -> io::Result<()> {
            Err(io::ErrorKind::NotFound.into())
        }
    }

    #[test]
    fn only_a_whole_placeholder_is_filled() {
        let token = PlaceholderToken::new([7; 12]);
        let hole = DetachedValue { start: 0, len: 100, kind: DetachedValueKind::Text };
        let [value, PlaceholderToken(name)] =
            [PlaceholderToken(token.placeholder(0, DetachedValueKind::Text)), token.clone()];
        let PlaceholderToken(value) = value;
        let detached = Arc::new(DetachedValues::new(token, vec![hole], Arc::new(Nowhere)));
        // In a text, quoted in a text, at the end of a text, and with an unknown number.
        for amid in [
            format!("[\"a {name}0]\"]"),
            format!("[\"\\\"{name}0\\\" b\"]"),
            format!("[\"\\\"{name}0\"]"),
            format!("[\"{name}1\"]"),
        ] {
            let text = Bytes::from(amid);
            let pieces: Vec<_> = MessageChunks::new(text.clone(), Some(detached.clone())).collect();
            assert_eq!(pieces, [MessageChunk::Text(text.clone())], "{text:?}");
            let both = Bytes::from([&text[..], value.as_bytes()].concat());
            let pieces: Vec<_> = MessageChunks::new(both, Some(detached.clone())).collect();
            assert_eq!(pieces, [MessageChunk::Text(text), MessageChunk::Detached(hole)]);
        }
    }
}
