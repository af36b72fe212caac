//! The single scan over a large response, whatever chunks it arrives in.
//!
//! This parser checks size, encoding, grammar, depth and number of values on the whole response.
//! The envelope is checked on the skeleton, which contains it completely. So a response is accepted
//! exactly if the scan of an ordinary message accepts it.

use bytes::Bytes;

use super::detached::{DetachedValue, DetachedValueKind, PlaceholderToken};
use super::json_state::{self, JsonState};
use super::utf8_validator::Utf8Validator;
use crate::{Frame, MessageLimits, WireError, WireErrorKind, scanner::offset, swar};

/// The size in bytes above which a `structuredContent` value is removed as a whole.
const SUBTREE: usize = 64 << 10;
/// The largest skeleton in bytes.
const MAX_SKELETON: usize = 6 << 20;

/// The reason why a [`SkeletonParser`] stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkeletonError {
    /// The message is invalid.
    Invalid(WireErrorKind),
    /// The message must be read as a whole: it is a batch, not an object, or has few long values.
    Unfit,
}

impl SkeletonError {
    /// Returns the error for a message that starts with `head`, or `None` if the message is not
    /// invalid.
    pub fn into_wire_error(self, head: &[u8]) -> Option<WireError> {
        match self {
            Self::Invalid(fault) => Some(WireError::new(fault, Frame::peek_id(head))),
            Self::Unfit => None,
        }
    }
}

impl From<WireErrorKind> for SkeletonError {
    fn from(fault: WireErrorKind) -> Self {
        Self::Invalid(fault)
    }
}

/// A large response reduced to its short values.
#[derive(Debug)]
pub struct MessageSkeleton {
    /// The message with placeholders.
    pub skeleton: Bytes,
    /// The removed values, indexed by placeholder number.
    pub detached: Vec<DetachedValue>,
}

/// A streaming parser that reduces a large response to its skeleton.
#[derive(Debug)]
pub struct SkeletonParser {
    limits: MessageLimits,
    token: PlaceholderToken,
    utf8: Utf8Validator,
    state: JsonState,
    /// The open containers, outermost first; `true` for objects.
    open: Vec<bool>,
    nodes_left: usize,
    at: usize,
    out: Vec<u8>,
    detached: Vec<DetachedValue>,
    text: StringState,
    key: SpecialResponseKey,
    in_result: bool,
    subtree: Option<StructuredContentState>,
}

/// The state of the string that is being read.
#[derive(Debug, Default)]
struct StringState {
    is_key: bool,
    /// Its start in the message. `skeleton_start` is its start in the skeleton.
    at: usize,
    skeleton_start: usize,
    /// True if it is so long that the skeleton leaves it out.
    is_detached: bool,
}

/// The last key, if the parser treats it specially.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SpecialResponseKey {
    Result,
    Structured,
    Other,
}

/// The state of the `structuredContent` value that is being read.
#[derive(Debug)]
struct StructuredContentState {
    at: usize,
    skeleton_start: usize,
    detached_before: usize,
    kind: DetachedValueKind,
    /// True if it is so long that the skeleton leaves it out.
    is_detached: bool,
}

/// Returns the length limit for strings in a skeleton of this size. The larger the skeleton already
/// is, the lower the limit.
fn max_string_len(skeleton: usize) -> usize {
    match skeleton {
        0..0x4_0000 => 64 << 10,
        0x4_0000..0x10_0000 => 4 << 10,
        _ => 256,
    }
}

impl SkeletonParser {
    /// Creates a parser. The authors of messages must not know the token.
    pub fn new(limits: &MessageLimits, token: PlaceholderToken) -> Self {
        Self {
            limits: *limits,
            token,
            utf8: Utf8Validator::default(),
            state: JsonState::Value,
            open: Vec::new(),
            nodes_left: limits.nodes,
            at: 0,
            out: Vec::new(),
            detached: Vec::new(),
            text: StringState::default(),
            key: SpecialResponseKey::Other,
            in_result: false,
            subtree: None,
        }
    }

    /// Parses the next chunk of the message.
    pub fn push(&mut self, piece: &[u8]) -> Result<(), SkeletonError> {
        let begin = self.at;
        if begin + piece.len() > self.limits.bytes.min(MessageLimits::MAX_BYTES) {
            return Err(WireErrorKind::TooLarge.into());
        }
        let encoded = self.utf8.push(piece);
        encoded.map_err(|right| WireErrorKind::Encoding(offset(begin + right)))?;
        while let Some(&byte) = piece.get(self.at - begin) {
            match self.state {
                JsonState::Text => self.read_plain_text(piece, begin)?,
                _ => self.step(byte)?,
            }
            self.check_skeleton_size()?;
        }
        Ok(())
    }

