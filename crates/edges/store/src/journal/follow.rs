//! Following a journal while others write it: what was added since the last look.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::entry::Entry;
use super::layout::{self, Chain};
use crate::StoreError;

/// So much of one file is read in one look; the rest in the next.
const MOST: u64 = 8 << 20;

/// What was seen of a journal.
#[derive(Debug)]
pub struct Follower {
    folder: PathBuf,
    /// How much of each segment was seen.
    seen: HashMap<PathBuf, u64>,
}

impl Follower {
    /// Everything that stands in the journal now counts as seen.
    pub fn new(folder: &Path) -> Result<Self, StoreError> {
        let mut follower = Self { folder: folder.to_owned(), seen: HashMap::new() };
        for chain in layout::chains(folder)? {
            for (_, path) in chain.segments()? {
                // Of a record that is being written, nothing was seen.
                let whole = std::fs::read(&path).unwrap_or_default();
                let end = whole.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
                follower.seen.insert(path, end as u64);
            }
        }
        Ok(follower)
    }

    /// What was added since the last look, oldest first.
    pub fn look(&mut self) -> Result<Vec<Entry>, StoreError> {
        let mut entries = Vec::new();
        for chain in layout::chains(&self.folder)? {
            for (_, path) in chain.segments()? {
                self.added(&chain, path, &mut entries)?;
            }
        }
        entries.sort_by_key(|entry| entry.ms);
        Ok(entries)
    }

    fn added(
        &mut self,
        chain: &Chain,
        path: PathBuf,
        entries: &mut Vec<Entry>,
    ) -> Result<(), StoreError> {
        let failed = |source| StoreError::ReadJournal { path: path.clone(), source };
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
            let what = |what| StoreError::Line { path: path.clone(), line: 0, what };
            entries.push(Entry::parse(&chain.id, text).map_err(what)?);
        }
        self.seen.insert(path, seen + end as u64 + 1);
        Ok(())
    }
}
