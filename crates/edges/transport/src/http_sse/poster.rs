//! Sends messages: one POST per message, in order.
//!
//! Each message waits until the server has accepted the one before it, but only for a short time.
//! Some servers answer a POST only when the call is done. If such a server asks a question during
//! the call, the answer must still get through.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Method, StatusCode};
use tokio::io::DuplexStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::{FailureResponder, REPORTS};
use crate::TransportError;
use crate::http::HttpEndpoint;
use crate::line::LineReader;
use crate::spool::BodyLimits;

/// How long a post delays the next one.
const IN_ORDER: Duration = Duration::from_secs(2);
/// The maximum number of concurrent posts.
const UNDER_WAY: usize = 64;
/// The time limit for one post.
const PATIENCE: Duration = Duration::from_secs(600);
/// How much of the response to a post is read, so that its connection can be reused.
const IGNORED: BodyLimits = BodyLimits { memory: 64 << 10, total: 64 << 10 };

/// The failure of a post, reported to the receiving side.
pub(super) enum PostFailureReport {
    /// A line that replaces an answer that will not come.
    FailureResponse(BytesMut),
    /// The server no longer knows the session.
    SessionEnded(String),
}

/// The sender of messages to the URL for posting.
pub(super) struct MessagePoster {
    endpoint: HttpEndpoint,
    headers: HeaderMap,
    failure_responder: FailureResponder,
}

impl MessagePoster {
    pub(super) fn new(endpoint: HttpEndpoint, failure_responder: FailureResponder) -> Self {
        let json =
            HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        let headers = endpoint.headers(json);
        Self { endpoint, headers, failure_responder }
    }

    /// Posts every line of `input` until it ends.
    pub(super) fn start(
        self,
        input: DuplexStream,
    ) -> (impl Future<Output = ()>, mpsc::Receiver<PostFailureReport>) {
        let (reports, receiver) = mpsc::channel(REPORTS);
        (Arc::new(self).run(input, reports), receiver)
    }

    async fn run(self: Arc<Self>, input: DuplexStream, reports: mpsc::Sender<PostFailureReport>) {
        let mut lines = LineReader::new(input, BodyLimits::INTERNAL);
        let mut slow = JoinSet::new();
        loop {
            let line = match lines.next().await {
                Ok(Some(line)) => line,
                // Callers do not admit messages above this limit.
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

    /// Posts one message and reports a failure.
    async fn deliver(self: Arc<Self>, message: Bytes, reports: mpsc::Sender<PostFailureReport>) {
        let posted = timeout(PATIENCE, self.post(&message)).await;
        let report = posted.unwrap_or_else(|_| {
            self.failure_report(&message, "server did not accept the message in time")
        });
        if let Some(report) = report {
            // Without a receiver the connection has ended, and its user sees that.
            let _ = reports.send(report).await;
        }
    }

    fn failure_report(&self, message: &[u8], reason: &str) -> Option<PostFailureReport> {
        let answer = (self.failure_responder)(message, reason)?;
        let mut line = BytesMut::from(&answer[..]);
        line.extend_from_slice(b"\n");
        Some(PostFailureReport::FailureResponse(line))
    }

    /// Posts one message. Returns the failure to report, if there is one.
    async fn post(&self, message: &Bytes) -> Option<PostFailureReport> {
        let (headers, body) = (self.headers.clone(), message.clone());
        let reply = match self.endpoint.send(Method::POST, headers, body).await {
            Ok(reply) => reply,
            Err(error) => return self.failure_report(message, &error.to_string()),
        };
        let status = reply.status;
        // The answer comes on the event stream; this body is only read to free the connection.
        let _ = timeout(IN_ORDER, reply.read_bytes(IGNORED)).await;
        match status {
            _ if status.is_success() => None,
            StatusCode::NOT_FOUND | StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                let code = status.as_u16();
                let reason = format!("server no longer accepts messages (HTTP {code})");
                Some(PostFailureReport::SessionEnded(reason))
            }
            _ => {
                let code = status.as_u16();
                let reason = format!("server did not accept the message (HTTP {code})");
                self.failure_report(message, &reason)
            }
        }
    }
}
