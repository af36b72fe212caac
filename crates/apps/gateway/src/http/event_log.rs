//! The event log of one session: sent and waiting events, stream by stream.
//!
//! A stream is its log, and connections only read from it ([`EventLogReader`]). So a client that
//! loses its connection can resume, and a call continues for a while without a reader. Stream 0
//! carries the messages that belong to no request. Each request that is answered by a stream has a
//! stream of its own. An event's id is `<stream>-<number>`.
//!
//! Memory is limited. Delivered events are kept for replay while there is room, and the oldest are
//! dropped first. Undelivered events have a higher limit and are dropped last.

mod reader;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::future::pending;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::timeout;
use toolgate_transport::chunked_message::OutgoingMessage;
use toolgate_transport::sse;

use super::clock::CoarseClock;
use crate::exchange::MessageSink;
use crate::peer::PeerId;

pub(crate) use reader::EventLogReader;

/// The stream for messages that belong to no request.
pub(crate) const STANDALONE: u64 = 0;

/// The limits within which delivered events are kept for replay.
const REPLAY_LIMITS: EventLimits = EventLimits { events: 256, bytes: 1 << 20 };
/// The limits within which events wait for a client that may resume.
const WAITING_LIMITS: EventLimits = EventLimits { events: 512, bytes: 8 << 20 };
/// How many events wait for a client that never opened a stream.
const MAX_STANDALONE_WAITING: usize = 256;

/// How long a fully read stream can be resumed. Its last bytes may have gone into a connection that
/// was already broken.
const REPLAY_TTL: Duration = Duration::from_secs(30);

/// Limits on the number and the size of events.
struct EventLimits {
    events: usize,
    bytes: usize,
}

/// The event log of one session.
pub(crate) struct SessionEventLog {
    streams: Mutex<EventLogStreams>,
}

/// All streams of a session.
#[derive(Default)]
pub(super) struct EventLogStreams {
    open: BTreeMap<u64, EventLogStream>,
    last: u64,
    clock: u64,
    readers: u64,
    events: usize,
    bytes: usize,
    closed: bool,
}

/// One stream of a session.
#[derive(Default)]
pub(super) struct EventLogStream {
    events: VecDeque<ReplayableEvent>,
    last: u64,
    /// The number of the last event that a reader took.
    pub(super) delivered: u64,
    pub(super) finished: bool,
    /// When a sweep first found the stream finished and fully read.
    done_since: Option<u64>,
    /// The readers, newest last. Only the newest gets events.
    pub(super) readers: Vec<AttachedReader>,
    /// True after the last reader has left.
    pub(super) all_left: watch::Sender<bool>,
}

/// A connection that reads a stream.
pub(super) struct AttachedReader {
    pub(super) key: u64,
    pub(super) waker: Option<Waker>,
    /// True if a newer connection took over the events of this one.
    pub(super) superseded: bool,
}

/// One event in a stream.
struct ReplayableEvent {
    number: u64,
    /// Its position among the events of all streams of the session.
    sequence: u64,
    /// The encoded event.
    content: OutgoingMessage,
    /// How many bytes it counts against the limits.
    weight: usize,
}

/// Bytes in a file count less than bytes in memory, by this factor.
const FILE_WEIGHT_DIVISOR: u64 = 64;

fn event_weight(event: &OutgoingMessage) -> usize {
    let file_weight = match event {
        OutgoingMessage::Small(_) => 0,
        OutgoingMessage::Large(message) => message.total_len() / FILE_WEIGHT_DIVISOR,
    };
    event.held_bytes() + usize::try_from(file_weight).unwrap_or(usize::MAX)
}

/// The result of resuming a stream by its `Last-Event-ID`.
pub(crate) enum ResumeOutcome {
    /// The stream continues here.
    Stream(EventLogReader),
    /// The client has seen the whole stream.
    Finished,
    /// No event of this session has this id.
    Unknown,
}

