//! A coarse clock for connections and sessions that is cheap to read.
//!
//! A periodic sweep finds slow and idle peers, instead of a timer per request. So a request only
//! pays for storing a number.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use super::headers::strip_prefix_ignore_case;
use crate::ConnectionTimeouts;
use crate::peer::ConnectionPeer;

/// Milliseconds since the server started, as of the last sweep.
#[derive(Debug, Default)]
pub(crate) struct CoarseClock(AtomicU64);

impl CoarseClock {
    pub(crate) fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn set(&self, elapsed: Duration) {
        self.0.store(millis(elapsed), Ordering::Relaxed);
    }

    /// Returns true if more than `span` has passed since `then`.
    pub(crate) fn has_elapsed(&self, then: u64, span: Duration) -> bool {
        self.now().saturating_sub(then) > millis(span)
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// The phase of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum HttpConnectionPhase {
    /// The connection waits for a request to begin.
    Idle,
    /// A request head has begun and is incomplete.
    Head,
    /// A body has begun and is incomplete. The code that reads it enforces its time limit.
    Body,
    /// An event stream is open and its client has not sent a message yet. The code that opened it
    /// enforces its time limit.
    Silent,
    /// A request is being served. Its body and its events have limits of their own.
    Serving,
}

/// The value of `stalled_since` while no write is blocked.
const NOT_STALLED: u64 = u64::MAX;

/// How much of a request head is kept. hyper rejects a longer one.
const MAX_KEPT_HEAD: usize = 40 << 10;

/// The state of one connection. The sweep decides by it which connections to close.
#[derive(Debug)]
pub(crate) struct HttpConnectionState {
    clock: Arc<CoarseClock>,
    phase: AtomicU8,
    since: AtomicU64,
    stalled_since: AtomicU64,
    head: Mutex<Vec<u8>>,
    /// The peer of this connection.
    pub(crate) peer: Arc<ConnectionPeer>,
}

impl HttpConnectionState {
    pub(crate) fn new(clock: Arc<CoarseClock>, peer: Arc<ConnectionPeer>) -> Self {
        let since = AtomicU64::new(clock.now());
        let phase = AtomicU8::new(HttpConnectionPhase::Idle as u8);
        let (stalled, head) = (AtomicU64::new(NOT_STALLED), Mutex::default());
        Self { clock, phase, since, stalled_since: stalled, head, peer }
    }

    pub(crate) fn set_phase(&self, phase: HttpConnectionPhase) {
        self.phase.store(phase as u8, Ordering::Relaxed);
        self.since.store(self.clock.now(), Ordering::Relaxed);
    }

    /// Records received bytes. Those of a head are kept until its request is served.
    pub(crate) fn record_read(&self, bytes: &[u8]) {
        if self.is_in_phase(HttpConnectionPhase::Idle) {
            self.set_phase(HttpConnectionPhase::Head);
        }
        if self.is_in_phase(HttpConnectionPhase::Head) {
            let mut head = self.head.lock();
            let room = MAX_KEPT_HEAD.saturating_sub(head.len()).min(bytes.len());
            head.extend_from_slice(&bytes[..room]);
        }
    }

    /// Returns true if the last request head declares a length, or if the kept bytes do not contain
    /// all of it, as happens with a client that pipelines requests. Forgets the kept bytes.
    pub(crate) fn take_declared_length(&self) -> bool {
        let mut head = self.head.lock();
        let mut lines = head.split(|byte| *byte == b'\n').map(|line| line.trim_ascii_end());
        let begins = lines.next().is_some_and(|line| line.ends_with(b" HTTP/1.1"));
        let mut fields = lines.take_while(|line| !line.is_empty());
        let is_length = |field| strip_prefix_ignore_case(field, b"content-length:").is_some();
        let declared = !begins || fields.any(is_length);
        head.clear();
        declared
    }

    /// Forgets the kept bytes of the head.
    pub(crate) fn forget_head(&self) {
        self.head.lock().clear();
    }

    /// Records whether a write made progress.
    pub(crate) fn record_write(&self, flowing: bool) {
        if flowing {
            self.stalled_since.store(NOT_STALLED, Ordering::Relaxed);
        } else if self.stalled_since.load(Ordering::Relaxed) == NOT_STALLED {
            self.stalled_since.store(self.clock.now(), Ordering::Relaxed);
        }
    }

    fn is_in_phase(&self, phase: HttpConnectionPhase) -> bool {
        self.phase.load(Ordering::Relaxed) == phase as u8
    }

