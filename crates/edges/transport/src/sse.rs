//! Parses and writes server-sent events.
//!
//! An event has the fields that MCP uses: name, id, data and retry. HTTP+SSE streams
//! are read without holding a whole event, by [`crate::http_sse`].

mod tokenizer;

use std::collections::VecDeque;

use bytes::Bytes;

use crate::TransportError;
use crate::chunked_message::{ChunkedMessage, OutgoingMessage};
use crate::spool::{BodyLimits, BodySpool, ReceivedBody};

pub(crate) use tokenizer::{SseField, SseToken, SseTokenizer, extend_bounded};

/// One received event.
#[derive(Debug, Clone)]
pub struct SseEvent {
    /// The `event` field, empty for the default.
    pub name: String,
    /// The `id` field, if present.
    pub id: Option<String>,
    /// The `data` lines, joined by newlines.
    pub data: ReceivedBody,
    /// The `retry` field in milliseconds, if present.
    pub retry: Option<u64>,
}

/// An incremental parser of server-sent events.
#[derive(Debug)]
pub struct SseParser {
    tokenizer: SseTokenizer,
    event: SseEventBuilder,
    ready: VecDeque<SseEvent>,
}

/// An event that is not complete.
#[derive(Debug)]
struct SseEventBuilder {
    limits: BodyLimits,
    name: Vec<u8>,
    id: Option<Vec<u8>>,
    retry: Vec<u8>,
    data: Option<BodySpool>,
}

impl SseParser {
    /// Creates a parser that refuses events beyond the limits.
    pub fn new(limits: BodyLimits) -> Self {
        let (name, retry) = (Vec::new(), Vec::new());
        let event = SseEventBuilder { limits, name, id: None, retry, data: None };
        Self { tokenizer: SseTokenizer::default(), event, ready: VecDeque::new() }
    }

    /// Adds bytes of the stream.
    pub fn push(&mut self, chunk: &[u8]) -> Result<(), TransportError> {
        self.tokenizer.push(chunk, |token| {
            self.ready.extend(self.event.take_token(token)?);
            Ok(())
        })
    }

    /// Returns the next complete event in the bytes added so far.
    ///
    /// An event without data is returned if it has an id or a retry: servers send such an event to
    /// make a stream resumable.
    pub fn next_event(&mut self) -> Option<SseEvent> {
        self.ready.pop_front()
    }
}

impl SseEventBuilder {
    /// Adds a part of the event. Returns the event at its end.
    fn take_token(&mut self, token: SseToken<'_>) -> Result<Option<SseEvent>, TransportError> {
        match token {
            SseToken::End => return Ok(self.finish()),
            SseToken::LongName => return Err(too_long()),
            SseToken::Field(field) => self.begin(field)?,
            SseToken::Value(field, text) => self.extend(field, text)?,
        }
        Ok(None)
    }

    fn begin(&mut self, field: SseField) -> Result<(), TransportError> {
        match field {
            SseField::Event => self.name.clear(),
            SseField::Id => self.id = Some(Vec::new()),
            SseField::Retry => self.retry.clear(),
            SseField::Data => match &mut self.data {
                Some(data) => data.push(b"\n")?,
                none => *none = Some(BodySpool::new(self.limits)),
            },
            SseField::Other => {}
        }
        Ok(())
    }

    fn extend(&mut self, field: SseField, text: &[u8]) -> Result<(), TransportError> {
        let short = match field {
            SseField::Event => &mut self.name,
            SseField::Id => self.id.get_or_insert_default(),
            SseField::Retry => &mut self.retry,
            SseField::Data => return self.data.as_mut().map_or(Ok(()), |data| data.push(text)),
            SseField::Other => return Ok(()),
        };
        if extend_bounded(short, text) { Ok(()) } else { Err(too_long()) }
    }

    fn finish(&mut self) -> Option<SseEvent> {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let (name, data) = (std::mem::take(&mut self.name), self.data.take());
        let id = self.id.take().filter(|id| !id.contains(&0)).map(text);
        let retry = std::mem::take(&mut self.retry);
        let retry = std::str::from_utf8(&retry).ok().and_then(|retry| retry.parse().ok());
        let has_content = data.is_some() || id.is_some() || retry.is_some();
        let data = data.map_or(ReceivedBody::Memory(Bytes::new()), BodySpool::into_body);
        has_content.then(|| SseEvent { name: text(name), id, data, retry })
    }
}

