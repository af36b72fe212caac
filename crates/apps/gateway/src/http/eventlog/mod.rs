//! The events of one session: what was sent and what waits to be, stream by stream.
//!
//! A stream is its log; connections only read from it ([`Reader`]). So a client that loses
//! its connection finds everything where it was, and a call goes on for a while without a reader.
//! Stream 0 carries what belongs to no request; every request that is answered by a stream has one
//! of its own. An event's id is `<stream>-<number>`.
//!
//! Memory is bounded: delivered events are kept for replay while there is room, then the oldest
//! go; undelivered ones have more room, and go last.

mod reader;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::timeout;
use toolgate_transport::refill::Refill;
use toolgate_transport::sse;

use super::clock::Clock;
use crate::peer::PeerId;
use crate::session::Outlet;

pub(crate) use reader::Reader;

/// The stream of what belongs to no request.
pub(crate) const STANDALONE: u64 = 0;

/// Within this, delivered events are kept for replay.
const KEPT: Room = Room { events: 256, bytes: 1 << 20 };
/// Within this, events wait for a client that may come back.
const WAITING: Room = Room { events: 512, bytes: 8 << 20 };
/// How many events wait for a client that never opened a stream.
const STANDALONE_WAITING: usize = 256;

/// How long a stream that was read to its end can still be asked for: its last bytes may have gone
/// into a connection that was broken already.
const AFTERGLOW: Duration = Duration::from_secs(30);

struct Room {
    events: usize,
    bytes: usize,
}

/// The events of a session.
pub(crate) struct EventLog {
    streams: Mutex<Streams>,
}

/// All streams of a session.
#[derive(Default)]
pub(super) struct Streams {
    open: BTreeMap<u64, Stream>,
    last: u64,
    clock: u64,
    readers: u64,
    events: usize,
    bytes: usize,
    closed: bool,
}

/// One stream.
#[derive(Default)]
pub(super) struct Stream {
    events: VecDeque<Event>,
    last: u64,
    /// The last event a reader took.
    pub(super) delivered: u64,
    pub(super) finished: bool,
    /// Since when it was known that all of it was read.
    done: Option<u64>,
    /// Who reads, newest last; only the newest is given events.
    pub(super) readers: Vec<Attached>,
    /// Whether everybody who read has left.
    pub(super) left: watch::Sender<bool>,
}

/// A connection that reads a stream.
pub(super) struct Attached {
    pub(super) key: u64,
    pub(super) waker: Option<Waker>,
    /// A newer connection came, and took what there was to the same client.
    pub(super) superseded: bool,
}

struct Event {
    number: u64,
    /// Its place in time among the events of all streams.
    at: u64,
    content: Content,
    /// What it counts for.
    weight: usize,
}

/// An event as it is written.
#[derive(Clone)]
pub(super) enum Content {
    Small(Bytes),
    /// It lies in a file, and is read as it is written.
    Large(Refill),
}

/// What is in a file counts this much less than what is in memory.
const IN_FILE: u64 = 64;

impl Content {
    fn weight(&self) -> usize {
        match self {
            Self::Small(bytes) => bytes.len(),
            Self::Large(refill) => {
                refill.held() + usize::try_from(refill.len() / IN_FILE).unwrap_or(usize::MAX)
            }
        }
    }
}

/// What a `Last-Event-ID` leads to.
pub(crate) enum Resumed {
    /// The stream goes on here.
    Stream(Reader),
    /// The client has seen all of it.
    Over,
    /// No event of this session has that id.
    Unknown,
}

impl EventLog {
    pub(crate) fn new() -> Self {
        let mut streams = Streams::default();
        streams.open.insert(STANDALONE, Stream::default());
        Self { streams: Mutex::new(streams) }
    }

