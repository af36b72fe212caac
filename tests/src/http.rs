//! A plain HTTP/1.1 client that sends exactly the bytes it is given.
//!
//! A library would repair what these tests want broken: a missing Host, a foreign authority in the
//! request line, a header that never ends. One request per connection, no redirects, no TLS.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::broken;

/// No answer takes longer than this; a test that waits for more is stuck.
const PATIENCE: Duration = Duration::from_secs(60);

/// An address split as HTTP needs it.
#[derive(Clone, Debug)]
pub struct EndpointUrl {
    /// `host:port`.
    pub authority: String,
    /// The path with its leading slash.
    pub path: String,
}

impl EndpointUrl {
    /// Reads an `http://host:port/path` address.
    pub fn parse(url: &str) -> io::Result<Self> {
        let rest = url.strip_prefix("http://").ok_or_else(|| broken(format!("no http: {url}")))?;
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let path = if path.is_empty() { "/" } else { path };
        Ok(Self { authority: authority.to_owned(), path: path.to_owned() })
    }

    /// Opens a connection.
    pub fn connect(&self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(&self.authority)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    /// Sends these bytes on a fresh connection and reads the head of the answer.
    pub fn exchange(&self, request: &[u8]) -> io::Result<RawHttpResponse> {
        let mut stream = self.connect()?;
        stream.write_all(request)?;
        RawHttpResponse::read(stream)
    }

    /// A request with a proper Host, our headers, and a body.
    pub fn send(
        &self,
        method: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<RawHttpResponse> {
        let last: Vec<_> = headers.iter().copied().chain([("Connection", "close")]).collect();
        self.exchange(&self.framed(method, &last, body))
    }

    /// The bytes of such a request.
    pub fn framed(&self, method: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
        let length = body.len().to_string();
        let always = [("Host", self.authority.as_str()), ("Content-Length", &length)];
        let all: Vec<_> = always.iter().chain(headers).copied().collect();
        request(method, &self.path, &all, body)
    }
}

/// A connection that is used again and again, one request at a time.
pub struct KeepAliveConnection {
    endpoint: EndpointUrl,
    stream: TcpStream,
}

impl KeepAliveConnection {
    /// Opens it.
    pub fn open(endpoint: &EndpointUrl) -> io::Result<Self> {
        Ok(Self { stream: endpoint.connect()?, endpoint: endpoint.clone() })
    }

    /// Sends a request. The answer's body must be read to its end before the next one.
    pub fn send(
        &mut self,
        method: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<RawHttpResponse> {
        self.stream.write_all(&self.endpoint.framed(method, headers, body))?;
        RawHttpResponse::read(self.stream.try_clone()?)
    }
}

/// A request's bytes, exactly as asked for.
pub fn request(method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("{method} {target} HTTP/1.1\r\n").into_bytes();
    for (name, value) in headers {
        bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(body);
    bytes
}

/// The head of an answer, and its body still to be read.
pub struct RawHttpResponse {
    /// The status code.
    pub status: u16,
    headers: Vec<(String, String)>,
    body: RawBodyReader,
}

impl RawHttpResponse {
    /// Reads a head from a connection.
    pub fn read(stream: TcpStream) -> io::Result<Self> {
        let mut reader = BufReader::new(stream);
        let start = line(&mut reader)?;
        let status = start.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.ok_or_else(|| broken(format!("no status line: {start:?}")))?;
        let mut headers = Vec::new();
        loop {
            let text = line(&mut reader)?;
            let Some((name, value)) = text.split_once(':') else {
                break;
            };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let body = RawBodyReader { reader, framing: framing(&headers) };
        Ok(Self { status, headers, body })
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Whether the body is an event stream.
    pub fn streams(&self) -> bool {
        self.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"))
    }

    /// The whole body.
    pub fn bytes(mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.body.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The whole body as text.
    pub fn text(self) -> io::Result<String> {
        String::from_utf8(self.bytes()?).map_err(|_| broken("the body is no UTF-8"))
    }

    /// The body's events, as they come.
    pub fn events(self) -> StreamEvents {
        StreamEvents { lines: BufReader::new(self.body) }
    }
}

/// One event of an event stream.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct StreamEvent {
    /// Its id.
    pub id: Option<String>,
    /// Its data; lines are joined as the format says.
    pub data: String,
}

/// The events of a body.
pub struct StreamEvents {
    lines: BufReader<RawBodyReader>,
}

impl Iterator for StreamEvents {
    type Item = io::Result<StreamEvent>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut event = StreamEvent::default();
        let mut data: Option<String> = None;
        loop {
            let mut text = String::new();
            match self.lines.read_line(&mut text) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) => return Some(Err(error)),
            }
            let text = text.trim_end_matches(['\r', '\n']);
            let (field, value) = text.split_once(':').unwrap_or((text, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "" if text.is_empty() && (data.is_some() || event.id.is_some()) => {
                    event.data = data.unwrap_or_default();
                    return Some(Ok(event));
                }
                "id" => event.id = Some(value.to_owned()),
                "data" => match &mut data {
                    Some(data) => *data = format!("{data}\n{value}"),
                    None => data = Some(value.to_owned()),
                },
                _ => {}
            }
        }
    }
}

enum BodyFraming {
    Length(u64),
    /// Bytes left in the present chunk.
    Chunked(u64),
    /// The final chunk has been read.
    Done,
    UntilClosed,
}

struct RawBodyReader {
    reader: BufReader<TcpStream>,
    framing: BodyFraming,
}

impl Read for RawBodyReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let limit = match self.framing {
            BodyFraming::Done => 0,
            BodyFraming::UntilClosed => return self.reader.read(buffer),
            BodyFraming::Length(left) => left,
            BodyFraming::Chunked(0) => self.next_chunk()?,
            BodyFraming::Chunked(left) => left,
        };
        let read = (&mut self.reader).take(limit).read(buffer)?;
        if read == 0 && limit > 0 && !buffer.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.consumed(read as u64)?;
        Ok(read)
    }
}

impl RawBodyReader {
    fn next_chunk(&mut self) -> io::Result<u64> {
        let size = line(&mut self.reader)?;
        let size = u64::from_str_radix(size.trim(), 16).map_err(|_| broken("no chunk size"))?;
        self.framing = if size == 0 { BodyFraming::Done } else { BodyFraming::Chunked(size) };
        Ok(size)
    }

    fn consumed(&mut self, read: u64) -> io::Result<()> {
        match &mut self.framing {
            BodyFraming::Length(left) => *left -= read,
            BodyFraming::Chunked(left) => {
                *left -= read;
                if *left == 0 {
                    line(&mut self.reader)?;
                }
            }
            BodyFraming::Done | BodyFraming::UntilClosed => {}
        }
        Ok(())
    }
}

fn framing(headers: &[(String, String)]) -> BodyFraming {
    let value = |wanted: &str| {
        headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
    };
    match (value("transfer-encoding"), value("content-length").and_then(|v| v.parse().ok())) {
        (Some(_), _) => BodyFraming::Chunked(0),
        (None, Some(length)) => BodyFraming::Length(length),
        (None, None) => BodyFraming::UntilClosed,
    }
}

fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut bytes = Vec::new();
    if reader.read_until(b'\n', &mut bytes)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(String::from_utf8_lossy(&bytes).trim_end_matches(['\r', '\n']).to_owned())
}
