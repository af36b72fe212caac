//! A process that is killed while it writes: what it acknowledged is there, and the chain holds.

use std::fs::{self, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use toolgate_journal::Journal;
use toolgate_journal::{EntryEvent, JournalOutcome, JournalProblemKind, read};

use super::{checked, counted, intent, intents, outcome, random, segment, tool, written};

const FOLDER: &str = "TOOLGATE_TEST_JOURNAL";

/// The process to be killed: this test, started again.
#[tokio::test]
async fn writes_until_it_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let journal = Journal::new(Path::new(&folder).join("journal"));
    let about = tool();
    for call in 1..100_000 {
        journal.append(&intent(&about, call, false)).unwrap();
        let ticket = journal.append(&outcome(&about, call)).unwrap();
        if call % 3 == 0 {
            journal.wait_durable(ticket).await.unwrap();
            println!("acknowledged {call}");
        }
    }
}

#[test]
fn what_was_acknowledged_is_there_after_a_kill() {
    let mut random = random(77);
    let folder = tempfile::tempdir().unwrap();
    for round in 0..counted(300) {
        let home = folder.path().join(round.to_string());
        fs::create_dir(&home).unwrap();
        let acknowledged = killed(&home, Duration::from_millis(3 + random(30) as u64));
        let places = toolgate_journal::JournalPaths::for_folder(home.join("journal"));
        let there = intents(&places);
        assert!(there.iter().copied().eq(1..=there.len() as u64), "{there:?}");
        assert!(there.len() as u64 >= acknowledged, "{acknowledged}: {}", there.len());
        let report = checked(&places);
        let torn = report.problems.iter().all(|it| it.fault == JournalProblemKind::Torn);
        assert!(torn, "{report:?}");
        next(&home);
        let report = checked(&places);
        assert!(report.is_intact() && report.unsigned == 0, "{report:?}");
    }
}

/// Starts the writer and kills it; the last call it acknowledged.
fn killed(home: &Path, after: Duration) -> u64 {
    #[expect(clippy::disallowed_methods, reason = "the writer is this test itself")]
    let mut writer = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::writes_until_it_is_killed", "--nocapture"])
        .env(FOLDER, home)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let out = BufReader::new(writer.stdout.take().unwrap());
    let mut acknowledged = out
        .lines()
        .map_while(Result::ok)
        .filter_map(|line| line.strip_prefix("acknowledged ")?.parse::<u64>().ok());
    let first = acknowledged.next().expect("the writer says something");
    std::thread::sleep(after);
    writer.kill().unwrap();
    writer.wait().unwrap();
    acknowledged.last().unwrap_or(first)
}

/// What the next process does in this home.
pub fn next(home: &Path) {
    let home = home.to_owned();
    std::thread::spawn(move || next_process(&home)).join().unwrap();
}

fn next_process(home: &Path) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let journal = Journal::new(home.join("journal"));
        let about = tool();
        let ticket = journal.append(&intent(&about, 1, true)).unwrap();
        journal.wait_durable(ticket).await.unwrap();
        journal.append(&outcome(&about, 1)).unwrap();
        journal.close().await.unwrap();
    });
}

#[tokio::test]
async fn a_torn_end_is_set_aside_and_told() {
    for (half, locked) in [(true, true), (false, true), (true, false)] {
        set_aside(half, locked).await;
    }
}

/// Half a record, or one that lacks nothing but the end of its line.
async fn set_aside(half: bool, locked: bool) {
    let folder = tempfile::tempdir().unwrap();
    let places = written(folder.path(), 20).await;
    let path = segment(&places);
    // As a process leaves it that was killed: not closed, half a record at the end.
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = text.lines().collect();
    let kept = if half { lines[20].len() / 2 } else { lines[20].len() };
    let (whole, torn) = (lines[..20].join("\n") + "\n", &lines[20][..kept]);
    fs::write(&path, format!("{whole}{torn}")).unwrap();
    if locked {
        fs::write(path.with_file_name("lock"), "").unwrap();
    }
    let checkpoints = fs::read_dir(&places.checkpoints).unwrap().next().unwrap().unwrap().path();
    fs::remove_file(checkpoints).unwrap();
    let report = checked(&places);
    assert_eq!(report.problems[0].fault, JournalProblemKind::Torn);
    next(folder.path());
    let report = checked(&places);
    assert!(report.is_intact(), "{report:?}");
    assert!(report.notices.iter().any(|it| it.contains("set aside")), "{report:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), whole);
    assert_eq!(fs::read_to_string(path.with_extension("torn")).unwrap(), torn);
    let entries: Vec<_> = read(&places.folder).unwrap().map(Result::unwrap).collect();
    let told = entries.iter().any(
        |entry| matches!(&entry.event, EntryEvent::Noted { kind, .. } if kind == "journal-repaired"),
    );
    assert!(told);
    // The call whose outcome was torn off has an unknown outcome.
    let unknown: Vec<_> = entries
        .iter()
        .filter(|entry| {
            matches!(entry.event, EntryEvent::Done { outcome: JournalOutcome::Unknown, .. })
        })
        .collect();
    assert!(unknown.iter().all(|entry| !entry.is_written() && entry.name == "read_file"));
    assert_eq!(unknown.iter().map(|entry| entry.call).collect::<Vec<_>>(), [10]);
}

#[tokio::test]
async fn a_checkpoint_cut_off_anywhere_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let places = written(folder.path(), 20).await;
    let path = segment(&places);
    let text = fs::read_to_string(&path).unwrap();
    let unclosed: String = text.split_inclusive('\n').take(20).collect();
    let checkpoints = fs::read_dir(&places.checkpoints).unwrap().next().unwrap().unwrap().path();
    // The last one alone: how many there are depends on when records were written.
    let text = fs::read_to_string(&checkpoints).unwrap();
    let lines: Vec<_> = text.split_inclusive('\n').collect();
    let whole = lines[lines.len() - 6..].concat().into_bytes();
    for length in 0..whole.len() {
        // As a loss of power leaves it, also in the middle of the dash before the signature.
        fs::write(&path, &unclosed).unwrap();
        fs::write(path.with_file_name("lock"), "").unwrap();
        fs::write(&checkpoints, &whole[..length]).unwrap();
        next(folder.path());
        let report = checked(&places);
        assert!(report.is_intact() && report.unsigned == 0, "cut at {length}: {report:?}");
    }
}

#[tokio::test]
async fn a_record_broken_in_the_middle_is_not_repaired_away() {
    let folder = tempfile::tempdir().unwrap();
    let places = written(folder.path(), 20).await;
    let path = segment(&places);
    fs::write(path.with_file_name("lock"), "").unwrap();
    let damaged = fs::read_to_string(&path).unwrap().replacen("read_file", "read_fine", 1);
    fs::write(&path, &damaged).unwrap();
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"{\"half").unwrap();
    next(folder.path());
    assert_eq!(fs::read_to_string(&path).unwrap(), damaged + "{\"half");
    assert!(checked(&places).problems.iter().any(|it| it.fault == JournalProblemKind::Edited));
}
