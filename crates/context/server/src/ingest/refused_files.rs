//! Remembers refused files while the program runs. A watched folder is scanned often, and a file
//! that cannot be parsed costs more time than one that can.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::walk::FileInfo;

/// The maximum number of remembered files. Others are read again on each scan.
const MOST: usize = 100_000;

/// The reason why a file was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FileRefusal {
    /// It is not a text.
    Binary,
    /// Another reason, as a message.
    Reason(String),
}

/// Refusals by file, each with the file's size and time.
type RefusedFileMap = HashMap<String, (u64, i64, FileRefusal)>;

/// Files that were refused, until they change.
#[derive(Debug, Clone, Default)]
pub(super) struct RefusedFiles(Arc<Mutex<RefusedFileMap>>);

impl RefusedFiles {
    /// Returns why this file was refused, if it has not changed since.
    pub(super) fn find(&self, found: &FileInfo) -> Option<FileRefusal> {
        let (bytes, modified, refusal) = self.files().get(&found.key)?.clone();
        ((bytes, modified) == (found.bytes, found.modified)).then_some(refusal)
    }

    /// Remembers a refused file.
    pub(super) fn note(&self, found: &FileInfo, refusal: FileRefusal) {
        let mut files = self.files();
        if files.len() < MOST || files.contains_key(&found.key) {
            files.insert(found.key.clone(), (found.bytes, found.modified, refusal));
        }
    }

    fn files(&self) -> MutexGuard<'_, RefusedFileMap> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
