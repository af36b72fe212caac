//! An event stream as a response: what opens it, its events, signs of life, and its end.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, Sleep, sleep_until};
use toolgate_transport::refill::Refill;
use toolgate_transport::sse;
use toolgate_wire::Revision;

use super::clock::{Phase, Pulse};
use crate::Options;
use crate::shares::Share;

/// Where the events of a stream come from.
pub(crate) trait Feed: Send {
    /// The next event, encoded; `None` at the end.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>>;

    /// The id a client comes back with if the stream breaks off now; none if it cannot come back.
    fn position(&self) -> Option<String>;
}

/// The next bytes of a large event; `None` at its end. One that cannot be read breaks off, and with
/// it its stream: no reader takes half an event for a whole one.
pub(crate) fn chunk(event: &mut Refill) -> Option<Bytes> {
    event.chunk().unwrap_or_else(|error| {
        tracing::warn!(target: "toolgate::gateway", %error, "a large answer cannot be read");
        None
    })
}

/// When a stream speaks though nothing happens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    keep_alive: Duration,
    /// After this silence the stream is closed, and the client comes back for the rest.
    poll_after: Option<Duration>,
    /// What the primer says, for clients that know primers.
    retry: Option<Duration>,
}

impl Pace {
    /// The pace of a stream that carries a request's answer.
    pub(crate) fn of_request(options: &Options, revision: Revision) -> Self {
        let polled = revision.sse_polling();
        Self {
            poll_after: options.poll_after.filter(|_| polled),
            ..Self::standing(options, revision)
        }
    }

    /// The pace of a stream nobody can come back to.
    pub(crate) fn unbroken(options: &Options) -> Self {
        Self { keep_alive: options.keep_alive, poll_after: None, retry: None }
    }

    /// The pace of a stream that stands as long as its client likes.
    pub(crate) fn standing(options: &Options, revision: Revision) -> Self {
        let polled = revision.sse_polling();
        Self {
            keep_alive: options.keep_alive,
            poll_after: None,
            retry: polled.then_some(options.retry),
        }
    }
}

/// The body of an event stream.
pub(crate) struct Events {
    feed: Box<dyn Feed>,
    pace: Pace,
    opening: Option<Bytes>,
    last_event: Instant,
    /// Fires when something must be done though no event came.
    timer: Pin<Box<Sleep>>,
    pulse: Arc<Pulse>,
    _share: Option<Share>,
}

impl Events {
    pub(crate) fn new(feed: impl Feed + 'static, pace: Pace, pulse: Arc<Pulse>) -> Self {
        let now = Instant::now();
        // Clients older than primers may take an event without data for a broken message.
        let opening = match (pace.retry, feed.position()) {
            (Some(retry), Some(position)) => {
                sse::primer(&position, u64::try_from(retry.as_millis()).unwrap_or(u64::MAX))
            }
            _ => sse::keep_alive(),
        };
        Self {
            feed: Box::new(feed),
            pace,
            opening: Some(opening),
            last_event: now,
            timer: Box::pin(sleep_until(due(pace, now, now))),
            pulse,
            _share: None,
        }
    }

    /// The same, counted for its client as long as it is open.
    pub(crate) fn counted(mut self, share: Share) -> Self {
        self._share = Some(share);
        self
    }

    /// The next bytes of the stream.
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(opening) = self.opening.take() {
            return Poll::Ready(Some(opening));
        }
        if let Poll::Ready(event) = self.feed.poll_next(context) {
            self.last_event = Instant::now();
            self.rest(self.last_event);
            return Poll::Ready(event);
        }
        ready!(self.timer.as_mut().poll(context));
        let now = Instant::now();
        if self.pace.poll_after.is_some_and(|after| now >= self.last_event + after) {
            return Poll::Ready(None);
        }
        self.rest(now);
        Poll::Ready(Some(sse::keep_alive()))
    }

    fn rest(&mut self, last_sign: Instant) {
        let due = due(self.pace, self.last_event, last_sign);
        self.timer.as_mut().reset(due);
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.pulse.enter(Phase::Idle);
    }
}

/// When something must be done though no event came.
fn due(pace: Pace, last_event: Instant, last_sign: Instant) -> Instant {
    let alive = last_sign + pace.keep_alive;
    pace.poll_after.map_or(alive, |after| alive.min(last_event + after))
}
