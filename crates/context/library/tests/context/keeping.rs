//! Tests storing, replacing and deleting documents, and the status of the library.

use toolgate_library::{DocumentOrigin, DocumentTrust, NewDocument};
use toolgate_reading::{ParsedDocument, Passage, PassageLocation};

use crate::{file, forget_folder, found, fresh_library, stamp};

#[tokio::test]
async fn what_is_kept_is_told_as_it_was_kept() {
    let home = fresh_library().await;
    let library = &home.library;
    let mut page = file("resource:git repo://readme", "Das Handbuch", &["Erste Seite."]);
    page.origin = DocumentOrigin::Resource { server: "git".into(), uri: "repo://readme".into() };
    page.document.passages[0].place = PassageLocation::Page(7);
    page.trust = DocumentTrust::Trusted;
    library.keep(vec![page, file("/notes/a.md", "Plans", &["one", "two"])]).await.unwrap();

    let hits = library.document_passages("resource:git repo://readme").await.unwrap();
    assert_eq!(hits.len(), 1);
    assert_eq!((hits[0].text.as_str(), hits[0].place), ("Erste Seite.", PassageLocation::Page(7)));
    assert_eq!(hits[0].trust, DocumentTrust::Trusted);
    let origin = DocumentOrigin::Resource { server: "git".into(), uri: "repo://readme".into() };
    assert_eq!(hits[0].origin, origin);
    let texts: Vec<String> = library
        .document_passages("/notes/a.md")
        .await
        .unwrap()
        .into_iter()
        .map(|hit| hit.text)
        .collect();
    assert_eq!(texts, ["one", "two"]);
    assert_eq!(hits[0].key, "resource:git repo://readme");

    let card = library.find_document("/notes/a.md").await.unwrap().unwrap();
    assert_eq!((card.title.as_str(), card.passages), ("Plans", 2));
    assert_eq!(card.stamp, stamp("onetwo"));
    let status = library.status().await.unwrap();
    assert_eq!((status.documents, status.passages, status.bytes), (2, 3, 18));
    assert_eq!(status.folders, [("/notes".to_owned(), 1)]);
    assert_eq!(status.servers, [("git".to_owned(), 1)]);
    assert!(status.latest.is_some() && status.size > 0);
}

#[tokio::test]
async fn a_document_without_passages_is_known_too() {
    let home = fresh_library().await;
    let empty = file("/notes/empty.md", "Nothing", &[]);
    home.library.keep(vec![empty, file("/notes/b.md", "B", &["word"])]).await.unwrap();
    assert_eq!(home.library.stamps("/notes").await.unwrap().len(), 2);
    assert!(home.library.document_passages("/notes/empty.md").await.unwrap().is_empty());
    assert_eq!(home.library.document_passages("/notes/b.md").await.unwrap().len(), 1);
    assert_eq!(home.library.forget(&["/notes/empty.md".into()]).await.unwrap(), 1);
    assert_eq!(found(&home.library, "word").await, ["/notes/b.md"]);
}

#[tokio::test]
async fn a_replaced_document_leaves_nothing_behind() {
    let home = fresh_library().await;
    let library = &home.library;
    library.keep(vec![file("/notes/a.md", "Old", &["zebra", "giraffe"])]).await.unwrap();
    library.keep(vec![file("/notes/a.md", "New", &["elephant"])]).await.unwrap();
    for gone in ["zebra", "giraffe", "old"] {
        assert!(found(library, gone).await.is_empty(), "{gone}");
    }
    assert_eq!(found(library, "elephant").await, ["/notes/a.md"]);
    let status = library.status().await.unwrap();
    assert_eq!((status.documents, status.passages, status.bytes), (1, 1, 8));
}

#[tokio::test]
async fn the_last_of_a_key_in_one_batch_is_kept() {
    let home = fresh_library().await;
    let twice = vec![file("/notes/a.md", "A", &["first"]), file("/notes/a.md", "A", &["second"])];
    home.library.keep(twice).await.unwrap();
    assert!(found(&home.library, "first").await.is_empty());
    assert_eq!(found(&home.library, "second").await, ["/notes/a.md"]);
    assert_eq!(home.library.status().await.unwrap().documents, 1);
}

