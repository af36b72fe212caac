//! `open_loops`, `decision_extract` and `meeting_extract`.

use serde_json::{Value, json};

use crate::shelf::{MINUTES, Room};

fn find<'a>(list: &'a Value, words: &str) -> &'a Value {
    let found = list.as_array().unwrap().iter();
    let found: Vec<_> = found.filter(|it| it["text"].as_str().unwrap().contains(words)).collect();
    assert_eq!(found.len(), 1, "{words}: {list:#}");
    found[0]
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|it| it["text"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn open_loops_have_owner_and_date_where_they_are_stated() {
    let mut peer = Room::furnished().await.peer().await;
    let (data, text) = peer.call("open_loops", json!({ "source": "minutes.md" })).await;
    assert_eq!(data["scope"], "source");
    let plan = find(&data["loops"], "migration plan");
    assert_eq!((&plan["kind"], &plan["owner"]), (&json!("task"), &json!("Boris")));
    assert_eq!(plan["date"], "2026-10-12");
    assert_eq!((&plan["source"], &plan["trust"]), (&json!("/notes/minutes.md"), &json!("trusted")));
    let question = find(&data["loops"], "who tells the customers");
    assert_eq!(question["kind"], "question");
    assert!(!texts(&data["loops"]).iter().any(|it| it.contains("book the room")), "{data:#}");
    assert!(text.contains("migration plan") && text.contains("owner: Boris"), "{text}");

    let (recent, _) = peer.call("open_loops", json!({})).await;
    assert_eq!(recent["scope"], "recent");
    assert_eq!(find(&recent["loops"], "list of allergies")["kind"], "promise");
    let (one, _) = peer.call("open_loops", json!({ "limit": 1 })).await;
    assert_eq!(one["loops"].as_array().unwrap().len(), 1);
    assert_eq!(one["total"], recent["total"]);
    let (asked, _) = peer.call("open_loops", json!({ "query": "hardware tokens order" })).await;
    assert_eq!(asked["scope"], "query");
    find(&asked["loops"], "order two hardware tokens");
}

#[tokio::test]
async fn a_document_is_meant_by_the_end_of_its_path_if_there_is_one_such() {
    let mut peer = Room::furnished().await.peer().await;
    let said = peer.failing("open_loops", json!({ "source": "keys.md" })).await;
    assert!(said.contains("/notes/keys.md") && said.contains("/notes/old/keys.md"), "{said}");
    let (data, text) = peer.call("open_loops", json!({ "source": "old/keys.md" })).await;
    assert_eq!(data["loops"], json!([]));
    assert!(text.contains("no open loops in the"), "{text}");
}

#[tokio::test]
async fn decisions_have_reason_and_date() {
    let mut peer = Room::furnished().await.peer().await;
    let (data, text) = peer.call("decision_extract", json!({ "query": "gateway cluster" })).await;
    let moved = find(&data["decisions"], "moves to the new cluster");
    assert!(moved["reason"].as_str().unwrap().contains("loses support"), "{moved}");
    assert_eq!(moved["day"], "2026-11-01");
    assert_eq!(moved["standing"], "accepted");
    assert_eq!(moved["source"], "/notes/minutes.md");
    assert!(text.contains("moves to the new cluster"), "{text}");
}

/// What a meeting must be found to be, whichever way it is given.
fn is_the_meeting(data: &Value) {
    assert_eq!(texts(&data["attendees"]), ["Ada Lind", "Boris Kranz", "Chen Wei"]);
    assert!(texts(&data["topics"]).iter().any(|it| it.contains("Release train")), "{data:#}");
    find(&data["decisions"], "second Tuesday");
    let plan = find(&data["actions"], "migration plan");
    assert_eq!((&plan["owner"], &plan["date"]), (&json!("Boris"), &json!("2026-10-12")));
}

#[tokio::test]
async fn a_meeting_is_read_from_a_document_or_a_text() {
    let mut peer = Room::furnished().await.peer().await;
    let (data, _) = peer.call("meeting_extract", json!({ "source": "/notes/minutes.md" })).await;
    is_the_meeting(&data);
    let plan = find(&data["actions"], "migration plan");
    assert_eq!(plan["source"], "/notes/minutes.md");
    assert!(plan["passage"].as_i64().unwrap() > 0);
    let (passages, _) = peer.call("recall", json!({ "query": "migration plan" })).await;
    let passage = passages["passages"].as_array().unwrap().iter();
    let passage = passage.clone().find(|it| it["id"] == plan["passage"]).unwrap();
    let said: String = passage["text"].as_str().unwrap().chars().collect::<Vec<_>>()
        [plan["start"].as_u64().unwrap() as usize..plan["end"].as_u64().unwrap() as usize]
        .iter()
        .collect();
    assert_eq!(plan["text"].as_str(), Some(said.as_str()));

    let (data, _) = peer.call("meeting_extract", json!({ "text": MINUTES })).await;
    is_the_meeting(&data);
    let plan = find(&data["actions"], "migration plan");
    assert_eq!((&plan["source"], &plan["passage"]), (&json!("given text"), &json!(0)));
    let (none, text) = peer.call("meeting_extract", json!({ "text": "zzz" })).await;
    assert_eq!(none["actions"], json!([]));
    assert!(text.contains("nothing in it reads like minutes"), "{text}");
}
