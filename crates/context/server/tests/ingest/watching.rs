//! A watched folder: changes by people and editors reach the library soon.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::timeout;
use toolgate_context::ingest::IngestReport;
use toolgate_context::{Ingester, WatchEvent, watch_paths};

use crate::{Place, counts};

/// Nothing here takes this long unless it hangs.
const LIMIT: Duration = Duration::from_secs(30);

/// Follows some paths beside the test.
struct Following {
    ingest: Ingester,
    reports: mpsc::UnboundedReceiver<Result<IngestReport, String>>,
    task: tokio::task::JoinHandle<()>,
}

impl Following {
    fn start(place: &Place, paths: Vec<PathBuf>) -> Self {
        let (sender, reports) = mpsc::unbounded_channel();
        let ingest = place.ingest.clone();
        let followed = ingest.clone();
        let task = tokio::spawn(async move {
            let mut told = |it| {
                let _ = match it {
                    WatchEvent::Report(_, report) => sender.send(Ok(report)),
                    WatchEvent::Failed(_, error) => sender.send(Err(error.to_string())),
                    WatchEvent::Progress(_) => return,
                };
            };
            watch_paths(&followed, &paths, &mut told).await;
        });
        Self { ingest, reports, task }
    }

    async fn next(&mut self) -> Result<IngestReport, String> {
        timeout(LIMIT, self.reports.recv()).await.expect("it tells").unwrap()
    }

    async fn end(self) {
        self.ingest.stop();
        timeout(LIMIT, self.task).await.expect("it ends").unwrap();
    }
}

/// Waits until the library holds exactly these.
async fn holds(place: &Place, names: &[&str]) {
    let wanted = async {
        while place.names().await != names {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    if timeout(LIMIT, wanted).await.is_err() {
        panic!("{:?} is not {names:?}", place.names().await);
    }
}

#[tokio::test]
async fn files_that_come_change_move_and_go_are_followed() {
    let place = Place::new().await;
    place.write("a.md", "one");
    let mut following = Following::start(&place, vec![place.beside("notes")]);
    assert_eq!(counts(&following.next().await.unwrap()), [1, 0, 0, 0]);

    fs::write(place.at("b.md"), "two").unwrap();
    holds(&place, &["a.md", "b.md"]).await;
    fs::write(place.at("b.md"), "another").unwrap();
    while place.held().await["b.md"] != "another" {
        following.next().await.unwrap();
    }
    // As editors do it.
    fs::write(place.at("a.new"), "replaced").unwrap();
    fs::rename(place.at("a.new"), place.at("a.md")).unwrap();
    while place.held().await["a.md"] != "replaced" {
        following.next().await.unwrap();
    }
    fs::rename(place.at("b.md"), place.at("c.md")).unwrap();
    holds(&place, &["a.md", "c.md"]).await;
    fs::remove_file(place.at("a.md")).unwrap();
    holds(&place, &["c.md"]).await;
    following.end().await;
}

#[tokio::test]
async fn folders_that_come_and_go_are_followed() {
    let place = Place::new().await;
    let mut following = Following::start(&place, vec![place.beside("notes")]);
    following.next().await.unwrap();
    fs::create_dir_all(place.at("new/deep")).unwrap();
    fs::write(place.at("new/deep/a.md"), "one").unwrap();
    holds(&place, &["new/deep/a.md"]).await;
    fs::write(place.at("new/deep/b.md"), "two").unwrap();
    holds(&place, &["new/deep/a.md", "new/deep/b.md"]).await;
    fs::rename(place.at("new"), place.at("old")).unwrap();
    holds(&place, &["old/deep/a.md", "old/deep/b.md"]).await;
    fs::write(place.at("old/deep/c.md"), "three").unwrap();
    holds(&place, &["old/deep/a.md", "old/deep/b.md", "old/deep/c.md"]).await;
    fs::remove_dir_all(place.at("old")).unwrap();
    holds(&place, &[]).await;
    following.end().await;
}

#[tokio::test]
async fn what_is_ignored_is_not_followed_and_the_rules_may_change() {
    let place = Place::new().await;
    place.write(".gitignore", "*.log\n");
    place.write("a.md", "one");
    place.write("b.txt", "two");
    let mut following = Following::start(&place, vec![place.beside("notes")]);
    following.next().await.unwrap();
    fs::write(place.at("noise.log"), "nothing").unwrap();
    fs::write(place.at("c.md"), "three").unwrap();
    holds(&place, &["a.md", "b.txt", "c.md"]).await;
    fs::write(place.at(".gitignore"), "*.txt\n").unwrap();
    holds(&place, &["a.md", "c.md", "noise.log"]).await;
    following.end().await;
}

#[tokio::test]
async fn a_file_that_was_named_is_followed_alone() {
    let place = Place::new().await;
    place.write("a.md", "one");
    place.write("b.md", "two");
    let mut following = Following::start(&place, vec![place.at("a.md")]);
    following.next().await.unwrap();
    fs::write(place.at("b.md"), "changed").unwrap();
    fs::remove_file(place.at("a.md")).unwrap();
    holds(&place, &[]).await;
    fs::write(place.at("a.md"), "back").unwrap();
    holds(&place, &["a.md"]).await;
    following.end().await;
}

#[tokio::test]
async fn a_path_that_is_not_there_is_told_once_and_hinders_no_other() {
    let place = Place::new().await;
    place.write("a.md", "one");
    let paths = vec![place.beside("missing"), place.beside("notes")];
    let mut following = Following::start(&place, paths);
    assert!(following.next().await.unwrap_err().contains("missing"));
    assert_eq!(counts(&following.next().await.unwrap()), [1, 0, 0, 0]);
    fs::write(place.at("b.md"), "two").unwrap();
    assert_eq!(counts(&following.next().await.unwrap()), [1, 0, 0, 0], "told again, or not at all");
    following.end().await;
}

#[tokio::test]
async fn a_folder_that_is_gone_loses_nothing() {
    let place = Place::new().await;
    place.write("a.md", "one");
    let mut following = Following::start(&place, vec![place.beside("notes")]);
    following.next().await.unwrap();
    fs::rename(place.beside("notes"), place.beside("away")).unwrap();
    // Its disk may have been taken out.
    assert!(following.next().await.is_err());
    assert_eq!(place.library.keys("", 10).await.unwrap(), [place.key("a.md")]);
    following.end().await;
}
