//! The declared names, schemas, titles and annotations of the tools.

use serde_json::{Value, json};
use toolgate_context::Names;

use crate::peer::{Model, Peer};
use crate::shelf::Room;

const TOOLS: [&str; 8] = [
    "ask",
    "ingest",
    "pack",
    "open_loops",
    "decision_extract",
    "grounded_answer",
    "recall",
    "meeting_extract",
];

fn names(peer: &Peer) -> Vec<String> {
    peer.tools.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

/// Every object of a schema names all it may have.
fn is_strict(schema: &Value) -> bool {
    let closed = schema["type"] != "object"
        || (schema["additionalProperties"] == false && schema["properties"].is_object());
    let inner = schema["properties"].as_object().into_iter().flat_map(|it| it.values());
    closed && inner.chain(schema.get("items")).all(is_strict)
}

fn is_described(schema: &Value) -> bool {
    let members = schema["properties"].as_object().unwrap();
    members.values().all(|it| it["description"].as_str().is_some_and(|text| text.len() > 3))
}

#[tokio::test]
async fn every_tool_says_what_it_takes_and_gives_and_only_ingest_writes() {
    let peer = Room::empty().peer().await;
    assert_eq!(names(&peer), TOOLS);
    for tool in &peer.tools {
        let name = tool["name"].as_str().unwrap();
        assert!(tool["title"].is_string() && tool["description"].as_str().unwrap().len() > 60);
        let (input, output) = (&tool["inputSchema"], &tool["outputSchema"]);
        assert!(is_strict(input) && is_strict(output), "{name}");
        assert!(is_described(input) && is_described(output), "{name}");
        assert_eq!(output["required"].as_array().unwrap().len(), {
            output["properties"].as_object().unwrap().len()
        });
        jsonschema::draft202012::new(input).unwrap();
        let writes = name == "ingest";
        assert_eq!(tool["annotations"]["readOnlyHint"], !writes, "{name}");
        assert_eq!(tool["annotations"]["openWorldHint"], false, "{name}");
    }
    let ingest = peer.tools.iter().find(|it| it["name"] == "ingest").unwrap();
    assert_eq!(ingest["annotations"]["destructiveHint"], false);
    assert_eq!(ingest["annotations"]["idempotentHint"], true);
    assert!(ingest["description"].as_str().unwrap().contains("only if the user asked"));
}

#[tokio::test]
async fn secondbrain_names_differ_in_the_name_alone() {
    let room = Room::empty();
    let ours = room.peer().await;
    let mut theirs = Peer::meet(&room.tools(Names::SecondBrain), Model::None).await;
    let expected: Vec<_> = TOOLS.iter().map(|it| format!("sb_{it}")).collect();
    assert_eq!(names(&theirs), expected);
    for (mine, other) in ours.tools.iter().zip(&theirs.tools) {
        for key in ["inputSchema", "outputSchema", "annotations", "title"] {
            assert_eq!(mine[key], other[key], "{}", mine["name"]);
        }
    }
    let listed = theirs.ask("resources/list", json!({})).await;
    let uris: Vec<_> =
        listed["resources"].as_array().unwrap().iter().map(|it| it["uri"].clone()).collect();
    assert_eq!(uris, ["secondbrain://context/help", "secondbrain://context/status"]);
    let listed = theirs.ask("resources/templates/list", json!({})).await;
    let template = &listed["resourceTemplates"][0]["uriTemplate"];
    assert_eq!(template, "secondbrain://context/search{?query,limit}");
    let help = theirs.read("secondbrain://context/help").await;
    assert!(help["text"].as_str().unwrap().contains("`sb_recall`"));
    let prompts = theirs.ask("prompts/list", json!({})).await;
    assert_eq!(prompts["prompts"][0]["name"], "summarize_local_context");
}

#[tokio::test]
async fn arguments_that_make_no_sense_are_told() {
    let mut peer = Room::furnished().await.peer().await;
    for (tool, arguments, told) in [
        ("recall", json!({}), "`query` is missing"),
        ("recall", json!({ "query": "  " }), "`query` is empty"),
        ("recall", json!({ "query": "x", "limit": 51 }), "1 to 50"),
        ("pack", json!({ "task": "x", "budget": 1 }), "100 to 100000"),
        ("ask", json!({ "question": 7 }), "must be a string"),
        ("open_loops", json!({ "query": "x", "source": "y" }), "not both"),
        ("open_loops", json!({ "source": "nothing.md" }), "no document named `nothing.md`"),
        ("meeting_extract", json!({}), "either `text` or `source`"),
        ("meeting_extract", json!({ "text": " " }), "`text` is empty"),
        ("ingest", json!({ "text": "x" }), "`text` and `name`"),
        ("ingest", json!({ "path": ".", "name": "x" }), "`text` and `name`"),
    ] {
        let said = peer.failing(tool, arguments.clone()).await;
        assert!(said.contains(told), "{tool} {arguments}: {said}");
    }
}
