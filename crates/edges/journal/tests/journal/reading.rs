//! The chains of many processes are one stream.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use toolgate_journal::{EntryEvent, Journal, read, read_since};
use toolgate_model::time::rfc3339;

use super::{checked, intent, outcome, tool};

#[tokio::test]
async fn chains_are_read_in_the_order_of_time() {
    let folder = tempfile::tempdir().unwrap();
    let journals: Vec<_> = (0..3).map(|_| Journal::new(folder.path().join("journal"))).collect();
    let about = tool();
    for call in 1..=30 {
        let journal = &journals[call as usize % 3];
        journal.append(&intent(&about, call, true)).unwrap();
        let last = journal.append(&outcome(&about, call)).unwrap();
        journal.wait_durable(last).await.unwrap();
    }
    // The clock of the system may stand still or go back meanwhile; that of the test does not. Two
    // calls in two chains share each moment.
    let at = |call: u64| MORNING + call / 2;
    restamp(&folder.path().join("journal"), at);
    let entries: Vec<_> =
        read(&folder.path().join("journal")).unwrap().map(Result::unwrap).collect();
    assert!(entries.is_sorted_by_key(|entry| entry.ms));
    assert!(entries.iter().all(|entry| entry.ms == at(entry.call)), "{entries:?}");
    assert!(
        entries.iter().all(|entry| entry.is_written()),
        "calls of the living are not concluded"
    );
    let chains: std::collections::BTreeSet<_> = entries.iter().map(|it| it.chain.clone()).collect();
    assert_eq!(chains.len(), 3);
    let decided =
        |entry: &&toolgate_journal::JournalEntry| matches!(entry.event, EntryEvent::Decided(_));
    assert_eq!(entries.iter().filter(decided).count(), 30);
    let one = entries.iter().find(decided).unwrap();
    let EntryEvent::Decided(said) = &one.event else { unreachable!() };
    assert_eq!(said.arguments.as_deref(), Some(r#"{"depth":2,"path":"/srv/a.txt"}"#));
    assert_eq!((one.server.as_str(), one.client.as_str()), ("files", "some-client"));
    let later = entries[entries.len() / 2].ms;
    let since = read_since(&folder.path().join("journal"), later).unwrap().map(Result::unwrap);
    assert!(since.eq(entries.iter().filter(|entry| entry.ms >= later).cloned()));
}

#[tokio::test]
async fn chains_that_grow_side_by_side_hold() {
    let folder = tempfile::tempdir().unwrap();
    let journals: Vec<_> = (0..3).map(|_| Journal::new(folder.path().join("journal"))).collect();
    for call in 1..=30 {
        let journal = &journals[call as usize % 3];
        let last = journal.append(&intent(&tool(), call, true)).unwrap();
        journal.wait_durable(last).await.unwrap();
        journal.append(&outcome(&tool(), call)).unwrap();
    }
    for journal in &journals {
        journal.close().await.unwrap();
    }
    let report = checked(journals[0].paths());
    assert!(report.is_intact() && report.chains == 3, "{report:?}");
}

/// A moment in 2026, in milliseconds since 1970.
const MORNING: u64 = 1_794_823_373_000;

/// Gives the records of every chain other times, by the number of their call, and the chains names
/// that contain their new start. They can no longer be verified.
fn restamp(journal: &Path, at: impl Fn(u64) -> u64) {
    for segment in
        walk(journal).iter().filter(|path| path.extension().is_some_and(|it| it == "jsonl"))
    {
        let text = fs::read_to_string(segment).unwrap();
        let stamped = text.lines().map(|line| {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            let (old, call) =
                (record["ts"].as_str().unwrap(), record["call"].as_u64().unwrap_or(0));
            line.replacen(old, &rfc3339(at(call)), 1) + "\n"
        });
        fs::write(segment, stamped.collect::<String>()).unwrap();
        let chain = segment.parent().unwrap();
        let (_, random) = chain.file_name().unwrap().to_str().unwrap().split_once('-').unwrap();
        let began: String = rfc3339(at(0)).chars().filter(char::is_ascii_alphanumeric).collect();
        fs::rename(chain, chain.with_file_name(format!("{began}-{random}"))).unwrap();
    }
}

#[tokio::test]
async fn a_file_stamped_by_a_slower_clock_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("journal");
    let journal = Journal::new(place.clone());
    let last = journal.append(&intent(&tool(), 1, true)).unwrap();
    journal.wait_durable(last).await.unwrap();
    journal.close().await.unwrap();
    let written: Vec<_> = read(&place).unwrap().map(Result::unwrap).collect();
    for entry in walk(&place) {
        let file = fs::File::options().write(true).open(&entry).unwrap();
        let behind = file.metadata().unwrap().modified().unwrap() - Duration::from_millis(10);
        file.set_modified(behind).unwrap();
    }
    let since = read_since(&place, written.last().unwrap().ms).unwrap();
    assert!(since.count() > 0);
}

/// The files below a folder.
fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| if path.is_dir() { walk(&path) } else { vec![path] };
    entries.flat_map(below).collect()
}

#[tokio::test]
async fn nothing_is_written_before_the_first_record() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::new(folder.path().join("journal"));
    journal.close().await.unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(read(&folder.path().join("journal")).unwrap().count(), 0);
}

#[tokio::test]
async fn records_that_nobody_waits_for_are_written_soon() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::new(folder.path().join("journal"));
    journal.append(&intent(&tool(), 1, true)).unwrap();
    let there = || read(&folder.path().join("journal")).unwrap().count() == 2;
    let until = Instant::now() + Duration::from_secs(60);
    while !there() {
        assert!(Instant::now() < until, "nothing was written");
        tokio::time::sleep(Duration::from_millis(20)).await; // files have no change event
    }
}
