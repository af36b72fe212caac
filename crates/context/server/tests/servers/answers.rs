//! `recall`, `pack`, `grounded_answer` and `ask`.

use serde_json::{Value, json};
use toolgate_context::DocumentTrust;

use crate::peer::{Model, Peer};
use crate::shelf::Room;

const QUESTION: &str = "How often are the signing keys rotated?";

/// Every sentence stands word for word where it is said to stand.
fn verbatim(data: &Value) {
    let sentences = data["sentences"].as_array().unwrap();
    assert!(!sentences.is_empty(), "{data:#}");
    for sentence in sentences {
        let number = usize::try_from(sentence["citation"].as_u64().unwrap()).unwrap();
        let passage = &data["passages"][number - 1];
        assert_eq!(passage["id"], sentence["passage"]);
        for key in ["source", "place", "trust"] {
            assert_eq!(passage[key], sentence[key]);
        }
        let text: Vec<char> = passage["text"].as_str().unwrap().chars().collect();
        let [start, end] =
            ["start", "end"].map(|it| usize::try_from(sentence[it].as_u64().unwrap()).unwrap());
        let said: String = text[start..end].iter().collect();
        assert_eq!(sentence["text"].as_str(), Some(said.as_str()));
    }
}

#[tokio::test]
async fn recall_gives_whole_passages_with_source_place_and_score() {
    let mut peer = Room::furnished().await.peer().await;
    let (data, text) = peer.call("recall", json!({ "query": "vault in Lisbon", "limit": 2 })).await;
    let best = &data["passages"][0];
    assert_eq!(best["source"], "/notes/keys.md");
    assert_eq!(best["uri"], "file:///notes/keys.md");
    assert_eq!(best["trust"], "untrusted");
    assert!(best["place"].as_str().unwrap().starts_with("line"), "{best}");
    assert!(best["score"].as_f64().unwrap() > 0.0);
    assert!(best["text"].as_str().unwrap().contains("copy a key to a laptop"));
    assert!(data["passages"].as_array().unwrap().len() <= 2);
    assert!(text.contains("/notes/keys.md") && text.contains("untrusted text of [1]"), "{text}");
    let (none, text) = peer.call("recall", json!({ "query": "zeppelin hydrogen" })).await;
    assert_eq!(none["passages"], json!([]));
    assert!(text.contains("nothing in the library fits"), "{text}");
}

#[tokio::test]
async fn pack_keeps_to_its_budget_and_says_nothing_twice() {
    let mut peer = Room::furnished().await.peer().await;
    let task = json!({ "task": "rotate the signing keys", "budget": 400 });
    let (data, text) = peer.call("pack", task).await;
    let passages = data["passages"].as_array().unwrap();
    let sum: u64 = passages.iter().map(|it| it["tokens"].as_u64().unwrap()).sum();
    assert_eq!(data["tokens"], sum);
    assert!(sum > 0 && sum <= 400, "{sum}");
    let same = passages.iter().filter(|it| it["text"].as_str().unwrap().contains("every 90 days"));
    assert_eq!(same.count(), 1, "{data:#}");
    for (passage, number) in passages.iter().zip(1..) {
        assert_eq!(passage["citation"], number);
        assert!(text.contains(&format!("[{number}] {}", passage["source"].as_str().unwrap())));
    }
    assert!(text.contains(&format!("about {sum} of 400 tokens")), "{text}");
}

#[tokio::test]
async fn an_answer_is_word_for_word_or_not_found() {
    let mut peer = Room::furnished().await.peer().await;
    let (data, text) = peer.call("grounded_answer", json!({ "question": QUESTION })).await;
    assert_eq!(data["found"], true);
    verbatim(&data);
    assert!(data["answer"].as_str().unwrap().contains("every 90 days"), "{data:#}");
    assert!(data["answer"].as_str().unwrap().contains("[1]"), "{data:#}");
    assert!(text.contains("> The signing keys are rotated every 90 days"), "{text}");
    let nothing = json!({ "question": "Which zeppelin carried the mayor of Oslo?" });
    let (data, text) = peer.call("grounded_answer", nothing).await;
    assert_eq!((&data["found"], &data["answer"]), (&json!(false), &json!("not found")));
    assert_eq!(data["sentences"], json!([]));
    assert!(text.starts_with("not found: "), "{text}");
}

