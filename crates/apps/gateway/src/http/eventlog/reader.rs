//! A connection's place in a stream of the event log.

use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use toolgate_transport::refill::Refill;

use super::{Content, EventLog, STANDALONE, wake};
use crate::http::stream::{self, Feed};

/// Reads one stream for one connection. Dropping it leaves the stream as it is.
pub(crate) struct Reader {
    log: Arc<EventLog>,
    stream: u64,
    key: u64,
    cursor: u64,
    /// A large event that is being written.
    amid: Option<Box<Refill>>,
}

impl Reader {
    pub(super) fn new(log: Arc<EventLog>, stream: u64, key: u64, cursor: u64) -> Self {
        Self { log, stream, key, cursor, amid: None }
    }

    /// Whether it reads the stream of what belongs to no request.
    pub(crate) fn is_standalone(&self) -> bool {
        self.stream == STANDALONE
    }

    /// How many read the stream, itself included.
    pub(crate) fn company(&self) -> usize {
        self.log.streams().get(self.stream).map_or(0, |stream| stream.readers.len())
    }
}

impl Feed for Reader {
    fn position(&self) -> Option<String> {
        Some(format!("{}-{}", self.stream, self.cursor))
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(event) = &mut self.amid {
            match stream::chunk(event) {
                Some(chunk) => return Poll::Ready(Some(chunk)),
                None => self.amid = None,
            }
        }
        let mut streams = self.log.streams();
        let Some(stream) = streams.get(self.stream) else { return Poll::Ready(None) };
        let delivered = stream.delivered;
        if let Some(newest) = stream.readers.last_mut().filter(|newest| newest.key == self.key) {
            if std::mem::take(&mut newest.superseded) {
                self.cursor = self.cursor.max(delivered);
            }
            if let Some((number, event)) = stream.after(self.cursor) {
                self.cursor = number;
                stream.delivered = delivered.max(number);
                return Poll::Ready(match event {
                    Content::Small(event) => Some(event),
                    Content::Large(event) => stream::chunk(self.amid.insert(Box::new(event))),
                });
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

impl Drop for Reader {
    fn drop(&mut self) {
        let mut streams = self.log.streams();
        let Some(stream) = streams.get(self.stream) else { return };
        stream.readers.retain(|reader| reader.key != self.key);
        if stream.readers.is_empty() {
            stream.left.send_replace(true);
        }
        // Whoever read before is the newest again.
        let heir = stream.readers.last_mut().and_then(|reader| reader.waker.take());
        drop(streams);
        wake(heir);
    }
}
