//! What was kept out of a large answer, and how it is put back.

use std::fmt::{self, Debug};
use std::io;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use memchr::memmem;

/// Where the whole answer lies. Reading is somebody else's: this crate does none.
pub trait Kept: Debug + Send + Sync {
    /// Fills `into` from the byte `at` on.
    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()>;
}

/// What marks the placeholders of one message. It is drawn after the message was written, so that
/// nothing in the message can be taken for one.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// The token of these random bytes.
    pub fn new(random: [u8; 12]) -> Self {
        Self(format!("~{}.", URL_SAFE_NO_PAD.encode(random)))
    }

    /// What stands in a skeleton for hole `number`: JSON of the same type.
    pub fn placeholder(&self, number: usize, form: Form) -> String {
        let Self(token) = self;
        let (before, after) = form.around();
        format!("{before}{token}{number}{after}")
    }
}

impl Debug for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Token(…)")
    }
}

/// What kind of value was kept out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A string.
    Text,
    /// An object.
    Object,
    /// An array.
    Array,
}

impl Form {
    fn around(self) -> (&'static str, &'static str) {
        match self {
            Self::Text => ("\"", "\""),
            Self::Object => ("{\"", "\":0}"),
            Self::Array => ("[\"", "\"]"),
        }
    }
}

/// One value that was kept out: its raw JSON in the whole answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hole {
    /// Offset of its first byte.
    pub start: u32,
    /// How many bytes it has, quotes and brackets included.
    pub len: u32,
    /// What it is.
    pub form: Form,
}

/// What belongs into the placeholders of a message.
pub struct Aside {
    token: Token,
    finder: memmem::Finder<'static>,
    holes: Vec<Hole>,
    kept: Arc<dyn Kept>,
}

impl Debug for Aside {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Aside").field("holes", &self.holes.len()).finish_non_exhaustive()
    }
}

impl Aside {
    /// The holes of a skeleton that was made with this token, and where what fills them lies.
    pub fn new(token: Token, holes: Vec<Hole>, kept: Arc<dyn Kept>) -> Self {
        let finder = memmem::Finder::new(token.0.as_bytes()).into_owned();
        Self { token, finder, holes, kept }
    }

    /// What a value stands for, if it is a placeholder.
    pub fn hole(&self, value: &[u8]) -> Option<Hole> {
        let Token(token) = &self.token;
        let inside = value.get(1..).and_then(|rest| match value.first() {
            Some(b'{' | b'[') => rest.get(1..),
            _ => Some(rest),
        })?;
        let hole = self.numbered(inside.strip_prefix(token.as_bytes())?)?.0;
        let (before, after) = hole.form.around();
        (value.starts_with(before.as_bytes()) && value.ends_with(after.as_bytes())).then_some(hole)
    }

    /// How long a value is: what it stands for, if it is a placeholder, else itself.
    pub fn len_of(&self, value: &[u8]) -> u64 {
        self.hole(value).map_or(value.len() as u64, |hole| u64::from(hole.len))
    }

    /// The text, with what its placeholders stand for, piece by piece.
    pub fn pieces(self: &Arc<Self>, text: Bytes) -> Pieces {
        Pieces { aside: self.clone(), rest: text, next: None }
    }

    /// How long a text becomes when its holes are filled.
    pub fn filled_len(self: &Arc<Self>, text: &Bytes) -> u64 {
        let len = |piece| match piece {
            Piece::Text(text) => text.len() as u64,
            Piece::Kept(hole) => u64::from(hole.len),
        };
        self.pieces(text.clone()).map(len).sum()
    }

    /// Everything that was kept out.
    pub fn holes(&self) -> &[Hole] {
        &self.holes
    }

    /// How many bytes were kept out.
    pub fn weight(&self) -> u64 {
        self.holes.iter().map(|hole| u64::from(hole.len)).sum()
    }

    /// Where the whole lies.
    pub fn kept(&self) -> &Arc<dyn Kept> {
        &self.kept
    }

