//! The progress of an ingest, and its final report.

use serde::Serialize;

/// The maximum number of remarks of one kind in a report; the others are only counted. It keeps the
/// report of a folder with a million broken files short.
pub const MOST_NAMED: usize = 1000;

/// The progress of an ingest. Unchanged files are not part of the totals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IngestProgress {
    /// Files seen by the walk so far.
    pub seen: u64,
    /// Files to read; 0 until the walk is complete.
    pub files: u64,
    /// Bytes to read.
    pub bytes: u64,
    /// Files that were stored or refused.
    pub files_done: u64,
    /// Bytes of these files.
    pub bytes_done: u64,
}

/// The result of an ingest.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct IngestReport {
    /// New documents.
    pub added: u64,
    /// Documents that were replaced.
    pub changed: u64,
    /// Documents that did not change.
    pub unchanged: u64,
    /// Documents whose file is gone.
    pub removed: u64,
    /// Bytes of the files read.
    pub bytes: u64,
    /// Passages stored.
    pub passages: u64,
    /// Binary files. They are only counted.
    pub binary: u64,
    /// Files that were not ingested, and why.
    pub skipped: IngestRemarks,
    /// Files that were ingested with a loss, and what was lost.
    pub noted: IngestRemarks,
    /// Whether the ingest was stopped before the end.
    pub stopped: bool,
}

/// Remarks on files.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct IngestRemarks {
    /// The first [`MOST_NAMED`] remarks.
    pub named: Vec<IngestRemark>,
    /// The number of all remarks.
    pub total: u64,
}

/// A remark on one file or note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IngestRemark {
    /// The path, or the name of a note.
    pub path: String,
    /// The remark.
    pub why: String,
}

impl IngestRemarks {
    /// Adds a remark.
    pub fn add(&mut self, path: impl Into<String>, why: impl Into<String>) {
        self.total += 1;
        if self.named.len() < MOST_NAMED {
            self.named.push(IngestRemark { path: path.into(), why: why.into() });
        }
    }

    /// Adds all remarks of another list.
    pub fn join(&mut self, other: Self) {
        self.total += other.total;
        let room = MOST_NAMED - self.named.len().min(MOST_NAMED);
        self.named.extend(other.named.into_iter().take(room));
    }

    /// Returns true if there are no remarks.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }
}

impl IngestReport {
    /// Adds the numbers of another ingest.
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

    /// Returns true if the ingest changed the library.
    pub fn changed_anything(&self) -> bool {
        self.added + self.changed + self.removed > 0
    }
}
