//! Nothing is taken for granted of a disk for longer than a moment.

use std::time::Duration;

use super::{decided, tool};
use crate::Journal;

#[tokio::test]
async fn a_journal_is_proven_for_a_moment_after_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::new(folder.path().join("journal"));
    let about = tool();
    assert!(journal.is_writable() && !journal.is_recently_synced(), "nobody has tried");
    for call in 1..3 {
        let ticket = journal.append(&decided(&about, b"{}", call)).unwrap();
        journal.wait_durable(ticket).await.unwrap();
        assert!(journal.is_recently_synced());
        tokio::time::sleep(Duration::from_millis(1100)).await;
        assert!(journal.is_writable() && !journal.is_recently_synced(), "much may have happened");
    }
}

#[tokio::test]
async fn one_that_cannot_be_written_is_never_proven() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let journal = Journal::new(folder.path().join("file/journal"));
    let about = tool();
    let ticket = journal.append(&decided(&about, b"{}", 1)).unwrap();
    journal.wait_durable(ticket).await.unwrap_err();
    assert!(!journal.is_writable() && !journal.is_recently_synced());
}