    /// Returns how strongly this connection should be closed to make room, or `None` if it is being
    /// served. An incomplete request counts more than one that has not begun; then the longer wait
    /// decides.
    pub(crate) fn eviction_priority(&self) -> Option<(bool, u64)> {
        let waited = self.clock.now().saturating_sub(self.since.load(Ordering::Relaxed));
        (!self.is_in_phase(HttpConnectionPhase::Serving))
            .then(|| (!self.is_in_phase(HttpConnectionPhase::Idle), waited))
    }

    /// Returns true if no request has begun and the peer has had at most `span` to begin one.
    pub(crate) fn is_fresh(&self, span: Duration) -> bool {
        self.is_in_phase(HttpConnectionPhase::Idle)
            && !self.clock.has_elapsed(self.since.load(Ordering::Relaxed), span)
    }

    /// Returns true if the peer has exceeded a timeout.
    pub(crate) fn is_overdue(&self, timeouts: &ConnectionTimeouts) -> bool {
        let since = self.since.load(Ordering::Relaxed);
        let stalled = self.stalled_since.load(Ordering::Relaxed);
        (self.is_in_phase(HttpConnectionPhase::Head)
            && self.clock.has_elapsed(since, timeouts.head))
            || (self.is_in_phase(HttpConnectionPhase::Idle)
                && self.clock.has_elapsed(since, timeouts.idle))
            || (stalled != NOT_STALLED && self.clock.has_elapsed(stalled, timeouts.stall))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(millis: u64, act: impl Fn(&HttpConnectionState)) -> bool {
        let clock = Arc::new(CoarseClock::default());
        let state = HttpConnectionState::new(clock.clone(), ConnectionPeer::for_lines(0));
        act(&state);
        clock.set(Duration::from_millis(millis));
        state.is_overdue(&ConnectionTimeouts::default())
    }

    #[test]
    fn a_slow_head_is_cut_and_a_slow_answer_is_not() {
        let begin = |state: &HttpConnectionState| state.record_read(b"POST");
        assert!(!after(9_000, begin));
        assert!(after(11_000, begin));
        assert!(!after(600_000, |state| state.set_phase(HttpConnectionPhase::Serving)));
    }

    #[test]
    fn a_declared_length_is_seen_in_heads_only_and_an_unseen_head_counts_as_one() {
        let state = HttpConnectionState::new(
            Arc::new(CoarseClock::default()),
            ConnectionPeer::for_lines(0),
        );
        let declared = |pieces: &[&str]| {
            state.set_phase(HttpConnectionPhase::Idle);
            pieces.iter().for_each(|piece| state.record_read(piece.as_bytes()));
            state.take_declared_length()
        };
        assert!(!declared(&["POST /mcp HTTP/1.1\r\nHost: a\r\n\r\n5\r\ncontent-length: 1\r\n"]));
        assert!(declared(&["POST /mcp HTTP/1.1\r\ncontent-LENGTH: 1\r\n\r\n"]));
        assert!(declared(&["POST /mcp HTTP/1.1\r\nCont", "ent-Length: 1\n\n"]));
        assert!(declared(&["a: b\r\n\r\n"]), "its beginning came with the request before");
        assert!(declared(&[]));
    }

    #[test]
    fn an_idle_connection_is_cut_after_a_minute() {
        assert!(!after(59_000, |_| {}));
        assert!(after(61_000, |_| {}));
    }

    #[test]
    fn a_begun_request_dawdles_more_than_none_and_a_served_one_not_at_all() {
        let clock = Arc::new(CoarseClock::default());
        let [idle, begun, served] = std::array::from_fn(|_| {
            HttpConnectionState::new(clock.clone(), ConnectionPeer::for_lines(0))
        });
        clock.set(Duration::from_secs(5));
        begun.record_read(b"POST");
        served.set_phase(HttpConnectionPhase::Serving);
        clock.set(Duration::from_secs(6));
        assert!(begun.eviction_priority() > idle.eviction_priority());
        assert!(idle.eviction_priority() > served.eviction_priority());
        assert_eq!(served.eviction_priority(), None);
    }

    #[test]
    fn a_peer_that_does_not_read_is_cut_even_while_served() {
        let stalled = |state: &HttpConnectionState| {
            state.set_phase(HttpConnectionPhase::Serving);
            state.record_write(false);
        };
        assert!(after(31_000, stalled));
        assert!(!after(31_000, |state| {
            stalled(state);
            state.record_write(true);
        }));
    }
}