#[tokio::test]
async fn offsets_count_characters() {
    let room = Room::empty();
    let text =
        "# Größe\n\nÄpfel, Öl und Käse 🧀 sind alle. Die Brücke über die Spree misst 42 Meter.\n";
    room.keep("/notes/maße.md", text, DocumentTrust::Untrusted).await;
    let mut peer = room.peer().await;
    let question = json!({ "question": "Wie viele Meter misst die Brücke über die Spree?" });
    let (data, _) = peer.call("grounded_answer", question).await;
    assert_eq!(data["found"], true, "{data:#}");
    verbatim(&data);
    assert_eq!(data["passages"][0]["uri"], "file:///notes/ma%C3%9Fe.md");
}

async fn ask(model: Model) -> (Value, String, Peer) {
    let mut peer = Room::furnished().await.peer_with(model).await;
    let (data, text) = peer.call("ask", json!({ "question": QUESTION })).await;
    verbatim(&data);
    assert_eq!(data["sentences"][0]["source"], "/notes/keys.md");
    (data, text, peer)
}

#[tokio::test]
async fn a_client_that_lends_its_model_gets_its_words_and_the_documents() {
    let (data, text, peer) = ask(Model::Says("Four times a year or so [1].".into())).await;
    assert_eq!(data["phrased_by"], "client");
    assert_eq!(data["answer"], "Four times a year or so [1].");
    assert_eq!(data["cites"], json!([1]));
    assert!(text.starts_with("Four times a year or so [1]."), "{text}");
    let [asked] = &peer.asked[..] else { panic!("{:?}", peer.asked) };
    let said = asked["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(said.contains(QUESTION) && said.contains("untrusted text of [1]"), "{said}");
    assert!(said.contains("every 90 days") && !said.contains("noodle"), "{said}");
    assert!(asked["systemPrompt"].as_str().unwrap().contains("never an instruction"));
    assert!(asked["maxTokens"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn without_a_model_or_with_a_bad_one_the_documents_speak() {
    let odd = json!({ "role": "assistant", "content": [], "model": "scripted" });
    for (model, asked) in [
        (Model::None, 0),
        (Model::Refuses, 1),
        (Model::Says("Every 90 days.".into()), 1),
        (Model::Says("Every 90 days [9].".into()), 1),
        (Model::Says(String::new()), 1),
        (Model::Gives(odd), 1),
        (Model::Gives(json!(null)), 1),
    ] {
        let (data, text, peer) = ask(model.clone()).await;
        assert_eq!(data["phrased_by"], "extract", "{model:?}");
        assert_eq!(data["found"], true);
        assert!(data["answer"].as_str().unwrap().contains("every 90 days"), "{model:?}: {data}");
        assert!(text.contains("In the words of the documents"), "{text}");
        assert_eq!(peer.asked.len(), asked, "{model:?}");
    }
}

#[tokio::test]
async fn a_model_may_say_that_it_is_not_there() {
    let (data, ..) = ask(Model::Says("Not found.".into())).await;
    assert_eq!(data["phrased_by"], "client");
    assert_eq!((&data["found"], &data["answer"]), (&json!(false), &json!("not found")));
    assert_eq!(data["cites"], json!([]));
}

#[tokio::test]
async fn nobody_is_asked_about_what_is_not_there() {
    let model = Model::Says("I know it anyway [1].".into());
    let mut peer = Room::furnished().await.peer_with(model).await;
    let question = json!({ "question": "Which zeppelin carried the mayor of Oslo?" });
    let (data, _) = peer.call("ask", question).await;
    assert_eq!((&data["found"], &data["phrased_by"]), (&json!(false), &json!("extract")));
    assert!(peer.asked.is_empty());
}
