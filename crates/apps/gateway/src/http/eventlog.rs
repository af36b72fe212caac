//! The events of one session: what was sent and what waits to be, stream by stream.
//!
//! A stream is its log; connections only read from it ([`super::reader`]). So a client that loses
//! its connection finds everything where it was, and a call goes on whether anybody reads or not.
//! Stream 0 carries what belongs to no request; every request that is answered by a stream has one
//! of its own. An event's id is `<stream>-<number>`.
//!
//! Memory is bounded: delivered events are kept for replay while there is room, then the oldest
//! go; undelivered ones have more room, and go last.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use bytes::Bytes;
use toolgate_transport::sse;

use super::clock::Clock;
use super::reader::Reader;
use crate::session::Outlet;

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
    bytes: Bytes,
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
        let waker = self.streams().push(stream, message);
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
        }
        drop(streams);
        Reader::new(self.clone(), stream, key, cursor)
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
}

impl Streams {
    pub(super) fn get(&mut self, stream: u64) -> Option<&mut Stream> {
        self.open.get_mut(&stream)
    }

    fn push(&mut self, id: u64, message: &[u8]) -> Option<Waker> {
        self.clock += 1;
        let stream = self.open.get_mut(&id)?;
        stream.last += 1;
        let bytes = sse::message(&format!("{id}-{}", stream.last), message);
        self.events += 1;
        self.bytes += bytes.len();
        stream.events.push_back(Event { number: stream.last, at: self.clock, bytes });
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
        self.bytes -= stream.events.iter().map(|event| event.bytes.len()).sum::<usize>();
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
        self.bytes -= event.bytes.len();
        if stream.finished && stream.events.is_empty() && stream.readers.is_empty() {
            self.open.remove(&id);
        }
    }
}

