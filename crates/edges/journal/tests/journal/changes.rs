//! Verification finds records that were edited, removed, moved or inserted, and a removed end.

use std::fs::{self, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};

use toolgate_journal::{JournalProblemKind, VerifyReport, read, verify};

use super::{checked, counted, random, segment, written};

fn faults(report: &VerifyReport) -> Vec<JournalProblemKind> {
    report.problems.iter().map(|problem| problem.fault).collect()
}

#[tokio::test]
async fn every_change_of_one_byte_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let places = written(folder.path(), 10_000).await;
    let whole = checked(&places);
    assert!(whole.is_intact() && whole.notices.is_empty(), "{whole:?}");
    assert_eq!((whole.records, whole.unsigned), (10_002, 0));
    let path = segment(&places);
    let bytes = fs::read(&path).unwrap();
    let ends: Vec<_> = (0..bytes.len()).filter(|at| bytes[*at] == b'\n').collect();
    let mut random = random(0x5eed);
    let line = bytes.iter().take(2_000_000).rposition(|byte| *byte == b'\n').unwrap() + 1;
    let length = bytes[line..].iter().position(|byte| *byte == b'\n').unwrap() + 1;
    // Each byte of one record, then any byte of any.
    let of_one = (line..line + length).step_by(7);
    let places_changed: Vec<_> =
        of_one.chain((0..counted(10_000)).map(|_| random(bytes.len()))).collect();
    let mut file = OpenOptions::new().write(true).open(&path).unwrap();
    let mut put = |at: usize, byte: u8| {
        file.seek(SeekFrom::Start(at as u64)).unwrap();
        file.write_all(&[byte]).unwrap();
    };
    for at in places_changed {
        let changed = match random(4) {
            0 => bytes[at] ^ (1 << random(8)),
            1 => b'\n',
            2 => bytes[at].wrapping_add(1 + random(255) as u8),
            _ => b'0' + random(10) as u8,
        };
        let changed = if changed == bytes[at] { changed ^ 1 } else { changed };
        put(at, changed);
        let report = checked(&places);
        assert!(!report.is_intact(), "byte {at}: {changed:?} instead of {:?}", bytes[at]);
        let line = 1 + ends.partition_point(|end| *end < at) as u64;
        let near = report.problems.iter().any(|it| it.line.abs_diff(line) <= 1);
        assert!(near, "byte {at} is in line {line}: {:?}", report.problems);
        put(at, bytes[at]);
    }
    // Reading never panics on such files, either.
    let damaged: Vec<u8> =
        bytes.iter().map(|byte| if random(50) == 0 { b'{' } else { *byte }).collect();
    fs::write(&path, damaged).unwrap();
    assert!(read(&places.folder).unwrap().any(|entry| entry.is_err()));
}

#[tokio::test]
async fn removal_insertion_and_another_order_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let places = written(folder.path(), 100).await;
    let path = segment(&places);
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = text.lines().collect();
    let report_of = |lines: &[&str]| {
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        checked(&places)
    };
    let mut removed = lines.clone();
    removed.remove(40);
    let report = report_of(&removed);
    assert_eq!(faults(&report), [JournalProblemKind::Removed]);
    let found = &report.problems[0];
    assert_eq!((found.line, found.seq), (41, Some(42)));
    assert!(found.detail.contains("record 41 is missing"), "{}", found.detail);
    let report = report_of(&[&lines[..40], &lines[60..]].concat());
    assert!(report.problems[0].detail.contains("records 41 to 60"), "{report:?}");

    let mut swapped = lines.clone();
    swapped.swap(40, 41);
    let found = faults(&report_of(&swapped));
    assert!(
        found.contains(&JournalProblemKind::Removed) && found.contains(&JournalProblemKind::Moved),
        "{found:?}"
    );
    let mut doubled = lines.clone();
    doubled.insert(50, lines[50]);
    assert!(faults(&report_of(&doubled)).contains(&JournalProblemKind::Moved));
    let mut inserted = lines.clone();
    let made_up = lines[50].replace("read_file", "read_fine");
    inserted.insert(50, &made_up);
    assert!(faults(&report_of(&inserted)).contains(&JournalProblemKind::Edited));

    let report = report_of(&lines[..90]);
    assert_eq!(faults(&report), [JournalProblemKind::Truncated], "{report:?}");
    assert!(report.problems[0].detail.contains("ends with 90"), "{report:?}");
    fs::write(&path, &text[..text.len() - 10]).unwrap();
    assert!(faults(&checked(&places)).contains(&JournalProblemKind::Torn));
}

#[tokio::test]
async fn a_past_written_anew_does_not_fit_what_was_signed() {
    let folder = tempfile::tempdir().unwrap();
    let places = written(folder.path(), 100).await;
    let other = tempfile::tempdir().unwrap();
    let anew = written(other.path(), 60).await;
    let (path, chain) = (segment(&places), segment(&anew));
    // The records of another chain, under this one's name: the chain knows its own name.
    fs::copy(&chain, &path).unwrap();
    let found = faults(&checked(&places));
    assert!(
        found.contains(&JournalProblemKind::Inserted)
            && found.contains(&JournalProblemKind::Truncated),
        "{found:?}"
    );
    // A whole chain is gone.
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
    assert_eq!(faults(&checked(&places)), [JournalProblemKind::MissingChain]);
}

