//! An event stream becomes lines as it comes.
//!
//! No event is ever held whole: the bytes of a message go on as they arrive, and whoever reads the
//! lines bounds them. Only where to post, which is short, is kept. An event's name stands before its
//! data, as every server writes it; data whose name comes later is taken for a message.

use bytes::BytesMut;

/// No name and no place is longer than this.
const SHORT: usize = 8 << 10;

/// Reads events, writes lines.
#[derive(Debug, Default)]
pub(super) struct Unfolder {
    line: Line,
    /// The last byte was a CR: a LF behind it ends no second line.
    after_cr: bool,
    event: Vec<u8>,
    has_data: bool,
    place: Vec<u8>,
    placed: bool,
}

/// Where in a line of the event stream it stands.
#[derive(Debug)]
enum Line {
    /// In the name of a field.
    Field(Vec<u8>),
    /// In its value.
    Value { field: Field, begun: bool },
}

#[derive(Debug, Clone, Copy)]
enum Field {
    Event,
    Data,
    Other,
}

impl Default for Line {
    fn default() -> Self {
        Self::Field(Vec::new())
    }
}

impl Unfolder {
    /// Takes bytes of the stream; what there is of messages is added to `lines`.
    pub(super) fn push(&mut self, mut chunk: &[u8], lines: &mut BytesMut) {
        while let Some(end) = memchr::memchr2(b'\n', b'\r', chunk) {
            self.text(&chunk[..end], lines);
            let second_half = chunk[end] == b'\n' && self.after_cr;
            self.after_cr = chunk[end] == b'\r';
            if !second_half {
                self.end_line(lines);
            }
            chunk = &chunk[end + 1..];
        }
        self.text(chunk, lines);
    }

    /// Where to post, once the stream has said so.
    pub(super) fn place(&self) -> Option<String> {
        self.placed.then(|| String::from_utf8_lossy(&self.place).trim().to_owned())
    }

    /// Whether the lines written so far are whole.
    pub(super) fn is_between_messages(&self) -> bool {
        !self.has_data
    }

    fn text(&mut self, text: &[u8], lines: &mut BytesMut) {
        if text.is_empty() {
            return;
        }
        self.after_cr = false;
        match &mut self.line {
            Line::Value { .. } => self.value(text, lines),
            Line::Field(name) => match memchr::memchr(b':', text) {
                None => extend(name, text),
                Some(colon) => {
                    extend(name, &text[..colon]);
                    let field = field(name);
                    self.line = Line::Value { field, begun: false };
                    self.begin_value(field, lines);
                    self.value(&text[colon + 1..], lines);
                }
            },
        }
    }

    fn begin_value(&mut self, field: Field, lines: &mut BytesMut) {
        match field {
            Field::Event => self.event.clear(),
            // What was a line break between data lines is one inside a message: white space.
            Field::Data if std::mem::replace(&mut self.has_data, true) => self.data(b" ", lines),
            Field::Data | Field::Other => {}
        }
    }

    fn value(&mut self, mut text: &[u8], lines: &mut BytesMut) {
        let Line::Value { field, begun } = &mut self.line else { return };
        if !text.is_empty() && !std::mem::replace(begun, true) {
            text = text.strip_prefix(b" ").unwrap_or(text);
        }
        match field {
            Field::Event => extend(&mut self.event, text),
            Field::Data => self.data(text, lines),
            Field::Other => {}
        }
    }

    fn data(&mut self, text: &[u8], lines: &mut BytesMut) {
        match self.event.as_slice() {
            b"" | b"message" => lines.extend_from_slice(text),
            b"endpoint" if !self.placed => extend(&mut self.place, text),
            _ => {}
        }
    }

    /// The end of a line; an empty one ends the event.
    fn end_line(&mut self, lines: &mut BytesMut) {
        match std::mem::take(&mut self.line) {
            Line::Value { .. } => {}
            Line::Field(name) if !name.is_empty() => self.begin_value(field(&name), lines),
            Line::Field(_) => {
                if std::mem::take(&mut self.has_data) {
                    match self.event.as_slice() {
                        b"" | b"message" => lines.extend_from_slice(b"\n"),
                        b"endpoint" => self.placed = true,
                        _ => {}
                    }
                }
                self.event.clear();
            }
        }
    }
}

fn field(name: &[u8]) -> Field {
    // A byte order mark may stand before the first.
    match name.strip_prefix(b"\xef\xbb\xbf").unwrap_or(name) {
        b"event" => Field::Event,
        b"data" => Field::Data,
        _ => Field::Other,
    }
}

/// Keeps what is short; more of it makes it something nobody knows.
fn extend(kept: &mut Vec<u8>, text: &[u8]) {
    kept.extend_from_slice(&text[..text.len().min(SHORT - kept.len().min(SHORT))]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unfolded(stream: &[u8], step: usize) -> (Option<String>, String) {
        let mut unfolder = Unfolder::default();
        let mut lines = BytesMut::new();
        stream.chunks(step).for_each(|chunk| unfolder.push(chunk, &mut lines));
        (unfolder.place(), String::from_utf8(lines.to_vec()).unwrap())
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
        let mut unfolder = Unfolder::default();
        let mut lines = BytesMut::new();
        unfolder.push(&[b'e'; 100_000], &mut lines);
        unfolder.push(b"\nevent: ", &mut lines);
        unfolder.push(&[b'e'; 100_000], &mut lines);
        assert!(unfolder.event.len() <= SHORT);
        unfolder.push(b"\ndata: x\n\ndata: y\n\n", &mut lines);
        assert_eq!(lines, "y\n");
    }
}