impl Stream {
    /// The first event behind `cursor`.
    pub(super) fn after(&self, cursor: u64) -> Option<(u64, Bytes)> {
        let at = self.events.partition_point(|event| event.number <= cursor);
        self.events.get(at).map(|event| (event.number, event.bytes.clone()))
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

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use std::future::poll_fn;

    /// What a reader gets now: the data of its events, and whether the stream has ended.
    fn drain(reader: &mut Reader) -> (Vec<String>, bool) {
        let mut data = Vec::new();
        loop {
            match poll_fn(|context| reader.poll_next(context)).now_or_never() {
                Some(Some(event)) => {
                    let text = String::from_utf8(event.to_vec()).unwrap();
                    let line = text.lines().find_map(|line| line.strip_prefix("data: "));
                    data.push(line.unwrap().to_owned());
                }
                Some(None) => return (data, true),
                None => return (data, false),
            }
        }
    }

    fn log() -> Arc<EventLog> {
        Arc::new(EventLog::new())
    }

    #[test]
    fn what_waited_is_delivered_when_a_reader_comes_and_not_twice() {
        let log = log();
        log.push(STANDALONE, b"1");
        log.push(STANDALONE, b"2");
        let mut first = log.attach(STANDALONE, None);
        assert_eq!(drain(&mut first), (vec!["1".into(), "2".into()], false));
        drop(first);
        log.push(STANDALONE, b"3");
        assert_eq!(drain(&mut log.attach(STANDALONE, None)).0, ["3"]);
    }

    #[test]
    fn a_stream_is_replayed_behind_the_last_event_seen() {
        let log = log();
        let stream = log.open();
        for data in [b"1", b"2", b"3"] {
            log.push(stream, data);
        }
        drop(drain(&mut log.attach(stream, None)));
        let Resumed::Stream(mut reader) = log.resume(&format!("{stream}-1")) else { panic!() };
        log.push(stream, b"4");
        log.finish(stream);
        assert_eq!(drain(&mut reader), (vec!["2".into(), "3".into(), "4".into()], true));
    }

    #[test]
    fn a_stream_that_was_read_to_its_end_is_over_and_soon_forgotten() {
        let log = log();
        let stream = log.open();
        log.push(stream, b"1");
        log.finish(stream);
        assert!(drain(&mut log.attach(stream, None)).1);
        assert!(matches!(log.resume(&format!("{stream}-1")), Resumed::Over));
        let Resumed::Stream(mut lost) = log.resume(&format!("{stream}-0")) else { panic!() };
        assert_eq!(drain(&mut lost), (vec!["1".into()], true));
        drop(lost);
        let clock = Clock::default();
        log.sweep(&clock);
        clock.set(AFTERGLOW * 2);
        log.sweep(&clock);
        let (events, bytes) = {
            let streams = log.streams();
            (streams.events, streams.bytes)
        };
        assert_eq!((events, bytes), (0, 0));
        assert!(matches!(log.resume(&format!("{stream}-0")), Resumed::Over));
        assert!(matches!(log.resume("99-1"), Resumed::Unknown));
        assert!(matches!(log.resume("nonsense"), Resumed::Unknown));
    }

    #[test]
    fn the_newest_reader_gets_the_events_and_an_older_one_takes_over_again() {
        let log = log();
        let mut older = log.attach(STANDALONE, None);
        let mut newer = log.attach(STANDALONE, None);
        log.push(STANDALONE, b"1");
        assert_eq!(drain(&mut older), (vec![], false));
        assert_eq!(drain(&mut newer), (vec!["1".into()], false));
        drop(newer);
        log.push(STANDALONE, b"2");
        assert_eq!(drain(&mut older).0, ["2"]);
    }

    #[test]
    fn one_stream_never_shows_the_events_of_another() {
        let log = log();
        let (a, b) = (log.open(), log.open());
        log.push(a, b"a");
        log.push(b, b"b");
        assert_eq!(drain(&mut log.attach(a, None)).0, ["a"]);
        assert_eq!(drain(&mut log.attach(b, None)).0, ["b"]);
    }

    #[test]
    fn a_session_that_is_never_read_keeps_the_last_notifications_only() {
        let log = log();
        for number in 0..1000 {
            log.push(STANDALONE, number.to_string().as_bytes());
        }
        let (kept, _) = drain(&mut log.attach(STANDALONE, None));
        assert_eq!((kept.len(), kept[0].as_str()), (STANDALONE_WAITING, "744"));
    }

    #[test]
    fn a_large_answer_waits_while_delivered_events_go() {
        let log = log();
        let mut reader = log.attach(STANDALONE, None);
        for _ in 0..100 {
            log.push(STANDALONE, b"x");
        }
        drain(&mut reader);
        let stream = log.open();
        log.push(stream, &vec![b'y'; 2 << 20]);
        log.finish(stream);
        log.push(STANDALONE, b"later");
        assert_eq!(log.streams().events, 2, "the answer and what came later");
        assert_eq!(drain(&mut log.attach(stream, None)).0[0].len(), 2 << 20);
    }

    #[test]
    fn answers_nobody_fetches_do_not_pile_up() {
        let log = log();
        for _ in 0..100 {
            let stream = log.open();
            log.push(stream, &vec![b'y'; 1 << 20]);
            log.finish(stream);
        }
        let streams = log.streams();
        assert!(streams.bytes <= WAITING.bytes && streams.open.len() < 10);
    }

    #[test]
    fn a_closed_session_ends_its_streams_behind_what_was_said() {
        let log = log();
        let mut standing = log.attach(STANDALONE, None);
        log.push(STANDALONE, b"last");
        let stream = log.open();
        let mut request = log.attach(stream, None);
        log.close();
        assert_eq!(drain(&mut standing), (vec!["last".into()], true));
        log.push(stream, b"answer");
        log.finish(stream);
        assert_eq!(drain(&mut request), (vec!["answer".into()], true));
        log.push(STANDALONE, b"late");
        assert!(drain(&mut log.attach(STANDALONE, None)).1);
    }
}
