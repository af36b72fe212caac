//! A disk that fails, tears and forgets what was not synced: what was acknowledged is there all the
//! same. Killing a process does not show that, because the system keeps what it wrote.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;

use super::{counted, decided, tool};
use crate::chain::ChainHead;
use crate::checkpoint::{self, CheckpointWriter};
use crate::disk::{AppendFile, JournalDisk, RealDisk};
use crate::key::CheckpointSigner;
use crate::{
    EntryEvent, Journal, JournalEvent, JournalPaths, JournalPosition, JournalPublicKey,
    JournalRecord, read, verify,
};

/// Files whose ends may be lost, and operations that fail.
#[derive(Debug, Clone, Default)]
struct Simulated(Arc<Mutex<Inside>>);

#[derive(Debug, Default)]
struct Inside {
    /// What is known to be on disk of each file.
    synced: Vec<(PathBuf, u64)>,
    /// Whether each of the next operations fails; none left: they work.
    failures: Vec<bool>,
}

/// More than any test lets a disk try.
const ALL_FAIL: usize = 1 << 20;

impl Simulated {
    /// Nothing works from now on, or everything does.
    fn fail(&self, fails: bool) {
        self.0.lock().unwrap().failures = vec![true; if fails { ALL_FAIL } else { 0 }];
    }

    fn fails(&self) -> bool {
        self.0.lock().unwrap().failures.pop().unwrap_or(false)
    }

    /// What a loss of power leaves: of each file what was synced, and any part of the rest.
    fn crash(&self, mut random: impl FnMut() -> u64) {
        for (path, synced) in &self.0.lock().unwrap().synced {
            let mut bytes = fs::read(path).unwrap();
            let synced = *synced as usize;
            let loose = bytes.len() - synced;
            bytes.truncate(synced + random() as usize % (loose + 1));
            // A page that was given to the file and never written holds zeros or something else.
            if random().is_multiple_of(2) && bytes.len() > synced {
                let from = synced + random() as usize % (bytes.len() - synced);
                bytes[from..].fill(if random().is_multiple_of(2) { 0 } else { b'x' });
            }
            fs::write(path, bytes).unwrap();
        }
    }
}

fn full() -> io::Error {
    io::Error::from(io::ErrorKind::StorageFull)
}

impl JournalDisk for Simulated {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        if self.fails() { Err(full()) } else { RealDisk.create_folder(path) }
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        if self.fails() {
            return Err(full());
        }
        let inner = RealDisk.create(path)?;
        let mut inside = self.0.lock().unwrap();
        inside.synced.retain(|(known, _)| known != path);
        inside.synced.push((path.to_owned(), 0));
        drop(inside);
        Ok(Box::new(OneFile { disk: self.clone(), path: path.to_owned(), inner }))
    }
}

#[derive(Debug)]
struct OneFile {
    disk: Simulated,
    path: PathBuf,
    inner: Box<dyn AppendFile>,
}

impl AppendFile for OneFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.disk.fails() {
            self.inner.append(&bytes[..bytes.len() / 2])?;
            return Err(full());
        }
        self.inner.append(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        if self.disk.fails() {
            return Err(io::Error::other("input/output error"));
        }
        let length = fs::metadata(&self.path)?.len();
        let mut inside = self.disk.0.lock().unwrap();
        let own = inside.synced.iter_mut().find(|(path, _)| *path == self.path);
        own.unwrap().1 = length;
        Ok(())
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        if self.disk.fails() { Err(full()) } else { self.inner.truncate(length) }
    }
}

/// What is done with a journal before the power goes.
#[derive(Debug, Clone, Copy)]
enum Step {
    Record,
    /// Waits for the last record, unless the disk fails.
    Wait,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![4 => Just(Step::Record), 1 => Just(Step::Wait)];
    proptest::collection::vec(step, 1..40)
}

/// The calls that were acknowledged.
async fn played(journal: &Journal, steps: &[Step]) -> Vec<u64> {
    let about = tool();
    let (mut acknowledged, mut taken): (Vec<u64>, Vec<(u64, JournalPosition)>) =
        (Vec::new(), Vec::new());
    for (call, step) in (1..).zip(steps) {
        match step {
            Step::Record => {
                let record = decided(&about, b"{\"path\":\"/a\"}", call);
                taken.extend(journal.append(&record).ok().map(|ticket| (call, ticket)));
            }
            Step::Wait => {
                let Some((_, last)) = taken.last() else { continue };
                if journal.wait_durable(*last).await.is_ok() {
                    acknowledged = taken.iter().map(|(call, _)| *call).collect();
                }
            }
        }
    }
    acknowledged
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn random(mut seed: u64) -> impl FnMut() -> u64 {
    move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed >> 8
    }
}

