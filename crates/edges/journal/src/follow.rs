//! Follows a journal while other processes write it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use crate::JournalError;
use crate::entry::JournalEntry;
use crate::layout::{self, JournalChain};

/// The maximum number of bytes of one file per read. The rest follows with the next read.
const MOST: u64 = 8 << 20;

/// A reader of new records, with its position in each segment.
#[derive(Debug)]
pub struct JournalFollower {
    folder: PathBuf,
    /// The number of bytes already read from each segment.
    seen: HashMap<PathBuf, u64>,
}

impl JournalFollower {
    /// Creates a follower that skips all current records.
    pub fn new(folder: &Path) -> Result<Self, JournalError> {
        let mut follower = Self { folder: folder.to_owned(), seen: HashMap::new() };
        for chain in layout::list_chains(folder)? {
            for (_, path) in chain.segments()? {
                // Do not skip an incomplete record, which is still being written.
                let whole = std::fs::read(&path).unwrap_or_default();
                let end = whole.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
                follower.seen.insert(path, end as u64);
            }
        }
        Ok(follower)
    }

    /// Returns the records added since the last call, oldest first.
    pub fn read_new(&mut self) -> Result<Vec<JournalEntry>, JournalError> {
        let mut entries = Vec::new();
        for chain in layout::list_chains(&self.folder)? {
            for (_, path) in chain.segments()? {
                self.read_added(&chain, path, &mut entries)?;
            }
        }
        entries.sort_by_key(|entry| entry.ms);
        Ok(entries)
    }

    fn read_added(
        &mut self,
        chain: &JournalChain,
        path: PathBuf,
        entries: &mut Vec<JournalEntry>,
    ) -> Result<(), JournalError> {
        let failed = |source| JournalError::Read { path: path.clone(), source };
        let seen = self.seen.get(&path).copied().unwrap_or_default();
        let mut file = File::open(&path).map_err(failed)?;
        if file.metadata().map_err(failed)?.len() <= seen {
            return Ok(());
        }
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(seen)).map_err(failed)?;
        file.take(MOST).read_to_end(&mut bytes).map_err(failed)?;
        let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else { return Ok(()) };
        for line in bytes[..end].split(|byte| *byte == b'\n') {
            let text = String::from_utf8_lossy(line).into_owned();
            let what = |what| JournalError::Line { path: path.clone(), line: 0, what };
            entries.push(JournalEntry::parse(&chain.id, text).map_err(what)?);
        }
        self.seen.insert(path, seen + end as u64 + 1);
        Ok(())
    }
}
