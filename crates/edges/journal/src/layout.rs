//! The layout of the journal's files: `<folder>/<chain>/NNNNNN.jsonl`, with the checkpoints and the
//! key beside the folder.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolgate_model::time;

use crate::JournalError;

/// The lock file in the folder of a chain. Its writer holds the lock.
pub(crate) const LOCK: &str = "lock";
/// The extension of segments.
const SEGMENT: &str = "jsonl";
/// The extension of checkpoint files.
const CHECKPOINTS: &str = "ckpt";

/// The paths of one journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalPaths {
    /// The folder of the chains.
    pub folder: PathBuf,
    /// The folder of the checkpoints.
    pub checkpoints: PathBuf,
    /// The file with the private key that signs checkpoints.
    pub key: PathBuf,
    /// The file with the public key that verifies checkpoints.
    pub public_key: PathBuf,
}

impl JournalPaths {
    /// Returns the default paths: checkpoints and keys beside the folder.
    pub fn for_folder(folder: PathBuf) -> Self {
        let state = folder.parent().unwrap_or(&folder).to_owned();
        Self {
            checkpoints: state.join("checkpoints"),
            key: state.join("journal.key"),
            public_key: state.join("journal.pub"),
            folder,
        }
    }

    /// Returns the checkpoint file of a chain.
    pub(crate) fn checkpoint_path(&self, chain: &str) -> PathBuf {
        self.checkpoints.join(format!("{chain}.{CHECKPOINTS}"))
    }
}

/// Returns a unique name for a new chain: its start time and a random number.
pub(crate) fn new_chain_id(ms: u64) -> io::Result<String> {
    let mut random = [0; 4];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let began: String = time::rfc3339(ms).chars().filter(|c| c.is_ascii_alphanumeric()).collect();
    Ok(format!("{began}-{:08x}", u32::from_be_bytes(random)))
}

/// Returns the start time in the name of a chain, or `None` if the name is not valid.
pub(crate) fn parse_chain_start(id: &str) -> Option<u64> {
    let (began, random) = id.split_once('-')?;
    let hex = random.len() == 8 && random.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let (time, ms) = began.split_at_checked(15).filter(|_| hex && began.len() == 19)?;
    time::parse_rfc3339(&format!("{time}.{ms}"))
}

/// Returns the file of a segment. Numbers start at 1.
pub(crate) fn segment_path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:06}.{SEGMENT}"))
}

/// One chain on disk.
#[derive(Debug, Clone)]
pub(crate) struct JournalChain {
    pub(crate) id: Arc<str>,
    pub(crate) folder: PathBuf,
    /// Milliseconds since 1970.
    pub(crate) began: u64,
}

impl JournalChain {
    /// Returns the segments in order.
    pub(crate) fn segments(&self) -> Result<Vec<(u64, PathBuf)>, JournalError> {
        let mut segments: Vec<_> = list_folder(&self.folder)?
            .into_iter()
            .filter(|path| path.extension().is_some_and(|it| it == SEGMENT))
            .filter_map(|path| Some((path.file_stem()?.to_str()?.parse().ok()?, path)))
            .collect();
        segments.sort();
        Ok(segments)
    }

    /// Returns true if a running process writes the chain.
    pub(crate) fn is_being_written(&self) -> bool {
        let Ok(lock) = File::open(self.folder.join(LOCK)) else { return false };
        matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))
    }

    /// Returns the modification time of the last segment, in milliseconds since 1970.
    pub(crate) fn last_change(&self) -> Option<u64> {
        let (_, last) = self.segments().ok()?.pop()?;
        fs::metadata(last).ok()?.modified().ok().map(time::to_millis)
    }
}

/// Returns the chains of a journal, sorted by name.
pub(crate) fn list_chains(folder: &Path) -> Result<Vec<JournalChain>, JournalError> {
    let chain = |folder: PathBuf| {
        let id: Arc<str> = folder.file_name()?.to_str()?.into();
        let began = parse_chain_start(&id)?;
        Some(JournalChain { id, folder, began })
    };
    let mut chains: Vec<_> = list_folder(folder)?.into_iter().filter_map(chain).collect();
    chains.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(chains)
}

/// Returns the names of the chains with checkpoints, and their checkpoint files.
pub(crate) fn list_checkpoint_files(folder: &Path) -> Result<Vec<(String, PathBuf)>, JournalError> {
    let named = |path: PathBuf| {
        let is_one = path.extension().is_some_and(|it| it == CHECKPOINTS);
        let id = path.file_stem()?.to_str()?.to_owned();
        is_one.then_some((id, path))
    };
    let mut signed: Vec<_> = list_folder(folder)?.into_iter().filter_map(named).collect();
    signed.sort();
    Ok(signed)
}

/// Returns the entries of a folder. A missing folder has none.
pub(crate) fn list_folder(folder: &Path) -> Result<Vec<PathBuf>, JournalError> {
    let failed = |source| JournalError::Read { path: folder.to_owned(), source };
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
        let id = new_chain_id(1_794_823_373_123).unwrap();
        assert!(id.starts_with("20261116T100253123Z-"), "{id}");
        assert_eq!(parse_chain_start(&id), Some(1_794_823_373_123));
        for wrong in ["", "x", "20261116T100253123Z", "20261116T100253123Z-XYZ12345", "é-00000000"]
        {
            assert_eq!(parse_chain_start(wrong), None, "{wrong}");
        }
    }
}