#[tokio::test]
async fn a_folder_is_the_files_below_it_and_no_neighbour() {
    let home = fresh_library().await;
    let library = &home.library;
    let keys = ["/notes", "/notes/a.md", "/notes/deep/b.md", "/notes2/c.md", "/notes.md", "/n"];
    library.keep(keys.map(|key| file(key, key, &["same words"])).into()).await.unwrap();
    let note = NewDocument {
        origin: DocumentOrigin::Note,
        ..file("/notes/note", "a note", &["same words"])
    };
    library.keep(vec![note]).await.unwrap();
    for folder in ["/notes", "/notes/"] {
        let mut known: Vec<String> = library.stamps(folder).await.unwrap().into_keys().collect();
        known.sort();
        assert_eq!(known, ["/notes", "/notes/a.md", "/notes/deep/b.md"], "{folder}");
    }
    assert_eq!(library.stamps("/").await.unwrap().len(), 6);
    assert_eq!(forget_folder(library, "/notes/deep").await, 1);
    assert_eq!(forget_folder(library, "/notes").await, 2);
    assert_eq!(
        library.keys("", 10).await.unwrap(),
        ["/n", "/notes.md", "/notes/note", "/notes2/c.md"]
    );
}

#[tokio::test]
async fn a_server_is_forgotten_whole() {
    let home = fresh_library().await;
    let library = &home.library;
    let resource = |server: &str, uri: &str| NewDocument {
        origin: DocumentOrigin::Resource { server: server.into(), uri: uri.into() },
        ..file(&format!("resource:{server} {uri}"), uri, &["shared text"])
    };
    let kept = vec![resource("git", "a:1"), resource("git", "a:2"), resource("other", "a:1")];
    library.keep(kept).await.unwrap();
    let of_git = ["resource:git a:1", "resource:git a:2"].map(str::to_owned);
    assert_eq!(library.forget(&of_git).await.unwrap(), 2);
    assert_eq!(found(library, "shared").await, ["resource:other a:1"]);
    assert_eq!(library.status().await.unwrap().servers, [("other".to_owned(), 1)]);
}

#[tokio::test]
async fn pages_of_documents_meet_no_document_twice() {
    let home = fresh_library().await;
    let library = &home.library;
    let many = (0..25).map(|n| file(&format!("/notes/{n:02}.md"), "T", &["x"])).collect();
    library.keep(many).await.unwrap();
    let (mut after, mut seen) = (String::new(), Vec::new());
    loop {
        let page = library.documents(&after, 10).await.unwrap();
        let Some(last) = page.last() else { break };
        after = last.key.clone();
        seen.extend(page.into_iter().map(|card| card.key));
    }
    assert_eq!(seen.len(), 25);
    assert_eq!(seen, library.keys("", 100).await.unwrap());
}

#[tokio::test]
async fn a_new_stamp_changes_nothing_else() {
    let home = fresh_library().await;
    let library = &home.library;
    library.keep(vec![file("/notes/a.md", "A", &["text"])]).await.unwrap();
    let mut newer = stamp("text");
    newer.modified = 2_000;
    let stamps =
        vec![("/notes/a.md".to_owned(), newer.clone()), ("/none".to_owned(), newer.clone())];
    library.update_stamps(stamps).await.unwrap();
    assert_eq!(library.stamps("/notes").await.unwrap()["/notes/a.md"].0, newer);
    assert_eq!(library.keys("", 10).await.unwrap().len(), 1);
    assert_eq!(found(library, "text").await, ["/notes/a.md"]);
}

#[tokio::test]
async fn every_text_comes_back_as_it_was() {
    let home = fresh_library().await;
    let odd = "nul \0 here, \"quotes\" \\ back\u{7f}\u{2028}\u{1f600} \u{fffd} tab\t end quixotic";
    let document = ParsedDocument {
        title: odd.to_owned(),
        passages: vec![Passage {
            heading: odd.to_owned(),
            text: odd.to_owned(),
            place: PassageLocation::Lines(1, u32::MAX),
        }],
        truncation: None,
    };
    home.library.keep(vec![NewDocument { document, ..file(odd, odd, &[]) }]).await.unwrap();
    let hits = home.library.search("quixotic", 5).await.unwrap();
    assert_eq!(hits.len(), 1);
    for text in [&hits[0].text, &hits[0].title, &hits[0].heading, &hits[0].key] {
        assert_eq!(text, odd);
    }
    assert_eq!(hits[0].place, PassageLocation::Lines(1, u32::MAX));
}
