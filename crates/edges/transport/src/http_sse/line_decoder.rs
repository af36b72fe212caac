//! Decodes an event stream into lines, incrementally.
//!
//! The decoder never holds a whole event: it passes the bytes of a message on as they arrive, and
//! the reader of the lines limits their length. It keeps only the URL for posting, which is short.
//! It expects the name of an event before its data, as every server writes it, and treats data
//! without a name before it as a message.

use std::convert::Infallible;

use bytes::BytesMut;

use crate::sse::{SseField, SseToken, SseTokenizer, extend_bounded};

/// A decoder that reads events and writes lines.
#[derive(Debug, Default)]
pub(super) struct SseLineDecoder {
    tokenizer: SseTokenizer,
    event: PartialSseEvent,
}

/// The event that is being decoded.
#[derive(Debug, Default)]
struct PartialSseEvent {
    name: Vec<u8>,
    has_data: bool,
    post_url: Vec<u8>,
    has_post_url: bool,
}

impl SseLineDecoder {
    /// Decodes bytes of the stream and appends the bytes of messages to `lines`.
    pub(super) fn push(&mut self, chunk: &[u8], lines: &mut BytesMut) {
        let pushed = self.tokenizer.push(chunk, |token| {
            self.event.take_token(token, lines);
            Ok::<_, Infallible>(())
        });
        let Ok(()) = pushed;
    }

    /// Returns the URL for posting, once the stream has sent it.
    pub(super) fn post_url(&self) -> Option<String> {
        let url = || String::from_utf8_lossy(&self.event.post_url).trim().to_owned();
        self.event.has_post_url.then(url)
    }

    /// Returns true if the lines written so far are complete.
    pub(super) fn is_between_messages(&self) -> bool {
        !self.event.has_data
    }
}

impl PartialSseEvent {
    fn take_token(&mut self, token: SseToken<'_>, lines: &mut BytesMut) {
        match token {
            SseToken::Field(SseField::Event) => self.name.clear(),
            // A long name is cut and so matches no known event.
            SseToken::Value(SseField::Event, text) => {
                extend_bounded(&mut self.name, text);
            }
            // A line break between data lines is white space inside the message.
            SseToken::Field(SseField::Data) if self.has_data => self.push_data(b" ", lines),
            SseToken::Field(SseField::Data) => self.has_data = true,
            SseToken::Value(SseField::Data, text) => self.push_data(text, lines),
            SseToken::End => self.finish(lines),
            _ => {}
        }
    }

    fn push_data(&mut self, text: &[u8], lines: &mut BytesMut) {
        match self.name.as_slice() {
            b"" | b"message" => lines.extend_from_slice(text),
            b"endpoint" if !self.has_post_url => {
                extend_bounded(&mut self.post_url, text);
            }
            _ => {}
        }
    }

    fn finish(&mut self, lines: &mut BytesMut) {
        if std::mem::take(&mut self.has_data) {
            match self.name.as_slice() {
                b"" | b"message" => lines.extend_from_slice(b"\n"),
                b"endpoint" => self.has_post_url = true,
                _ => {}
            }
        }
        self.name.clear();
    }
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
        assert!(unfolder.event.name.len() <= 8 << 10);
        unfolder.push(b"\ndata: x\n\ndata: y\n\n", &mut lines);
        assert_eq!(lines, "y\n");
    }
}