impl SessionEventLog {
    pub(crate) fn new() -> Self {
        let mut streams = EventLogStreams::default();
        streams.open.insert(STANDALONE, EventLogStream::default());
        Self { streams: Mutex::new(streams) }
    }

    /// Opens a stream for one request and returns its number.
    pub(crate) fn open(&self) -> u64 {
        let mut streams = self.streams.lock();
        streams.last += 1;
        let stream = streams.last;
        if !streams.closed {
            streams.open.insert(stream, EventLogStream::default());
        }
        stream
    }

    /// Adds a message, which must be a single line.
    pub(crate) fn push(&self, stream: u64, message: OutgoingMessage) {
        let waker = self.streams.lock().push(stream, message);
        wake(waker);
    }

    /// Marks a stream as complete.
    pub(crate) fn finish(&self, stream: u64) {
        let wakers = self.streams.lock().finish(stream);
        wake(wakers);
    }

    /// Attaches a reader to a stream. It starts after the event `after`, or at the first
    /// undelivered event.
    pub(crate) fn attach(self: &Arc<Self>, stream: u64, after: Option<u64>) -> EventLogReader {
        let mut streams = self.streams.lock();
        streams.readers += 1;
        let key = streams.readers;
        let mut cursor = after.unwrap_or_default();
        if let Some(stream) = streams.open.get_mut(&stream) {
            cursor = after.unwrap_or(stream.delivered).min(stream.last);
            stream.readers.iter_mut().for_each(|older| older.superseded = true);
            stream.readers.push(AttachedReader { key, waker: None, superseded: false });
            stream.all_left.send_replace(false);
        }
        drop(streams);
        EventLogReader { log: self.clone(), stream, key, cursor }
    }

    /// Waits until all readers of a stream have left and either none came back within `resume` or
    /// the client's process has exited.
    pub(crate) fn wait_abandoned(
        &self,
        stream: u64,
        resume: Duration,
        peer: PeerId,
    ) -> impl Future<Output = ()> + Send + use<> {
        let left = self.streams.lock().open.get(&stream).map(|stream| stream.all_left.subscribe());
        async move {
            // A stream that is gone was answered, or its session has ended.
            let Some(mut left) = left else { return pending().await };
            while left.wait_for(|left| *left).await.is_ok() {
                tokio::select! {
                    back = timeout(resume, left.wait_for(|left| !*left)) => {
                        if back.is_err() {
                            return;
                        }
                    }
                    () = peer.wait_for_exit() => return,
                }
            }
            pending().await
        }
    }

    /// Resumes a stream after the last event that the client saw.
    pub(crate) fn resume(self: &Arc<Self>, event: &str) -> ResumeOutcome {
        let id = event.split_once('-').and_then(|(stream, number)| {
            Some((stream.parse::<u64>().ok()?, number.parse::<u64>().ok()?))
        });
        let Some((id, number)) = id else { return ResumeOutcome::Unknown };
        {
            let streams = self.streams.lock();
            match streams.open.get(&id) {
                None if id > streams.last => return ResumeOutcome::Unknown,
                None => return ResumeOutcome::Finished,
                Some(stream) if stream.finished && number >= stream.last => {
                    return ResumeOutcome::Finished;
                }
                Some(_) => {}
            }
        }
        ResumeOutcome::Stream(self.attach(id, Some(number)))
    }

    /// Removes the streams that were fully read some time ago.
    pub(crate) fn sweep(&self, clock: &CoarseClock) {
        let mut streams = self.streams.lock();
        let mut gone = Vec::new();
        for (id, stream) in &mut streams.open {
            if stream.is_done() {
                let since = *stream.done_since.get_or_insert(clock.now());
                gone.extend(clock.has_elapsed(since, REPLAY_TTL).then_some(*id));
            }
        }
        gone.into_iter().for_each(|id| streams.remove(id));
    }

    /// Returns how many connections read from this log.
    pub(crate) fn readers(&self) -> usize {
        self.streams.lock().open.values().map(|stream| stream.readers.len()).sum()
    }