    /// The hole whose number stands at the beginning of `text`, and how long the number is.
    fn numbered(&self, text: &[u8]) -> Option<(Hole, usize)> {
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = std::str::from_utf8(text.get(..digits)?).ok()?;
        let hole = self.holes.get(number.parse::<usize>().ok()?)?;
        Some((*hole, digits))
    }

    /// The first placeholder in `text`: from where to where, and what for.
    fn first(&self, text: &[u8]) -> Option<(usize, usize, Hole)> {
        self.finder.find_iter(text).find_map(|at| self.placeholder_at(text, at))
    }

    /// The placeholder whose token stands at `at`. A token amid a string is none: somebody put a
    /// value into words, and raw JSON there would break the message.
    fn placeholder_at(&self, text: &[u8], at: usize) -> Option<(usize, usize, Hole)> {
        let Token(token) = &self.token;
        let behind = at + token.len();
        let (hole, digits) = self.numbered(text.get(behind..)?)?;
        let (before, after) = hole.form.around();
        let from = at.checked_sub(before.len())?;
        let escaped = from.checked_sub(1).and_then(|at| text.get(at)) == Some(&b'\\');
        let whole = text.get(from..)?.starts_with(before.as_bytes())
            && text.get(behind + digits..)?.starts_with(after.as_bytes());
        (whole && !escaped).then_some((from, behind + digits + after.len(), hole))
    }
}

/// A piece of a text whose holes are filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// This.
    Text(Bytes),
    /// What was kept out.
    Kept(Hole),
}

/// Goes over a text and what belongs into it.
#[derive(Debug, Clone)]
pub struct Pieces {
    aside: Arc<Aside>,
    rest: Bytes,
    next: Option<Hole>,
}

impl Pieces {
    /// How much of the text is left.
    pub fn held(&self) -> usize {
        self.rest.len()
    }

    /// What belongs into the text.
    pub fn aside(&self) -> &Arc<Aside> {
        &self.aside
    }
}

impl Iterator for Pieces {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        if let Some(hole) = self.next.take() {
            return Some(Piece::Kept(hole));
        }
        if self.rest.is_empty() {
            return None;
        }
        let Some((from, to, hole)) = self.aside.first(&self.rest) else {
            return Some(Piece::Text(std::mem::take(&mut self.rest)));
        };
        let mut text = self.rest.split_to(to.min(self.rest.len()));
        text.truncate(from);
        if text.is_empty() {
            return Some(Piece::Kept(hole));
        }
        self.next = Some(hole);
        Some(Piece::Text(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Nowhere;

    impl Kept for Nowhere {
        fn read_at(&self, _: u64, _: &mut [u8]) -> io::Result<()> {
            Err(io::ErrorKind::NotFound.into())
        }
    }

    #[test]
    fn only_a_whole_placeholder_is_filled() {
        let token = Token::new([7; 12]);
        let hole = Hole { start: 0, len: 100, form: Form::Text };
        let [value, Token(name)] = [Token(token.placeholder(0, Form::Text)), token.clone()];
        let Token(value) = value;
        let aside = Arc::new(Aside::new(token, vec![hole], Arc::new(Nowhere)));
        // In words, quoted in words, at the end of words, and with a number nobody gave.
        for amid in [
            format!("[\"a {name}0]\"]"),
            format!("[\"\\\"{name}0\\\" b\"]"),
            format!("[\"\\\"{name}0\"]"),
            format!("[\"{name}1\"]"),
        ] {
            let text = Bytes::from(amid);
            let pieces: Vec<_> = aside.pieces(text.clone()).collect();
            assert_eq!(pieces, [Piece::Text(text.clone())], "{text:?}");
            let both = Bytes::from([&text[..], value.as_bytes()].concat());
            let pieces: Vec<_> = aside.pieces(both).collect();
            assert_eq!(pieces, [Piece::Text(text), Piece::Kept(hole)]);
        }
    }
}
