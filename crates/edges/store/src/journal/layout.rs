//! Where everything lies: `<folder>/<chain>/NNNNNN.jsonl`, and beside the folder the checkpoints
//! and the key.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use super::time;
use crate::StoreError;

/// In the folder of a chain while somebody writes it, and locked by him.
pub(super) const LOCK: &str = "lock";
/// What the segments end in.
const SEGMENT: &str = "jsonl";
/// What checkpoints end in.
const CHECKPOINTS: &str = "ckpt";

/// The places of one journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The folder of the chains.
    pub folder: PathBuf,
    /// The folder of the checkpoints.
    pub checkpoints: PathBuf,
    /// The file with the key that signs them.
    pub key: PathBuf,
    /// The file with the key that proves them.
    pub public: PathBuf,
}

impl Places {
    /// The usual ones: checkpoints and keys beside the folder.
    pub fn beside(folder: PathBuf) -> Self {
        let state = folder.parent().unwrap_or(&folder).to_owned();
        Self {
            checkpoints: state.join("checkpoints"),
            key: state.join("journal.key"),
            public: state.join("journal.pub"),
            folder,
        }
    }

    /// Where the checkpoints of a chain are.
    pub(super) fn checkpoints_of(&self, chain: &str) -> PathBuf {
        self.checkpoints.join(format!("{chain}.{CHECKPOINTS}"))
    }
}

/// A name for a chain that begins now: when it began, and something nobody else has.
pub(super) fn new_id(ms: u64) -> io::Result<String> {
    let mut random = [0; 4];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let began: String = time::rfc3339(ms).chars().filter(|c| c.is_ascii_alphanumeric()).collect();
    Ok(format!("{began}-{:08x}", u32::from_be_bytes(random)))
}

/// When a chain of this name began; `None` if that is no name of a chain.
pub(super) fn began(id: &str) -> Option<u64> {
    let (began, random) = id.split_once('-')?;
    let hex = random.len() == 8 && random.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let fits = hex && began.len() == 19 && began.is_ascii();
    let part = |from: usize, to: usize| began.get(from..to).filter(|_| fits);
    time::parse_rfc3339(&format!(
        "{}-{}-{}:{}:{}.{}",
        part(0, 4)?,
        part(4, 6)?,
        part(6, 11)?,
        part(11, 13)?,
        part(13, 15)?,
        part(15, 19)?,
    ))
}

/// The file of a segment; they are counted from 1.
pub(super) fn segment(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:06}.{SEGMENT}"))
}

/// One chain on disk.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    pub(super) id: Arc<str>,
    pub(super) folder: PathBuf,
    /// Milliseconds since 1970.
    pub(super) began: u64,
}

impl Chain {
    /// Its segments, in order.
    pub(super) fn segments(&self) -> Result<Vec<(u64, PathBuf)>, StoreError> {
        let mut segments: Vec<_> = listed(&self.folder)?
            .into_iter()
            .filter(|path| path.extension().is_some_and(|it| it == SEGMENT))
            .filter_map(|path| Some((path.file_stem()?.to_str()?.parse().ok()?, path)))
            .collect();
        segments.sort();
        Ok(segments)
    }

    /// Whether its writer lives.
    pub(super) fn is_being_written(&self) -> bool {
        let Ok(lock) = File::open(self.folder.join(LOCK)) else { return false };
        matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))
    }

    /// When it was last written to, as far as the file system knows, in milliseconds since 1970.
    pub(super) fn last_change(&self) -> Option<u64> {
        let (_, last) = self.segments().ok()?.pop()?;
        let changed = fs::metadata(last).ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        u64::try_from(changed.as_millis()).ok()
    }
}

/// The chains of a journal, in the order of their names.
pub(super) fn chains(folder: &Path) -> Result<Vec<Chain>, StoreError> {
    let chain = |folder: PathBuf| {
        let id: Arc<str> = folder.file_name()?.to_str()?.into();
        let began = began(&id)?;
        Some(Chain { id, folder, began })
    };
    let mut chains: Vec<_> = listed(folder)?.into_iter().filter_map(chain).collect();
    chains.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(chains)
}

/// The chains of which there are checkpoints, and where those are.
pub(super) fn signed(folder: &Path) -> Result<Vec<(String, PathBuf)>, StoreError> {
    let named = |path: PathBuf| {
        let is_one = path.extension().is_some_and(|it| it == CHECKPOINTS);
        let id = path.file_stem()?.to_str()?.to_owned();
        is_one.then_some((id, path))
    };
    let mut signed: Vec<_> = listed(folder)?.into_iter().filter_map(named).collect();
    signed.sort();
    Ok(signed)
}

/// What lies in a folder; nothing if there is none.
pub(super) fn listed(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let failed = |source| StoreError::ReadJournal { path: folder.to_owned(), source };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    entries.map(|entry| entry.map(|entry| entry.path()).map_err(failed)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_chain_says_when_it_began() {
        let id = new_id(1_794_823_373_123).unwrap();
        assert!(id.starts_with("20261116T100253123Z-"), "{id}");
        assert_eq!(began(&id), Some(1_794_823_373_123));
        for wrong in ["", "x", "20261116T100253123Z", "20261116T100253123Z-XYZ12345", "é-00000000"]
        {
            assert_eq!(began(wrong), None, "{wrong}");
        }
    }
}