fn too_long() -> TransportError {
    TransportError::Oversize { limit: tokenizer::SHORT, head: Vec::new() }
}

/// Writes an event, with an id if the stream can be resumed. The data must not contain a raw line
/// break (see `wire::line`).
pub fn event(name: &str, id: Option<&str>, data: OutgoingMessage) -> OutgoingMessage {
    let id = id.map(|id| format!("\nid: {id}")).unwrap_or_default();
    let head = format!("event: {name}{id}\ndata: ");
    match data {
        OutgoingMessage::Small(data) => {
            Bytes::from([head.as_bytes(), &data, b"\n\n"].concat()).into()
        }
        OutgoingMessage::Large(data) => {
            let mut event = ChunkedMessage::default();
            event.push(head.into(), None);
            event.append(data);
            event.push(Bytes::from_static(b"\n\n"), None);
            OutgoingMessage::Large(event)
        }
    }
}

/// Writes the first event of a stream: an id to resume from, and no message.
pub fn priming_event(id: &str, retry_ms: u64) -> Bytes {
    Bytes::from(format!("id: {id}\nretry: {retry_ms}\ndata: \n\n"))
}

/// Writes a comment that keeps the stream alive.
pub fn keep_alive() -> Bytes {
    Bytes::from_static(b": keep-alive\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: BodyLimits = BodyLimits { memory: 1 << 20, total: 4 << 20 };

    fn events(chunks: &[&[u8]]) -> Vec<SseEvent> {
        let mut splitter = SseParser::new(LIMITS);
        let mut found = Vec::new();
        for chunk in chunks {
            splitter.push(chunk).unwrap();
            found.extend(std::iter::from_fn(|| splitter.next_event()));
        }
        found
    }

    fn data(event: &SseEvent) -> &Bytes {
        match &event.data {
            ReceivedBody::Memory(data) => data,
            ReceivedBody::File(_) => panic!("it is small"),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let data_event = event("message", Some("s-1"), Bytes::from_static(b"{\"a\":1}").into());
        let OutgoingMessage::Small(data_event) = data_event else { panic!("it is small") };
        let written = [priming_event("s-0", 500), keep_alive(), data_event].concat();
        for size in 1..written.len() {
            let chunks: Vec<_> = written.chunks(size).collect();
            let found = events(&chunks);
            assert_eq!(found.len(), 2, "in chunks of {size}");
            assert_eq!((found[0].id.as_deref(), found[0].retry), (Some("s-0"), Some(500)));
            assert_eq!(data(&found[1]), "{\"a\":1}");
            assert_eq!(found[1].name, "message");
        }
    }

    #[test]
    fn every_line_end_and_odd_field_is_understood() {
        let found = events(&[b"\xef\xbb\xbfdata:x\r", b"\ndata: y\rid\r\r: note\n\nevent:e\n\n"]);
        assert_eq!(found.len(), 1);
        assert_eq!(data(&found[0]), "x\ny");
        assert_eq!(found[0].id.as_deref(), Some(""));
    }

    #[tokio::test]
    async fn a_long_event_is_taken_as_it_comes() {
        let long = "x".repeat(1_300_000);
        for end in ["\n", "\r", "\r\n"] {
            let written = format!(
                "\u{feff}data: {long}{end}data:{long}y{end}id: 7{end}{end}data: next{end}{end}:{end}"
            );
            for size in [1 << 10, 65_537, 1 << 20, written.len()] {
                let chunks: Vec<_> = written.as_bytes().chunks(size).collect();
                let found = events(&chunks);
                assert_eq!(found.len(), 2, "in chunks of {size}");
                assert!(matches!(found[0].data, ReceivedBody::File(_)));
                let whole = found[0].data.clone().into_bytes().await.unwrap();
                assert_eq!(whole, format!("{long}\n{long}y"), "in chunks of {size}");
                assert_eq!(found[0].id.as_deref(), Some("7"));
                assert_eq!(data(&found[1]), "next");
            }
        }
    }

    #[test]
    fn an_endless_event_is_refused() {
        for line in ["data: ", "event: ", ""] {
            let mut splitter = SseParser::new(BodyLimits { memory: 70_000, total: 100_000 });
            splitter.push(line.as_bytes()).unwrap();
            let refused = splitter.push(&[b'x'; 200_000]);
            assert!(matches!(refused, Err(TransportError::Oversize { .. })), "{line}");
        }
    }
}
