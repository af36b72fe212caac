//! Skills of several servers.

use serde_json::{Value, json};
use toolgate_model::PrefixMode;
use toolgate_wire::Revision;

use crate::fleet::{Played, caller, caller_of, gate, pass};

const FIRST: &str = "skill://git/SKILL.md";

fn entry(uri: &str, who: &str) -> Value {
    json!({ "uri": uri, "frontmatter": { "name": "git" }, "resources": [{ "uri": uri }], "of": who })
}

/// A server with two skills on two pages, none of them listed as a resource.
fn skilled(who: &'static str) -> Played {
    let capabilities = json!({ "resources": {}, "extensions": {
        "io.modelcontextprotocol/skills": {} } });
    Played::new(capabilities, move |method, params| match (method, params["cursor"].as_str()) {
        ("resources/list", _) => json!({ "resources": [] }),
        ("resources/templates/list", _) => json!({ "resourceTemplates": [] }),
        ("skills/list", None) => json!({ "skills": [entry(FIRST, who)], "nextCursor": "2" }),
        ("skills/list", Some("2")) => json!({ "skills": [entry("skill://own/SKILL.md", who)] }),
        ("skills/get", _) if params["uri"] == FIRST => json!({ "skill": entry(FIRST, who) }),
        ("resources/read", _) => json!({ "contents": [{ "uri": params["uri"], "text": who }] }),
        _ => json!({ "error": { "code": -32602, "message": "none" } }),
    })
}

#[tokio::test]
async fn the_skills_of_all_servers_are_one_list_and_each_leads_to_its_own() {
    let (a, b) = (skilled("a"), skilled("b"));
    let (gate, _fleet) = gate(&[("a", &a), ("b", &b)], PrefixMode::Always).await;
    for revision in [Revision::LATEST_LEGACY, Revision::V2026_07_28] {
        let me = caller_of(revision);
        let list = pass(&gate, &me, "skills/list", json!({})).await.unwrap();
        assert_eq!(list.get("ttlMs").is_some(), revision == Revision::V2026_07_28);
        let skills = list["skills"].as_array().unwrap();
        let of: Vec<_> = skills.iter().map(|skill| skill["of"].as_str().unwrap()).collect();
        assert_eq!(of, ["a", "a", "b", "b"]);
        for (index, who) in [(0, "a"), (2, "b")] {
            let uri = &skills[index]["uri"];
            assert_eq!(*uri, format!("toolgate+{who}:{FIRST}"));
            assert_eq!(skills[index]["resources"][0]["uri"], *uri);
            let one = pass(&gate, &me, "skills/get", json!({ "uri": uri })).await.unwrap();
            assert_eq!(one["skill"], skills[index]);
            let read = pass(&gate, &me, "resources/read", json!({ "uri": uri })).await.unwrap();
            assert_eq!(read["contents"], json!([{ "uri": uri, "text": who }]));
        }
    }
    let refused = pass(&gate, &caller(), "skills/list", json!({ "cursor": "2" })).await;
    assert_eq!(refused.unwrap_err().rpc_code, -32602);
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_left_out() {
    let capabilities = json!({ "extensions": { "io.modelcontextprotocol/skills": {} } });
    let mute = Played::new(capabilities, |_, _| json!({ "error": { "code": 1, "message": "no" } }));
    let (gate, _fleet) = gate(&[("a", &skilled("a")), ("m", &mute)], PrefixMode::Always).await;
    let list = pass(&gate, &caller(), "skills/list", json!({})).await.unwrap();
    assert_eq!(list["skills"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn the_skills_of_one_server_are_its_own_words() {
    let (gate, _fleet) = gate(&[("a", &skilled("a"))], PrefixMode::Always).await;
    let list = pass(&gate, &caller(), "skills/list", json!({})).await.unwrap();
    assert_eq!(list, json!({ "skills": [entry(FIRST, "a")], "nextCursor": "2" }));
}
