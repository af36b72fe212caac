//! What stands between those who record and the one who writes: a bounded queue, and how far the
//! writing is.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::batch::Batch;
use super::chain::When;
use super::{Ticket, time};
use crate::StoreError;

/// Records wait so long for others to be written with them, unless somebody waits for them.
pub(super) const PATIENCE: Duration = Duration::from_millis(50);
/// So much is written at once, whoever waits.
const ENOUGH: usize = 256 << 10;
/// So much may wait in memory.
pub(super) const ROOM: usize = 8 << 20;
/// So long after something was written it is taken for granted that the next can be, too.
const PROVEN: Duration = Duration::from_secs(1);
/// Records that something must not happen without stop here: what is under way must find room.
const ROOM_FOR_INTENTS: usize = ROOM / 4 * 3;

/// Everything the two sides share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) folder: PathBuf,
    state: Mutex<State>,
    wake: Condvar,
    pub(super) progress: watch::Sender<Progress>,
    writable: AtomicBool,
    /// Until when it is, in microseconds since it began.
    proven: AtomicU64,
    began: Instant,
}

/// How far the writing is.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress {
    /// The last record on disk.
    pub(super) synced: u64,
    /// Why nothing can be written, if so.
    pub(super) failing: Option<Arc<str>>,
    /// Whether nothing more will be written.
    pub(super) ended: bool,
}

#[derive(Debug, Default)]
pub(super) struct State {
    batch: Batch,
    /// When the first of them came.
    since: Option<Instant>,
    /// How much the writer holds in his hands.
    in_hand: usize,
    /// Records taken so far.
    taken: u64,
    /// The last record somebody waits for.
    wanted: u64,
    /// Records that found no room.
    dropped: u64,
    failing: Option<Arc<str>>,
    pub(super) closing: bool,
    pub(super) running: bool,
}

/// What the writer is to do next.
#[derive(Debug)]
pub(super) enum Work {
    /// Write these; the last of them has this ticket.
    Write(Batch, u64),
    /// Sign a checkpoint.
    Checkpoint,
    /// Stop.
    End,
}

impl Shared {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            state: Mutex::default(),
            wake: Condvar::new(),
            progress: watch::Sender::new(Progress::default()),
            writable: AtomicBool::new(true),
            proven: AtomicU64::new(0),
            began: Instant::now(),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_writable(&self) -> bool {
        self.writable.load(Ordering::Acquire)
    }

    /// Whether something was written a moment ago, and nothing has failed since.
    pub(super) fn is_proven(&self) -> bool {
        self.is_writable() && self.micros() < self.proven.load(Ordering::Acquire)
    }

    fn micros(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// The point in time for a record taken now.
    pub(super) fn now(&self) -> When {
        When { ms: time::now(), mono: self.micros() }
    }

    /// Takes a record; `intent` if something must not happen without it.
    pub(super) fn push(
        &self,
        state: &mut State,
        body: &[u8],
        intent: bool,
    ) -> Result<Ticket, StoreError> {
        if state.closing {
            return Err(self.error("it is closed"));
        }
        if let Some(why) = state.failing.as_ref().filter(|_| intent) {
            return Err(self.error(why));
        }
        let room = if intent { ROOM_FOR_INTENTS } else { ROOM };
        let weight = state.batch.weight();
        if state.in_hand + weight + body.len() > room {
            state.dropped += 1;
            let why =
                state.failing.clone().unwrap_or_else(|| "too much waits to be written".into());
            return Err(self.error(&why));
        }
        Ok(self.taken(state, body))
    }

    fn taken(&self, state: &mut State, body: &[u8]) -> Ticket {
        let before = state.batch.weight();
        state.batch.push(body, self.now());
        state.taken += 1;
        if state.since.is_none() {
            state.since = Some(Instant::now());
        }
        // Whoever writes looks by himself when the time of the first is over.
        if before == 0 || (before < ENOUGH && state.batch.weight() >= ENOUGH) {
            self.wake.notify_one();
        }
        Ticket(state.taken)
    }

    /// Takes a record of the journal's own, for which there is always room.
    pub(super) fn push_own(&self, body: &[u8]) {
        let mut state = self.lock();
        self.taken(&mut state, body);
    }

    /// Asks for a record to be written at once.
    pub(super) fn want(&self, ticket: u64) {
        let mut state = self.lock();
        if ticket > state.wanted {
            state.wanted = ticket;
            self.wake.notify_one();
        }
    }

    /// Asks for the end.
    pub(super) fn close(&self) -> bool {
        let mut state = self.lock();
        state.closing = true;
        self.wake.notify_one();
        state.running
    }

    /// Waits for work. `checkpoint` is when one is due; `used` is a batch whose buffers are free.
    pub(super) fn next(&self, checkpoint: Option<Instant>, used: &mut Batch) -> Work {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            let flush = state.since.map(|since| since + PATIENCE);
            let urgent = state.closing
                || state.wanted > self.progress.borrow().synced
                || state.batch.weight() >= ENOUGH
                || flush.is_some_and(|flush| flush <= now);
            if !state.batch.is_empty() && urgent {
                let batch = std::mem::replace(&mut state.batch, std::mem::take(used));
                (state.since, state.in_hand) = (None, batch.weight());
                return Work::Write(batch, state.taken);
            }
            if checkpoint.is_some_and(|due| due <= now) {
                return Work::Checkpoint;
            }
            if state.closing {
                return Work::End;
            }
            let until = [flush, checkpoint].into_iter().flatten().min();
            state = match until {
                Some(until) => self.wait(state, until.saturating_duration_since(now)),
                None => self.wake.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>, time: Duration) -> MutexGuard<'s, State> {
        let waited = self.wake.wait_timeout(state, time);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Waits before the next try; `false` if the end was asked for.
    pub(super) fn pause(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut state = self.lock();
        while !state.closing {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            state = self.wait(state, left);
        }
        false
    }

    /// Everything up to this ticket is on disk. How many records found no room until then, if
    /// nothing could be written before.
    pub(super) fn synced(&self, ticket: u64) -> Option<u64> {
        let mut state = self.lock();
        state.in_hand = 0;
        let failed = state.failing.take().is_some();
        let dropped = std::mem::take(&mut state.dropped);
        let until = Duration::from_micros(self.micros()) + PROVEN;
        let until = u64::try_from(until.as_micros()).unwrap_or(u64::MAX);
        self.proven.store(until, Ordering::Release);
        self.writable.store(true, Ordering::Release);
        self.progress.send_modify(|progress| {
            (progress.synced, progress.failing) = (ticket, None);
        });
        (failed || dropped > 0).then_some(dropped)
    }

    /// How many records found no room since anybody was told.
    pub(super) fn dropped(&self) -> u64 {
        std::mem::take(&mut self.lock().dropped)
    }

    /// Nothing can be written.
    pub(super) fn failed(&self, why: &str) {
        let why: Arc<str> = why.into();
        self.lock().failing = Some(why.clone());
        self.writable.store(false, Ordering::Release);
        self.progress.send_modify(|progress| progress.failing = Some(why));
    }

    /// Nothing more will be written.
    pub(super) fn ended(&self) {
        self.lock().running = false;
        self.writable.store(false, Ordering::Release);
        self.progress.send_modify(|progress| progress.ended = true);
    }

    pub(super) fn error(&self, why: &str) -> StoreError {
        StoreError::Journal { path: self.folder.clone(), why: why.to_owned() }
    }
}
