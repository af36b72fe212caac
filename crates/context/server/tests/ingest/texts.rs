//! Ingesting given texts, and decoding the bytes of files.

use std::fs;

use toolgate_context::ingest::IngestOptions;
use toolgate_context::{DocumentOrigin, DocumentTrust};

use crate::{Place, counts, why};

#[tokio::test]
async fn a_text_is_kept_under_its_name_and_replaced() {
    let place = Place::new().await;
    let report = place.ingest.ingest_text("plan", "# Plan\n\nWe ship in May.").await.unwrap();
    assert_eq!((counts(&report), report.passages > 0), ([1, 0, 0, 0], true));
    let report = place.ingest.ingest_text("plan", "# Plan\n\nWe ship in May.").await.unwrap();
    assert_eq!(counts(&report), [0, 0, 1, 0]);
    let report = place.ingest.ingest_text("plan", "# Plan\n\nWe ship in June.").await.unwrap();
    assert_eq!(counts(&report), [0, 1, 0, 0]);
    let card = place.library.find_document("note:plan").await.unwrap().unwrap();
    assert_eq!((card.origin, card.trust), (DocumentOrigin::Note, DocumentTrust::Untrusted));
    let hits = place.library.search("June", 10).await.unwrap();
    assert_eq!(hits[0].key, "note:plan");
    // Folders and notes leave each other alone.
    place.write("a.md", "one");
    place.take().await;
    assert_eq!(place.names().await, ["a.md", "note:plan"]);
}

#[tokio::test]
async fn a_text_without_a_name_or_words_or_too_long_is_refused() {
    let place = Place::new().await;
    let small = place.with(IngestOptions { most_text: 10, ..IngestOptions::default() });
    for (name, text, because) in [
        (" ", "words", "needs a name"),
        ("a", "", "nothing in it"),
        ("a", "0123456789a", "larger than"),
        ("a", "a\0b", "not a text"),
    ] {
        let error = small.ingest_text(name, text).await.unwrap_err().to_string();
        assert!(error.contains(because), "{error}");
    }
    assert!(place.names().await.is_empty());
}

#[tokio::test]
async fn bytes_that_are_no_utf8_are_read_and_noted_by_name() {
    let place = Place::new().await;
    place.write("kept.md", "one");
    fs::write(place.at("old.txt"), b"Gr\xfc\xdfe aus K\xf6ln").unwrap();
    fs::write(place.at("bad.txt"), b"caf\xc3\xa9 \xff end").unwrap();
    let wide: Vec<u8> = "Breite Wörter".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(place.at("wide.txt"), [b"\xff\xfe".as_slice(), &wide].concat()).unwrap();
    let report = place.take().await;
    let held = place.held().await;
    assert_eq!(held["old.txt"], "Grüße aus Köln");
    assert_eq!(held["bad.txt"], "café \u{fffd} end");
    assert_eq!(held["wide.txt"], "Breite Wörter");
    assert!(why(&report.noted, "/old.txt").unwrap().contains("Windows-1252"), "{report:?}");
    assert!(why(&report.noted, "/bad.txt").unwrap().contains("replaced"), "{report:?}");
    assert_eq!((counts(&report), report.noted.total), ([4, 0, 0, 0], 2), "{report:?}");
}