    /// Ends the message and returns its skeleton.
    pub fn finish(self) -> Result<MessageSkeleton, SkeletonError> {
        if !self.utf8.is_whole() {
            return Err(WireErrorKind::Encoding(offset(self.at)).into());
        }
        if !self.open.is_empty() || self.state != JsonState::After {
            return Err(self.syntax_error());
        }
        Ok(MessageSkeleton { skeleton: self.out.into(), detached: self.detached })
    }

    fn syntax_error(&self) -> SkeletonError {
        WireErrorKind::Syntax(offset(self.at)).into()
    }

    /// Reads string bytes up to a special byte or the end of the chunk.
    fn read_plain_text(&mut self, piece: &[u8], begin: usize) -> Result<(), SkeletonError> {
        let from = self.at - begin;
        let to = swar::plain_end(piece, from);
        self.put(piece.get(from..to).unwrap_or_default());
        self.at = begin + to;
        match piece.get(to) {
            None => return Ok(()),
            Some(b'"') => {
                self.put(b"\"");
                self.at += 1;
                return self.end_string();
            }
            Some(b'\\') => self.state = JsonState::Escape,
            Some(_) => return Err(self.syntax_error()),
        }
        self.take(b'\\');
        Ok(())
    }

    /// Handles a byte outside of plain string text.
    fn step(&mut self, byte: u8) -> Result<(), SkeletonError> {
        match self.state {
            JsonState::Escape => self.state = self.state_after_escape(byte)?,
            JsonState::Hex(left) if byte.is_ascii_hexdigit() => {
                self.state = if left == 1 { JsonState::Text } else { JsonState::Hex(left - 1) };
            }
            JsonState::Word(&[next, ref rest @ ..]) if byte == next => {
                if rest.is_empty() {
                    self.take(byte);
                    return self.end_scalar();
                }
                self.state = JsonState::Word(rest);
            }
            JsonState::Number(number) => match number.step(byte) {
                Some(next) => self.state = JsonState::Number(next),
                // The byte belongs to the next token.
                None if number.may_end() => return self.end_scalar(),
                None => return Err(self.syntax_error()),
            },
            JsonState::Hex(_) | JsonState::Word(_) => return Err(self.syntax_error()),
            _ if json_state::is_space(byte) => {}
            _ => return self.read_structure(byte),
        }
        self.take(byte);
        Ok(())
    }

    fn state_after_escape(&self, byte: u8) -> Result<JsonState, SkeletonError> {
        match byte {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(JsonState::Text),
            b'u' => Ok(JsonState::Hex(4)),
            _ => Err(self.syntax_error()),
        }
    }

    /// Handles a structural byte: a bracket, comma, colon, or the start of a value.
    fn read_structure(&mut self, byte: u8) -> Result<(), SkeletonError> {
        let in_object = self.open.last().copied();
        match (self.state, byte) {
            (JsonState::FirstElement, b']') | (JsonState::FirstKey, b'}') => {
                return self.leave(byte);
            }
            (JsonState::After, b'}') if in_object == Some(true) => return self.leave(byte),
            (JsonState::After, b']') if in_object == Some(false) => return self.leave(byte),
            (JsonState::After, b',') if in_object.is_some() => {
                self.state =
                    if in_object == Some(true) { JsonState::Key } else { JsonState::Value };
            }
            (JsonState::Colon, b':') => self.state = JsonState::Value,
            (JsonState::FirstKey | JsonState::Key, b'"') => self.begin_string(true),
            (JsonState::Value | JsonState::FirstElement, b'{' | b'[') => return self.enter(byte),
            (JsonState::Value | JsonState::FirstElement, _) => {
                if self.open.is_empty() {
                    return Err(SkeletonError::Unfit);
                }
                self.state = json_state::start_scalar(byte).ok_or_else(|| self.syntax_error())?;
                if self.state == JsonState::Text {
                    self.begin_string(false);
                }
            }
            _ => return Err(self.syntax_error()),
        }
        self.take(byte);
        Ok(())
    }

    fn begin_string(&mut self, is_key: bool) {
        self.state = JsonState::Text;
        self.text =
            StringState { is_key, at: self.at, skeleton_start: self.out.len(), is_detached: false };
    }

