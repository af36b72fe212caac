//! Requests of extensions the gateway does not know find their server, or nobody.

use serde_json::{Value, json};
use toolgate_model::PrefixMode;
use toolgate_wire::Revision;

use crate::fleet::{Played, caller, caller_of, gate, pass};

/// A server with an extension, which says who it is and what it was asked.
fn with(extension: Option<&str>, uri: &'static str, who: &'static str) -> Played {
    let mut capabilities = json!({ "tools": {}, "resources": {} });
    if let Some(key) = extension {
        capabilities["extensions"] = json!({ key: {} });
    }
    Played::new(capabilities, move |method, params| match method {
        "tools/list" => json!({ "tools": [{ "name": "do.it", "inputSchema": {} }] }),
        "resources/list" => json!({ "resources": [{ "uri": uri, "name": "r" }] }),
        "resources/templates/list" => json!({ "resourceTemplates": [] }),
        _ => json!({ "who": who, "method": method, "params": params, "odd": 1.50 }),
    })
}

const SKILLS: &str = "io.modelcontextprotocol/skills";

async fn asked(servers: &[(&str, &Played)], method: &str, params: Value) -> Value {
    let (gate, _fleet) = gate(servers, PrefixMode::Always).await;
    match pass(&gate, &caller(), method, params).await {
        Ok(answer) => answer["who"].clone(),
        Err(refusal) => json!([refusal.rpc_code, refusal.message]),
    }
}

#[tokio::test]
async fn what_a_request_names_decides_and_is_named_as_its_server_does() {
    let (one, two) = (with(Some(SKILLS), "x://one", "one"), with(Some(SKILLS), "x://two", "two"));
    let (gate, _fleet) = gate(&[("one", &one), ("two", &two)], PrefixMode::Always).await;
    let me = caller();
    let answer = pass(&gate, &me, "skills/get", json!({ "uri": "x://two" })).await.unwrap();
    assert_eq!(answer["who"], "two");
    let answer = pass(&gate, &me, "later/do", json!({ "name": "one__do_it", "k": 1 })).await;
    assert_eq!(answer.unwrap()["params"], json!({ "name": "do.it", "k": 1 }));
}

#[tokio::test]
async fn a_shared_uri_is_asked_for_by_the_servers_own_spelling() {
    let (one, two) = (with(None, "x://same", "one"), with(None, "x://same", "two"));
    let (gate, _fleet) = gate(&[("one", &one), ("two", &two)], PrefixMode::Always).await;
    let me = caller();
    let uri = json!({ "uri": "toolgate+two:x://same" });
    let answer = pass(&gate, &me, "resources/directory/read", uri).await.unwrap();
    assert_eq!((&answer["who"], &answer["params"]["uri"]), (&json!("two"), &json!("x://same")));
}

#[tokio::test]
async fn the_extension_named_like_the_method_decides() {
    let one = with(Some(SKILLS), "x://1", "one");
    let two = with(Some("io.modelcontextprotocol/ui"), "x://2", "two");
    let servers = [("one", &one), ("two", &two)];
    assert_eq!(asked(&servers, "skills/list", json!({})).await, "one");
    let unlisted = json!({ "uri": "skill://never-listed" });
    assert_eq!(asked(&servers, "skills/get", unlisted).await, "one");
    let nobody = asked(&servers, "later/list", json!({})).await;
    assert_eq!(nobody[0], -32601);
    assert!(nobody[1].as_str().unwrap().contains("one, two"), "{nobody}");
}

#[tokio::test]
async fn the_only_server_with_extensions_is_asked_what_nobody_knows() {
    let (one, two) = (with(Some("a.b/c"), "x://1", "one"), with(None, "x://2", "two"));
    assert_eq!(asked(&[("one", &one), ("two", &two)], "later/list", json!({})).await, "one");
    let nobody = asked(&[("two", &two)], "later/list", json!({})).await;
    assert_eq!(nobody, json!([-32601, "Method not found: later/list"]));
    for method in ["ping", "initialize", "logging/setLevel", "roots/list"] {
        let nobody = asked(&[("one", &one)], method, json!({})).await;
        assert_eq!(nobody[0], -32601, "{method} is no extension's");
    }
}

#[tokio::test]
async fn two_servers_with_the_same_extension_are_both_named() {
    let (one, two) = (with(Some("a.b/later"), "x://1", "1"), with(Some("a.b/later"), "x://2", "2"));
    let nobody = asked(&[("one", &one), ("two", &two)], "later/list", json!({})).await;
    assert_eq!(nobody[0], -32601);
    assert!(nobody[1].as_str().unwrap().contains("one, two"), "{nobody}");
}

#[tokio::test]
async fn an_answer_is_passed_as_it_came_but_for_what_a_revision_demands() {
    let server = with(Some(SKILLS), "x://1", "one");
    let (gate, _fleet) = gate(&[("s", &server)], PrefixMode::Always).await;
    let listed = pass(&gate, &caller(), "skills/list", json!({})).await.unwrap();
    let said = json!({ "who": "one", "method": "skills/list", "params": {}, "odd": 1.50 });
    assert_eq!(listed, said);
    let modern = caller_of(Revision::V2026_07_28);
    let listed = pass(&gate, &modern, "skills/list", json!({})).await.unwrap();
    assert_eq!((&listed["resultType"], &listed["ttlMs"]), (&json!("complete"), &json!(0)));
    assert_eq!(listed["who"], "one");
}
