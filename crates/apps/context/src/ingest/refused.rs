//! What was refused, remembered for as long as the program runs: a folder that is followed is looked
//! at often, and a file that cannot be read costs more than one that can.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::walk::Found;

/// How many are remembered; beyond it they are read again.
const MOST: usize = 100_000;

/// Why a file is not taken in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It is no text.
    Binary,
    /// For this reason.
    Because(String),
}

/// Refusals by file, each with the file's size and time.
type Files = HashMap<String, (u64, i64, Refusal)>;

/// Files that were refused as they are.
#[derive(Debug, Clone, Default)]
pub(super) struct Refused(Arc<Mutex<Files>>);

impl Refused {
    /// Why this file was refused before, if it has not changed since.
    pub(super) fn before(&self, found: &Found) -> Option<Refusal> {
        let (bytes, modified, refusal) = self.files().get(&found.key)?.clone();
        ((bytes, modified) == (found.bytes, found.modified)).then_some(refusal)
    }

    /// Remembers it.
    pub(super) fn note(&self, found: &Found, refusal: Refusal) {
        let mut files = self.files();
        if files.len() < MOST || files.contains_key(&found.key) {
            files.insert(found.key.clone(), (found.bytes, found.modified, refusal));
        }
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
