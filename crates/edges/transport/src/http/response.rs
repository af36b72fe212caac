//! The response to one request, with its body as bytes or as events.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap};
use http::{Response, StatusCode};
use http_body::Body as _;
use http_body_util::BodyExt;
use hyper::body::Incoming;

use super::dial::HttpSender;
use super::pool::ConnectionPool;
use crate::TransportError;
use crate::spool::{BodyLimits, BodySpool, ReceivedBody};
use crate::sse::{SseEvent, SseParser};

/// The head of a response, with its body still to be read.
#[derive(Debug)]
pub struct HttpResponse {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    body: PooledBody,
}

/// A body that returns its connection to the pool once it is read to the end.
#[derive(Debug)]
struct PooledBody {
    incoming: Incoming,
    connection: Option<(HttpSender, Arc<ConnectionPool>)>,
    keep_alive: Option<Duration>,
}

impl HttpResponse {
    pub(super) fn new(
        response: Response<Incoming>,
        sender: HttpSender,
        pool: Arc<ConnectionPool>,
    ) -> Self {
        let (head, incoming) = response.into_parts();
        let keep_alive = parse_keep_alive(&head.headers);
        let body = PooledBody { incoming, connection: Some((sender, pool)), keep_alive };
        Self { status: head.status, headers: head.headers, body }
    }

    /// Returns true if the body is an event stream.
    pub fn is_event_stream(&self) -> bool {
        let kind = self.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        kind.is_some_and(|kind| {
            let essence = kind.split(';').next().unwrap_or_default().trim();
            essence.eq_ignore_ascii_case("text/event-stream")
        })
    }

    /// Returns the next bytes of the body, or `None` at its end. Cancel-safe.
    pub async fn next_chunk(&mut self) -> Result<Option<Bytes>, TransportError> {
        self.body.next().await
    }

    /// Reads the whole body into memory.
    pub async fn read_bytes(self, limits: BodyLimits) -> Result<Bytes, TransportError> {
        self.read_body(limits).await?.into_bytes().await
    }

    /// Reads the whole body. A large one goes into a file.
    pub async fn read_body(mut self, limits: BodyLimits) -> Result<ReceivedBody, TransportError> {
        let announced = self.body.incoming.size_hint().exact();
        let Some(first) = self.body.next().await? else {
            return Ok(ReceivedBody::Memory(Bytes::new()));
        };
        if announced == Some(first.len() as u64) && first.len() <= limits.memory {
            self.body.next().await?;
            return Ok(ReceivedBody::Memory(first));
        }
        let mut spool = BodySpool::with_expected_length(announced.unwrap_or(0), limits);
        spool.push(&first)?;
        while let Some(chunk) = self.body.next().await? {
            spool.push(&chunk)?;
        }
        Ok(spool.into_body())
    }

    /// Returns the body as a stream of events.
    pub fn into_events(self, limits: BodyLimits) -> EventStream {
        EventStream { body: self.body, parser: SseParser::new(limits) }
    }
}

impl PooledBody {
    async fn next(&mut self) -> Result<Option<Bytes>, TransportError> {
        while let Some(frame) = self.incoming.frame().await {
            if let Ok(data) = frame?.into_data() {
                return Ok(Some(data));
            }
        }
        if let Some((sender, pool)) = self.connection.take() {
            pool.put(sender, self.keep_alive);
        }
        Ok(None)
    }
}

/// Returns the server's `Keep-Alive` timeout, minus one second for network delay.
fn parse_keep_alive(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get("keep-alive")?.to_str().ok()?;
    let timeout = value.split(',').find_map(|part| part.trim().strip_prefix("timeout="))?;
    let seconds: u64 = timeout.trim().parse().ok()?;
    Some(Duration::from_secs(seconds.saturating_sub(1)))
}

/// A body that is read event by event.
#[derive(Debug)]
pub struct EventStream {
    body: PooledBody,
    parser: SseParser,
}

impl EventStream {
    /// Returns the next event, or `None` at the end of the stream. Cancel-safe.
    pub async fn next(&mut self) -> Result<Option<SseEvent>, TransportError> {
        loop {
            if let Some(event) = self.parser.next_event() {
                return Ok(Some(event));
            }
            let Some(chunk) = self.body.next().await? else { return Ok(None) };
            self.parser.push(&chunk)?;
        }
    }
}
