//! The time as connections and sessions see it: coarse, and free to read.
//!
//! Slow and idle peers are found by one sweep now and then, not by a timer per request, so all a
//! request pays is storing a number.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::Cuts;
use crate::peer::Peer;

/// Milliseconds since the server began, as of the last sweep.
#[derive(Debug, Default)]
pub(crate) struct Clock(AtomicU64);

impl Clock {
    pub(crate) fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn set(&self, elapsed: Duration) {
        self.0.store(millis(elapsed), Ordering::Relaxed);
    }

    /// Whether more than `span` has passed since `then`.
    pub(crate) fn past(&self, then: u64, span: Duration) -> bool {
        self.now().saturating_sub(then) > millis(span)
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// What a connection is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Phase {
    /// Waiting for a request to begin.
    Idle,
    /// A head has begun and is not complete.
    Head,
    /// A body has begun and is not complete; whoever reads it gives it its time.
    Body,
    /// A stream is open whose client has said nothing yet; whoever opened it gives it its time.
    Silent,
    /// A request is being served. Its body and its events have limits of their own.
    Serving,
}

/// No write is waiting.
const FLOWING: u64 = u64::MAX;

/// How much of a head is kept; hyper refuses a longer one.
const KEPT_HEAD: usize = 40 << 10;

fn starts_with(line: &[u8], name: &[u8]) -> bool {
    line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
}

/// The state of one connection, for the sweep to judge.
#[derive(Debug)]
pub(crate) struct Pulse {
    clock: Arc<Clock>,
    phase: AtomicU8,
    since: AtomicU64,
    stalled: AtomicU64,
    head: Mutex<Vec<u8>>,
    /// Who is at the other end.
    pub(crate) peer: Arc<Peer>,
}

impl Pulse {
    pub(crate) fn new(clock: Arc<Clock>, peer: Arc<Peer>) -> Self {
        let since = AtomicU64::new(clock.now());
        let phase = AtomicU8::new(Phase::Idle as u8);
        let (stalled, head) = (AtomicU64::new(FLOWING), Mutex::default());
        Self { clock, phase, since, stalled, head, peer }
    }

    pub(crate) fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Relaxed);
        self.since.store(self.clock.now(), Ordering::Relaxed);
    }

    /// These bytes came in. Those of a head are kept until its request is served.
    pub(crate) fn heard(&self, bytes: &[u8]) {
        if self.is(Phase::Idle) {
            self.enter(Phase::Head);
        }
        if self.is(Phase::Head) {
            let mut head = self.head();
            let room = KEPT_HEAD.saturating_sub(head.len()).min(bytes.len());
            head.extend_from_slice(&bytes[..room]);
        }
    }

    fn head(&self) -> MutexGuard<'_, Vec<u8>> {
        self.head.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the head that came last declares a length, or did not come whole as far as we saw: a
    /// client that sends the next request before it has the answer to this one. What was kept of it
    /// is forgotten.
    pub(crate) fn take_declared_length(&self) -> bool {
        let mut head = self.head();
        let mut lines = head.split(|byte| *byte == b'\n').map(|line| line.trim_ascii_end());
        let begins = lines.next().is_some_and(|line| line.ends_with(b" HTTP/1.1"));
        let mut fields = lines.take_while(|line| !line.is_empty());
        let declared = !begins || fields.any(|field| starts_with(field, b"content-length:"));
        head.clear();
        declared
    }

    /// What was kept of the head is not needed.
    pub(crate) fn forget_head(&self) {
        self.head().clear();
    }

    /// A write could go on, or could not.
    pub(crate) fn wrote(&self, flowing: bool) {
        if flowing {
            self.stalled.store(FLOWING, Ordering::Relaxed);
        } else if self.stalled.load(Ordering::Relaxed) == FLOWING {
            self.stalled.store(self.clock.now(), Ordering::Relaxed);
        }
    }

    fn is(&self, phase: Phase) -> bool {
        self.phase.load(Ordering::Relaxed) == phase as u8
    }

    /// For how long the peer has kept us waiting, the more the better a reason to cut it: a request
    /// that does not come to its end weighs more than one that has not begun. `None` if it waits
    /// for us.
    pub(crate) fn dawdling(&self) -> Option<(bool, u64)> {
        let waited = self.clock.now().saturating_sub(self.since.load(Ordering::Relaxed));
        (!self.is(Phase::Serving)).then(|| (!self.is(Phase::Idle), waited))
    }

    /// Whether no request has begun, and the peer has had no more than `span` to begin one.
    pub(crate) fn is_fresh(&self, span: Duration) -> bool {
        self.is(Phase::Idle) && !self.clock.past(self.since.load(Ordering::Relaxed), span)
    }

    /// Whether the peer has kept us waiting for too long.
    pub(crate) fn overdue(&self, cuts: &Cuts) -> bool {
        let since = self.since.load(Ordering::Relaxed);
        let stalled = self.stalled.load(Ordering::Relaxed);
        (self.is(Phase::Head) && self.clock.past(since, cuts.head))
            || (self.is(Phase::Idle) && self.clock.past(since, cuts.idle))
            || (stalled != FLOWING && self.clock.past(stalled, cuts.stall))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(millis: u64, act: impl Fn(&Pulse)) -> bool {
        let clock = Arc::new(Clock::default());
        let pulse = Pulse::new(clock.clone(), Arc::default());
        act(&pulse);
        clock.set(Duration::from_millis(millis));
        pulse.overdue(&Cuts::default())
    }

    #[test]
    fn a_slow_head_is_cut_and_a_slow_answer_is_not() {
        let begin = |pulse: &Pulse| pulse.heard(b"POST");
        assert!(!after(9_000, begin));
        assert!(after(11_000, begin));
        assert!(!after(600_000, |pulse| pulse.enter(Phase::Serving)));
    }

    #[test]
    fn a_declared_length_is_seen_in_heads_only_and_an_unseen_head_counts_as_one() {
        let pulse = Pulse::new(Arc::new(Clock::default()), Arc::default());
        let declared = |pieces: &[&str]| {
            pulse.enter(Phase::Idle);
            pieces.iter().for_each(|piece| pulse.heard(piece.as_bytes()));
            pulse.take_declared_length()
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
        let clock = Arc::new(Clock::default());
        let [idle, begun, served] =
            std::array::from_fn(|_| Pulse::new(clock.clone(), Arc::default()));
        clock.set(Duration::from_secs(5));
        begun.heard(b"POST");
        served.enter(Phase::Serving);
        clock.set(Duration::from_secs(6));
        assert!(begun.dawdling() > idle.dawdling());
        assert!(idle.dawdling() > served.dawdling());
        assert_eq!(served.dawdling(), None);
    }

    #[test]
    fn a_peer_that_does_not_read_is_cut_even_while_served() {
        let stalled = |pulse: &Pulse| {
            pulse.enter(Phase::Serving);
            pulse.wrote(false);
        };
        assert!(after(31_000, stalled));
        assert!(!after(31_000, |pulse| {
            stalled(pulse);
            pulse.wrote(true);
        }));
    }
}
