//! What callers see, and that what they name reaches the right server.

use serde_json::{Value, json};
use toolgate_model::{CapabilityKind, PrefixMode};

use crate::fleet::{Played, caller, gate, pass};

/// A server with one tool, one resource and one prompt of the same names everywhere.
fn twin(who: &'static str) -> Played {
    let capabilities = json!({ "tools": {}, "resources": {}, "prompts": {} });
    Played::new(capabilities, move |method, params| match method {
        "tools/list" => json!({ "tools": [{ "odd": 1.5, "name": "do.it", "inputSchema": {} }] }),
        "resources/list" => json!({ "resources": [{ "uri": "x://same", "name": "r" }] }),
        "resources/templates/list" => json!({ "resourceTemplates": [] }),
        "prompts/list" => json!({ "prompts": [{ "name": "say" }] }),
        "tools/call" => json!({ "who": who, "name": params["name"], "content": [
            { "type": "resource_link", "uri": "x://same" }, { "type": "text", "text": "x://same" },
        ] }),
        "prompts/get" => json!({ "who": who, "name": params["name"] }),
        "resources/read" => json!({ "contents": [{ "uri": params["uri"], "text": who }] }),
        "completion/complete" => json!({ "who": who, "ref": params["ref"] }),
        _ => json!({}),
    })
}

#[tokio::test]
async fn a_name_reaches_its_own_server_under_the_servers_own_name() {
    let (one, two) = (twin("one"), twin("two"));
    let (gate, _fleet) = gate(&[("one", &one), ("two", &two)], PrefixMode::default()).await;
    let me = caller();
    for who in ["one", "two"] {
        let called =
            pass(&gate, &me, "tools/call", json!({ "name": format!("{who}__do_it") })).await;
        let called = called.unwrap();
        assert_eq!((&called["who"], &called["name"]), (&json!(who), &json!("do.it")));
        let got = pass(&gate, &me, "prompts/get", json!({ "name": format!("{who}__say") })).await;
        assert_eq!(got.unwrap(), json!({ "who": who, "name": "say" }));
        let reference = json!({ "type": "ref/prompt", "name": format!("{who}__say") });
        let completed = pass(&gate, &me, "completion/complete", json!({ "ref": reference })).await;
        assert_eq!(completed.unwrap()["ref"]["name"], "say");
    }
    let unknown = pass(&gate, &me, "tools/call", json!({ "name": "do.it" })).await.unwrap_err();
    assert_eq!(unknown.rpc_code, -32602);
    assert!(unknown.message.contains("do.it"), "{unknown}");
}

#[tokio::test]
async fn a_list_is_the_servers_own_bytes_but_for_the_name() {
    let (gate, _fleet) = gate(&[("one", &twin("one"))], PrefixMode::default()).await;
    let list = gate.list(CapabilityKind::Tool, &caller()).await;
    assert_eq!(list, r#"{"tools":[{"odd":1.5,"name":"one__do_it","inputSchema":{}}]}"#);
    let again = gate.list(CapabilityKind::Tool, &caller()).await;
    assert_eq!(again.as_ptr(), list.as_ptr(), "prepared once per generation");
}

#[tokio::test]
async fn a_single_server_may_go_without_prefix() {
    let (gate, _fleet) = gate(&[("one", &twin("one"))], PrefixMode::Never).await;
    let called = pass(&gate, &caller(), "tools/call", json!({ "name": "do.it" })).await;
    assert_eq!(called.unwrap()["who"], "one");
}

#[tokio::test]
async fn a_uri_of_two_servers_is_shown_by_server_everywhere() {
    let (one, two) = (twin("one"), twin("two"));
    let (gate, _fleet) = gate(&[("one", &one), ("two", &two)], PrefixMode::default()).await;
    let me = caller();
    let list = gate.list(CapabilityKind::Resource, &me).await;
    let list: Value = serde_json::from_slice(&list).unwrap();
    let uris: Vec<_> = list["resources"].as_array().unwrap().iter().map(|it| &it["uri"]).collect();
    assert_eq!(uris.len(), 2);
    assert_ne!(uris[0], uris[1]);
    for (uri, who) in uris.iter().zip(["one", "two"]) {
        let read = pass(&gate, &me, "resources/read", json!({ "uri": uri })).await.unwrap();
        assert_eq!(read["contents"][0]["text"], who);
        assert_eq!(&&read["contents"][0]["uri"], uri);
        let called =
            pass(&gate, &me, "tools/call", json!({ "name": format!("{who}__do_it") })).await;
        let content = &called.unwrap()["content"];
        assert_eq!(&&content[0]["uri"], uri);
        assert_eq!(content[1]["text"], "x://same", "text is nobody's URI");
    }
    let bare = pass(&gate, &me, "resources/read", json!({ "uri": "x://same" })).await;
    assert_eq!(bare.unwrap_err().rpc_code, -32002);
}

#[tokio::test]
async fn a_uri_of_one_server_stays_as_it_wrote_it() {
    let (gate, _fleet) = gate(&[("one", &twin("one"))], PrefixMode::default()).await;
    let me = caller();
    for uri in ["x://same", "x://never-listed"] {
        let read = pass(&gate, &me, "resources/read", json!({ "uri": uri })).await.unwrap();
        assert_eq!(read["contents"][0]["uri"], uri);
    }
}
