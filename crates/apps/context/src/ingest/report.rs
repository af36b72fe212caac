//! What an ingest tells: how far it is, and at the end what became of every file.

use serde::Serialize;

/// How many names a report gives of one kind; the rest is counted. A folder of a million broken
/// files must not become a report of a million lines.
pub const MOST_NAMED: usize = 1000;

/// How far an ingest is. Files that did not change are not among its totals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Files seen so far by the walk that comes first.
    pub seen: u64,
    /// Files to read, once the walk is over; 0 before.
    pub files: u64,
    /// Bytes they have.
    pub bytes: u64,
    /// Files read and kept, or refused.
    pub files_done: u64,
    /// Bytes they had.
    pub bytes_done: u64,
}

/// What became of the files of an ingest.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Report {
    /// Documents that were not there before.
    pub added: u64,
    /// Documents kept in place of what was there.
    pub changed: u64,
    /// Documents that are what they were.
    pub unchanged: u64,
    /// Documents whose file is gone.
    pub removed: u64,
    /// Bytes of the files that were read.
    pub bytes: u64,
    /// Passages that were kept.
    pub passages: u64,
    /// Files that are no text, which nobody expects to be in.
    pub binary: u64,
    /// What was not taken in, and why.
    pub skipped: Remarks,
    /// What was taken in with a loss, and which.
    pub noted: Remarks,
    /// Whether it was asked to stop before the end.
    pub stopped: bool,
}

/// Names with what there is to say of each.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Remarks {
    /// The first of them.
    pub named: Vec<Remark>,
    /// How many there are in all.
    pub total: u64,
}

/// A name and what there is to say of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Remark {
    /// The path, or the name of a note.
    pub path: String,
    /// What there is to say.
    pub why: String,
}

impl Remarks {
    /// Adds one.
    pub fn add(&mut self, path: impl Into<String>, why: impl Into<String>) {
        self.total += 1;
        if self.named.len() < MOST_NAMED {
            self.named.push(Remark { path: path.into(), why: why.into() });
        }
    }

    /// Adds all of another's.
    pub fn join(&mut self, other: Self) {
        self.total += other.total;
        let room = MOST_NAMED - self.named.len().min(MOST_NAMED);
        self.named.extend(other.named.into_iter().take(room));
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }
}

impl Report {
    /// Adds what another run did.
    pub fn join(&mut self, other: Self) {
        let Self { added, changed, unchanged, removed, bytes, passages, binary, .. } = &other;
        self.added += added;
        self.changed += changed;
        self.unchanged += unchanged;
        self.removed += removed;
        self.bytes += bytes;
        self.passages += passages;
        self.binary += binary;
        self.stopped |= other.stopped;
        self.skipped.join(other.skipped);
        self.noted.join(other.noted);
    }

    /// Whether the store is another than before.
    pub fn changed_anything(&self) -> bool {
        self.added + self.changed + self.removed > 0
    }
}
