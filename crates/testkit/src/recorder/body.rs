//! A response body that is recorded while it is forwarded.
//!
//! Every chunk is forwarded at once. A message is in the log before the client receives its end.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};

use super::events::RecordedEventParser;
use super::log::{RecordingEntry, RecordingWriter};

/// Records the messages of one response.
pub(super) struct ResponseRecorder {
    log: Arc<RecordingWriter>,
    /// What every entry of this response begins as.
    entry: RecordingEntry,
    buffer: ResponseBuffer,
}

/// The part of a response body that is not yet logged.
enum ResponseBuffer {
    Whole(Vec<u8>),
    Stream(RecordedEventParser),
    Ended,
}

impl ResponseRecorder {
    /// For a response whose body is one text.
    pub(super) fn whole(log: Arc<RecordingWriter>, entry: RecordingEntry) -> Self {
        ResponseRecorder { log, entry, buffer: ResponseBuffer::Whole(Vec::new()) }
    }

    /// For an event stream; that it began is an entry of its own.
    pub(super) fn stream(log: Arc<RecordingWriter>, entry: RecordingEntry) -> Self {
        log.append(&entry);
        ResponseRecorder {
            log,
            entry,
            buffer: ResponseBuffer::Stream(RecordedEventParser::default()),
        }
    }

    fn record(&mut self, bytes: &[u8]) {
        match &mut self.buffer {
            ResponseBuffer::Whole(all) => all.extend_from_slice(bytes),
            ResponseBuffer::Stream(events) => {
                for event in events.hear(bytes) {
                    let entry = self.entry.clone().with_content(&event.data);
                    self.log.append(&RecordingEntry { event: event.name, ..entry });
                }
            }
            ResponseBuffer::Ended => {}
        }
    }

    fn end(&mut self) {
        if let ResponseBuffer::Whole(all) =
            std::mem::replace(&mut self.buffer, ResponseBuffer::Ended)
        {
            self.log.append(&self.entry.clone().with_content(&all));
        }
    }
}

impl Drop for ResponseRecorder {
    // The client went away before the end: what was heard until then is still true.
    fn drop(&mut self) {
        self.end();
    }
}

/// The server's body together with its recorder.
pub(super) struct RecordedBody {
    inner: Incoming,
    recorder: ResponseRecorder,
}

impl RecordedBody {
    /// Begins to write down `inner`.
    pub(super) fn new(inner: Incoming, mut scribe: ResponseRecorder) -> Self {
        if inner.is_end_stream() {
            scribe.end();
        }
        RecordedBody { inner, recorder: scribe }
    }
}

impl Body for RecordedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(context));
        match &frame {
            Some(Ok(frame)) => self.recorder.record(frame.data_ref().unwrap_or(&Bytes::new())),
            Some(Err(_)) | None => self.recorder.end(),
        }
        if self.inner.is_end_stream() {
            self.recorder.end();
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
