//! What waits for the stream of one client.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use toolgate_transport::refill::Refill;
use toolgate_transport::sse;

use crate::http::stream;
use crate::session::Outlet;

/// How much may wait for a client that does not read. One message alone may be larger.
const ROOM: usize = 64 << 20;

/// Messages on their way to the stream, in order.
#[derive(Default)]
pub(super) struct Outbox {
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    events: VecDeque<Event>,
    bytes: usize,
    /// A large event that is being written.
    amid: Option<Box<Refill>>,
    over: bool,
    reader: Option<Waker>,
}

/// An event as it is written.
enum Event {
    Small(Bytes),
    /// It lies in a file, and is read as it is written.
    Large(Refill),
}

impl Event {
    fn held(&self) -> usize {
        match self {
            Self::Small(event) => event.len(),
            Self::Large(event) => event.held(),
        }
    }
}

impl Outbox {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing more is taken; what waits is still sent.
    pub(super) fn close(&self) {
        let mut waiting = self.waiting();
        waiting.over = true;
        wake(waiting);
    }

    /// The next event; `None` at the end.
    pub(super) fn poll_next(&self, context: &Context<'_>) -> Poll<Option<Bytes>> {
        let mut waiting = self.waiting();
        if let Some(event) = &mut waiting.amid {
            match stream::chunk(event) {
                Some(chunk) => return Poll::Ready(Some(chunk)),
                None => waiting.amid = None,
            }
        }
        if let Some(event) = waiting.events.pop_front() {
            waiting.bytes -= event.held();
            return Poll::Ready(match event {
                Event::Small(event) => Some(event),
                Event::Large(event) => stream::chunk(waiting.amid.insert(Box::new(event))),
            });
        }
        if waiting.over {
            return Poll::Ready(None);
        }
        waiting.reader = Some(context.waker().clone());
        Poll::Pending
    }

    /// Adds an event, as it is written.
    pub(super) fn push(&self, event: Bytes) {
        self.add(Event::Small(event));
    }

    fn add(&self, event: Event) {
        let mut waiting = self.waiting();
        if waiting.over {
            return;
        }
        if !waiting.events.is_empty() && waiting.bytes + event.held() > ROOM {
            // A message left out would be an answer that never comes: better no stream at all.
            tracing::warn!(target: "toolgate::gateway", "a client does not read its stream");
            waiting.events.clear();
            waiting.bytes = 0;
            waiting.over = true;
        } else {
            waiting.bytes += event.held();
            waiting.events.push_back(event);
        }
        wake(waiting);
    }
}

impl Outlet for Outbox {
    fn send(&self, message: Bytes) {
        self.push(sse::named("message", &message));
    }

    fn send_large(&self, message: Refill) {
        self.add(Event::Large(sse::named_large("message", message)));
    }
}

fn wake(mut waiting: MutexGuard<'_, Waiting>) {
    let reader = waiting.reader.take();
    drop(waiting);
    if let Some(reader) = reader {
        reader.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(outbox: &Outbox) -> Poll<Option<Bytes>> {
        outbox.poll_next(&Context::from_waker(Waker::noop()))
    }

    #[test]
    fn what_waits_is_sent_before_the_end() {
        let outbox = Outbox::default();
        assert!(next(&outbox).is_pending());
        outbox.send(Bytes::from_static(b"{}"));
        outbox.close();
        outbox.send(Bytes::from_static(b"late"));
        assert_eq!(next(&outbox), Poll::Ready(Some("event: message\ndata: {}\n\n".into())));
        assert_eq!(next(&outbox), Poll::Ready(None));
    }

    #[test]
    fn a_client_that_does_not_read_is_given_up_but_a_large_answer_is_not() {
        let outbox = Outbox::default();
        outbox.send(Bytes::from(vec![b'x'; ROOM]));
        assert!(matches!(next(&outbox), Poll::Ready(Some(event)) if event.len() > ROOM));
        for _ in 0..2 {
            outbox.send(Bytes::from(vec![b'x'; ROOM / 2]));
        }
        assert_eq!(next(&outbox), Poll::Ready(None));
    }
}
