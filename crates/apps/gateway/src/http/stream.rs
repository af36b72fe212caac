//! An event stream as a response body: its first bytes, its events, its keep-alives and its end.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, Sleep, sleep_until};
use toolgate_transport::chunked_message::OutgoingMessage;
use toolgate_transport::sse;
use toolgate_wire::Revision;

use super::clock::{HttpConnectionPhase, HttpConnectionState};
use crate::Options;
use crate::peer_quota::PeerQuotaGuard;

/// A source of events for a stream.
pub(crate) trait EventSource: Send {
    /// Returns the next encoded event, or `None` at the end.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<OutgoingMessage>>;

    /// Returns the id for resuming the stream here, or `None` if it cannot be resumed.
    fn position(&self) -> Option<String> {
        None
    }
}

/// When a stream sends something although no event occurs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeepAliveTiming {
    keep_alive: Duration,
    /// After this silence the stream is closed, and the client resumes it.
    poll_after: Option<Duration>,
    /// The retry interval in the priming event, for clients that support it.
    retry: Option<Duration>,
}

impl KeepAliveTiming {
    /// Returns the timing of a stream that carries a request's answer.
    pub(crate) fn for_request(options: &Options, revision: Revision) -> Self {
        let polled = revision.has_sse_polling();
        Self {
            poll_after: options.poll_after.filter(|_| polled),
            ..Self::for_standalone(options, revision)
        }
    }

    /// Returns the timing of a stream that cannot be resumed.
    pub(crate) fn without_resume(options: &Options) -> Self {
        Self { keep_alive: options.keep_alive, poll_after: None, retry: None }
    }

    /// Returns the timing of a stream that stays open for as long as the client wants.
    pub(crate) fn for_standalone(options: &Options, revision: Revision) -> Self {
        let polled = revision.has_sse_polling();
        Self {
            keep_alive: options.keep_alive,
            poll_after: None,
            retry: polled.then_some(options.retry),
        }
    }
}

/// The body of an event stream.
pub(crate) struct EventStreamBody {
    source: Box<dyn EventSource>,
    /// The event that is being sent.
    sending: OutgoingMessage,
    timing: KeepAliveTiming,
    preamble: Option<Bytes>,
    last_event: Instant,
    /// Fires when a keep-alive or the end of the stream is due.
    timer: Pin<Box<Sleep>>,
    connection: Arc<HttpConnectionState>,
    /// Held while the stream is open.
    _quota: Option<PeerQuotaGuard>,
}

impl EventStreamBody {
    pub(crate) fn new(
        source: impl EventSource + 'static,
        timing: KeepAliveTiming,
        connection: Arc<HttpConnectionState>,
        quota: Option<PeerQuotaGuard>,
    ) -> Self {
        let now = Instant::now();
        // Clients without support for priming may fail on an event without data.
        let preamble = match (timing.retry, source.position()) {
            (Some(retry), Some(position)) => {
                sse::priming_event(&position, u64::try_from(retry.as_millis()).unwrap_or(u64::MAX))
            }
            _ => sse::keep_alive(),
        };
        Self {
            source: Box::new(source),
            sending: OutgoingMessage::default(),
            timing,
            preamble: Some(preamble),
            last_event: now,
            timer: Box::pin(sleep_until(next_deadline(timing, now, now))),
            connection,
            _quota: quota,
        }
    }

    /// Returns the next bytes of the stream.
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(preamble) = self.preamble.take() {
            return Poll::Ready(Some(preamble));
        }
        if let Poll::Ready(chunk) = self.poll_chunk(context) {
            self.last_event = Instant::now();
            self.reset_timer(self.last_event);
            return Poll::Ready(chunk);
        }
        ready!(self.timer.as_mut().poll(context));
        let now = Instant::now();
        if self.timing.poll_after.is_some_and(|after| now >= self.last_event + after) {
            return Poll::Ready(None);
        }
        self.reset_timer(now);
        Poll::Ready(Some(sse::keep_alive()))
    }

    /// Returns the next bytes of the current or next event. An event that cannot be read ends the
    /// stream before the event is complete, so that no client mistakes half an event for a whole
    /// one.
    fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut chunk = self.sending.next_chunk();
        if let Ok(None) = chunk {
            let Some(event) = ready!(self.source.poll_next(context)) else {
                return Poll::Ready(None);
            };
            self.sending = event;
            chunk = self.sending.next_chunk();
        }
        Poll::Ready(chunk.unwrap_or_else(|error| {
            tracing::warn!(target: "toolgate::gateway", %error, "cannot read a large answer");
            None
        }))
    }

    fn reset_timer(&mut self, last_sign: Instant) {
        let due = next_deadline(self.timing, self.last_event, last_sign);
        self.timer.as_mut().reset(due);
    }
}

impl Drop for EventStreamBody {
    fn drop(&mut self) {
        self.connection.set_phase(HttpConnectionPhase::Idle);
    }
}

/// Returns when a keep-alive or the end of the stream is due.
fn next_deadline(timing: KeepAliveTiming, last_event: Instant, last_sign: Instant) -> Instant {
    let alive = last_sign + timing.keep_alive;
    timing.poll_after.map_or(alive, |after| alive.min(last_event + after))
}
