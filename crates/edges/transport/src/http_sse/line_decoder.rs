//! Decodes an event stream into lines, incrementally.
//!
//! The decoder never holds a whole event: it passes the bytes of a message on as they arrive, and
//! the reader of the lines limits their length. It keeps only the URL for posting, which is short.
//! It expects the name of an event before its data, as every server writes it, and treats data
//! without a name before it as a message.

use bytes::BytesMut;

/// The maximum length of a name and of the URL for posting.
const SHORT: usize = 8 << 10;

/// A decoder that reads events and writes lines.
#[derive(Debug, Default)]
pub(super) struct SseLineDecoder {
    line: SseLineState,
    /// Whether the last byte was a CR. An LF after it does not end a second line.
    after_cr: bool,
    event: Vec<u8>,
    has_data: bool,
    post_url: Vec<u8>,
    has_post_url: bool,
}

/// The position in a line of the event stream.
#[derive(Debug)]
enum SseLineState {
    /// In the name of a field.
    Field(Vec<u8>),
    /// In the value of a field.
    Value { field: SseField, begun: bool },
}

/// A field of an event, as far as the decoder knows it.
#[derive(Debug, Clone, Copy)]
enum SseField {
    Event,
    Data,
    Other,
}

impl Default for SseLineState {
    fn default() -> Self {
        Self::Field(Vec::new())
    }
}

impl SseLineDecoder {
    /// Decodes bytes of the stream and appends the bytes of messages to `lines`.
    pub(super) fn push(&mut self, mut chunk: &[u8], lines: &mut BytesMut) {
        while let Some(end) = memchr::memchr2(b'\n', b'\r', chunk) {
            self.push_text(&chunk[..end], lines);
            let second_half = chunk[end] == b'\n' && self.after_cr;
            self.after_cr = chunk[end] == b'\r';
            if !second_half {
                self.end_line(lines);
            }
            chunk = &chunk[end + 1..];
        }
        self.push_text(chunk, lines);
    }

    /// Returns the URL for posting, once the stream has sent it.
    pub(super) fn post_url(&self) -> Option<String> {
        self.has_post_url.then(|| String::from_utf8_lossy(&self.post_url).trim().to_owned())
    }

    /// Returns true if the lines written so far are complete.
    pub(super) fn is_between_messages(&self) -> bool {
        !self.has_data
    }

    fn push_text(&mut self, text: &[u8], lines: &mut BytesMut) {
        if text.is_empty() {
            return;
        }
        self.after_cr = false;
        match &mut self.line {
            SseLineState::Value { .. } => self.push_value(text, lines),
            SseLineState::Field(name) => match memchr::memchr(b':', text) {
                None => extend_bounded(name, text),
                Some(colon) => {
                    extend_bounded(name, &text[..colon]);
                    let field = parse_field(name);
                    self.line = SseLineState::Value { field, begun: false };
                    self.begin_value(field, lines);
                    self.push_value(&text[colon + 1..], lines);
                }
            },
        }
    }

    fn begin_value(&mut self, field: SseField, lines: &mut BytesMut) {
        match field {
            SseField::Event => self.event.clear(),
            // A line break between data lines is white space inside the message.
            SseField::Data if std::mem::replace(&mut self.has_data, true) => {
                self.push_data(b" ", lines)
            }
            SseField::Data | SseField::Other => {}
        }
    }

    fn push_value(&mut self, mut text: &[u8], lines: &mut BytesMut) {
        let SseLineState::Value { field, begun } = &mut self.line else { return };
        if !text.is_empty() && !std::mem::replace(begun, true) {
            text = text.strip_prefix(b" ").unwrap_or(text);
        }
        match field {
            SseField::Event => extend_bounded(&mut self.event, text),
            SseField::Data => self.push_data(text, lines),
            SseField::Other => {}
        }
    }

    fn push_data(&mut self, text: &[u8], lines: &mut BytesMut) {
        match self.event.as_slice() {
            b"" | b"message" => lines.extend_from_slice(text),
            b"endpoint" if !self.has_post_url => extend_bounded(&mut self.post_url, text),
            _ => {}
        }
    }

    /// Handles the end of a line. An empty line ends the event.
    fn end_line(&mut self, lines: &mut BytesMut) {
        match std::mem::take(&mut self.line) {
            SseLineState::Value { .. } => {}
            SseLineState::Field(name) if !name.is_empty() => {
                self.begin_value(parse_field(&name), lines)
            }
            SseLineState::Field(_) => {
                if std::mem::take(&mut self.has_data) {
                    match self.event.as_slice() {
                        b"" | b"message" => lines.extend_from_slice(b"\n"),
                        b"endpoint" => self.has_post_url = true,
                        _ => {}
                    }
                }
                self.event.clear();
            }
        }
    }
}

fn parse_field(name: &[u8]) -> SseField {
    // A byte order mark may precede the first name.
    match name.strip_prefix(b"\xef\xbb\xbf").unwrap_or(name) {
        b"event" => SseField::Event,
        b"data" => SseField::Data,
        _ => SseField::Other,
    }
}

/// Appends `text` up to the maximum length. A longer name is cut and so matches no known field.
fn extend_bounded(kept: &mut Vec<u8>, text: &[u8]) {
    kept.extend_from_slice(&text[..text.len().min(SHORT - kept.len().min(SHORT))]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unfolded(stream: &[u8], step: usize) -> (Option<String>, String) {
        let mut unfolder = SseLineDecoder::default();
        let mut lines = BytesMut::new();
        stream.chunks(step).for_each(|chunk| unfolder.push(chunk, &mut lines));
        (unfolder.post_url(), String::from_utf8(lines.to_vec()).unwrap())
    }

    #[test]
    fn messages_become_lines_however_the_stream_is_cut() {
        let stream = b"\xef\xbb\xbfevent: endpoint\r\ndata: /messages?s=1\r\n\r\n: alive\n\n\
            event: message\ndata: {\"a\":\ndata: 1}\n\nid: 7\ndata:{}\r\revent: other\ndata: x\n\n\
            event: message\nid: 8\ndata\ndata: 2\nretry: 5\n\nevent: message\n\ndata: {\"cut";
        for step in 1..stream.len() {
            let (place, lines) = unfolded(stream, step);
            assert_eq!(place.as_deref(), Some("/messages?s=1"), "in steps of {step}");
            assert_eq!(lines, "{\"a\": 1}\n{}\n 2\n{\"cut", "in steps of {step}");
        }
    }

    #[test]
    fn the_first_place_counts_and_only_once_it_is_whole() {
        let (place, _) = unfolded(b"event: endpoint\ndata: /one\n", 5);
        assert_eq!(place, None);
        let (place, lines) =
            unfolded(b"event: endpoint\ndata: /one\n\nevent: endpoint\ndata: /two\n\n", 5);
        assert_eq!((place.as_deref(), lines.as_str()), (Some("/one"), ""));
    }

    #[test]
    fn a_name_without_end_is_not_kept() {
        let mut unfolder = SseLineDecoder::default();
        let mut lines = BytesMut::new();
        unfolder.push(&[b'e'; 100_000], &mut lines);
        unfolder.push(b"\nevent: ", &mut lines);
        unfolder.push(&[b'e'; 100_000], &mut lines);
        assert!(unfolder.event.len() <= SHORT);
        unfolder.push(b"\ndata: x\n\ndata: y\n\n", &mut lines);
        assert_eq!(lines, "y\n");
    }
}
