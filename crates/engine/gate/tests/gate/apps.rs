//! MCP Apps and other places that name a resource: what the gateway shows otherwise, it shows so
//! everywhere.

use serde_json::{Value, json};
use toolgate_gate::GateEvent;
use toolgate_model::{CapabilityKind, PrefixMode};

use crate::fleet::{Played, caller, gate, pass};

const UI: &str = "ui://chart/view.html";

/// A server whose tool has a user interface, listed or not.
fn app(who: &'static str, listed: bool) -> Played {
    let capabilities = json!({ "tools": {}, "resources": { "subscribe": true } });
    Played::new(capabilities, move |method, params| match method {
        "tools/list" => json!({ "tools": [{ "name": "draw", "inputSchema": {},
            "_meta": { "ui": { "resourceUri": UI, "visibility": ["app"] }, "ui/resourceUri": UI } }] }),
        "resources/list" if listed => json!({ "resources": [{ "uri": UI, "name": "v" }] }),
        "resources/list" => json!({ "resources": [] }),
        "resources/templates/list" => json!({ "resourceTemplates": [] }),
        "resources/read" if params["uri"] == UI => {
            json!({ "contents": [{ "uri": params["uri"], "text": who }] })
        }
        "resources/read" => json!({ "error": { "code": -32002, "message": "none",
            "data": { "uri": UI } } }),
        "tools/call" => json!({
            "content": [
                { "type": "resource_link", "uri": UI, "name": "v" },
                { "type": "resource", "resource": { "uri": UI, "text": UI } },
                { "type": "resource_link", "uri": "https://example.invalid/", "name": "w" },
            ],
            "_meta": { "ui": { "resourceUri": UI } },
            "structuredContent": { "uri": UI },
        }),
        _ => json!({}),
    })
}

async fn tool_of(gate: &toolgate_gate::Gate, index: usize) -> Value {
    let list = gate.list(CapabilityKind::Tool, &caller()).await;
    let list: Value = serde_json::from_slice(&list).unwrap();
    list["tools"][index].clone()
}

#[tokio::test]
async fn one_server_keeps_its_user_interface_as_it_wrote_it() {
    let (gate, _fleet) = gate(&[("a", &app("a", false))], PrefixMode::Always).await;
    let tool = tool_of(&gate, 0).await;
    assert_eq!(tool["_meta"]["ui"]["resourceUri"], UI);
    let read = pass(&gate, &caller(), "resources/read", json!({ "uri": UI })).await.unwrap();
    assert_eq!(read["contents"][0]["uri"], UI);
}

#[tokio::test]
async fn a_shared_user_interface_leads_each_tool_to_its_own_server() {
    for listed in [true, false] {
        let (a, b) = (app("a", listed), app("b", listed));
        let (gate, _fleet) = gate(&[("a", &a), ("b", &b)], PrefixMode::Always).await;
        let me = caller();
        for (index, who) in ["a", "b"].into_iter().enumerate() {
            let tool = tool_of(&gate, index).await;
            let uri = tool["_meta"]["ui"]["resourceUri"].clone();
            assert_eq!(uri, format!("ui://toolgate+{who}/chart/view.html"));
            assert_eq!(tool["_meta"]["ui/resourceUri"], uri);
            assert_eq!(tool["_meta"]["ui"]["visibility"], json!(["app"]));
            let read = pass(&gate, &me, "resources/read", json!({ "uri": uri })).await.unwrap();
            assert_eq!(read["contents"], json!([{ "uri": uri, "text": who }]));
            let call = json!({ "name": format!("{who}__draw") });
            let called = pass(&gate, &me, "tools/call", call).await.unwrap();
            assert_eq!(called["_meta"]["ui"]["resourceUri"], uri);
            assert_eq!(called["content"][0]["uri"], uri);
            assert_eq!(called["content"][1]["resource"], json!({ "uri": uri, "text": UI }));
            assert_eq!(called["content"][2]["uri"], "https://example.invalid/");
            assert_eq!(called["structuredContent"]["uri"], UI, "a tool's own data is its own");
        }
    }
}

#[tokio::test]
async fn errors_and_updates_name_a_resource_as_the_lists_do() {
    let (a, b) = (app("a", true), app("b", true));
    let (gate, _fleet) = gate(&[("a", &a), ("b", &b)], PrefixMode::Always).await;
    let me = caller();
    let shown = "ui://toolgate+a/chart/view.html";
    let missing = json!({ "uri": "ui://toolgate+a/missing" });
    let error = pass(&gate, &me, "resources/read", missing).await.unwrap();
    assert_eq!(error["data"]["uri"], shown);

    let mut events = gate.events();
    let done = pass(&gate, &me, "resources/subscribe", json!({ "uri": shown })).await.unwrap();
    assert_eq!(done, json!({}));
    a.notify("notifications/resources/updated", json!({ "uri": UI }));
    loop {
        if let GateEvent::ResourceUpdated { uri, frame } = events.recv().await.unwrap() {
            assert_eq!(uri, shown);
            assert_eq!(frame.name().unwrap(), shown);
            break;
        }
    }
}
