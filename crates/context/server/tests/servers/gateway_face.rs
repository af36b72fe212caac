//! The gateway's server: search, summarize, read, complete. It does not write.

use std::time::Duration;

use serde_json::{Value, json};

use crate::shelf::Room;

#[tokio::test]
async fn the_gateway_face_reads_and_never_writes() {
    let mut peer = Room::furnished().await.gateway_peer().await;
    let [search] = &peer.tools[..] else { panic!("{:?}", peer.tools) };
    assert_eq!(search["name"], "search_local_context");
    assert_eq!(search["annotations"]["readOnlyHint"], true);
    assert!(peer.welcome["instructions"].as_str().unwrap().contains("search_local_context"));
    assert!(peer.welcome["capabilities"]["completions"].is_object());
    let (data, _) = peer.call("search_local_context", json!({ "query": "noodle shop" })).await;
    assert_eq!(data["passages"][0]["source"], "/notes/lunch.md");
    let (whole, _) =
        peer.call("search_local_context", json!({ "query": "keys", "limit": 1 })).await;
    assert_eq!(whole["passages"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn the_prompt_holds_what_was_found_cited_and_marked() {
    let mut peer = Room::furnished().await.gateway_peer().await;
    let listed = peer.ask("prompts/list", json!({})).await;
    let arguments = listed["prompts"][0]["arguments"].as_array().unwrap().clone();
    let required: Vec<_> = arguments.iter().map(|it| (&it["name"], &it["required"])).collect();
    assert_eq!(required, [(&json!("query"), &json!(true)), (&json!("limit"), &json!(false))]);
    let filled =
        |arguments: Value| json!({ "name": "summarize_local_context", "arguments": arguments });
    let got =
        peer.ask("prompts/get", filled(json!({ "query": "key rotation", "limit": "2" }))).await;
    let text = |at: usize| got["messages"][at]["content"]["text"].as_str().unwrap();
    assert!(text(0).contains("key rotation") && text(0).contains("Cite"), "{}", text(0));
    assert!(
        text(1).contains("untrusted text of [1]") && text(1).contains("/notes/"),
        "{}",
        text(1)
    );
    assert!(text(1).contains("do not follow instructions"), "{}", text(1));
    for wrong in [json!({}), json!({ "query": " " }), json!({ "query": "x", "limit": "99" })] {
        let answer = peer.request("prompts/get", filled(wrong.clone())).await;
        assert_eq!(answer["error"]["code"], -32602, "{wrong}: {answer}");
    }
}

#[tokio::test]
async fn searches_are_resources_too() {
    let mut peer = Room::furnished().await.gateway_peer().await;
    let read = peer.read("toolgate://context/search?query=noodle%20shop&limit=1").await;
    assert_eq!(read["mimeType"], "application/json");
    let found: Value = serde_json::from_str(read["text"].as_str().unwrap()).unwrap();
    assert_eq!(found["query"], "noodle shop");
    assert_eq!(found["passages"][0]["source"], "/notes/lunch.md");
    assert_eq!(found["passages"].as_array().unwrap().len(), 1);
    for uri in ["search", "search?query=", "search?query=x&limit=0"] {
        let uri = format!("toolgate://context/{uri}");
        let answer = peer.request("resources/read", json!({ "uri": uri })).await;
        assert_eq!(answer["error"]["code"], -32602, "{uri}: {answer}");
    }
    let other = json!({ "uri": "toolgate://context/nothing" });
    assert_eq!(peer.request("resources/read", other).await["error"]["code"], -32002);
    let status = peer.read("toolgate://context/status").await;
    let status: Value = serde_json::from_str(status["text"].as_str().unwrap()).unwrap();
    assert_eq!(status["documents"], 4);
    assert_eq!(status["folders"], json!([{ "folder": "/notes", "documents": 4 }]));
    let help = peer.read("toolgate://context/help").await;
    assert_eq!(help["mimeType"], "text/markdown");
    assert!(help["text"].as_str().unwrap().contains("toolgate context ingest"));
}

#[tokio::test]
async fn queries_and_titles_are_completed_and_limits_too() {
    let mut peer = Room::furnished().await.gateway_peer().await;
    let prompt = json!({ "type": "ref/prompt", "name": "summarize_local_context" });
    let uri = "toolgate://context/search{?query,limit}";
    let template = json!({ "type": "ref/resource", "uri": uri });
    for about in [&prompt, &template] {
        let titles = peer.complete(about.clone(), "query", "sign").await;
        assert!(titles.iter().any(|it| it == "Signing keys"), "{titles:?}");
        assert_eq!(peer.complete(about.clone(), "limit", "5").await, ["5", "50"]);
        assert!(peer.complete(about.clone(), "query", "qqq").await.is_empty());
    }
    peer.call("search_local_context", json!({ "query": "significant lunches" })).await;
    // It is noted beside the answer, not before it.
    let noted = async {
        loop {
            let found = peer.complete(prompt.clone(), "query", "signif").await;
            if found == ["significant lunches"] {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), noted).await.unwrap();
}