fn checked(places: &JournalPaths) -> crate::VerifyReport {
    let key =
        fs::read_to_string(&places.public_key).ok().and_then(|text| JournalPublicKey::parse(&text));
    verify(&places.folder, &places.checkpoints, key.as_ref(), &mut |_| {}).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 50, ..ProptestConfig::with_cases(counted(3000)) })]

    #[test]
    fn what_was_acknowledged_survives_a_loss_of_power(
        steps in steps(), failures in proptest::collection::vec(proptest::bool::weighted(0.2), 0..30),
        seed in 1_u64..,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let places = JournalPaths::for_folder(folder.path().join("journal"));
        let disk = Simulated::default();
        disk.0.lock().unwrap().failures = failures;
        let journal = Journal::with_disk(Arc::new(disk.clone()), places.clone(), 4096);
        let acknowledged = runtime().block_on(played(&journal, &steps));
        // The power goes: what the journal does from now on reaches no disk.
        let lost = tempfile::tempdir().unwrap();
        let copy = lost.path().join("copy");
        let inside = disk.0.lock().unwrap();
        copied(folder.path(), &copy);
        let snapshot = Simulated(Arc::new(Mutex::new(Inside {
            synced: inside.synced.iter().map(|(path, length)| {
                (copy.join(path.strip_prefix(folder.path()).unwrap()), *length)
            }).collect(),
            failures: Vec::new(),
        })));
        drop(inside);
        drop(journal);
        snapshot.crash(random(seed));
        let places = JournalPaths::for_folder(copy.join("journal"));
        // The next process sets aside what is torn, and says so.
        let next = Journal::new(places.folder.clone());
        runtime().block_on(async {
            let last = next.append(&decided(&tool(), b"{}", 1000)).unwrap();
            next.wait_durable(last).await.unwrap();
            next.close().await.unwrap();
        });
        let there: Vec<_> = read(&places.folder).unwrap()
            .map(|entry| entry.unwrap())
            .filter(|entry| matches!(entry.event, EntryEvent::Decided(_)))
            .map(|entry| entry.call)
            .collect();
        for call in acknowledged {
            prop_assert!(there.contains(&call), "{call} is lost: {there:?}");
        }
        // A checkpoint may be torn, but none may speak of a record that is not there.
        let report = checked(&places);
        let chain: Vec<_> = report.problems.iter()
            .filter(|it| it.fault != crate::JournalProblemKind::BadCheckpoint)
            .collect();
        let notes: Vec<_> = read(&places.folder).unwrap()
            .filter_map(Result::ok)
            .filter(|entry| matches!(entry.event, EntryEvent::Noted { .. }))
            .collect();
        prop_assert!(chain.is_empty(), "{chain:?} {notes:?}");
    }
}

fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copied(&entry.path(), &target),
            // A segment of the moment may be gone a moment later.
            false => _ = fs::copy(entry.path(), target),
        }
    }
}

#[tokio::test]
async fn what_waited_for_a_failing_disk_is_written_when_it_works_again() {
    let folder = tempfile::tempdir().unwrap();
    let places = JournalPaths::for_folder(folder.path().join("journal"));
    let disk = Simulated::default();
    let journal = Journal::with_disk(Arc::new(disk.clone()), places.clone(), 1 << 20);
    let about = tool();
    let mut first = decided(&about, b"{}", 1);
    let ticket = journal.append(&first).unwrap();
    journal.wait_durable(ticket).await.unwrap();
    disk.fail(true);
    first.call = 2;
    let ticket = journal.append(&first).unwrap();
    let refused = journal.wait_durable(ticket).await.unwrap_err().to_string();
    assert!(refused.contains("write the journal"), "{refused}");
    assert!(!journal.is_writable());
    // Nothing that does more than read is taken now; what only reads is.
    first.call = 3;
    let mut acting = first;
    if let JournalEvent::Decided { read_only, .. } = &mut acting.event {
        *read_only = false;
    }
    assert!(journal.append(&JournalRecord { call: 4, ..acting }).is_err());
    let waits = journal.append(&first).unwrap();
    disk.fail(false);
    while !journal.is_writable() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    journal.wait_durable(waits).await.unwrap();
    journal.append(&JournalRecord { call: 5, ..acting }).unwrap();
    journal.close().await.unwrap();
    let entries: Vec<_> = read(&places.folder).unwrap().map(Result::unwrap).collect();
    let calls: Vec<_> = entries
        .iter()
        .filter(|entry| matches!(entry.event, EntryEvent::Decided(_)))
        .map(|entry| entry.call)
        .collect();
    assert_eq!(calls, [1, 2, 3, 5]);
    let recovered = |entry: &&crate::JournalEntry| matches!(&entry.event, EntryEvent::Noted { kind, .. } if kind == "journal-recovered");
    assert_eq!(entries.iter().filter(recovered).count(), 1);
    let report = checked(&places);
    assert!(report.is_intact(), "{report:?}");
    assert_eq!(report.unsigned, 0);
}