#[tokio::test]
async fn a_checkpoint_that_was_changed_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let places = written(folder.path(), 100).await;
    let path = fs::read_dir(&places.checkpoints).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&path).unwrap();
    let size = text.lines().nth(1).unwrap();
    fs::write(&path, text.replacen(size, "7", 1)).unwrap();
    assert!(faults(&checked(&places)).contains(&JournalProblemKind::BadCheckpoint));
    for at in 0..text.len() {
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 4;
        fs::write(&path, bytes).unwrap();
        let report = checked(&places);
        // Its last line end is not signed; without it the checkpoint is one cut off.
        assert!(!report.is_intact() || !report.notices.is_empty(), "byte {at}");
    }
    fs::remove_file(&path).unwrap();
    let report = checked(&places);
    assert_eq!(faults(&report), [JournalProblemKind::MissingCheckpoint], "{report:?}");
    assert_eq!(report.unsigned, report.records);
}

/// Rewrites lines of a chain into a valid chain, with other numbers, hashes and times.
fn rechained<'a>(chain: &str, lines: impl IntoIterator<Item = &'a str>, stretch: u64) -> String {
    let hex = |hash: &[u8]| hash.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let sha = |parts: &[&[u8]]| ring::digest::digest(&ring::digest::SHA256, &parts.concat());
    let (mut prev, mut out) = (sha(&[format!("toolgate/{chain}").as_bytes()]), String::new());
    for (line, seq) in lines.into_iter().zip(1_u64..) {
        let (body, rest) = line.rsplit_once(",\"hash\":\"").unwrap();
        let ts = &rest[rest.rfind("\"ts\":").unwrap()..];
        let (mono, before) = (seq * stretch, hex(prev.as_ref()));
        let rest = format!(",\"mono\":{mono},\"prev\":\"{before}\",\"seq\":{seq},{ts}");
        prev = sha(&[prev.as_ref(), body.as_bytes(), rest.as_bytes()]);
        out.push_str(&format!("{body},\"hash\":\"{}\"{rest}\n", hex(prev.as_ref())));
    }
    out
}

/// Rewrites the end of a journal without its last call and its checkpoints. The beginning stays as
/// signed.
fn rewritten(places: &toolgate_journal::JournalPaths, closed: bool, stretch: u64) {
    let path = segment(places);
    let chain = path.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = text.lines().collect();
    let (calls, end) = lines.split_at(lines.len() - 1);
    let kept = &calls[..calls.len() - 2];
    let end = if closed { end } else { &[] };
    fs::write(&path, rechained(&chain, kept.iter().chain(end).copied(), stretch)).unwrap();
    let checkpoints = fs::read_dir(&places.checkpoints).unwrap().next().unwrap().unwrap().path();
    fs::remove_file(checkpoints).unwrap();
}

#[tokio::test]
async fn an_end_written_anew_without_the_key_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let places = written(folder.path(), 2000).await;
    let path = fs::read_dir(&places.checkpoints).unwrap().next().unwrap().unwrap().path();
    let notes = fs::read_to_string(&path).unwrap();
    // All but the last checkpoint, which alone knows the last records.
    let lines: Vec<_> = notes.split_inclusive('\n').collect();
    assert!(lines.len() >= 12, "there are several checkpoints: {}", lines.len() / 6);
    fs::write(&path, lines[..lines.len() - 6].concat()).unwrap();
    assert_eq!(faults(&checked(&places)), [JournalProblemKind::Unsigned]);
    // Without any, and with another end.
    rewritten(&places, true, 1);
    assert_eq!(faults(&checked(&places)), [JournalProblemKind::MissingCheckpoint]);
    // The next process does not sign it either.
    super::killed::next(folder.path());
    assert_eq!(faults(&checked(&places)), [JournalProblemKind::MissingCheckpoint]);
    fs::remove_file(&places.public_key).unwrap();
    let unproven = verify(&places.folder, &places.checkpoints, None, &mut |_| {}).unwrap();
    assert!(faults(&unproven).contains(&JournalProblemKind::MissingKey), "{unproven:?}");
}

#[tokio::test]
async fn an_end_that_no_crash_leaves_is_not_signed_afterwards() {
    // Four seconds between two records: nothing stays unsigned for so long.
    for (stretch, is_a_crash) in [(1, true), (4_000_000, false)] {
        let folder = tempfile::tempdir().unwrap();
        let places = written(folder.path(), 40).await;
        rewritten(&places, false, stretch);
        fs::write(segment(&places).with_file_name("lock"), "").unwrap();
        let report = checked(&places);
        assert_eq!(report.is_intact(), is_a_crash, "{report:?}");
        assert!(report.notices.iter().any(|it| it.contains("not closed")), "{report:?}");
        super::killed::next(folder.path());
        let report = checked(&places);
        assert_eq!(report.is_intact(), is_a_crash, "{report:?}");
        // The report keeps saying that the next process signed it.
        let late = report.notices.iter().any(|it| it.contains("signed by the next process"));
        assert_eq!(late, is_a_crash, "{report:?}");
    }
}
