//! The queue of events for the stream of one client.

use std::collections::VecDeque;
use std::task::{Context, Poll};

use toolgate_transport::chunked_message::OutgoingMessage;
use toolgate_transport::sse;

use crate::exchange::MessageSink;
use crate::polled_state::PolledState;

/// How many bytes may wait for a client that does not read. A single message may be larger.
const MAX_WAITING_BYTES: usize = 64 << 20;

/// The events that wait for a client's stream, in order.
#[derive(Default)]
pub(super) struct SseOutbox {
    state: PolledState<SseOutboxState>,
}

/// The queue itself.
#[derive(Default)]
struct SseOutboxState {
    events: VecDeque<OutgoingMessage>,
    bytes: usize,
    closed: bool,
}

impl SseOutbox {
    /// Closes the queue. Events that already wait are still sent.
    pub(super) fn close(&self) {
        self.state.update(|state| state.closed = true);
    }

    /// Returns the next event, or `None` at the end.
    pub(super) fn poll_next(&self, context: &Context<'_>) -> Poll<Option<OutgoingMessage>> {
        self.state.poll(context, |state| match state.events.pop_front() {
            Some(event) => {
                state.bytes -= event.held_bytes();
                Some(Some(event))
            }
            None => state.closed.then_some(None),
        })
    }

    /// Adds an encoded event.
    pub(super) fn push(&self, event: OutgoingMessage) {
        self.state.update(|state| {
            let bytes = state.bytes + event.held_bytes();
            if state.closed {
                return;
            }
            if !state.events.is_empty() && bytes > MAX_WAITING_BYTES {
                // A dropped message could be an answer that the client waits for, so the stream
                // ends instead.
                tracing::warn!(target: "toolgate::gateway", "closed a stream that is not read");
                *state = SseOutboxState { closed: true, ..SseOutboxState::default() };
            } else {
                state.bytes = bytes;
                state.events.push_back(event);
            }
        });
    }
}

impl MessageSink for SseOutbox {
    fn send(&self, message: OutgoingMessage) {
        self.push(sse::event("message", None, message));
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use bytes::Bytes;

    use super::*;

    fn next(outbox: &SseOutbox) -> Poll<Option<Bytes>> {
        let next = outbox.poll_next(&Context::from_waker(Waker::noop()));
        next.map(|event| event.and_then(|mut event| event.next_chunk().unwrap()))
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
