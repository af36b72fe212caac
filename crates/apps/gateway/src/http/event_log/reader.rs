//! The position of one connection in a stream of the event log.

use std::sync::Arc;
use std::task::{Context, Poll};

use toolgate_transport::chunked_message::OutgoingMessage;

use super::{STANDALONE, SessionEventLog, wake};
use crate::http::stream::EventSource;

/// Reads one stream for one connection. Dropping it does not change the events in the stream.
pub(crate) struct EventLogReader {
    pub(super) log: Arc<SessionEventLog>,
    pub(super) stream: u64,
    pub(super) key: u64,
    pub(super) cursor: u64,
}

impl EventLogReader {
    /// Returns true if this reads the stream for messages that belong to no request.
    pub(crate) fn is_standalone(&self) -> bool {
        self.stream == STANDALONE
    }

    /// Returns how many readers the stream has, including this one.
    pub(crate) fn reader_count(&self) -> usize {
        self.log.streams.lock().open.get(&self.stream).map_or(0, |stream| stream.readers.len())
    }
}

impl EventSource for EventLogReader {
    fn position(&self) -> Option<String> {
        Some(format!("{}-{}", self.stream, self.cursor))
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<OutgoingMessage>> {
        let mut streams = self.log.streams.lock();
        let Some(stream) = streams.open.get_mut(&self.stream) else { return Poll::Ready(None) };
        let delivered = stream.delivered;
        if let Some(newest) = stream.readers.last_mut().filter(|newest| newest.key == self.key) {
            if std::mem::take(&mut newest.superseded) {
                self.cursor = self.cursor.max(delivered);
            }
            if let Some((number, event)) = stream.event_after(self.cursor) {
                self.cursor = number;
                stream.delivered = delivered.max(number);
                return Poll::Ready(Some(event));
            }
        }
        if stream.finished {
            return Poll::Ready(None);
        }
        if let Some(own) = stream.readers.iter_mut().find(|reader| reader.key == self.key) {
            own.waker = Some(context.waker().clone());
        }
        Poll::Pending
    }
}

impl Drop for EventLogReader {
    fn drop(&mut self) {
        let mut streams = self.log.streams.lock();
        let Some(stream) = streams.open.get_mut(&self.stream) else { return };
        stream.readers.retain(|reader| reader.key != self.key);
        if stream.readers.is_empty() {
            stream.all_left.send_replace(true);
        }
        // The previous reader is now the newest.
        let heir = stream.readers.last_mut().and_then(|reader| reader.waker.take());
        drop(streams);
        wake(heir);
    }
}
