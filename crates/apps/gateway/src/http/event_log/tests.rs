//! The log alone: waiting, replay, bounds, and the end.

use super::*;
use crate::http::stream::EventSource;
use bytes::Bytes;
use futures_util::FutureExt;
use std::future::poll_fn;

/// What a reader gets now: the data of its events, and whether the stream has ended.
fn drain(reader: &mut EventLogReader) -> (Vec<String>, bool) {
    let mut data = Vec::new();
    loop {
        match poll_fn(|context| reader.poll_next(context)).now_or_never() {
            Some(Some(mut event)) => {
                let event = event.next_chunk().unwrap().unwrap();
                let text = String::from_utf8(event.to_vec()).unwrap();
                let line = text.lines().find_map(|line| line.strip_prefix("data: "));
                data.push(line.unwrap().to_owned());
            }
            Some(None) => return (data, true),
            None => return (data, false),
        }
    }
}

fn push(log: &SessionEventLog, stream: u64, message: &[u8]) {
    log.push(stream, Bytes::copy_from_slice(message).into());
}

fn log() -> Arc<SessionEventLog> {
    Arc::new(SessionEventLog::new())
}

#[test]
fn what_waited_is_delivered_when_a_reader_comes_and_not_twice() {
    let log = log();
    push(&log, STANDALONE, b"1");
    push(&log, STANDALONE, b"2");
    let mut first = log.attach(STANDALONE, None);
    assert_eq!(drain(&mut first), (vec!["1".into(), "2".into()], false));
    drop(first);
    push(&log, STANDALONE, b"3");
    assert_eq!(drain(&mut log.attach(STANDALONE, None)).0, ["3"]);
}

#[test]
fn a_stream_is_replayed_behind_the_last_event_seen() {
    let log = log();
    let stream = log.open();
    for data in [b"1", b"2", b"3"] {
        push(&log, stream, data);
    }
    drop(drain(&mut log.attach(stream, None)));
    let ResumeOutcome::Stream(mut reader) = log.resume(&format!("{stream}-1")) else { panic!() };
    push(&log, stream, b"4");
    log.finish(stream);
    assert_eq!(drain(&mut reader), (vec!["2".into(), "3".into(), "4".into()], true));
}

#[test]
fn a_stream_that_was_read_to_its_end_is_over_and_soon_forgotten() {
    let log = log();
    let stream = log.open();
    push(&log, stream, b"1");
    log.finish(stream);
    assert!(drain(&mut log.attach(stream, None)).1);
    assert!(matches!(log.resume(&format!("{stream}-1")), ResumeOutcome::Finished));
    let ResumeOutcome::Stream(mut lost) = log.resume(&format!("{stream}-0")) else { panic!() };
    assert_eq!(drain(&mut lost), (vec!["1".into()], true));
    drop(lost);
    let clock = CoarseClock::default();
    log.sweep(&clock);
    clock.set(REPLAY_TTL * 2);
    log.sweep(&clock);
    let (events, bytes) = {
        let streams = log.streams.lock();
        (streams.events, streams.bytes)
    };
    assert_eq!((events, bytes), (0, 0));
    assert!(matches!(log.resume(&format!("{stream}-0")), ResumeOutcome::Finished));
    assert!(matches!(log.resume("99-1"), ResumeOutcome::Unknown));
    assert!(matches!(log.resume("nonsense"), ResumeOutcome::Unknown));
}

#[test]
fn the_newest_reader_gets_the_events_and_an_older_one_takes_over_again() {
    let log = log();
    let mut older = log.attach(STANDALONE, None);
    let mut newer = log.attach(STANDALONE, None);
    push(&log, STANDALONE, b"1");
    assert_eq!(drain(&mut older), (vec![], false));
    assert_eq!(drain(&mut newer), (vec!["1".into()], false));
    drop(newer);
    push(&log, STANDALONE, b"2");
    assert_eq!(drain(&mut older).0, ["2"]);
}

#[test]
fn one_stream_never_shows_the_events_of_another() {
    let log = log();
    let (a, b) = (log.open(), log.open());
    push(&log, a, b"a");
    push(&log, b, b"b");
    assert_eq!(drain(&mut log.attach(a, None)).0, ["a"]);
    assert_eq!(drain(&mut log.attach(b, None)).0, ["b"]);
}

#[test]
fn a_session_that_is_never_read_keeps_the_last_notifications_only() {
    let log = log();
    for number in 0..1000 {
        push(&log, STANDALONE, number.to_string().as_bytes());
    }
    let (kept, _) = drain(&mut log.attach(STANDALONE, None));
    assert_eq!((kept.len(), kept[0].as_str()), (MAX_STANDALONE_WAITING, "744"));
}

#[test]
fn a_large_answer_waits_while_delivered_events_go() {
    let log = log();
    let mut reader = log.attach(STANDALONE, None);
    for _ in 0..100 {
        push(&log, STANDALONE, b"x");
    }
    drain(&mut reader);
    let stream = log.open();
    push(&log, stream, &vec![b'y'; 2 << 20]);
    log.finish(stream);
    push(&log, STANDALONE, b"later");
    assert_eq!(log.streams.lock().events, 2, "the answer and what came later");
    assert_eq!(drain(&mut log.attach(stream, None)).0[0].len(), 2 << 20);
}

#[test]
fn answers_nobody_fetches_do_not_pile_up() {
    let log = log();
    for _ in 0..100 {
        let stream = log.open();
        push(&log, stream, &vec![b'y'; 1 << 20]);
        log.finish(stream);
    }
    let streams = log.streams.lock();
    assert!(streams.bytes <= WAITING_LIMITS.bytes && streams.open.len() < 10);
}

#[test]
fn a_closed_session_ends_its_streams_behind_what_was_said() {
    let log = log();
    let mut standing = log.attach(STANDALONE, None);
    push(&log, STANDALONE, b"last");
    let stream = log.open();
    let mut request = log.attach(stream, None);
    log.close();
    assert_eq!(drain(&mut standing), (vec!["last".into()], true));
    push(&log, stream, b"answer");
    log.finish(stream);
    assert_eq!(drain(&mut request), (vec!["answer".into()], true));
    push(&log, STANDALONE, b"late");
    assert!(drain(&mut log.attach(STANDALONE, None)).1);
}
