//! An empty library: requests get a useful notice, and no file is created.

use serde_json::json;
use toolgate_context::{IngestPermissions, Names, gateway_server, tools_server};

use crate::peer::{Model, Peer};
use crate::shelf::Room;

#[tokio::test]
async fn an_empty_library_says_how_to_fill_it_and_is_not_made_by_looking() {
    let room = Room::empty();
    let shelf = room.shelf().command("toolgate --home /elsewhere context ingest");
    let command = "toolgate --home /elsewhere context ingest FOLDER";
    let mut gateway =
        Peer::meet(&gateway_server(shelf.clone(), Names::Toolgate), Model::None).await;
    let (data, text) = gateway.call("search_local_context", json!({ "query": "keys" })).await;
    assert_eq!(data["passages"], json!([]));
    for said in [data["notice"].as_str().unwrap(), &text] {
        assert!(said.contains("nothing was ingested yet") && said.contains(command), "{said}");
    }
    let filled = json!({ "name": "summarize_local_context", "arguments": { "query": "keys" } });
    let prompt = gateway.ask("prompts/get", filled).await;
    assert!(prompt["messages"][1]["content"]["text"].as_str().unwrap().contains(command));
    let status = gateway.read("toolgate://context/status").await;
    let status: serde_json::Value = serde_json::from_str(status["text"].as_str().unwrap()).unwrap();
    assert_eq!(status["documents"], 0);
    assert_eq!(status["add_documents"], command);
    let found = gateway.read("toolgate://context/search?query=keys").await;
    assert!(found["text"].as_str().unwrap().contains(command));
    let about = json!({ "type": "ref/prompt", "name": "summarize_local_context" });
    assert!(gateway.complete(about, "query", "k").await.is_empty());

    let tools = tools_server(shelf, Names::Toolgate, IngestPermissions::new([], None));
    let mut peer = Peer::meet(&tools, Model::Says("Never asked [1].".into())).await;
    for (tool, arguments) in [
        ("recall", json!({ "query": "keys" })),
        ("pack", json!({ "task": "rotate the keys" })),
        ("grounded_answer", json!({ "question": "How often are keys rotated?" })),
        ("ask", json!({ "question": "How often are keys rotated?" })),
        ("open_loops", json!({})),
        ("decision_extract", json!({ "query": "keys" })),
    ] {
        let (data, text) = peer.call(tool, arguments).await;
        assert!(data["notice"].as_str().unwrap().contains(command), "{tool}: {data}");
        assert!(text.contains(command), "{tool}: {text}");
    }
    assert!(peer.asked.is_empty(), "a model was asked about nothing");
    assert!(!room.file().exists(), "looking made a library");
}
