//! `ingest`: what it accepts and refuses, and that searches find it afterwards.

use serde_json::json;

use crate::shelf::{KEYS, LUNCH, Room};

#[tokio::test]
async fn a_folder_is_taken_in_once_and_found() {
    let room = Room::empty();
    let notes = room.folder.path().join("notes");
    std::fs::create_dir_all(notes.join(".hidden")).unwrap();
    std::fs::write(notes.join("keys.md"), KEYS).unwrap();
    std::fs::write(notes.join("lunch.md"), LUNCH).unwrap();
    std::fs::write(notes.join(".hidden/secret.md"), "# Secret\n\nzeppelin\n").unwrap();
    let mut peer = room.peer().await;
    let path = json!({ "path": notes.display().to_string() });
    let (first, text) = peer.call("ingest", path.clone()).await;
    assert_eq!((&first["added"], &first["unchanged"]), (&json!(2), &json!(0)), "{first:#}");
    assert!(text.contains("2 documents added"), "{text}");
    let (again, _) = peer.call("ingest", path.clone()).await;
    assert_eq!((&again["added"], &again["unchanged"]), (&json!(0), &json!(2)), "{again:#}");
    std::fs::remove_file(notes.join("lunch.md")).unwrap();
    let (gone, _) = peer.call("ingest", path).await;
    assert_eq!(gone["removed"], 1, "{gone:#}");
    let (found, _) = peer.call("recall", json!({ "query": "vault in Lisbon" })).await;
    let source = found["passages"][0]["source"].as_str().unwrap();
    assert!(source.ends_with("notes/keys.md"), "{source}");
    let (none, _) = peer.call("recall", json!({ "query": "zeppelin" })).await;
    assert_eq!(none["passages"], json!([]));
}

#[tokio::test]
async fn what_lies_elsewhere_is_the_users_to_take_in() {
    let (room, other) = (Room::empty(), Room::empty());
    std::fs::write(other.folder.path().join("it's here.md"), KEYS).unwrap();
    let path = other.folder.path().join("it's here.md").display().to_string();
    let mut peer = room.peer().await;
    let said = peer.failing("ingest", json!({ "path": path })).await;
    assert!(said.contains("does not lie below"), "{said}");
    assert!(
        said.contains("`toolgate context ingest '") && said.contains("it'\\''s here.md'`"),
        "{said}"
    );
    std::fs::write(room.folder.path().join(".env"), "KEY=1").unwrap();
    let hidden = room.folder.path().join(".env").display().to_string();
    assert!(peer.failing("ingest", json!({ "path": hidden })).await.contains("hidden"));
    assert!(!room.file().exists(), "a refusal made a library");
}

#[tokio::test]
async fn a_note_is_kept_under_its_name_and_replaced() {
    let mut peer = Room::empty().peer().await;
    let note = |text: &str| json!({ "text": text, "name": "standup.md" });
    let (first, _) = peer.call("ingest", note("# Standup\n\nAda repaired the zeppelin.\n")).await;
    assert_eq!((&first["source"], &first["added"]), (&json!("note:standup.md"), &json!(1)));
    let (second, _) = peer.call("ingest", note("# Standup\n\nAda sold the submarine.\n")).await;
    assert_eq!((&second["added"], &second["changed"]), (&json!(0), &json!(1)), "{second:#}");
    let (found, _) = peer.call("recall", json!({ "query": "submarine" })).await;
    assert_eq!(found["passages"][0]["source"], "note:standup.md");
    assert_eq!(found["passages"][0]["trust"], "untrusted");
    let (none, _) = peer.call("recall", json!({ "query": "zeppelin" })).await;
    assert_eq!(none["passages"], json!([]));
    for name in ["", "a\u{202e}b", "a\nb"] {
        let odd = json!({ "text": "x", "name": name });
        assert!(peer.failing("ingest", odd).await.contains("`name`"), "{name:?}");
    }
}
