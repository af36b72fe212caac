//! The bounded queue between the callers that record and the writer thread, and the writer's
//! progress.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::watch;
use toolgate_model::time;

use crate::JournalError;
use crate::JournalPosition;
use crate::batch::RecordBatch;
use crate::chain::RecordTime;

/// How long a record waits to be written together with others, unless a caller waits for it.
pub(crate) const PATIENCE: Duration = Duration::from_millis(50);
/// The number of waiting bytes that triggers a write.
const ENOUGH: usize = 256 << 10;
/// The maximum number of bytes that wait in memory.
pub(crate) const ROOM: usize = 8 << 20;
/// How long after a successful write the next one is expected to succeed too.
const PROVEN: Duration = Duration::from_secs(1);
/// The limit for records that must precede a call. The rest is reserved for calls already running.
const ROOM_FOR_INTENTS: usize = ROOM / 4 * 3;

/// The state that callers and the writer thread share.
#[derive(Debug)]
pub(crate) struct RecordQueue {
    pub(crate) folder: PathBuf,
    state: Mutex<RecordQueueState>,
    wake: Condvar,
    pub(crate) progress: watch::Sender<JournalWriteProgress>,
    writable: AtomicBool,
    /// Until when writes are expected to succeed, in microseconds since `began`.
    proven: AtomicU64,
    began: Instant,
}

/// The progress of the writer.
#[derive(Debug, Clone, Default)]
pub(crate) struct JournalWriteProgress {
    /// The position of the last record on disk.
    pub(crate) synced: u64,
    /// The error, while writing fails.
    pub(crate) failing: Option<Arc<str>>,
    /// Whether the writer has ended.
    pub(crate) ended: bool,
}

/// The part of the queue behind its mutex.
#[derive(Debug, Default)]
pub(crate) struct RecordQueueState {
    batch: RecordBatch,
    /// When the first record of the batch was added.
    since: Option<Instant>,
    /// The number of bytes that the writer is writing.
    writing_bytes: usize,
    /// The number of records accepted so far.
    taken: u64,
    /// The last position that a caller waits for.
    wanted: u64,
    /// The number of records refused for lack of room.
    dropped: u64,
    failing: Option<Arc<str>>,
    pub(crate) closing: bool,
    pub(crate) running: bool,
}

/// The next job of the writer.
#[derive(Debug)]
pub(crate) enum WriterJob {
    /// Write this batch, whose last record has this position.
    Write(RecordBatch, u64),
    /// Sign a checkpoint.
    Checkpoint,
    /// End the chain.
    End,
}

impl RecordQueue {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            state: Mutex::default(),
            wake: Condvar::new(),
            progress: watch::Sender::new(JournalWriteProgress::default()),
            writable: AtomicBool::new(true),
            proven: AtomicU64::new(0),
            began: Instant::now(),
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, RecordQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_writable(&self) -> bool {
        self.writable.load(Ordering::Acquire)
    }

    /// Returns true if a write succeeded a moment ago and none has failed since.
    pub(crate) fn is_recently_synced(&self) -> bool {
        self.is_writable() && self.micros() < self.proven.load(Ordering::Acquire)
    }

