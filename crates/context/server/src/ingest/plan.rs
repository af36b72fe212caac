//! Decides what to do with the files of a walk before opening any of them: most are unchanged.
//!
//! A file with the same size and modification time as in its stamp is unchanged. If a file was
//! modified shortly before it was read, it can have been modified again without a new time. Its
//! stamp then records an earlier time that never matches, so the next ingest reads it again.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use toolgate_library::{DocumentOrigin, DocumentTrust, SourceStamp};
use toolgate_model::Digest;
use toolgate_store::StoreError;
pub(crate) use toolgate_store::now_millis as now;

use super::refused_files::FileRefusal;
use super::walk::{FileInfo, IngestRoot, WalkResult};
use super::{IngestReport, Ingester};

/// The coarsest modification time of a file system (FAT), in milliseconds.
const COARSEST: i64 = 2000;

/// The work of an ingest.
#[derive(Debug, Default)]
pub(super) struct IngestPlan {
    /// Files to read.
    pub(super) tasks: Vec<FileToRead>,
    /// Keys of documents to remove.
    pub(super) removed: Vec<String>,
    /// Keys of documents to mark as untrusted.
    pub(super) to_distrust: Vec<String>,
    /// Keys of documents to mark as trusted.
    pub(super) to_trust: Vec<String>,
}

/// A file to read.
#[derive(Debug)]
pub(super) struct FileToRead {
    pub(super) file: FileInfo,
    /// The digest of the stored document, if there is one.
    pub(super) known_digest: Option<Digest>,
}

/// Returns the stamp of a file that was read at `now`, in milliseconds since 1970.
pub(super) fn stamp(found: &FileInfo, digest: Digest, now: i64) -> SourceStamp {
    let settled = now.saturating_sub(found.modified) > COARSEST;
    let modified = if settled { found.modified } else { found.modified.saturating_sub(1) };
    SourceStamp { digest, bytes: found.bytes, modified }
}

/// Compares the files of a walk with the stored documents.
pub(super) struct IngestPlanner<'a> {
    pub(super) ingest: &'a Ingester,
    pub(super) root: &'a IngestRoot,
    pub(super) places: Option<&'a BTreeSet<PathBuf>>,
}

impl IngestPlanner<'_> {
    /// Returns the work to do. Files that need none are counted in the report.
    pub(super) async fn plan(
        &self,
        walked: WalkResult,
        report: &mut IngestReport,
    ) -> Result<IngestPlan, StoreError> {
        let mut known = self.known_stamps().await?;
        let mut plan = IngestPlan::default();
        for (key, (_, stored)) in &known {
            match (self.ingest.options.trust(Path::new(key)), stored) {
                (DocumentTrust::Trusted, DocumentTrust::Untrusted) => &mut plan.to_trust,
                (DocumentTrust::Untrusted, DocumentTrust::Trusted) => &mut plan.to_distrust,
                _ => continue,
            }
            .push(key.clone());
        }
        report.skipped.join(walked.skipped);
        report.noted.join(walked.noted);
        for found in walked.files {
            let stamp = known.remove(&found.key);
            let same = |stamp: &SourceStamp| {
                (stamp.bytes, stamp.modified) == (found.bytes, found.modified)
            };
            match (stamp.map(|(stamp, _)| stamp), self.ingest.refused_files.find(&found)) {
                (Some(stamp), _) if same(&stamp) => report.unchanged += 1,
                (None, Some(FileRefusal::Binary)) => report.binary += 1,
                (None, Some(FileRefusal::Reason(why))) => report.skipped.add(found.key, why),
                (stamp, _) => {
                    plan.tasks.push(FileToRead {
                        file: found,
                        known_digest: stamp.map(|stamp| stamp.digest),
                    });
                }
            }
        }
        for key in known.into_keys() {
            if !is_unseen(&walked.unseen, &key) && self.is_gone(&key).await? {
                plan.removed.push(key);
            }
        }
        Ok(plan)
    }

    async fn known_stamps(
        &self,
    ) -> Result<HashMap<String, (SourceStamp, DocumentTrust)>, StoreError> {
        let mut known = HashMap::new();
        for place in self.keys() {
            known.extend(self.ingest.library.stamps(place).await?);
        }
        Ok(known)
    }

    /// Returns the keys under which stored documents are compared.
    fn keys(&self) -> Vec<&str> {
        match self.places {
            Some(places) => places.iter().filter_map(|place| place.to_str()).collect(),
            None => vec![self.root.key()],
        }
    }

    /// Returns true if a document that the walk did not find must be removed. If its file still
    /// exists, it is removed only if it came from this folder: then it is now ignored.
    async fn is_gone(&self, key: &str) -> Result<bool, StoreError> {
        if !fs::symlink_metadata(key).is_ok_and(|metadata| metadata.is_file()) {
            return Ok(true);
        }
        let card = self.ingest.library.find_document(key).await?;
        let ours = DocumentOrigin::File { folder: self.root.folder.clone() };
        Ok(self.root.is_folder && card.is_some_and(|card| card.origin == ours))
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
        let found = FileInfo { key: "/a".into(), bytes: 1, modified: 10_000 };
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
