//! Server-sent events: the reader's splitter and the writer's three shapes.
//!
//! Only what MCP uses is kept of an event: name, id, data and retry. The streams of HTTP+SSE, which
//! are read without ever holding a whole event, have a reader of their own.

use bytes::{Bytes, BytesMut};

use crate::TransportError;
use crate::refill::Refill;
use crate::spool::{Body, BodyLimits, Spool};

/// One event as it came.
#[derive(Debug, Clone)]
pub struct Event {
    /// `event:`, empty for the default.
    pub name: String,
    /// `id:`, if the event had one.
    pub id: Option<String>,
    /// `data:`, lines joined by newlines.
    pub data: Body,
    /// `retry:` in milliseconds, if given.
    pub retry: Option<u64>,
}

/// From here on a line of data is taken before it has ended.
const LONG: usize = 64 << 10;

/// Cuts a byte stream into events.
#[derive(Debug)]
pub struct Splitter {
    limits: BodyLimits,
    buffer: BytesMut,
    searched: usize,
    name: String,
    id: Option<String>,
    retry: Option<u64>,
    data: Option<Spool>,
    /// Amid a line of data whose beginning was taken.
    amid: bool,
    begun: bool,
}

impl Splitter {
    /// A splitter that refuses larger events.
    pub fn new(limits: BodyLimits) -> Self {
        Self {
            limits,
            buffer: BytesMut::new(),
            searched: 0,
            name: String::new(),
            id: None,
            retry: None,
            data: None,
            amid: false,
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
        loop {
            if self.amid {
                if !self.rest_of_data()? {
                    return Ok(None);
                }
            } else if let Some(line) = self.next_line() {
                if !line.is_empty() {
                    self.field(&line)?;
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

    /// A line that is no data is short.
    fn check_line(&self) -> Result<Option<Event>, TransportError> {
        if self.buffer.len() <= self.limits.memory {
            return Ok(None);
        }
        let head = self.buffer[..self.buffer.len().min(4096)].to_vec();
        Err(TransportError::Oversize { limit: self.limits.memory, head })
    }

    /// Takes the beginning of a long line, if it is data.
    fn begin_data(&mut self) -> Result<bool, TransportError> {
        let bom = if self.begun { 0 } else { mark_len(&self.buffer) };
        let Some(value) = self.buffer[bom..].strip_prefix(b"data:") else { return Ok(false) };
        let taken = self.buffer.len() - value.strip_prefix(b" ").unwrap_or(value).len();
        let _ = self.buffer.split_to(taken);
        (self.begun, self.amid, self.searched) = (true, true, 0);
        self.data_line()?;
        Ok(true)
    }

    /// Takes more of a long line of data; `true` if all of it came.
    fn rest_of_data(&mut self) -> Result<bool, TransportError> {
        let end = memchr::memchr2(b'\n', b'\r', &self.buffer);
        let text = self.buffer.split_to(end.unwrap_or(self.buffer.len()));
        self.data.get_or_insert_with(|| Spool::new(self.limits)).push(&text)?;
        drop(text);
        self.searched = 0;
        // What is left begins with the line's end, if that is whole.
        self.amid = end.is_none() || self.next_line().is_none();
        Ok(!self.amid)
    }

    /// A line of data begins.
    fn data_line(&mut self) -> Result<&mut Spool, TransportError> {
        let continued = self.data.is_some();
        let data = self.data.get_or_insert_with(|| Spool::new(self.limits));
        if continued {
            data.push(b"\n")?;
        }
        Ok(data)
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
        if !std::mem::replace(&mut self.begun, true) {
            let _ = line.split_to(mark_len(&line));
        }
        Some(line)
    }

    fn field(&mut self, line: &[u8]) -> Result<(), TransportError> {
        let (name, value) = match memchr::memchr(b':', line) {
            Some(0) => return Ok(()),
            Some(at) => (&line[..at], line[at + 1..].strip_prefix(b" ").unwrap_or(&line[at + 1..])),
            None => (line, &b""[..]),
        };
        match name {
            b"data" => self.data_line()?.push(value)?,
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

    fn dispatch(&mut self) -> Option<Event> {
        let data = self.data.take();
        let said = data.is_some() || self.id.is_some() || self.retry.is_some();
        let event = Event {
            name: std::mem::take(&mut self.name),
            id: self.id.take(),
            data: data.map_or(Body::Memory(Bytes::new()), Spool::body),
            retry: self.retry.take(),
        };
        said.then_some(event)
    }
}

/// How long the byte order mark is that a stream may begin with.
fn mark_len(beginning: &[u8]) -> usize {
    if beginning.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 }
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

/// The same for a large message; it must not hold a raw line break either.
pub fn message_large(id: &str, data: Refill) -> Refill {
    around(format!("event: message\nid: {id}\ndata: "), data)
}

/// The same as [`named`] for large data.
pub fn named_large(name: &str, data: Refill) -> Refill {
    around(format!("event: {name}\ndata: "), data)
}

fn around(head: String, data: Refill) -> Refill {
    let mut event = Refill::default();
    event.push(head.into(), None);
    event.append(data);
    event.push(Bytes::from_static(b"\n\n"), None);
    event
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

    const LIMITS: BodyLimits = BodyLimits { memory: 1 << 20, total: 4 << 20 };

    fn events(chunks: &[&[u8]]) -> Vec<Event> {
        let mut splitter = Splitter::new(LIMITS);
        let mut found = Vec::new();
        for chunk in chunks {
            splitter.push(chunk);
            while let Some(event) = splitter.take().unwrap() {
                found.push(event);
            }
        }
        found
    }

    fn data(event: &Event) -> &Bytes {
        match &event.data {
            Body::Memory(data) => data,
            Body::File(_) => panic!("it is small"),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let written = [primer("s-0", 500), keep_alive(), message("s-1", b"{\"a\":1}")].concat();
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
                assert!(matches!(found[0].data, Body::File(_)));
                let whole = found[0].data.clone().whole().await.unwrap();
                assert_eq!(whole, format!("{long}\n{long}y"), "in chunks of {size}");
                assert_eq!(found[0].id.as_deref(), Some("7"));
                assert_eq!(data(&found[1]), "next");
            }
        }
    }

    #[test]
    fn an_endless_event_is_refused() {
        for line in ["data: ", "event: ", ""] {
            let mut splitter = Splitter::new(BodyLimits { memory: 70_000, total: 100_000 });
            splitter.push(line.as_bytes());
            splitter.push(&[b'x'; 200_000]);
            assert!(matches!(splitter.take(), Err(TransportError::Oversize { .. })), "{line}");
        }
    }
}
