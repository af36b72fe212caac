//! The journal: a tamper-evident, append-only record of decisions and outcomes.
//!
//! Every writing process has its own chain: segments with one JSON record per line, each with the
//! hash of the record before it, and signed checkpoints. The journal accepts records immediately,
//! and a separate thread writes many of them with one sync. Callers can wait until a record is on
//! disk. `docs/reference/journal.md` describes the file format.
//!
//! While the journal cannot be written, it reports an error and refuses records that must precede
//! an action. The caller decides whether other calls may continue.

mod batch;
mod body;
mod chain;
mod chain_file;
mod checkpoint;
mod disk;
mod entry;
mod error;
mod follow;
mod json;
mod key;
mod layout;
mod private_files;
mod queue;
mod read;
mod record;
mod recover;
mod redact;
mod secret_patterns;
mod verify;
mod writer;

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use toolgate_model::{Effect, Mask};

pub use entry::{DecidedCall, EntryEvent, JournalEntry, OversizeJournalValue};
pub use error::JournalError;
pub use follow::JournalFollower;
pub use key::JournalPublicKey;
pub use layout::JournalPaths;
pub use read::{JournalEntries, read, read_since};
pub use record::{JournalEvent, JournalOutcome, JournalRecord, params_digest};
pub use verify::{JournalProblem, JournalProblemKind, VerifyReport, verify};

use disk::{JournalDisk, RealDisk};
use queue::RecordQueue;
use writer::JournalWriter;

/// The length at which a segment is closed.
const SEGMENT_BYTES: u64 = 16 << 20;

/// The position of a record among those of this process. Later records have larger positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct JournalPosition(pub u64);

/// The journal of one writing process.
#[derive(Debug)]
pub struct Journal {
    queue: Arc<RecordQueue>,
    mask: OnceLock<Arc<ArcSwap<Mask>>>,
    paths: JournalPaths,
    disk: Arc<dyn JournalDisk>,
    segment_bytes: u64,
}

impl Journal {
    /// Creates a journal in this folder, with its checkpoints and its key beside it. Nothing is
    /// written before the first record, not even the folder.
    pub fn new(folder: PathBuf) -> Self {
        Self::with_disk(Arc::new(RealDisk), JournalPaths::for_folder(folder), SEGMENT_BYTES)
    }

    fn with_disk(disk: Arc<dyn JournalDisk>, paths: JournalPaths, segment_bytes: u64) -> Self {
        let queue = Arc::new(RecordQueue::new(paths.folder.clone()));
        Self { queue, mask: OnceLock::new(), paths, disk, segment_bytes }
    }

    /// Removes the values of this mask from all further records. The owner of the mask keeps it
    /// current. Only the first call has an effect.
    pub fn set_mask(&self, mask: Arc<ArcSwap<Mask>>) {
        // There is one mask per process; a second call is ignored.
        let _ = self.mask.set(mask);
    }

    /// Returns the paths of the journal.
    pub fn paths(&self) -> &JournalPaths {
        &self.paths
    }

    /// Accepts a record, which is written soon, together with others. [`Journal::wait_durable`]
    /// waits until it is on disk. This never blocks on the disk.
    ///
    /// While the journal cannot be written, this refuses the record of an allowed call that is not
    /// read-only, because such a call must not run. Other records wait in memory while there is
    /// room.
    pub fn append(&self, record: &JournalRecord<'_>) -> Result<JournalPosition, JournalError> {
        thread_local! {
            static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
        }
        let intent = matches!(
            record.event,
            JournalEvent::Decided { effect: Effect::Allow, read_only: false, .. }
        );
        SCRATCH.with_borrow_mut(|body| {
            body.clear();
            let mask = self.mask.get().map(|mask| mask.load_full()).unwrap_or_default();
            body::write(record, &mask, body);
            let taken = self.enqueue(body, intent);
            body.shrink_to(64 << 10);
            taken
        })
    }

    fn enqueue(&self, body: &[u8], intent: bool) -> Result<JournalPosition, JournalError> {
        let mut state = self.queue.lock();
        if !state.running && !state.closing {
            let writer = JournalWriter {
                queue: self.queue.clone(),
                paths: self.paths.clone(),
                disk: self.disk.clone(),
                segment_bytes: self.segment_bytes,
            };
            let thread = std::thread::Builder::new().name("journal".into());
            let spawned = thread.spawn(move || writer.run());
            spawned.map_err(|error| self.queue.error(&error.to_string()))?;
            state.running = true;
        }
        self.queue.push(&mut state, body, intent)
    }

    /// Waits until a record is on disk. Returns an error if it cannot be written now. It may still
    /// be written later, so a caller that gives up should record that too.
    pub async fn wait_durable(&self, ticket: JournalPosition) -> Result<(), JournalError> {
        let mut progress = self.queue.progress.subscribe();
        if progress.borrow().synced >= ticket.0 {
            return Ok(());
        }
        self.queue.request_flush(ticket.0);
        let known = progress
            .wait_for(|it| it.synced >= ticket.0 || it.failing.is_some() || it.ended)
            .await
            .map_err(|_| self.queue.error("its writer has ended"))?;
        match (&known.failing, known.synced >= ticket.0) {
            (_, true) => Ok(()),
            (Some(why), false) => Err(self.queue.error(why)),
            (None, false) => Err(self.queue.error("the journal is closed")),
        }
    }

    /// Returns true if the last write succeeded. After a failure the writer keeps retrying.
    pub fn is_writable(&self) -> bool {
        self.queue.is_writable()
    }

    /// Returns true if a write succeeded a moment ago, so that the next one probably will too.
    /// Before the first record and after a pause, the state of the disk is unknown.
    pub fn is_recently_synced(&self) -> bool {
        self.queue.is_recently_synced()
    }

    /// Writes all records, signs a last checkpoint, and ends. Later records are refused.
    pub async fn close(&self) -> Result<(), JournalError> {
        if !self.queue.close() {
            return Ok(());
        }
        let mut progress = self.queue.progress.subscribe();
        let ended = progress.wait_for(|progress| progress.ended).await;
        let ended = ended.map_err(|_| self.queue.error("its writer has ended"))?;
        match &ended.failing {
            Some(why) => Err(self.queue.error(why)),
            None => Ok(()),
        }
    }
}

impl Drop for Journal {
    /// Lets the writer finish the accepted records in the background.
    fn drop(&mut self) {
        self.queue.close();
    }
}

#[cfg(test)]
mod tests;
