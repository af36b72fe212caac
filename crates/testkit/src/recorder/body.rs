//! A response body that is written down while it passes.
//!
//! Every chunk goes on at once; what it completes is in the log before the client has it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};

use super::events::Events;
use super::log::{Entry, Log};

/// Writes down what one response says.
pub(super) struct Scribe {
    log: Arc<Log>,
    /// What every entry of this response begins as.
    entry: Entry,
    heard: Heard,
}

enum Heard {
    Whole(Vec<u8>),
    Stream(Events),
    Ended,
}

impl Scribe {
    /// For a response whose body is one text.
    pub(super) fn whole(log: Arc<Log>, entry: Entry) -> Self {
        Scribe { log, entry, heard: Heard::Whole(Vec::new()) }
    }

    /// For an event stream; that it began is an entry of its own.
    pub(super) fn stream(log: Arc<Log>, entry: Entry) -> Self {
        log.append(&entry);
        Scribe { log, entry, heard: Heard::Stream(Events::default()) }
    }

    fn hear(&mut self, bytes: &[u8]) {
        match &mut self.heard {
            Heard::Whole(all) => all.extend_from_slice(bytes),
            Heard::Stream(events) => {
                for event in events.hear(bytes) {
                    let entry = self.entry.clone().saying(&event.data);
                    self.log.append(&Entry { event: event.name, ..entry });
                }
            }
            Heard::Ended => {}
        }
    }

    fn end(&mut self) {
        if let Heard::Whole(all) = std::mem::replace(&mut self.heard, Heard::Ended) {
            self.log.append(&self.entry.clone().saying(&all));
        }
    }
}

impl Drop for Scribe {
    // The client went away before the end: what was heard until then is still true.
    fn drop(&mut self) {
        self.end();
    }
}

/// The server's body with a scribe beside it.
pub(super) struct Recorded {
    inner: Incoming,
    scribe: Scribe,
}

impl Recorded {
    /// Begins to write down `inner`.
    pub(super) fn new(inner: Incoming, mut scribe: Scribe) -> Self {
        if inner.is_end_stream() {
            scribe.end();
        }
        Recorded { inner, scribe }
    }
}

impl Body for Recorded {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(context));
        match &frame {
            Some(Ok(frame)) => self.scribe.hear(frame.data_ref().unwrap_or(&Bytes::new())),
            Some(Err(_)) | None => self.scribe.end(),
        }
        if self.inner.is_end_stream() {
            self.scribe.end();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
