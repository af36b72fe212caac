//! Ingesting a folder again: only changed files are read, and missing ones are removed.

use std::fs;
use std::time::Duration;

use toolgate_context::DocumentTrust;
use toolgate_context::ingest::IngestOptions;

use crate::{Place, age, counts, take, why};

#[tokio::test]
async fn only_what_changed_is_taken_in_again() {
    let place = Place::new().await;
    place.write("a.md", "one");
    place.write("b.md", "two");
    place.write("c.md", "three");
    assert_eq!(counts(&place.take().await), [3, 0, 0, 0]);
    assert_eq!(counts(&place.take().await), [0, 0, 3, 0]);

    place.write("b.md", "two and more");
    fs::remove_file(place.at("c.md")).unwrap();
    fs::rename(place.at("a.md"), place.at("d.md")).unwrap();
    assert_eq!(counts(&place.take().await), [1, 1, 0, 2]);
    let held = place.held().await;
    let held: Vec<_> = held.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    assert_eq!(held, [("b.md", "two and more"), ("d.md", "one")]);
}

#[tokio::test]
async fn a_file_of_the_same_size_and_time_is_not_read() {
    let place = Place::new().await;
    place.write("a.md", "one");
    place.take().await;
    let time = fs::metadata(place.at("a.md")).unwrap().modified().unwrap();
    fs::write(place.at("a.md"), "two").unwrap();
    fs::File::options().write(true).open(place.at("a.md")).unwrap().set_modified(time).unwrap();
    assert_eq!(counts(&place.take().await), [0, 0, 1, 0]);
    assert_eq!(place.held().await["a.md"], "one");
}

#[tokio::test]
async fn a_file_changed_a_moment_before_it_was_read_is_read_again() {
    let place = Place::new().await;
    fs::write(place.at("a.md"), "one").unwrap();
    let time = fs::metadata(place.at("a.md")).unwrap().modified().unwrap();
    place.take().await;
    fs::write(place.at("a.md"), "two").unwrap();
    fs::File::options().write(true).open(place.at("a.md")).unwrap().set_modified(time).unwrap();
    assert_eq!(counts(&place.take().await), [0, 1, 0, 0]);
    assert_eq!(place.held().await["a.md"], "two");
}

#[tokio::test]
async fn a_file_that_was_only_touched_keeps_its_document() {
    let place = Place::new().await;
    place.write("a.md", "one");
    place.take().await;
    let before = place.library.document_passages(&place.key("a.md")).await.unwrap()[0].passage;
    age(&place.at("a.md"), Duration::from_secs(60));
    assert_eq!(counts(&place.take().await), [0, 0, 1, 0]);
    let after = &place.library.document_passages(&place.key("a.md")).await.unwrap()[0];
    assert_eq!(after.passage, before, "it was kept anew");
    let stamps = place.library.stamps(&place.key("a.md")).await.unwrap();
    let time = fs::metadata(place.at("a.md")).unwrap().modified().unwrap();
    let time = time.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    assert_eq!(stamps[&place.key("a.md")].0.modified as u128, time);
}

#[tokio::test]
async fn a_folder_forgets_nothing_of_another() {
    let place = Place::new().await;
    place.write("a/one.md", "one");
    place.write("ab/two.md", "two");
    place.take().await;
    fs::remove_file(place.at("a/one.md")).unwrap();
    fs::remove_file(place.at("ab/two.md")).unwrap();
    assert_eq!(counts(&take(&place.ingest, &place.at("a")).await), [0, 0, 0, 1]);
    assert_eq!(place.names().await, ["ab/two.md"]);
}

#[tokio::test]
async fn what_is_ignored_by_now_goes_unless_it_was_asked_for_by_itself() {
    let place = Place::new().await;
    place.write("drafts/a.md", "one");
    place.write("made/b.md", "two");
    place.take().await;
    take(&place.ingest, &place.at("made/b.md")).await;
    place.write("made/c.md", "three");
    take(&place.ingest, &place.at("made")).await;
    place.write(".gitignore", "drafts/\nmade/\n");
    let report = place.take().await;
    // `b.md` came with the folder first; `c.md` with `made`, which somebody asked for.
    assert_eq!(report.removed, 2, "{report:?}");
    assert_eq!(place.names().await, ["made/c.md"]);
}

#[tokio::test]
async fn a_document_that_cannot_be_taken_in_any_more_goes() {
    let place = Place::new().await;
    place.write("a.md", "one");
    place.take().await;
    fs::write(place.at("a.md"), b"\0\0\0\x01\0\0binary").unwrap();
    let report = place.take().await;
    assert_eq!((counts(&report), report.binary), ([0, 0, 0, 1], 1), "{report:?}");
    assert!(place.names().await.is_empty());
}

#[cfg(unix)]
#[tokio::test]
async fn a_folder_that_cannot_be_looked_into_loses_nothing() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new().await;
    place.write("open.md", "one");
    place.write("locked/a.md", "two");
    place.take().await;
    let locked = place.at("locked");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    let barred = fs::read_dir(&locked).is_err();
    let report = place.take().await;
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(place.names().await, ["locked/a.md", "open.md"], "{report:?}");
    // The superuser is barred from nothing.
    if barred {
        assert_eq!(why(&report.skipped, "/locked"), Some("permission denied"), "{report:?}");
    }
}

#[tokio::test]
async fn a_refused_file_is_named_again_without_being_read_again() {
    let place = Place::new().await;
    place.write("long.txt", "0123456789");
    let small = place.with(IngestOptions { most_text: 4, ..IngestOptions::default() });
    for _ in 0..2 {
        let report = take(&small, &place.beside("notes")).await;
        assert!(why(&report.skipped, "/long.txt").is_some(), "{report:?}");
    }
    place.write("long.txt", "0123");
    assert_eq!(counts(&take(&small, &place.beside("notes")).await), [1, 0, 0, 0]);
}

#[tokio::test]
async fn trust_is_what_the_user_says_now() {
    let place = Place::new().await;
    place.write("mine/a.md", "one");
    place.write("theirs/b.md", "two");
    let trust = async |name: &str| {
        let card = place.library.find_document(&place.key(name)).await.unwrap().unwrap();
        card.trust == DocumentTrust::Trusted
    };
    place.take().await;
    assert!(!trust("mine/a.md").await && !trust("theirs/b.md").await);
    let trusting = IngestOptions { trusted: vec![place.at("mine")], ..IngestOptions::default() };
    let report = take(&place.with(trusting), &place.beside("notes")).await;
    assert_eq!(counts(&report), [0, 0, 2, 0], "{report:?}");
    assert!(trust("mine/a.md").await && !trust("theirs/b.md").await);
    place.take().await;
    assert!(!trust("mine/a.md").await);
}
