//! The one pass over a large answer, whatever the pieces it comes in.
//!
//! Size, encoding, grammar, depth and number of values are judged here, on all of it; the envelope
//! is judged on the skeleton, which holds it whole. So an answer is accepted exactly if the scan of
//! an ordinary message would accept it.

use bytes::Bytes;

use super::aside::{Form, Hole, Token};
use super::syntax::{self, State};
use super::utf8::Utf8;
use crate::{Fault, Frame, Limits, WireError, swar};

/// From this size on, a value of structured output is one hole.
const SUBTREE: usize = 64 << 10;
/// More of a skeleton than this is no skeleton.
const MAX_SKELETON: usize = 6 << 20;

/// Why a sieve takes no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The message is refused.
    Fault(Fault),
    /// It must be read as a whole: it is a batch, no object, or has few long values.
    Unfit,
}

impl Stop {
    /// The refusal of a message that begins like this; `None` if it is not refused.
    pub fn refusal(self, head: &[u8]) -> Option<WireError> {
        match self {
            Self::Fault(fault) => Some(WireError::new(fault, Frame::peek_id(head))),
            Self::Unfit => None,
        }
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// What remains of a large answer.
#[derive(Debug)]
pub struct Sifted {
    /// The message with placeholders.
    pub skeleton: Bytes,
    /// What they stand for, by their numbers.
    pub holes: Vec<Hole>,
}

/// Reads a large answer.
#[derive(Debug)]
pub struct Sieve {
    limits: Limits,
    token: Token,
    utf8: Utf8,
    state: State,
    /// The containers that are open, outermost first; `true` for objects.
    open: Vec<bool>,
    nodes_left: usize,
    at: usize,
    out: Vec<u8>,
    holes: Vec<Hole>,
    text: Text,
    key: Key,
    in_result: bool,
    subtree: Option<Subtree>,
}

/// The string that is being read.
#[derive(Debug, Default)]
struct Text {
    is_key: bool,
    /// Where it begins, in the message and in the skeleton.
    at: usize,
    mark: usize,
    /// It is so long that it stays out.
    holed: bool,
}

/// The last key, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Result,
    Structured,
    Other,
}

/// Structured output that is being read.
#[derive(Debug)]
struct Subtree {
    at: usize,
    mark: usize,
    holes: usize,
    form: Form,
    /// It is so long that it stays out.
    holed: bool,
}

/// How long a string may be that stays in a skeleton of this size: the more there is already, the
/// shorter.
fn longest(skeleton: usize) -> usize {
    match skeleton {
        0..0x4_0000 => 64 << 10,
        0x4_0000..0x10_0000 => 4 << 10,
        _ => 256,
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl Sieve {
    /// A sieve that has read nothing. Nobody who writes messages may know the token.
    pub fn new(limits: &Limits, token: Token) -> Self {
        Self {
            limits: *limits,
            token,
            utf8: Utf8::default(),
            state: State::Value,
            open: Vec::new(),
            nodes_left: limits.nodes,
            at: 0,
            out: Vec::new(),
            holes: Vec::new(),
            text: Text::default(),
            key: Key::Other,
            in_result: false,
            subtree: None,
        }
    }

    /// Takes the next piece of the message.
    pub fn push(&mut self, piece: &[u8]) -> Result<(), Stop> {
        let begin = self.at;
        if begin + piece.len() > self.limits.bytes.min(Limits::MAX_BYTES) {
            return Err(Fault::TooLarge.into());
        }
        let encoded = self.utf8.push(piece);
        encoded.map_err(|right| Fault::Encoding(offset(begin + right)))?;
        while let Some(&byte) = piece.get(self.at - begin) {
            match self.state {
                State::Text => self.plain(piece, begin)?,
                _ => self.step(byte)?,
            }
            self.check_room()?;
        }
        Ok(())
    }

    /// The end of the message.
    pub fn finish(self) -> Result<Sifted, Stop> {
        if !self.utf8.is_whole() {
            return Err(Fault::Encoding(offset(self.at)).into());
        }
        if !self.open.is_empty() || self.state != State::After {
            return Err(self.syntax());
        }
        Ok(Sifted { skeleton: self.out.into(), holes: self.holes })
    }

    fn syntax(&self) -> Stop {
        Fault::Syntax(offset(self.at)).into()
    }

    /// A stretch of a string, up to what ends it or the piece.
    fn plain(&mut self, piece: &[u8], begin: usize) -> Result<(), Stop> {
        let from = self.at - begin;
        let to = swar::plain_end(piece, from);
        self.put(piece.get(from..to).unwrap_or_default());
        self.at = begin + to;
        match piece.get(to) {
            None => return Ok(()),
            Some(b'"') => {
                self.put(b"\"");
                self.at += 1;
                return self.end_text();
            }
            Some(b'\\') => self.state = State::Escape,
            Some(_) => return Err(self.syntax()),
        }
        self.take(b'\\');
        Ok(())
    }

    /// A byte that is none of a string's plain ones.
    fn step(&mut self, byte: u8) -> Result<(), Stop> {
        match self.state {
            State::Escape => self.state = self.escaped(byte)?,
            State::Hex(left) if byte.is_ascii_hexdigit() => {
                self.state = if left == 1 { State::Text } else { State::Hex(left - 1) };
            }
            State::Word(&[next, ref rest @ ..]) if byte == next => {
                if rest.is_empty() {
                    self.take(byte);
                    return self.end_scalar();
                }
                self.state = State::Word(rest);
            }
            State::Number(number) => match number.step(byte) {
                Some(next) => self.state = State::Number(next),
                // The byte belongs to what follows.
                None if number.may_end() => return self.end_scalar(),
                None => return Err(self.syntax()),
            },
            State::Hex(_) | State::Word(_) => return Err(self.syntax()),
            _ if syntax::is_space(byte) => {}
            _ => return self.structure(byte),
        }
        self.take(byte);
        Ok(())
    }

    fn escaped(&self, byte: u8) -> Result<State, Stop> {
        match byte {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(State::Text),
            b'u' => Ok(State::Hex(4)),
            _ => Err(self.syntax()),
        }
    }

    /// A byte between values, and no white space.
    fn structure(&mut self, byte: u8) -> Result<(), Stop> {
        let in_object = self.open.last().copied();
        match (self.state, byte) {
            (State::FirstElement, b']') | (State::FirstKey, b'}') => return self.leave(byte),
            (State::After, b'}') if in_object == Some(true) => return self.leave(byte),
            (State::After, b']') if in_object == Some(false) => return self.leave(byte),
            (State::After, b',') if in_object.is_some() => {
                self.state = if in_object == Some(true) { State::Key } else { State::Value };
            }
            (State::Colon, b':') => self.state = State::Value,
            (State::FirstKey | State::Key, b'"') => self.begin_text(true),
            (State::Value | State::FirstElement, b'{' | b'[') => return self.enter(byte),
            (State::Value | State::FirstElement, _) => {
                if self.open.is_empty() {
                    return Err(Stop::Unfit);
                }
                self.state = syntax::scalar(byte).ok_or_else(|| self.syntax())?;
                if self.state == State::Text {
                    self.begin_text(false);
                }
            }
            _ => return Err(self.syntax()),
        }
        self.take(byte);
        Ok(())
    }

    fn begin_text(&mut self, is_key: bool) {
        self.state = State::Text;
        self.text = Text { is_key, at: self.at, mark: self.out.len(), holed: false };
    }

    /// Behind the closing quote.
    fn end_text(&mut self) -> Result<(), Stop> {
        if self.text.is_key {
            self.key = self.key_read();
            self.state = State::Colon;
            return Ok(());
        }
        if std::mem::take(&mut self.text.holed) && !self.skips() {
            self.punch(self.text.at, Form::Text);
        }
        self.end_scalar()
    }

    fn key_read(&self) -> Key {
        let spelled = self.out.get(self.text.mark..).unwrap_or_default();
        match (self.open.len(), spelled) {
            (1, b"\"result\"") => Key::Result,
            (2, b"\"structuredContent\"") if self.in_result => Key::Structured,
            _ => Key::Other,
        }
    }

    fn end_scalar(&mut self) -> Result<(), Stop> {
        self.count()?;
        self.state = State::After;
        Ok(())
    }

    fn count(&mut self) -> Result<(), Stop> {
        let fault = Fault::TooManyNodes(offset(self.at));
        self.nodes_left = self.nodes_left.checked_sub(1).ok_or(fault)?;
        Ok(())
    }

    fn enter(&mut self, bracket: u8) -> Result<(), Stop> {
        let (depth, is_object) = (self.open.len(), bracket == b'{');
        if depth == 0 && !is_object {
            return Err(Stop::Unfit);
        }
        self.count()?;
        if depth >= self.limits.depth.min(Limits::MAX_DEPTH) {
            return Err(Fault::TooDeep(offset(self.at)).into());
        }
        match (depth, self.key) {
            (1, key) => self.in_result = key == Key::Result,
            (2, Key::Structured) => {
                let form = if is_object { Form::Object } else { Form::Array };
                let (at, mark, holes) = (self.at, self.out.len(), self.holes.len());
                self.subtree = Some(Subtree { at, mark, holes, form, holed: false });
            }
            _ => {}
        }
        self.key = Key::Other;
        self.open.push(is_object);
        self.state = if is_object { State::FirstKey } else { State::FirstElement };
        self.take(bracket);
        Ok(())
    }

    fn leave(&mut self, bracket: u8) -> Result<(), Stop> {
        self.take(bracket);
        self.open.pop();
        self.state = State::After;
        match self.open.len() {
            1 => self.in_result = false,
            2 => {
                if let Some(subtree) = self.subtree.take().filter(|subtree| subtree.holed) {
                    self.punch(subtree.at, subtree.form);
                }
            }
            _ => {}
        }
        self.key = Key::Other;
        Ok(())
    }

    /// Takes one byte as it is.
    fn take(&mut self, byte: u8) {
        self.put(&[byte]);
        self.at += 1;
    }

    /// Adds to the skeleton what stays in it.
    fn put(&mut self, bytes: &[u8]) {
        if self.text.holed || self.skips() {
            return;
        }
        self.out.extend_from_slice(bytes);
        let in_value = self.state == State::Text && !self.text.is_key;
        if in_value && self.in_result && self.open.len() > 1 {
            let long = self.out.len() - self.text.mark > longest(self.text.mark);
            if long {
                self.out.truncate(self.text.mark);
                self.text.holed = true;
            }
        }
        if let Some(subtree) = &mut self.subtree
            && self.out.len() - subtree.mark > SUBTREE
        {
            self.out.truncate(subtree.mark);
            self.holes.truncate(subtree.holes);
            subtree.holed = true;
        }
    }

    fn skips(&self) -> bool {
        self.subtree.as_ref().is_some_and(|subtree| subtree.holed)
    }

    /// Leaves a placeholder for what began at `at` and ends here.
    fn punch(&mut self, at: usize, form: Form) {
        let placeholder = self.token.placeholder(self.holes.len(), form);
        self.out.extend_from_slice(placeholder.as_bytes());
        let (start, len) = (offset(at), offset(self.at - at));
        self.holes.push(Hole { start, len, form });
    }

    fn check_room(&self) -> Result<(), Stop> {
        if self.out.len() > MAX_SKELETON { Err(Stop::Unfit) } else { Ok(()) }
    }
}
