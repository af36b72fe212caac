//! Whoever changes a record, takes one away, moves one, puts one in or cuts the end off is found.

use std::fs::{self, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};

use toolgate_store::journal::{Fault, Report, read};

use super::{checked, counted, random, segment, written};

fn faults(report: &Report) -> Vec<Fault> {
    report.problems.iter().map(|problem| problem.fault).collect()
}

#[tokio::test]
async fn every_change_of_one_byte_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let places = written(folder.path(), 10_000).await;
    let whole = checked(&places);
    assert!(whole.holds() && whole.notices.is_empty(), "{whole:?}");
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
        assert!(!report.holds(), "byte {at}: {changed:?} instead of {:?}", bytes[at]);
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
    assert_eq!(faults(&report), [Fault::Removed]);
    let found = &report.problems[0];
    assert_eq!((found.line, found.seq), (41, Some(42)));
    assert!(found.detail.contains("record 41 is missing"), "{}", found.detail);
    let report = report_of(&[&lines[..40], &lines[60..]].concat());
    assert!(report.problems[0].detail.contains("records 41 to 60"), "{report:?}");

    let mut swapped = lines.clone();
    swapped.swap(40, 41);
    let found = faults(&report_of(&swapped));
    assert!(found.contains(&Fault::Removed) && found.contains(&Fault::Moved), "{found:?}");
    let mut doubled = lines.clone();
    doubled.insert(50, lines[50]);
    assert!(faults(&report_of(&doubled)).contains(&Fault::Moved));
    let mut inserted = lines.clone();
    let made_up = lines[50].replace("read_file", "read_fine");
    inserted.insert(50, &made_up);
    assert!(faults(&report_of(&inserted)).contains(&Fault::Edited));

    let report = report_of(&lines[..90]);
    assert_eq!(faults(&report), [Fault::Truncated], "{report:?}");
    assert!(report.problems[0].detail.contains("ends with 90"), "{report:?}");
    fs::write(&path, &text[..text.len() - 10]).unwrap();
    assert!(faults(&checked(&places)).contains(&Fault::Torn));
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
    assert!(found.contains(&Fault::Inserted) && found.contains(&Fault::Truncated), "{found:?}");
    // A whole chain is gone.
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
    assert_eq!(faults(&checked(&places)), [Fault::MissingChain]);
}

#[tokio::test]
async fn a_checkpoint_that_was_changed_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let places = written(folder.path(), 100).await;
    let path = fs::read_dir(&places.checkpoints).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&path).unwrap();
    let size = text.lines().nth(1).unwrap();
    fs::write(&path, text.replacen(size, "7", 1)).unwrap();
    assert!(faults(&checked(&places)).contains(&Fault::BadCheckpoint));
    for at in 0..text.len() {
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 4;
        fs::write(&path, bytes).unwrap();
        let report = checked(&places);
        // Its last line end is not signed; without it the checkpoint is one cut off.
        assert!(!report.holds() || !report.notices.is_empty(), "byte {at}");
    }
    fs::remove_file(&path).unwrap();
    let report = checked(&places);
    assert!(report.notices.iter().any(|it| it.contains("no checkpoint")), "{report:?}");
    assert_eq!(report.unsigned, report.records);
}
