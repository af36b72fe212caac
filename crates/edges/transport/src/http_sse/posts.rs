//! The way out: one POST per message, in order.
//!
//! A message is posted when the one before it was taken. A server that takes its time to say so
//! holds up the next ones for a moment only: one that answers a POST when the call is done would
//! otherwise never get the answer to its own question.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Method, StatusCode};
use tokio::io::DuplexStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::{REPORTS, StandIn};
use crate::TransportError;
use crate::http::{Endpoint, Outgoing};
use crate::line::LineReader;
use crate::spool::BodyLimits;

/// How long a post holds up the next.
const IN_ORDER: Duration = Duration::from_secs(2);
/// How many posts may be under way at once.
const UNDER_WAY: usize = 64;
/// How long a post may take at all.
const PATIENCE: Duration = Duration::from_secs(600);
/// How much of the answer to a post is read, so that its connection can be used again.
const IGNORED: BodyLimits = BodyLimits { memory: 64 << 10, total: 64 << 10 };

/// What a post has to say to the way in.
pub(super) enum Report {
    /// A line that stands in for an answer that will not come.
    StandIn(BytesMut),
    /// The server does not know us any more.
    Over(String),
}

/// Where messages are posted.
pub(super) struct Posts {
    endpoint: Endpoint,
    headers: HeaderMap,
    stand_in: StandIn,
}

/// Why a message was not taken.
enum Refused {
    /// This message.
    This(String),
    /// And every other one.
    All(String),
}

impl Posts {
    pub(super) fn new(endpoint: Endpoint, stand_in: StandIn) -> Self {
        let json =
            HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        let headers = endpoint.headers(json);
        Self { endpoint, headers, stand_in }
    }

    /// Posts every line of `input`, until it ends.
    pub(super) fn all(
        self,
        input: DuplexStream,
    ) -> (impl Future<Output = ()>, mpsc::Receiver<Report>) {
        let (reports, receiver) = mpsc::channel(REPORTS);
        (Arc::new(self).run(input, reports), receiver)
    }

    async fn run(self: Arc<Self>, input: DuplexStream, reports: mpsc::Sender<Report>) {
        let mut lines = LineReader::new(input, BodyLimits::INTERNAL);
        let mut slow = JoinSet::new();
        loop {
            let line = match lines.next().await {
                Ok(Some(line)) => line,
                // What is too large to be sent was let in by nobody.
                Err(TransportError::Oversize { .. }) => continue,
                Ok(None) | Err(_) => return,
            };
            let mut post = Box::pin(self.clone().deliver(line, reports.clone()));
            if timeout(IN_ORDER, &mut post).await.is_err() {
                slow.spawn(post);
            }
            while slow.try_join_next().is_some() {}
            while slow.len() >= UNDER_WAY {
                slow.join_next().await;
            }
        }
    }

    /// Posts one message, and reports if that was in vain.
    async fn deliver(self: Arc<Self>, message: Bytes, reports: mpsc::Sender<Report>) {
        let posted = timeout(PATIENCE, self.post(message.clone())).await;
        let report = match posted {
            Ok(Ok(())) => return,
            Ok(Err(Refused::All(reason))) => Some(Report::Over(reason)),
            Ok(Err(Refused::This(reason))) => self.stand_in(&message, &reason),
            Err(_) => self.stand_in(&message, "the server did not take it in time"),
        };
        if let Some(report) = report {
            // Without a receiver the carrier is over, and everybody hears that.
            let _ = reports.send(report).await;
        }
    }

    fn stand_in(&self, message: &[u8], reason: &str) -> Option<Report> {
        let answer = (self.stand_in)(message, reason)?;
        let mut line = BytesMut::from(&answer[..]);
        line.extend_from_slice(b"\n");
        Some(Report::StandIn(line))
    }

    async fn post(&self, body: Bytes) -> Result<(), Refused> {
        let outgoing = Outgoing { method: Method::POST, headers: self.headers.clone(), body };
        let failed = |error: TransportError| Refused::This(format!("failed to {error}"));
        let reply = self.endpoint.send(outgoing).await.map_err(failed)?;
        let status = reply.status;
        // Whatever it says besides, the answer comes on the stream.
        let _ = timeout(IN_ORDER, reply.bytes(IGNORED)).await;
        match status {
            _ if status.is_success() => Ok(()),
            StatusCode::NOT_FOUND | StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Err(Refused::All(format!("it no longer takes messages (HTTP {})", status.as_u16())))
            }
            _ => {
                Err(Refused::This(format!("the server did not take it (HTTP {})", status.as_u16())))
            }
        }
    }
}
