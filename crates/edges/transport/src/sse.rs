//! Parses and writes server-sent events.
//!
//! An event has the fields that MCP uses: name, id, data and retry. HTTP+SSE streams, which are
//! read without holding a whole event, have their own decoder in [`crate::http_sse`].

use bytes::{Bytes, BytesMut};

use crate::TransportError;
use crate::chunked_message::{ChunkedMessage, OutgoingMessage};
use crate::spool::{BodyLimits, BodySpool, ReceivedBody};

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

/// A data line longer than this is consumed before its end arrives.
const LONG: usize = 64 << 10;

/// An incremental parser of server-sent events.
#[derive(Debug)]
pub struct SseParser {
    limits: BodyLimits,
    buffer: BytesMut,
    searched: usize,
    name: String,
    id: Option<String>,
    retry: Option<u64>,
    data: Option<BodySpool>,
    /// Whether the parser is inside a long data line whose beginning it has consumed.
    in_long_line: bool,
    is_past_start: bool,
}

impl SseParser {
    /// Creates a parser that refuses events beyond the limits.
    pub fn new(limits: BodyLimits) -> Self {
        Self {
            limits,
            buffer: BytesMut::new(),
            searched: 0,
            name: String::new(),
            id: None,
            retry: None,
            data: None,
            in_long_line: false,
            is_past_start: false,
        }
    }

    /// Adds bytes of the stream.
    pub fn push(&mut self, chunk: &[u8]) {
        self.buffer.extend_from_slice(chunk);
    }

    /// Returns the next complete event in the bytes added so far.
    ///
    /// An event without data is returned if it has an id or a retry: servers send such an event to
    /// make a stream resumable.
    pub fn next_event(&mut self) -> Result<Option<SseEvent>, TransportError> {
        loop {
            if self.in_long_line {
                if !self.continue_data()? {
                    return Ok(None);
                }
            } else if let Some(line) = self.next_line() {
                if !line.is_empty() {
                    self.parse_field(&line)?;
                } else if let Some(event) = self.dispatch() {
                    return Ok(Some(event));
                }
            } else if self.buffer.len() <= LONG {
                return Ok(None);
            } else if !self.begin_data()? {
                return self.check_line();
            }
        }
    }

    /// Refuses a long line that is not data.
    fn check_line(&self) -> Result<Option<SseEvent>, TransportError> {
        if self.buffer.len() <= self.limits.memory {
            return Ok(None);
        }
        let head = self.buffer[..self.buffer.len().min(4096)].to_vec();
        Err(TransportError::Oversize { limit: self.limits.memory, head })
    }

    /// Consumes the beginning of a long line. Returns false if the line is not data.
    fn begin_data(&mut self) -> Result<bool, TransportError> {
        let bom = if self.is_past_start { 0 } else { bom_len(&self.buffer) };
        let Some(value) = self.buffer[bom..].strip_prefix(b"data:") else { return Ok(false) };
        let taken = self.buffer.len() - value.strip_prefix(b" ").unwrap_or(value).len();
        let _ = self.buffer.split_to(taken);
        (self.is_past_start, self.in_long_line, self.searched) = (true, true, 0);
        self.begin_data_line()?;
        Ok(true)
    }

    /// Consumes more of a long data line. Returns true at the end of the line.
    fn continue_data(&mut self) -> Result<bool, TransportError> {
        let end = memchr::memchr2(b'\n', b'\r', &self.buffer);
        let text = self.buffer.split_to(end.unwrap_or(self.buffer.len()));
        self.data.get_or_insert_with(|| BodySpool::new(self.limits)).push(&text)?;
        drop(text);
        self.searched = 0;
        // The buffer now begins with the line end, which may be incomplete.
        self.in_long_line = end.is_none() || self.next_line().is_none();
        Ok(!self.in_long_line)
    }

    /// Begins a data line.
    fn begin_data_line(&mut self) -> Result<&mut BodySpool, TransportError> {
        let continued = self.data.is_some();
        let data = self.data.get_or_insert_with(|| BodySpool::new(self.limits));
        if continued {
            data.push(b"\n")?;
        }
        Ok(data)
    }

    /// Takes the next line, which ends with LF, CR or CRLF. A CR at the end of the buffer may be
    /// half of a CRLF, so it waits for more bytes.
    fn next_line(&mut self) -> Option<BytesMut> {
        let found = memchr::memchr2(b'\n', b'\r', &self.buffer[self.searched..]);
        let Some(at) = found.map(|at| self.searched + at) else {
            self.searched = self.buffer.len();
            return None;
        };
        let width = match (self.buffer[at], self.buffer.get(at + 1)) {
            (b'\r', None) => {
                self.searched = at;
                return None;
            }
            (b'\r', Some(b'\n')) => 2,
            _ => 1,
        };
        let mut line = self.buffer.split_to(at + width);
        line.truncate(at);
        self.searched = 0;
        if !std::mem::replace(&mut self.is_past_start, true) {
            let _ = line.split_to(bom_len(&line));
        }
        Some(line)
    }

    fn parse_field(&mut self, line: &[u8]) -> Result<(), TransportError> {
        let (name, value) = match memchr::memchr(b':', line) {
            Some(0) => return Ok(()),
            Some(at) => (&line[..at], line[at + 1..].strip_prefix(b" ").unwrap_or(&line[at + 1..])),
            None => (line, &b""[..]),
        };
        match name {
            b"data" => self.begin_data_line()?.push(value)?,
            b"event" => self.name = String::from_utf8_lossy(value).into_owned(),
            b"id" if !value.contains(&0) => {
                self.id = Some(String::from_utf8_lossy(value).into_owned());
            }
            b"retry" => {
                self.retry = std::str::from_utf8(value).ok().and_then(|v| v.parse().ok());
            }
            _ => {}
        }
        Ok(())
    }

    fn dispatch(&mut self) -> Option<SseEvent> {
        let data = self.data.take();
        let has_content = data.is_some() || self.id.is_some() || self.retry.is_some();
        let event = SseEvent {
            name: std::mem::take(&mut self.name),
            id: self.id.take(),
            data: data.map_or(ReceivedBody::Memory(Bytes::new()), BodySpool::into_body),
            retry: self.retry.take(),
        };
        has_content.then_some(event)
    }
}

/// Returns the length of the byte order mark at the beginning of a stream, or 0.
fn bom_len(beginning: &[u8]) -> usize {
    if beginning.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 }
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
            splitter.push(chunk);
            while let Some(event) = splitter.next_event().unwrap() {
                found.push(event);
            }
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
            splitter.push(line.as_bytes());
            splitter.push(&[b'x'; 200_000]);
            assert!(
                matches!(splitter.next_event(), Err(TransportError::Oversize { .. })),
                "{line}"
            );
        }
    }
}
