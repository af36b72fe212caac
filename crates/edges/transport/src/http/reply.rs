//! The answer to one request, and its body as bytes or as events.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap};
use http::{Response, StatusCode};
use http_body::Body as _;
use http_body_util::BodyExt;
use hyper::body::Incoming;

use super::dial::Sender;
use super::pool::Pool;
use crate::TransportError;
use crate::spool::{Body, BodyLimits, Spool};
use crate::sse::{Event, Splitter};

/// The head of an answer, with its body still to be read.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    body: PooledBody,
}

/// A body that gives its connection back when it was read to its end.
#[derive(Debug)]
struct PooledBody {
    incoming: Incoming,
    home: Option<(Sender, Arc<Pool>)>,
    keep_alive: Option<Duration>,
}

impl Reply {
    pub(super) fn new(response: Response<Incoming>, sender: Sender, pool: Arc<Pool>) -> Self {
        let (head, incoming) = response.into_parts();
        let keep_alive = keep_alive(&head.headers);
        let body = PooledBody { incoming, home: Some((sender, pool)), keep_alive };
        Self { status: head.status, headers: head.headers, body }
    }

    /// Whether the body is a stream of events.
    pub fn is_event_stream(&self) -> bool {
        let kind = self.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        kind.is_some_and(|kind| {
            let essence = kind.split(';').next().unwrap_or_default().trim();
            essence.eq_ignore_ascii_case("text/event-stream")
        })
    }

    /// The next bytes of the body, or `None` at its end. Cancel-safe.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, TransportError> {
        self.body.next().await
    }

    /// The whole body in memory.
    pub async fn bytes(self, limits: BodyLimits) -> Result<Bytes, TransportError> {
        self.body(limits).await?.whole().await
    }

    /// The whole body, a large one in a file.
    pub async fn body(mut self, limits: BodyLimits) -> Result<Body, TransportError> {
        let announced = self.body.incoming.size_hint().exact();
        let Some(first) = self.body.next().await? else { return Ok(Body::Memory(Bytes::new())) };
        if announced == Some(first.len() as u64) && first.len() <= limits.memory {
            self.body.next().await?;
            return Ok(Body::Memory(first));
        }
        let mut spool = Spool::expecting(announced.unwrap_or(0), limits);
        spool.push(&first)?;
        while let Some(chunk) = self.body.next().await? {
            spool.push(&chunk)?;
        }
        Ok(spool.body())
    }

    /// The body as events.
    pub fn into_events(self, limits: BodyLimits) -> EventStream {
        EventStream { body: self.body, splitter: Splitter::new(limits), ready: VecDeque::new() }
    }
}

impl PooledBody {
    async fn next(&mut self) -> Result<Option<Bytes>, TransportError> {
        while let Some(frame) = self.incoming.frame().await {
            if let Ok(data) = frame?.into_data() {
                return Ok(Some(data));
            }
        }
        if let Some((sender, pool)) = self.home.take() {
            pool.put(sender, self.keep_alive);
        }
        Ok(None)
    }
}

/// How long the server says it keeps the connection, less a second for the way.
fn keep_alive(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get("keep-alive")?.to_str().ok()?;
    let timeout = value.split(',').find_map(|part| part.trim().strip_prefix("timeout="))?;
    let seconds: u64 = timeout.trim().parse().ok()?;
    Some(Duration::from_secs(seconds.saturating_sub(1)))
}

/// A body read event by event.
#[derive(Debug)]
pub struct EventStream {
    body: PooledBody,
    splitter: Splitter,
    ready: VecDeque<Event>,
}

impl EventStream {
    /// The next event, or `None` when the stream has ended. Cancel-safe.
    pub async fn next(&mut self) -> Result<Option<Event>, TransportError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            let Some(chunk) = self.body.next().await? else { return Ok(None) };
            self.splitter.push(&chunk);
            while let Some(event) = self.splitter.take()? {
                self.ready.push_back(event);
            }
        }
    }
}