    /// Handles the closing quote of a string.
    fn end_string(&mut self) -> Result<(), SkeletonError> {
        if self.text.is_key {
            self.key = self.classify_key();
            self.state = JsonState::Colon;
            return Ok(());
        }
        if std::mem::take(&mut self.text.is_detached) && !self.is_skipping() {
            self.push_placeholder(self.text.at, DetachedValueKind::Text);
        }
        self.end_scalar()
    }

    fn classify_key(&self) -> SpecialResponseKey {
        let spelled = self.out.get(self.text.skeleton_start..).unwrap_or_default();
        match (self.open.len(), spelled) {
            (1, b"\"result\"") => SpecialResponseKey::Result,
            (2, b"\"structuredContent\"") if self.in_result => SpecialResponseKey::Structured,
            _ => SpecialResponseKey::Other,
        }
    }

    fn end_scalar(&mut self) -> Result<(), SkeletonError> {
        self.count_node()?;
        self.state = JsonState::After;
        Ok(())
    }

    fn count_node(&mut self) -> Result<(), SkeletonError> {
        let fault = WireErrorKind::TooManyNodes(offset(self.at));
        self.nodes_left = self.nodes_left.checked_sub(1).ok_or(fault)?;
        Ok(())
    }

    fn enter(&mut self, bracket: u8) -> Result<(), SkeletonError> {
        let (depth, is_object) = (self.open.len(), bracket == b'{');
        if depth == 0 && !is_object {
            return Err(SkeletonError::Unfit);
        }
        self.count_node()?;
        if depth >= self.limits.depth.min(MessageLimits::MAX_DEPTH) {
            return Err(WireErrorKind::TooDeep(offset(self.at)).into());
        }
        match (depth, self.key) {
            (1, key) => self.in_result = key == SpecialResponseKey::Result,
            (2, SpecialResponseKey::Structured) => {
                let form =
                    if is_object { DetachedValueKind::Object } else { DetachedValueKind::Array };
                let (at, mark, holes) = (self.at, self.out.len(), self.detached.len());
                self.subtree = Some(StructuredContentState {
                    at,
                    skeleton_start: mark,
                    detached_before: holes,
                    kind: form,
                    is_detached: false,
                });
            }
            _ => {}
        }
        self.key = SpecialResponseKey::Other;
        self.open.push(is_object);
        self.state = if is_object { JsonState::FirstKey } else { JsonState::FirstElement };
        self.take(bracket);
        Ok(())
    }

    fn leave(&mut self, bracket: u8) -> Result<(), SkeletonError> {
        self.take(bracket);
        self.open.pop();
        self.state = JsonState::After;
        match self.open.len() {
            1 => self.in_result = false,
            2 => {
                if let Some(subtree) = self.subtree.take().filter(|subtree| subtree.is_detached) {
                    self.push_placeholder(subtree.at, subtree.kind);
                }
            }
            _ => {}
        }
        self.key = SpecialResponseKey::Other;
        Ok(())
    }

    /// Copies one byte to the skeleton and advances.
    fn take(&mut self, byte: u8) {
        self.put(&[byte]);
        self.at += 1;
    }

    /// Appends bytes to the skeleton unless they belong to a removed value.
    fn put(&mut self, bytes: &[u8]) {
        if self.text.is_detached || self.is_skipping() {
            return;
        }
        self.out.extend_from_slice(bytes);
        let in_value = self.state == JsonState::Text && !self.text.is_key;
        if in_value && self.in_result && self.open.len() > 1 {
            let long = self.out.len() - self.text.skeleton_start
                > max_string_len(self.text.skeleton_start);
            if long {
                self.out.truncate(self.text.skeleton_start);
                self.text.is_detached = true;
            }
        }
        if let Some(subtree) = &mut self.subtree
            && self.out.len() - subtree.skeleton_start > SUBTREE
        {
            self.out.truncate(subtree.skeleton_start);
            self.detached.truncate(subtree.detached_before);
            subtree.is_detached = true;
        }
    }

    fn is_skipping(&self) -> bool {
        self.subtree.as_ref().is_some_and(|subtree| subtree.is_detached)
    }

    /// Writes a placeholder for the value that starts at `at` and ends here.
    fn push_placeholder(&mut self, at: usize, form: DetachedValueKind) {
        let placeholder = self.token.placeholder(self.detached.len(), form);
        self.out.extend_from_slice(placeholder.as_bytes());
        let (start, len) = (offset(at), offset(self.at - at));
        self.detached.push(DetachedValue { start, len, kind: form });
    }

    fn check_skeleton_size(&self) -> Result<(), SkeletonError> {
        if self.out.len() > MAX_SKELETON { Err(SkeletonError::Unfit) } else { Ok(()) }
    }
}