    /// Closes the log when the session ends. Streams that have a reader stay until they are read to
    /// their end: the stream of a request ends with its answer, the standalone stream ends now.
    pub(crate) fn close(&self) {
        let mut streams = self.streams.lock();
        streams.closed = true;
        streams.open.retain(|_, stream| !stream.readers.is_empty());
        let wakers = streams.finish(STANDALONE);
        drop(streams);
        wake(wakers);
    }
}

/// Messages outside of any call go to the standalone stream.
impl MessageSink for SessionEventLog {
    fn send(&self, message: OutgoingMessage) {
        self.push(STANDALONE, message);
    }
}

impl EventLogStreams {
    fn push(&mut self, id: u64, message: OutgoingMessage) -> Option<Waker> {
        self.clock += 1;
        let stream = self.open.get_mut(&id)?;
        stream.last += 1;
        let event_id = format!("{id}-{}", stream.last);
        let content = sse::event("message", Some(&event_id), message);
        let weight = event_weight(&content);
        self.events += 1;
        self.bytes += weight;
        stream.events.push_back(ReplayableEvent {
            number: stream.last,
            sequence: self.clock,
            content,
            weight,
        });
        let waker = stream.readers.last_mut().and_then(|reader| reader.waker.take());
        if id == STANDALONE && stream.waiting_count() > MAX_STANDALONE_WAITING {
            self.drop_oldest(id);
        }
        self.trim();
        waker
    }

    fn finish(&mut self, id: u64) -> Vec<Waker> {
        let Some(stream) = self.open.get_mut(&id) else { return Vec::new() };
        stream.finished = true;
        stream.readers.iter_mut().filter_map(|reader| reader.waker.take()).collect()
    }

    fn remove(&mut self, id: u64) {
        let Some(stream) = self.open.remove(&id) else { return };
        self.events -= stream.events.len();
        self.bytes -= stream.events.iter().map(|event| event.weight).sum::<usize>();
    }

    /// Drops events that exceed the limits: delivered ones first, then waiting ones, never the
    /// newest.
    fn trim(&mut self) {
        while self.exceeds(&REPLAY_LIMITS) {
            let oldest = |delivered: bool| {
                let fronts = self.open.iter().filter_map(|(id, stream)| {
                    let front = stream.events.front()?;
                    (!delivered || front.number <= stream.delivered)
                        .then_some((front.sequence, *id))
                });
                fronts.min().filter(|(at, _)| *at < self.clock).map(|(_, id)| id)
            };
            let goes =
                oldest(true).or_else(|| oldest(false).filter(|_| self.exceeds(&WAITING_LIMITS)));
            match goes {
                Some(id) => self.drop_oldest(id),
                None => return,
            }
        }
    }

    fn exceeds(&self, room: &EventLimits) -> bool {
        self.events > room.events || self.bytes > room.bytes
    }

    fn drop_oldest(&mut self, id: u64) {
        let Some(stream) = self.open.get_mut(&id) else { return };
        let Some(event) = stream.events.pop_front() else { return };
        self.events -= 1;
        self.bytes -= event.weight;
        if stream.finished && stream.events.is_empty() && stream.readers.is_empty() {
            self.open.remove(&id);
        }
    }
}

impl EventLogStream {
    /// Returns the first event after `cursor`.
    pub(super) fn event_after(&self, cursor: u64) -> Option<(u64, OutgoingMessage)> {
        let at = self.events.partition_point(|event| event.number <= cursor);
        self.events.get(at).map(|event| (event.number, event.content.clone()))
    }

    fn is_done(&self) -> bool {
        self.finished && self.delivered == self.last && self.readers.is_empty()
    }

    fn waiting_count(&self) -> usize {
        self.events.len() - self.events.partition_point(|event| event.number <= self.delivered)
    }
}

pub(super) fn wake(wakers: impl IntoIterator<Item = Waker>) {
    wakers.into_iter().for_each(Waker::wake);
}
