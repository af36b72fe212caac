//! Large results, stored while this process runs.
//!
//! Each result is an unnamed file in the state folder: no other process can open it, and it
//! disappears when the process ends, even after a crash. Results intentionally do not survive a
//! restart, because most callers do not either. Bytes, number and age are limited. When the quota
//! is full, the oldest result of the owner with the most bytes is deleted.
//!
//! Every function here blocks.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use toolgate_wire::large::LargeResponseReader;

/// The limits of a [`ResultStore`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultQuota {
    /// The maximum number of bytes in total.
    pub bytes: u64,
    /// The maximum number of results. Each holds a file open.
    pub results: usize,
    /// How long a result is kept.
    pub age: Duration,
}

impl Default for ResultQuota {
    fn default() -> Self {
        Self { bytes: 512 << 20, results: 128, age: Duration::from_secs(24 * 3600) }
    }
}

/// A named byte range of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultSection {
    /// Its name.
    pub name: String,
    /// Its MIME type, if known.
    pub mime: Option<String>,
    /// Its first byte.
    pub start: u64,
    /// Its length in bytes.
    pub len: u64,
}

/// A result that is being written.
#[derive(Debug)]
pub struct KeptResultWriter {
    file: BufWriter<File>,
    len: u64,
    sections: Vec<ResultSection>,
}

impl KeptResultWriter {
    /// Returns the number of bytes written so far.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns true if nothing was written.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Names a range of bytes, written before or after this call.
    pub fn add_section(&mut self, section: ResultSection) {
        self.sections.push(section);
    }
}

impl Write for KeptResultWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.len += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A stored result.
#[derive(Debug)]
pub struct KeptResult {
    id: String,
    len: u64,
    sections: Vec<ResultSection>,
    file: Mutex<File>,
}

impl KeptResult {
    /// Returns its id, which cannot be guessed.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the section with this name.
    pub fn section(&self, name: &str) -> Option<&ResultSection> {
        self.sections.iter().find(|section| section.name == name)
    }
}

impl LargeResponseReader for KeptResult {
    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        let mut file = lock(&self.file);
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(into)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A store of results, with files in one folder.
#[derive(Debug)]
pub struct ResultStore {
    folder: PathBuf,
    quota: ResultQuota,
    kept: Mutex<Vec<ResultEntry>>,
}

/// A stored result with its owner and its age.
#[derive(Debug)]
struct ResultEntry {
    owner: String,
    since: Instant,
    result: Arc<KeptResult>,
}

impl ResultStore {
    /// Creates a store in this folder, which is created when it is needed.
    pub fn new(folder: impl AsRef<Path>, quota: ResultQuota) -> Self {
        Self { folder: folder.as_ref().to_owned(), quota, kept: Mutex::default() }
    }

    /// Creates a store in the system's folder for temporary files.
    pub fn temporary() -> Self {
        Self::new(std::env::temp_dir(), ResultQuota::default())
    }

    fn prune(&self, kept: &mut Vec<ResultEntry>) {
        kept.retain(|entry| entry.since.elapsed() < self.quota.age);
        let bytes = |kept: &[ResultEntry]| kept.iter().map(|entry| entry.result.len).sum::<u64>();
        // The newest result stays even if it exceeds the quota, because its caller was just
        // promised it.
        while kept.len() > 1 && (kept.len() > self.quota.results || bytes(kept) > self.quota.bytes)
        {
            let Some(goes) = index_to_evict(kept) else { return };
            kept.remove(goes);
        }
    }
}

/// Returns the index of the result to delete next, never that of the newest. The entries are sorted
/// by age, oldest first.
fn index_to_evict(kept: &[ResultEntry]) -> Option<usize> {
    let (_, older) = kept.split_last()?;
    let weight = |owner: &str| {
        kept.iter().filter(|it| it.owner == owner).map(|it| it.result.len).sum::<u64>()
    };
    let richest = older.iter().max_by_key(|entry| weight(&entry.owner))?;
    older.iter().position(|entry| entry.owner == richest.owner)
}

impl ResultStore {
    /// Begins to write a result.
    pub fn begin(&self) -> io::Result<KeptResultWriter> {
        std::fs::create_dir_all(&self.folder)?;
        let file = tempfile::tempfile_in(&self.folder)?;
        Ok(KeptResultWriter {
            file: BufWriter::with_capacity(64 << 10, file),
            len: 0,
            sections: Vec::new(),
        })
    }

