//! Results that are kept aside, for as long as this process lives.
//!
//! Each lies in a file without a name in the state folder: nobody else can open it, and nothing is
//! left of it when the process ends, however it ends. They do not survive a restart on purpose:
//! most callers are known no longer than that. What is kept is bounded in bytes, number and age;
//! when there is no more room the oldest goes, of whoever has the most.
//!
//! Everything here blocks, and is meant to be called where that may be.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use toolgate_wire::large::Kept;

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// Bytes in all.
    pub bytes: u64,
    /// Results in all; each holds a file open.
    pub results: usize,
    /// How long one is kept.
    pub age: Duration,
}

impl Default for Quota {
    fn default() -> Self {
        Self { bytes: 512 << 20, results: 128, age: Duration::from_secs(24 * 3600) }
    }
}

/// Where results are kept.
pub trait Results: Send + Sync {
    /// Begins to write one down.
    fn begin(&self) -> io::Result<Draft>;

    /// Keeps what was written down for its owner.
    fn keep(&self, owner: &str, draft: Draft) -> io::Result<Arc<KeptResult>>;

    /// The result with this id, if it is this owner's and still there.
    fn find(&self, owner: &str, id: &str) -> Option<Arc<KeptResult>>;
}

/// A part of what is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// What it is called.
    pub name: String,
    /// What type its bytes have, if it is said.
    pub mime: Option<String>,
    /// Where it begins.
    pub start: u64,
    /// How long it is.
    pub len: u64,
}

/// A result being written down.
#[derive(Debug)]
pub struct Draft {
    file: BufWriter<File>,
    len: u64,
    sections: Vec<Section>,
}

impl Draft {
    /// How much was written.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Names a part of what was, or is to be, written.
    pub fn section(&mut self, section: Section) {
        self.sections.push(section);
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.len += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A result that is kept.
#[derive(Debug)]
pub struct KeptResult {
    id: String,
    len: u64,
    sections: Vec<Section>,
    file: Mutex<File>,
}

impl KeptResult {
    /// Its id, which nobody can guess.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// A part of it.
    pub fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }
}

impl Kept for KeptResult {
    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        let mut file = locked(&self.file);
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(into)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Results in files of one folder.
#[derive(Debug)]
pub struct FileResults {
    folder: PathBuf,
    quota: Quota,
    kept: Mutex<Vec<Entry>>,
}

#[derive(Debug)]
struct Entry {
    owner: String,
    since: Instant,
    result: Arc<KeptResult>,
}

impl FileResults {
    /// Keeps results in this folder, which is made when it is needed.
    pub fn new(folder: impl AsRef<Path>, quota: Quota) -> Self {
        Self { folder: folder.as_ref().to_owned(), quota, kept: Mutex::default() }
    }

    /// Keeps them where the system has room for what is soon gone.
    pub fn temporary() -> Self {
        Self::new(std::env::temp_dir(), Quota::default())
    }

    fn prune(&self, kept: &mut Vec<Entry>) {
        kept.retain(|entry| entry.since.elapsed() < self.quota.age);
        let bytes = |kept: &[Entry]| kept.iter().map(|entry| entry.result.len).sum::<u64>();
        // The newest stays, whatever it weighs: it was promised to somebody a moment ago.
        while kept.len() > 1 && (kept.len() > self.quota.results || bytes(kept) > self.quota.bytes)
        {
            let Some(goes) = oldest_of_the_richest(kept) else { return };
            kept.remove(goes);
        }
    }
}

/// Which result goes first. The entries are in the order they came; the newest never goes.
fn oldest_of_the_richest(kept: &[Entry]) -> Option<usize> {
    let (_, older) = kept.split_last()?;
    let weight = |owner: &str| {
        kept.iter().filter(|it| it.owner == owner).map(|it| it.result.len).sum::<u64>()
    };
    let richest = older.iter().max_by_key(|entry| weight(&entry.owner))?;
    older.iter().position(|entry| entry.owner == richest.owner)
}

impl Results for FileResults {
    fn begin(&self) -> io::Result<Draft> {
        std::fs::create_dir_all(&self.folder)?;
        let file = tempfile::tempfile_in(&self.folder)?;
        Ok(Draft { file: BufWriter::with_capacity(64 << 10, file), len: 0, sections: Vec::new() })
    }

    fn keep(&self, owner: &str, draft: Draft) -> io::Result<Arc<KeptResult>> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let id = format!("{:032x}", u128::from_be_bytes(random));
        let file = draft.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        let result =
            KeptResult { id, len: draft.len, sections: draft.sections, file: Mutex::new(file) };
        let result = Arc::new(result);
        let entry =
            Entry { owner: owner.to_owned(), since: Instant::now(), result: result.clone() };
        let mut kept = locked(&self.kept);
        kept.push(entry);
        self.prune(&mut kept);
        Ok(result)
    }

    fn find(&self, owner: &str, id: &str) -> Option<Arc<KeptResult>> {
        let mut kept = locked(&self.kept);
        kept.retain(|entry| entry.since.elapsed() < self.quota.age);
        let own = kept.iter().find(|entry| entry.owner == owner && entry.result.id == id);
        own.map(|entry| entry.result.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(results: &FileResults, owner: &str, bytes: usize) -> String {
        let mut draft = results.begin().unwrap();
        draft.write_all(&vec![b'x'; bytes]).unwrap();
        results.keep(owner, draft).unwrap().id().to_owned()
    }

    fn results(folder: &Path, quota: Quota) -> FileResults {
        FileResults::new(folder.join("results"), quota)
    }

    #[test]
    fn what_is_kept_is_its_owners_and_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let results = results(folder.path(), Quota::default());
        let mut draft = results.begin().unwrap();
        draft.write_all(b"some text").unwrap();
        let section = Section { name: "text".into(), mime: None, start: 5, len: 4 };
        draft.section(section.clone());
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
        let quota = Quota { bytes: 1000, results: 4, ..Quota::default() };
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
        let few = results(folder.path(), Quota { results: 2, ..Quota::default() });
        let ids: Vec<_> = (0..4).map(|_| kept(&few, "me", 1)).collect();
        let there: Vec<_> = ids.iter().map(|id| few.find("me", id).is_some()).collect();
        assert_eq!(there, [false, false, true, true]);
        let brief = results(folder.path(), Quota { age: Duration::ZERO, ..Quota::default() });
        let id = kept(&brief, "me", 1);
        assert!(brief.find("me", &id).is_none());
    }
}
