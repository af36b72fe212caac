//! The journal: what was decided and done, in append-only files that show when somebody changed
//! them.
//!
//! Every process that writes has a chain of its own: segments of one JSON record per line, each with
//! the hash of the one before, and signed checkpoints beside them. Records are taken at once and
//! written by a thread of their own, many with one sync; whoever must not go on before a record is
//! on disk waits for it. `docs/journal.md` says exactly what the files hold.
//!
//! Nothing here decides whether a call may go on while the journal cannot be written: it says that
//! it cannot, and refuses to take what something must not happen without.

mod batch;
mod body;
mod chain;
mod checkpoint;
mod disk;
mod entry;
mod follow;
mod json;
mod key;
mod layout;
mod patterns;
mod queue;
mod read;
mod record;
mod recover;
mod redact;
mod tape;
mod time;
mod verify;
mod writer;

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use toolgate_model::{Effect, Mask};

pub use entry::{Decided, Entry, Happened, Oversize};
pub use follow::Follower;
pub use key::PublicKey;
pub use layout::Places;
pub use read::{Entries, read, read_since};
pub use record::{Event, Outcome, Record, params_digest};
pub use time::{parse_rfc3339, rfc3339, rfc3339_of};
pub use verify::{Fault, Problem, Report, verify};

use crate::StoreError;
use disk::{Disk, RealDisk};
use queue::Shared;
use writer::Writer;

/// A segment that has become this long is closed.
const SEGMENT_BYTES: u64 = 16 << 20;

/// Where a record stands among those this process took; later is larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// The journal of one writing process.
#[derive(Debug)]
pub struct Journal {
    shared: Arc<Shared>,
    mask: OnceLock<Arc<ArcSwap<Mask>>>,
    places: Places,
    disk: Arc<dyn Disk>,
    segment_bytes: u64,
}

impl Journal {
    /// A journal in this folder, its checkpoints and its key beside it. Nothing is written, not even
    /// the folder, before the first record.
    pub fn new(folder: PathBuf) -> Self {
        Self::at(Places::beside(folder))
    }

    /// A journal in these places.
    pub fn at(places: Places) -> Self {
        Self::on(Arc::new(RealDisk), places, SEGMENT_BYTES)
    }

    fn on(disk: Arc<dyn Disk>, places: Places, segment_bytes: u64) -> Self {
        let shared = Arc::new(Shared::new(places.folder.clone()));
        Self { shared, mask: OnceLock::new(), places, disk, segment_bytes }
    }

    /// Takes these values out of everything that is recorded from now on. Whoever knows them keeps
    /// them current. Only the first call counts.
    pub fn mask(&self, mask: Arc<ArcSwap<Mask>>) {
        // A second mask would be one that somebody believes to count.
        let _ = self.mask.set(mask);
    }

    /// Where it is.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Takes a record. It is written soon, together with others; [`Journal::durable`] says when it
    /// is. Never blocks on a disk.
    ///
    /// While the journal cannot be written, a call that is allowed and does more than read is not
    /// taken: it must not be made. Everything else waits in memory, as long as there is room.
    pub fn append(&self, record: &Record<'_>) -> Result<Ticket, StoreError> {
        thread_local! {
            static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
        }
        let intent =
            matches!(record.event, Event::Decided { effect: Effect::Allow, read_only: false, .. });
        SCRATCH.with_borrow_mut(|body| {
            body.clear();
            match self.mask.get() {
                Some(mask) => body::write(record, &mask.load(), body),
                None => body::write(record, &Mask::default(), body),
            }
            let taken = self.take(body, intent);
            body.shrink_to(64 << 10);
            taken
        })
    }

    fn take(&self, body: &[u8], intent: bool) -> Result<Ticket, StoreError> {
        let mut state = self.shared.lock();
        if !state.running && !state.closing {
            let writer = Writer {
                shared: self.shared.clone(),
                places: self.places.clone(),
                disk: self.disk.clone(),
                segment_bytes: self.segment_bytes,
            };
            let thread = std::thread::Builder::new().name("journal".into());
            let spawned = thread.spawn(move || writer.run());
            spawned.map_err(|error| self.shared.error(&error.to_string()))?;
            state.running = true;
        }
        self.shared.push(&mut state, body, intent)
    }

    /// Waits until a record is on disk. `Err` if it cannot be written now; it may be written later
    /// all the same, so whoever gives up because of this should record that, too.
    pub async fn durable(&self, ticket: Ticket) -> Result<(), StoreError> {
        let mut progress = self.shared.progress.subscribe();
        if progress.borrow().synced >= ticket.0 {
            return Ok(());
        }
        self.shared.want(ticket.0);
        let known = progress
            .wait_for(|it| it.synced >= ticket.0 || it.failing.is_some() || it.ended)
            .await
            .map_err(|_| self.shared.error("nobody writes it any more"))?;
        match (&known.failing, known.synced >= ticket.0) {
            (_, true) => Ok(()),
            (Some(why), false) => Err(self.shared.error(why)),
            (None, false) => Err(self.shared.error("it is closed")),
        }
    }

    /// Whether it can be written now, as far as is known; tried anew when it could not for a while.
    pub fn is_writable(&self) -> bool {
        self.shared.is_writable()
    }

    /// Whether it was written a moment ago, so that it can be hoped that what is taken now will be.
    /// Before the first record, and after a pause, nothing is known of the disk.
    pub fn is_proven(&self) -> bool {
        self.shared.is_proven()
    }

    /// Writes everything, signs a last checkpoint, and ends. Nothing can be recorded afterwards.
    pub async fn close(&self) -> Result<(), StoreError> {
        if !self.shared.close() {
            return Ok(());
        }
        let mut progress = self.shared.progress.subscribe();
        let ended = progress.wait_for(|progress| progress.ended).await;
        let ended = ended.map_err(|_| self.shared.error("nobody writes it any more"))?;
        match &ended.failing {
            Some(why) => Err(self.shared.error(why)),
            None => Ok(()),
        }
    }
}

impl Drop for Journal {
    /// What was taken is still written, though nobody waits for it.
    fn drop(&mut self) {
        self.shared.close();
    }
}

#[cfg(test)]
mod tests;
