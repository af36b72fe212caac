//! Splits an event stream into the fields of its events, incrementally and without holding values.

/// The maximum length of the name of a field, and of short values.
pub(crate) const SHORT: usize = 8 << 10;

/// A field of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SseField {
    Event,
    Id,
    Data,
    Retry,
    /// An unknown field, or a comment.
    Other,
}

/// A part of an event stream.
pub(crate) enum SseToken<'a> {
    /// A field begins.
    Field(SseField),
    /// A part of the value of this field.
    Value(SseField, &'a [u8]),
    /// The name of a field is too long. The rest of it is skipped.
    LongName,
    /// The event is complete.
    End,
}

/// The position in an event stream.
#[derive(Debug, Default)]
pub(crate) struct SseTokenizer {
    line: SseLineState,
    /// Whether the last byte was a CR. An LF after it does not end a second line.
    after_cr: bool,
}

/// The position in a line of the event stream.
#[derive(Debug)]
enum SseLineState {
    /// In the name of a field.
    Name(Vec<u8>),
    /// In the value of a field.
    Value { field: SseField, begun: bool },
}

impl Default for SseLineState {
    fn default() -> Self {
        Self::Name(Vec::new())
    }
}

impl SseTokenizer {
    /// Passes the tokens in the next bytes of the stream to `take`, until it fails.
    pub(crate) fn push<E>(
        &mut self,
        mut chunk: &[u8],
        mut take: impl FnMut(SseToken<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(end) = memchr::memchr2(b'\n', b'\r', chunk) {
            self.push_text(&chunk[..end], &mut take)?;
            let second_half = chunk[end] == b'\n' && self.after_cr;
            self.after_cr = chunk[end] == b'\r';
            if !second_half {
                self.end_line(&mut take)?;
            }
            chunk = &chunk[end + 1..];
        }
        self.push_text(chunk, &mut take)
    }

    fn push_text<E>(
        &mut self,
        text: &[u8],
        take: &mut impl FnMut(SseToken<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if text.is_empty() {
            return Ok(());
        }
        self.after_cr = false;
        let mut value = text;
        if let SseLineState::Name(name) = &mut self.line {
            let colon = memchr::memchr(b':', text);
            if !extend_bounded(name, &text[..colon.unwrap_or(text.len())]) {
                take(SseToken::LongName)?;
            }
            let Some(colon) = colon else { return Ok(()) };
            let field = parse_field(name);
            self.line = SseLineState::Value { field, begun: false };
            take(SseToken::Field(field))?;
            value = &text[colon + 1..];
        }
        let SseLineState::Value { field, begun } = &mut self.line else { return Ok(()) };
        if !value.is_empty() && !std::mem::replace(begun, true) {
            value = value.strip_prefix(b" ").unwrap_or(value);
        }
        take(SseToken::Value(*field, value))
    }

    fn end_line<E>(
        &mut self,
        take: &mut impl FnMut(SseToken<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        match std::mem::take(&mut self.line) {
            SseLineState::Value { .. } => Ok(()),
            SseLineState::Name(name) if name.is_empty() => take(SseToken::End),
            SseLineState::Name(name) => take(SseToken::Field(parse_field(&name))),
        }
    }
}

fn parse_field(name: &[u8]) -> SseField {
    // A byte order mark may precede the first name.
    match name.strip_prefix(b"\xef\xbb\xbf").unwrap_or(name) {
        b"event" => SseField::Event,
        b"id" => SseField::Id,
        b"data" => SseField::Data,
        b"retry" => SseField::Retry,
        _ => SseField::Other,
    }
}

/// Appends `text` up to the maximum length. Returns false if it was cut.
pub(crate) fn extend_bounded(kept: &mut Vec<u8>, text: &[u8]) -> bool {
    let room = SHORT - kept.len().min(SHORT);
    kept.extend_from_slice(&text[..text.len().min(room)]);
    text.len() <= room
}