    pub(super) fn streams(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new stream, for one request.
    pub(crate) fn open(&self) -> u64 {
        let mut streams = self.streams();
        streams.last += 1;
        let stream = streams.last;
        if !streams.closed {
            streams.open.insert(stream, Stream::default());
        }
        stream
    }

    /// Adds a message, which must be a single line.
    pub(crate) fn push(&self, stream: u64, message: &[u8]) {
        let waker = self.streams().push(stream, |id| Content::Small(sse::message(id, message)));
        wake(waker);
    }

    /// Adds a large message, which must be a single line.
    pub(crate) fn push_large(&self, stream: u64, message: Refill) {
        let content = |id: &str| Content::Large(sse::message_large(id, message));
        let waker = self.streams().push(stream, content);
        wake(waker);
    }

    /// Nothing more will come on this stream.
    pub(crate) fn finish(&self, stream: u64) {
        let wakers = self.streams().finish(stream);
        wake(wakers);
    }

    /// Reads a stream from behind the event `after`, or from what nobody has read yet.
    pub(crate) fn attach(self: &Arc<Self>, stream: u64, after: Option<u64>) -> Reader {
        let mut streams = self.streams();
        streams.readers += 1;
        let key = streams.readers;
        let mut cursor = after.unwrap_or_default();
        if let Some(stream) = streams.open.get_mut(&stream) {
            cursor = after.unwrap_or(stream.delivered).min(stream.last);
            stream.readers.iter_mut().for_each(|older| older.superseded = true);
            stream.readers.push(Attached { key, waker: None, superseded: false });
            stream.left.send_replace(false);
        }
        drop(streams);
        Reader::new(self.clone(), stream, key, cursor)
    }

    /// Waits until everybody who read a stream has left, and nobody came back for so long, or nobody
    /// can, because the client's process has ended.
    pub(crate) fn abandoned(
        &self,
        stream: u64,
        resume: Duration,
        peer: PeerId,
    ) -> impl Future<Output = ()> + Send + use<> {
        let left = self.streams().get(stream).map(|stream| stream.left.subscribe());
        async move {
            // A stream that is gone was answered, or its session is over.
            let Some(mut left) = left else { return pending().await };
            while left.wait_for(|left| *left).await.is_ok() {
                tokio::select! {
                    back = timeout(resume, left.wait_for(|left| !*left)) => {
                        if back.is_err() {
                            return;
                        }
                    }
                    () = peer.end_of_process() => return,
                }
            }
            pending().await
        }
    }

    /// Reads on behind the event a client saw last.
    pub(crate) fn resume(self: &Arc<Self>, event: &str) -> Resumed {
        let id = event.split_once('-').and_then(|(stream, number)| {
            Some((stream.parse::<u64>().ok()?, number.parse::<u64>().ok()?))
        });
        let Some((id, number)) = id else { return Resumed::Unknown };
        {
            let streams = self.streams();
            match streams.open.get(&id) {
                None if id > streams.last => return Resumed::Unknown,
                None => return Resumed::Over,
                Some(stream) if stream.finished && number >= stream.last => return Resumed::Over,
                Some(_) => {}
            }
        }
        Resumed::Stream(self.attach(id, Some(number)))
    }

    /// Forgets the streams that were read to their end some time ago.
    pub(crate) fn sweep(&self, clock: &Clock) {
        let mut streams = self.streams();
        let mut gone = Vec::new();
        for (id, stream) in &mut streams.open {
            if stream.is_done() {
                let since = *stream.done.get_or_insert(clock.now());
                gone.extend(clock.past(since, AFTERGLOW).then_some(*id));
            }
        }
        gone.into_iter().for_each(|id| streams.remove(id));
    }

    /// How many connections read here.
    pub(crate) fn readers(&self) -> usize {
        self.streams().open.values().map(|stream| stream.readers.len()).sum()
    }

    /// The session is over. Streams that somebody reads end once they are read: the one of a
    /// request with its answer, the standing one now.
    pub(crate) fn close(&self) {
        let mut streams = self.streams();
        streams.closed = true;
        streams.open.retain(|_, stream| !stream.readers.is_empty());
        let wakers = streams.finish(STANDALONE);
        drop(streams);
        wake(wakers);
    }
}

/// Messages outside any call go to the standalone stream.
impl Outlet for EventLog {
    fn send(&self, message: Bytes) {
        self.push(STANDALONE, &message);
    }

    fn send_large(&self, message: Refill) {
        self.push_large(STANDALONE, message);
    }
}

impl Streams {
    pub(super) fn get(&mut self, stream: u64) -> Option<&mut Stream> {
        self.open.get_mut(&stream)
    }

    fn push(&mut self, id: u64, content: impl FnOnce(&str) -> Content) -> Option<Waker> {
        self.clock += 1;
        let stream = self.open.get_mut(&id)?;
        stream.last += 1;
        let content = content(&format!("{id}-{}", stream.last));
        let weight = content.weight();
        self.events += 1;
        self.bytes += weight;
        stream.events.push_back(Event { number: stream.last, at: self.clock, content, weight });
        let waker = stream.readers.last_mut().and_then(|reader| reader.waker.take());
        if id == STANDALONE && stream.waiting() > STANDALONE_WAITING {
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

    /// Makes room: delivered events first, then waiting ones, never the newest of all.
    fn trim(&mut self) {
        while self.exceeds(&KEPT) {
            let oldest = |delivered: bool| {
                let fronts = self.open.iter().filter_map(|(id, stream)| {
                    let front = stream.events.front()?;
                    (!delivered || front.number <= stream.delivered).then_some((front.at, *id))
                });
                fronts.min().filter(|(at, _)| *at < self.clock).map(|(_, id)| id)
            };
            let goes = oldest(true).or_else(|| oldest(false).filter(|_| self.exceeds(&WAITING)));
            match goes {
                Some(id) => self.drop_oldest(id),
                None => return,
            }
        }
    }

    fn exceeds(&self, room: &Room) -> bool {
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

impl Stream {
    /// The first event behind `cursor`.
    pub(super) fn after(&self, cursor: u64) -> Option<(u64, Content)> {
        let at = self.events.partition_point(|event| event.number <= cursor);
        self.events.get(at).map(|event| (event.number, event.content.clone()))
    }

    fn is_done(&self) -> bool {
        self.finished && self.delivered == self.last && self.readers.is_empty()
    }

    fn waiting(&self) -> usize {
        self.events.len() - self.events.partition_point(|event| event.number <= self.delivered)
    }
}

pub(super) fn wake(wakers: impl IntoIterator<Item = Waker>) {
    wakers.into_iter().for_each(Waker::wake);
}