    /// Stores the written result for its owner.
    pub fn keep(&self, owner: &str, draft: KeptResultWriter) -> io::Result<Arc<KeptResult>> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let id = format!("{:032x}", u128::from_be_bytes(random));
        let file = draft.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        let result =
            KeptResult { id, len: draft.len, sections: draft.sections, file: Mutex::new(file) };
        let result = Arc::new(result);
        let entry =
            ResultEntry { owner: owner.to_owned(), since: Instant::now(), result: result.clone() };
        let mut kept = lock(&self.kept);
        kept.push(entry);
        self.prune(&mut kept);
        Ok(result)
    }

    /// Returns the result with this id, if it belongs to this owner and still exists.
    pub fn find(&self, owner: &str, id: &str) -> Option<Arc<KeptResult>> {
        let mut kept = lock(&self.kept);
        kept.retain(|entry| entry.since.elapsed() < self.quota.age);
        let own = kept.iter().find(|entry| entry.owner == owner && entry.result.id == id);
        own.map(|entry| entry.result.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(results: &ResultStore, owner: &str, bytes: usize) -> String {
        let mut draft = results.begin().unwrap();
        draft.write_all(&vec![b'x'; bytes]).unwrap();
        results.keep(owner, draft).unwrap().id().to_owned()
    }

    fn results(folder: &Path, quota: ResultQuota) -> ResultStore {
        ResultStore::new(folder.join("results"), quota)
    }

    #[test]
    fn what_is_kept_is_its_owners_and_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let results = results(folder.path(), ResultQuota::default());
        let mut draft = results.begin().unwrap();
        draft.write_all(b"some text").unwrap();
        let section = ResultSection { name: "text".into(), mime: None, start: 5, len: 4 };
        draft.add_section(section.clone());
        let id = results.keep("me", draft).unwrap().id().to_owned();
        let found = results.find("me", &id).unwrap();
        let mut text = [0; 4];
        found.read_at(found.section("text").unwrap().start, &mut text).unwrap();
        assert_eq!(&text, b"text");
        assert!(results.find("you", &id).is_none());
        assert!(results.find("me", "0").is_none());
        assert_eq!(std::fs::read_dir(folder.path().join("results")).unwrap().count(), 0);
    }

    #[test]
    fn the_oldest_of_whoever_has_most_makes_room() {
        let folder = tempfile::tempdir().unwrap();
        let quota = ResultQuota { bytes: 1000, results: 4, ..ResultQuota::default() };
        let results = results(folder.path(), quota);
        let mine = kept(&results, "me", 100);
        let first = kept(&results, "you", 400);
        let second = kept(&results, "you", 450);
        let third = kept(&results, "you", 100);
        assert!(results.find("you", &first).is_none());
        for (owner, id) in [("me", &mine), ("you", &second), ("you", &third)] {
            assert!(results.find(owner, id).is_some());
        }
        let huge = kept(&results, "me", 5000);
        assert!(results.find("me", &huge).is_some());
        assert!(results.find("me", &mine).is_none());
    }

    #[test]
    fn number_and_age_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let few = results(folder.path(), ResultQuota { results: 2, ..ResultQuota::default() });
        let ids: Vec<_> = (0..4).map(|_| kept(&few, "me", 1)).collect();
        let there: Vec<_> = ids.iter().map(|id| few.find("me", id).is_some()).collect();
        assert_eq!(there, [false, false, true, true]);
        let brief =
            results(folder.path(), ResultQuota { age: Duration::ZERO, ..ResultQuota::default() });
        let id = kept(&brief, "me", 1);
        assert!(brief.find("me", &id).is_none());
    }
}
