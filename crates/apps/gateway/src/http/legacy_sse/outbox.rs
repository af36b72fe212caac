//! The queue of events for the stream of one client.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};
use toolgate_transport::chunked_message::OutgoingMessage;
use toolgate_transport::sse;

use crate::exchange::MessageSink;
use crate::http::stream;

/// How many bytes may wait for a client that does not read. A single message may be larger.
const MAX_WAITING_BYTES: usize = 64 << 20;

/// The events that wait for a client's stream, in order.
#[derive(Default)]
pub(super) struct SseOutbox {
    state: Mutex<SseOutboxState>,
}

/// The queue itself and its reader.
#[derive(Default)]
struct SseOutboxState {
    events: VecDeque<OutgoingMessage>,
    bytes: usize,
    /// The event that is being sent.
    sending: OutgoingMessage,
    closed: bool,
    waker: Option<Waker>,
}

impl SseOutbox {
    /// Closes the queue. Events that already wait are still sent.
    pub(super) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        wake(state);
    }

    /// Returns the next event, or `None` at the end.
    pub(super) fn poll_next(&self, context: &Context<'_>) -> Poll<Option<Bytes>> {
        let mut state = self.state.lock();
        if let Some(chunk) = stream::next_chunk(&mut state.sending) {
            return Poll::Ready(Some(chunk));
        }
        if let Some(event) = state.events.pop_front() {
            state.bytes -= event.held_bytes();
            state.sending = event;
            return Poll::Ready(stream::next_chunk(&mut state.sending));
        }
        if state.closed {
            return Poll::Ready(None);
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }

    /// Adds an encoded event.
    pub(super) fn push(&self, event: OutgoingMessage) {
        let mut state = self.state.lock();
        if state.closed {
            return;
        }
        if !state.events.is_empty() && state.bytes + event.held_bytes() > MAX_WAITING_BYTES {
            // A dropped message could be an answer that the client waits for, so the stream ends
            // instead.
            tracing::warn!(target: "toolgate::gateway", "closed a stream that is not read");
            state.events.clear();
            state.bytes = 0;
            state.closed = true;
        } else {
            state.bytes += event.held_bytes();
            state.events.push_back(event);
        }
        wake(state);
    }
}

impl MessageSink for SseOutbox {
    fn send(&self, message: OutgoingMessage) {
        self.push(sse::event("message", None, message));
    }
}

fn wake(mut state: MutexGuard<'_, SseOutboxState>) {
    let reader = state.waker.take();
    drop(state);
    if let Some(reader) = reader {
        reader.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(outbox: &SseOutbox) -> Poll<Option<Bytes>> {
        outbox.poll_next(&Context::from_waker(Waker::noop()))
    }

    #[test]
    fn what_waits_is_sent_before_the_end() {
        let outbox = SseOutbox::default();
        assert!(next(&outbox).is_pending());
        outbox.send(Bytes::from_static(b"{}").into());
        outbox.close();
        outbox.send(Bytes::from_static(b"late").into());
        assert_eq!(next(&outbox), Poll::Ready(Some("event: message\ndata: {}\n\n".into())));
        assert_eq!(next(&outbox), Poll::Ready(None));
    }

    #[test]
    fn a_client_that_does_not_read_is_given_up_but_a_large_answer_is_not() {
        let outbox = SseOutbox::default();
        outbox.send(Bytes::from(vec![b'x'; MAX_WAITING_BYTES]).into());
        assert!(
            matches!(next(&outbox), Poll::Ready(Some(event)) if event.len() > MAX_WAITING_BYTES)
        );
        for _ in 0..2 {
            outbox.send(Bytes::from(vec![b'x'; MAX_WAITING_BYTES / 2]).into());
        }
        assert_eq!(next(&outbox), Poll::Ready(None));
    }
}
