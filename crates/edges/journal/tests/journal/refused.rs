//! A disk that takes nothing: what does more than read is refused, the rest waits, nothing is lost.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use toolgate_journal::Journal;
use toolgate_journal::{EntryEvent, JournalPaths, read};

use super::{checked, intent, outcome, tool};

const FOLDER: &str = "TOOLGATE_TEST_FULL_JOURNAL";

/// The process whose files may not grow: this test, started again.
#[tokio::test]
async fn meets_a_full_disk() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let journal = Journal::new(Path::new(&folder).join("journal"));
    let about = tool();
    let mut acknowledged = 0;
    let refused = loop {
        let Ok(ticket) = journal.append(&intent(&about, acknowledged + 1, false)) else {
            break acknowledged + 1;
        };
        match journal.wait_durable(ticket).await {
            Ok(()) => acknowledged += 1,
            Err(_) => break acknowledged + 1,
        }
    };
    assert!(!journal.is_writable());
    assert!(journal.append(&intent(&about, 900_000, false)).is_err());
    journal.append(&intent(&about, 900_001, true)).unwrap();
    let waits = journal.append(&outcome(&about, refused)).unwrap();
    assert!(journal.wait_durable(waits).await.is_err());
    // The disk has room again.
    let limit = getrlimit(Resource::Fsize);
    setrlimit(Resource::Fsize, Rlimit { current: limit.maximum, ..limit }).unwrap();
    while !journal.is_writable() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    journal.wait_durable(waits).await.unwrap();
    journal.close().await.unwrap();
    println!("acknowledged {acknowledged}");
}

#[test]
fn a_full_disk_refuses_and_recovers_without_loss() {
    let folder = tempfile::tempdir().unwrap();
    let script = "trap '' XFSZ; ulimit -S -f 32; exec \"$0\" --exact refused::meets_a_full_disk \
                  --nocapture";
    #[expect(clippy::disallowed_methods, reason = "the writer is this test itself")]
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .env(FOLDER, folder.path())
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    let acknowledged = said.lines().find_map(|line| line.strip_prefix("acknowledged "));
    let acknowledged: u64 = acknowledged.unwrap().parse().unwrap();
    assert!(acknowledged > 5);
    let places = JournalPaths::for_folder(folder.path().join("journal"));
    let report = checked(&places);
    assert!(report.is_intact() && report.unsigned == 0, "{report:?}");
    let there = super::intents(&places);
    assert!((1..=acknowledged).all(|call| there.contains(&call)), "{there:?}");
    assert!(there.contains(&900_001) && !there.contains(&900_000), "{there:?}");
    let told = read(&places.folder).unwrap().map(Result::unwrap).any(
        |entry| matches!(&entry.event, EntryEvent::Noted { kind, .. } if kind == "journal-recovered"),
    );
    assert!(told);
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_refuses() {
    let folder = tempfile::tempdir().unwrap();
    // A file is at the path of the folder, so not even root can write there.
    std::fs::write(folder.path().join("journal"), "").unwrap();
    let journal = Journal::new(folder.path().join("journal"));
    let about = tool();
    let first = journal.append(&intent(&about, 1, false)).unwrap();
    let error = journal.wait_durable(first).await.unwrap_err();
    assert!(error.to_string().contains("write the journal in"), "{error}");
    assert!(!journal.is_writable());
    assert!(journal.append(&intent(&about, 2, false)).is_err());
    journal.append(&intent(&about, 3, true)).unwrap();
    std::fs::remove_file(folder.path().join("journal")).unwrap();
    while !journal.is_writable() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    journal.close().await.unwrap();
    assert_eq!(super::intents(journal.paths()), [1, 3]);
    assert!(checked(journal.paths()).is_intact());
}

#[tokio::test]
async fn closing_does_not_wait_for_a_disk_to_come_back() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("journal"), "").unwrap();
    let journal = Journal::new(folder.path().join("journal"));
    journal.append(&intent(&tool(), 1, true)).unwrap();
    let closed = tokio::time::timeout(Duration::from_secs(20), journal.close()).await;
    assert!(closed.unwrap().is_err());
}
