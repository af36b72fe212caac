//! Server-sent events: the reader's splitter and the writer's three shapes.
//!
//! Only what MCP uses is kept of an event: name, id, data and retry. The streams of HTTP+SSE, which
//! are read without ever holding a whole event, have a reader of their own.

use bytes::{Bytes, BytesMut};

use crate::TransportError;

/// One event as it came.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    /// `event:`, empty for the default.
    pub name: String,
    /// `id:`, if the event had one.
    pub id: Option<String>,
    /// `data:`, lines joined by newlines.
    pub data: Bytes,
    /// `retry:` in milliseconds, if given.
    pub retry: Option<u64>,
}

/// Cuts a byte stream into events.
#[derive(Debug)]
pub struct Splitter {
    buffer: BytesMut,
    searched: usize,
    event: Event,
    data: BytesMut,
    has_data: bool,
    limit: usize,
    begun: bool,
}

impl Splitter {
    /// A splitter that refuses an event of more than `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            searched: 0,
            event: Event::default(),
            data: BytesMut::new(),
            has_data: false,
            limit,
            begun: false,
        }
    }

    /// Adds bytes of the stream.
    pub fn push(&mut self, chunk: &[u8]) {
        self.buffer.extend_from_slice(chunk);
    }

    /// The next whole event among the bytes added so far.
    ///
    /// An event without data is still reported when it carries an id or a retry: that is how a
    /// stream is primed for resumption.
    pub fn take(&mut self) -> Result<Option<Event>, TransportError> {
        while let Some(line) = self.next_line() {
            if !line.is_empty() {
                self.field(&line);
            } else if let Some(event) = self.dispatch() {
                return Ok(Some(event));
            }
            self.check_size()?;
        }
        self.check_size()?;
        Ok(None)
    }

    fn check_size(&self) -> Result<(), TransportError> {
        if self.data.len() + self.buffer.len() <= self.limit {
            return Ok(());
        }
        let head = if self.has_data { &self.data } else { &self.buffer };
        let head = head[..head.len().min(4096)].to_vec();
        Err(TransportError::Oversize { limit: self.limit, head })
    }

    /// A line ends with LF, CR or CRLF; a CR at the very end may be half of a CRLF.
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
        if !std::mem::replace(&mut self.begun, true) && line.starts_with(b"\xef\xbb\xbf") {
            let _ = line.split_to(3);
        }
        Some(line)
    }

    fn field(&mut self, line: &[u8]) {
        let (name, value) = match memchr::memchr(b':', line) {
            Some(0) => return,
            Some(at) => (&line[..at], line[at + 1..].strip_prefix(b" ").unwrap_or(&line[at + 1..])),
            None => (line, &b""[..]),
        };
        match name {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.extend_from_slice(b"\n");
                }
                self.data.extend_from_slice(value);
            }
            b"event" => self.event.name = String::from_utf8_lossy(value).into_owned(),
            b"id" if !value.contains(&0) => {
                self.event.id = Some(String::from_utf8_lossy(value).into_owned());
            }
            b"retry" => {
                self.event.retry = std::str::from_utf8(value).ok().and_then(|v| v.parse().ok());
            }
            _ => {}
        }
    }

    fn dispatch(&mut self) -> Option<Event> {
        let mut event = std::mem::take(&mut self.event);
        let has_data = std::mem::take(&mut self.has_data);
        event.data = self.data.split().freeze();
        (has_data || event.id.is_some() || event.retry.is_some()).then_some(event)
    }
}

/// One message as an event. The message must not hold a raw line break (see `wire::line`).
pub fn message(id: &str, data: &[u8]) -> Bytes {
    let mut event = BytesMut::with_capacity(data.len() + id.len() + 32);
    event.extend_from_slice(b"event: message\nid: ");
    event.extend_from_slice(id.as_bytes());
    event.extend_from_slice(b"\ndata: ");
    event.extend_from_slice(data);
    event.extend_from_slice(b"\n\n");
    event.freeze()
}

/// An event of HTTP+SSE: a name, and data without a raw line break.
pub fn named(name: &str, data: &[u8]) -> Bytes {
    let mut event = BytesMut::with_capacity(data.len() + name.len() + 16);
    for part in [b"event: ", name.as_bytes(), b"\ndata: ", data, b"\n\n"] {
        event.extend_from_slice(part);
    }
    event.freeze()
}

/// The event that opens a stream: an id to resume from and nothing to read.
pub fn primer(id: &str, retry_ms: u64) -> Bytes {
    Bytes::from(format!("id: {id}\nretry: {retry_ms}\ndata: \n\n"))
}

/// A line that only shows the stream is alive.
pub fn keep_alive() -> Bytes {
    Bytes::from_static(b": keep-alive\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(chunks: &[&[u8]]) -> Vec<Event> {
        let mut splitter = Splitter::new(1 << 20);
        let mut found = Vec::new();
        for chunk in chunks {
            splitter.push(chunk);
            while let Some(event) = splitter.take().unwrap() {
                found.push(event);
            }
        }
        found
    }

    #[test]
    fn what_is_written_is_read() {
        let written = [primer("s-0", 500), keep_alive(), message("s-1", b"{\"a\":1}")].concat();
        for size in 1..written.len() {
            let chunks: Vec<_> = written.chunks(size).collect();
            let found = events(&chunks);
            assert_eq!(found.len(), 2, "in chunks of {size}");
            assert_eq!((found[0].id.as_deref(), found[0].retry), (Some("s-0"), Some(500)));
            assert_eq!(found[1].data, "{\"a\":1}");
            assert_eq!(found[1].name, "message");
        }
    }

    #[test]
    fn every_line_end_and_odd_field_is_understood() {
        let found = events(&[b"\xef\xbb\xbfdata:x\r", b"\ndata: y\rid\r\r: note\n\nevent:e\n\n"]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].data, "x\ny");
        assert_eq!(found[0].id.as_deref(), Some(""));
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut splitter = Splitter::new(100);
        splitter.push(b"data: ");
        splitter.push(&[b'x'; 200]);
        assert!(matches!(splitter.take(), Err(TransportError::Oversize { .. })));
    }
}
