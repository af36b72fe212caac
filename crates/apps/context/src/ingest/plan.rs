//! What is to be done with the files of a walk, before any of them is opened: most did not change.
//!
//! A file of the same size and time as when it was read is taken for the same. It is read again where
//! that cannot be relied on: a file that was changed a moment before it was read may have been
//! changed once more in the same moment, and its stamp says so by a time nobody has.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use toolgate_model::Digest;
use toolgate_store::StoreError;
use toolgate_store::context::{Library, Origin, Stamp, Trust};

use super::refused::{Refusal, Refused};
use super::walk::{Found, Root, Walked};
use super::{Options, Report};

/// The coarsest times a file system keeps (FAT), in milliseconds.
const COARSEST: i64 = 2000;

/// What is to be done.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Files to read.
    pub(super) tasks: Vec<Task>,
    /// Documents to forget.
    pub(super) gone: Vec<String>,
    /// Documents to trust otherwise.
    pub(super) mistaken: Mistaken,
}

/// Documents whose trust is not what the user says.
#[derive(Debug, Default)]
pub(super) struct Mistaken {
    /// Those he does not trust.
    pub(super) trusted: Vec<String>,
    /// Those he does.
    pub(super) distrusted: Vec<String>,
}

/// A file to read.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) found: Found,
    /// What is known of it.
    pub(super) known: Option<Digest>,
}

/// The stamp of a file that was found so and read at `now`, in milliseconds since 1970.
pub(super) fn stamp(found: &Found, digest: Digest, now: i64) -> Stamp {
    let settled = now.saturating_sub(found.modified) > COARSEST;
    let modified = if settled { found.modified } else { found.modified.saturating_sub(1) };
    Stamp { digest, bytes: found.bytes, modified }
}

/// The time, in milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Compares what a walk found with what is known of the same places.
pub(super) struct Comparing<'a> {
    pub(super) library: &'a Library,
    pub(super) options: &'a Options,
    pub(super) refused: &'a Refused,
    pub(super) root: &'a Root,
    pub(super) places: Option<&'a BTreeSet<PathBuf>>,
}

impl Comparing<'_> {
    /// What is to be done; what is settled already goes into the report.
    pub(super) async fn plan(
        &self,
        walked: Walked,
        report: &mut Report,
    ) -> Result<Plan, StoreError> {
        let mut known = self.known().await?;
        let mistaken = self.mistaken(&known).await?;
        let mut plan = Plan { mistaken, ..Plan::default() };
        report.skipped.join(walked.skipped);
        report.noted.join(walked.noted);
        for found in walked.files {
            let stamp = known.remove(&found.key);
            let same =
                |stamp: &Stamp| (stamp.bytes, stamp.modified) == (found.bytes, found.modified);
            match (stamp, self.refused.before(&found)) {
                (Some(stamp), _) if same(&stamp) => report.unchanged += 1,
                (None, Some(Refusal::Binary)) => report.binary += 1,
                (None, Some(Refusal::Because(why))) => report.skipped.add(found.key, why),
                (stamp, _) => {
                    plan.tasks.push(Task { found, known: stamp.map(|stamp| stamp.digest) });
                }
            }
        }
        for key in known.into_keys() {
            if !is_unseen(&walked.unseen, &key) && self.is_gone(&key).await? {
                plan.gone.push(key);
            }
        }
        Ok(plan)
    }

    async fn known(&self) -> Result<HashMap<String, Stamp>, StoreError> {
        let mut known = HashMap::new();
        for place in self.keys() {
            known.extend(self.library.stamps(place).await?);
        }
        Ok(known)
    }

    /// The places that are compared.
    fn keys(&self) -> Vec<&str> {
        match self.places {
            Some(places) => places.iter().filter_map(|place| place.to_str()).collect(),
            None => vec![self.root.key()],
        }
    }

    /// A document the walk did not find. One whose file is still there is another's if it was taken
    /// in from elsewhere; else it is ignored by now.
    async fn is_gone(&self, key: &str) -> Result<bool, StoreError> {
        if !fs::symlink_metadata(key).is_ok_and(|metadata| metadata.is_file()) {
            return Ok(true);
        }
        let card = self.library.card(key).await?;
        let ours = Origin::File { folder: self.root.folder.clone() };
        Ok(self.root.is_folder && card.is_some_and(|card| card.origin == ours))
    }

    /// Where the trust in documents that are already there is not what the user says now.
    async fn mistaken(&self, known: &HashMap<String, Stamp>) -> Result<Mistaken, StoreError> {
        let mut trusted = HashSet::new();
        for place in self.keys() {
            trusted.extend(self.library.trusted(place).await?);
        }
        let mut mistaken = Mistaken::default();
        for key in known.keys() {
            match (self.options.trust(Path::new(key)), trusted.contains(key)) {
                (Trust::Trusted, false) => mistaken.distrusted.push(key.clone()),
                (Trust::Untrusted, true) => mistaken.trusted.push(key.clone()),
                _ => {}
            }
        }
        Ok(mistaken)
    }
}

fn is_unseen(unseen: &[PathBuf], key: &str) -> bool {
    unseen.iter().any(|folder| Path::new(key).starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_changed_a_moment_ago_gets_a_time_nobody_has() {
        let found = Found { key: "/a".into(), bytes: 1, modified: 10_000 };
        let digest = Digest::of(b"a");
        assert_eq!(stamp(&found, digest, 13_000).modified, 10_000);
        assert_eq!(stamp(&found, digest, 11_000).modified, 9_999);
        assert_eq!(stamp(&found, digest, 9_000).modified, 9_999, "a clock that was set back");
    }

    #[test]
    fn what_lies_below_a_folder_that_was_not_seen_is_not_gone() {
        let unseen = [PathBuf::from("/a/locked")];
        assert!(is_unseen(&unseen, "/a/locked/b.md"));
        assert!(!is_unseen(&unseen, "/a/lockedness.md"));
    }
}