    fn micros(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// Returns the time of a record accepted now.
    pub(crate) fn now(&self) -> RecordTime {
        RecordTime { ms: time::to_millis(SystemTime::now()), mono: self.micros() }
    }

    /// Accepts a record. `intent` is true if a call must not run without it.
    pub(crate) fn push(
        &self,
        state: &mut RecordQueueState,
        body: &[u8],
        intent: bool,
    ) -> Result<JournalPosition, JournalError> {
        if state.closing {
            return Err(self.error("the journal is closed"));
        }
        if let Some(why) = state.failing.as_ref().filter(|_| intent) {
            return Err(self.error(why));
        }
        let room = if intent { ROOM_FOR_INTENTS } else { ROOM };
        let weight = state.batch.memory_bytes();
        if state.writing_bytes + weight + body.len() > room {
            state.dropped += 1;
            let why = state
                .failing
                .clone()
                .unwrap_or_else(|| "too many records wait to be written".into());
            return Err(self.error(&why));
        }
        Ok(self.enqueue(state, body))
    }

    fn enqueue(&self, state: &mut RecordQueueState, body: &[u8]) -> JournalPosition {
        let before = state.batch.memory_bytes();
        state.batch.push(body, self.now());
        state.taken += 1;
        if state.since.is_none() {
            state.since = Some(Instant::now());
        }
        // The writer wakes up by itself when the first record has waited long enough.
        if before == 0 || (before < ENOUGH && state.batch.memory_bytes() >= ENOUGH) {
            self.wake.notify_one();
        }
        JournalPosition(state.taken)
    }

    /// Accepts a record of the journal itself, without a limit.
    pub(crate) fn push_internal(&self, body: &[u8]) {
        let mut state = self.lock();
        self.enqueue(&mut state, body);
    }

    /// Requests that a record be written at once.
    pub(crate) fn request_flush(&self, ticket: u64) {
        let mut state = self.lock();
        if ticket > state.wanted {
            state.wanted = ticket;
            self.wake.notify_one();
        }
    }

    /// Requests the end of the chain. Returns true if the writer runs.
    pub(crate) fn close(&self) -> bool {
        let mut state = self.lock();
        state.closing = true;
        self.wake.notify_one();
        state.running
    }

    /// Waits for the next job. `checkpoint` is when one is due. `used` is a batch whose buffers can
    /// be reused.
    pub(crate) fn next_job(
        &self,
        checkpoint: Option<Instant>,
        used: &mut RecordBatch,
    ) -> WriterJob {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            let flush = state.since.map(|since| since + PATIENCE);
            let urgent = state.closing
                || state.wanted > self.progress.borrow().synced
                || state.batch.memory_bytes() >= ENOUGH
                || flush.is_some_and(|flush| flush <= now);
            if !state.batch.is_empty() && urgent {
                let batch = std::mem::replace(&mut state.batch, std::mem::take(used));
                (state.since, state.writing_bytes) = (None, batch.memory_bytes());
                return WriterJob::Write(batch, state.taken);
            }
            if checkpoint.is_some_and(|due| due <= now) {
                return WriterJob::Checkpoint;
            }
            if state.closing {
                return WriterJob::End;
            }
            let until = [flush, checkpoint].into_iter().flatten().min();
            state = match until {
                Some(until) => self.wait(state, until.saturating_duration_since(now)),
                None => self.wake.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    fn wait<'s>(
        &self,
        state: MutexGuard<'s, RecordQueueState>,
        time: Duration,
    ) -> MutexGuard<'s, RecordQueueState> {
        let waited = self.wake.wait_timeout(state, time);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Waits before the next attempt. Returns false if the end was requested.
    pub(crate) fn wait_before_retry(&self, time: Duration) -> bool {
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

    /// Marks all records up to this position as synced. After a failure or refused records, returns
    /// the number of refused records.
    pub(crate) fn mark_synced(&self, ticket: u64) -> Option<u64> {
        let mut state = self.lock();
        state.writing_bytes = 0;
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

    /// Returns the number of refused records since the last report, and resets it.
    pub(crate) fn take_dropped(&self) -> u64 {
        std::mem::take(&mut self.lock().dropped)
    }

    /// Marks the journal as failing.
    pub(crate) fn mark_failing(&self, why: &str) {
        let why: Arc<str> = why.into();
        self.lock().failing = Some(why.clone());
        self.writable.store(false, Ordering::Release);
        self.progress.send_modify(|progress| progress.failing = Some(why));
    }

    /// Marks the writer as ended.
    pub(crate) fn mark_ended(&self) {
        self.lock().running = false;
        self.writable.store(false, Ordering::Release);
        self.progress.send_modify(|progress| progress.ended = true);
    }

    pub(crate) fn error(&self, why: &str) -> JournalError {
        JournalError::Write { path: self.folder.clone(), why: why.to_owned() }
    }
}