#[test]
fn a_torn_checkpoint_is_cut_off_before_the_next_however_often_that_fails() {
    let folder = tempfile::tempdir().unwrap();
    let places = JournalPaths::for_folder(folder.path().join("journal"));
    let disk = Simulated::default();
    let path = places.checkpoint_path("c");
    let mut checkpoints = CheckpointWriter::new(
        "c",
        path.clone(),
        CheckpointSigner::load_or_create(&places).unwrap(),
    );
    let head = |seq| ChainHead { seq, ..ChainHead::start_of("c") };
    checkpoints.sign(&head(1), false, &disk).unwrap();
    // The next one is torn, and then the disk does not even cut it off.
    disk.fail(true);
    for _ in 0..3 {
        checkpoints.sign(&head(2), false, &disk).unwrap_err();
    }
    disk.fail(false);
    checkpoints.sign(&head(3), true, &disk).unwrap();
    let prover = CheckpointSigner::load_or_create(&places).unwrap().public_key();
    let (read, flaws, _) = checkpoint::parse(&fs::read(path).unwrap(), "c", Some(&prover));
    assert_eq!(read.iter().map(|it| it.size).collect::<Vec<_>>(), [1, 3]);
    assert!(flaws.is_empty(), "{flaws:?}");
}

#[tokio::test]
async fn full_segments_are_closed_and_the_chain_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let places = JournalPaths::for_folder(folder.path().join("journal"));
    let journal = Journal::with_disk(Arc::new(RealDisk), places.clone(), 4096);
    let about = tool();
    for call in 1..=200 {
        let ticket = journal.append(&decided(&about, b"{\"path\":\"/a\"}", call)).unwrap();
        if call % 3 == 0 {
            journal.wait_durable(ticket).await.unwrap();
        }
    }
    journal.close().await.unwrap();
    assert!(journal.append(&decided(&about, b"{}", 1)).is_err());
    let chain = crate::layout::list_chains(&places.folder).unwrap().remove(0);
    let segments = chain.segments().unwrap();
    assert!(segments.len() > 5, "{segments:?}");
    assert!(segments.iter().all(|(_, path)| fs::metadata(path).unwrap().len() < 8192));
    let report = checked(&places);
    assert!(report.is_intact() && report.notices.is_empty(), "{report:?}");
    assert_eq!(report.records, 200 + 2 * segments.len() as u64);
    let entries = read(&places.folder).unwrap().map(Result::unwrap);
    let written = entries.filter(|entry| entry.is_written() && entry.call > 0);
    assert!(written.map(|entry| entry.call).eq(1..=200));
}

#[tokio::test]
async fn a_full_queue_takes_no_more_and_says_how_much_was_lost() {
    let folder = tempfile::tempdir().unwrap();
    let places = JournalPaths::for_folder(folder.path().join("journal"));
    let disk = Simulated::default();
    disk.fail(true);
    let journal = Journal::with_disk(Arc::new(disk.clone()), places.clone(), 64 << 20);
    let about = tool();
    let arguments = serde_json::json!({ "text": "some words ".repeat(1000) }).to_string();
    let mut refused = 0;
    let mut taken = 0;
    for call in 1..=1500 {
        match journal.append(&decided(&about, arguments.as_bytes(), call)) {
            Ok(_) => taken += 1,
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 0 && taken > 100, "{taken} {refused}");
    disk.fail(false);
    while !journal.is_writable() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    journal.close().await.unwrap();
    let entries: Vec<_> = read(&places.folder).unwrap().map(Result::unwrap).collect();
    let decided = entries.iter().filter(|entry| matches!(entry.event, EntryEvent::Decided(_)));
    assert_eq!(decided.count(), taken);
    // It may have worked for a moment in between.
    let told = entries.iter().filter_map(|entry| match &entry.event {
        EntryEvent::Noted { kind, detail } if kind == "journal-recovered" => {
            serde_json::from_str::<serde_json::Value>(detail).unwrap()["dropped"].as_u64()
        }
        _ => None,
    });
    assert_eq!(told.sum::<u64>(), refused);
}
