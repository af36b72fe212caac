//! Which files of a folder are ingested.

use std::fs;

use toolgate_context::ContextError;
use toolgate_context::ingest::IngestOptions;

use crate::{Place, counts, take, why};

#[tokio::test]
async fn ignore_files_and_hidden_files_are_respected_unless_asked_otherwise() {
    let place = Place::new().await;
    place.write("kept.md", "one");
    place.write("build/made.md", "two");
    place.write(".secret.md", "three");
    place.write("deep/.ignore", "private*\n");
    place.write("deep/private.md", "four");
    place.write("deep/open.md", "five");
    place.write(".gitignore", "build/\n");
    place.write(".git/config", "[core]\n");
    place.take().await;
    assert_eq!(place.names().await, ["deep/open.md", "kept.md"]);

    let open = IngestOptions { ignore_files: false, ..IngestOptions::default() };
    take(&place.with(open), &place.beside("notes")).await;
    assert_eq!(
        place.names().await,
        ["build/made.md", "deep/open.md", "deep/private.md", "kept.md"]
    );

    let hidden = IngestOptions { hidden: true, ..IngestOptions::default() };
    take(&place.with(hidden), &place.beside("notes")).await;
    let names = place.names().await;
    assert!(names.contains(&".secret.md".to_owned()), "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with(".git/")), "{names:?}");
}

#[cfg(unix)]
#[tokio::test]
async fn links_and_special_files_are_not_followed_and_named() {
    use std::os::unix::fs::symlink;
    let place = Place::new().await;
    place.write("kept.md", "one");
    place.write("sub/deep.md", "two");
    fs::create_dir(place.beside("elsewhere")).unwrap();
    fs::write(place.beside("elsewhere/secret.md"), "nobody's business").unwrap();
    symlink(place.beside("elsewhere/secret.md"), place.at("out.md")).unwrap();
    symlink(place.beside("elsewhere"), place.at("out")).unwrap();
    symlink(place.at("kept.md"), place.at("inside.md")).unwrap();
    symlink(place.beside("notes"), place.at("sub/round")).unwrap();
    symlink(place.at("loop-b"), place.at("loop-a")).unwrap();
    symlink(place.at("loop-a"), place.at("loop-b")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(place.at("socket")).unwrap();

    let report = place.take().await;
    assert_eq!(place.names().await, ["kept.md", "sub/deep.md"]);
    for (name, because) in [
        ("/out.md", "out of the folder"),
        ("/out", "out of the folder"),
        ("/loop-a", "nowhere"),
        ("/loop-b", "nowhere"),
        ("/socket", "not a regular file"),
    ] {
        let why = why(&report.skipped, name).unwrap_or_else(|| panic!("{name}: {report:?}"));
        assert!(why.contains(because), "{name}: {why}");
    }
    assert_eq!(report.skipped.total, 5, "{report:?}");
}

#[tokio::test]
async fn what_is_no_text_is_counted_and_what_is_too_large_is_named() {
    let place = Place::new().await;
    place.write("kept.md", "one");
    fs::write(place.at("picture.png"), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01").unwrap();
    place.write("long.txt", &"word ".repeat(1000));
    let small = IngestOptions { most_text: 4096, ..IngestOptions::default() };
    let report = take(&place.with(small), &place.beside("notes")).await;
    assert_eq!((report.binary, report.skipped.total), (1, 1), "{report:?}");
    assert!(why(&report.skipped, "/long.txt").unwrap().starts_with("larger than"));
    assert_eq!(place.names().await, ["kept.md"]);
}

#[tokio::test]
async fn a_file_may_be_named_itself_and_is_not_there_twice() {
    let place = Place::new().await;
    place.write("sub/a.md", "one");
    place.write("sub/b.md", "two");
    take(&place.ingest, &place.at("sub/a.md")).await;
    assert_eq!(place.names().await, ["sub/a.md"]);
    take(&place.ingest, &place.at("sub")).await;
    let report = place.take().await;
    assert_eq!(counts(&report), [0, 0, 2, 0], "{report:?}");
    assert_eq!(place.names().await, ["sub/a.md", "sub/b.md"]);
    // The way there does not matter.
    let report = take(&place.ingest, &place.at("sub/../sub/./a.md")).await;
    assert_eq!(counts(&report), [0, 0, 1, 0], "{report:?}");
}

#[tokio::test]
async fn what_cannot_be_read_at_all_is_an_error() {
    let place = Place::new().await;
    let error = place.ingest.ingest_path(&place.beside("nowhere"), &mut |_| {}).await.unwrap_err();
    assert!(matches!(&error, ContextError::Path { .. }), "{error}");
    assert!(error.to_string().contains("nowhere"), "{error}");
    let device = std::path::Path::new("/dev/null");
    if device.exists() {
        let error = place.ingest.ingest_path(device, &mut |_| {}).await.unwrap_err();
        assert!(error.to_string().contains("neither a file nor a folder"), "{error}");
    }
}

#[tokio::test]
async fn a_line_of_an_ignore_file_that_means_nothing_is_noted() {
    let place = Place::new().await;
    place.write("kept.md", "one");
    place.write(".ignore", "{a\n");
    let report = place.take().await;
    assert!(why(&report.noted, ".ignore").is_some(), "{report:?}");
    assert_eq!(place.names().await, ["kept.md"]);
}

#[tokio::test]
async fn progress_reaches_its_end() {
    let place = Place::new().await;
    for name in 0..20 {
        place.write(&format!("{name}.md"), "some words");
    }
    let mut last = None;
    place.ingest.ingest_path(&place.beside("notes"), &mut |it| last = Some(it)).await.unwrap();
    let last = last.unwrap();
    assert_eq!((last.files, last.files_done), (20, 20));
    assert_eq!((last.bytes, last.bytes_done), (200, 200));
}

#[tokio::test]
async fn whoever_stops_it_keeps_what_is_there_and_forgets_nothing() {
    let place = Place::new().await;
    place.write("a.md", "one");
    place.take().await;
    fs::remove_file(place.at("a.md")).unwrap();
    place.write("b.md", "two");
    place.ingest.stop();
    let report = place.take().await;
    assert!(report.stopped && counts(&report) == [0; 4], "{report:?}");
    assert_eq!(place.names().await, ["a.md"]);
}
