//! Callers and servers of different revisions.

use serde_json::{Value, json};
use toolgate_gate::Gate;
use toolgate_model::{CapabilityKind, PoolScope, PrefixMode};
use toolgate_wire::Revision;

use crate::fleet::{Played, caller_of, empty, enlist, gate, pass};
use crate::start::Mute;

const LEGACY: Revision = Revision::LATEST_LEGACY;
const MODERN: Revision = Revision::V2026_07_28;
const INFO: &str = "io.modelcontextprotocol/serverInfo";

/// A server that answers in the members of its revision.
fn server(revision: Revision) -> Played {
    let dress = move |mut result: Value, cacheable: bool| {
        if revision == MODERN {
            result["resultType"] = json!("complete");
            result["_meta"] = json!({ INFO: { "name": "p", "version": "1" } });
            if cacheable {
                result["ttlMs"] = json!(7);
                result["cacheScope"] = json!("public");
            }
        }
        result
    };
    let capabilities = json!({ "tools": {}, "resources": {}, "extensions": { "a.b/c": {} } });
    Played::new(capabilities, move |method, params| match method {
        "tools/list" => dress(json!({ "tools": [tool(revision)] }), true),
        "resources/list" => dress(json!({ "resources": [{ "uri": "x://r", "name": "r" }] }), true),
        "resources/templates/list" => dress(json!({ "resourceTemplates": [] }), true),
        "resources/read" if params["uri"] == "x://none" => json!({ "error": {
            "code": if revision == MODERN { -32602 } else { -32002 },
            "message": "none", "data": { "uri": "x://none" },
        } }),
        "resources/read" => dress(json!({ "contents": [], "kept": 1 }), true),
        "tools/call" => {
            dress(json!({ "content": [], "structuredContent": output(revision) }), false)
        }
        _ => dress(json!({}), false),
    })
    .speaking(revision)
}

fn tool(revision: Revision) -> Value {
    let schema = match revision == MODERN {
        true => json!({ "type": "array", "items": { "$ref": "#/$defs/n" }, "$defs": { "n": {} } }),
        false => json!({ "type": "object" }),
    };
    let mut tool =
        json!({ "name": "t", "inputSchema": { "type": "object" }, "outputSchema": schema });
    if revision != MODERN {
        tool["execution"] = json!({ "taskSupport": "forbidden" });
    }
    tool
}

fn output(revision: Revision) -> Value {
    if revision == MODERN { json!([1, 2]) } else { json!({ "a": 1 }) }
}

async fn tools(gate: &Gate, revision: Revision) -> Value {
    let list = gate.list(CapabilityKind::Tool, &caller_of(revision)).await;
    serde_json::from_slice(&list).unwrap()
}

#[tokio::test]
async fn a_list_has_the_shape_of_each_callers_revision() {
    let (gate, _fleet) =
        gate(&[("s", &server(LEGACY)), ("m", &server(MODERN))], PrefixMode::Always).await;
    let modern = tools(&gate, MODERN).await;
    assert_eq!(modern["resultType"], "complete");
    assert_eq!((&modern["ttlMs"], &modern["cacheScope"]), (&json!(10_000), &json!("public")));
    assert_eq!(modern["_meta"][INFO]["name"], "toolgate");
    let names = |list: &Value| -> Vec<Value> {
        list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect()
    };
    assert_eq!(names(&modern), ["m__t", "s__t"]);
    assert_eq!(modern["tools"][0]["outputSchema"]["type"], "array");
    assert_eq!(modern["tools"][1].get("execution"), None);

    let legacy = tools(&gate, LEGACY).await;
    assert_eq!(legacy.as_object().unwrap().keys().collect::<Vec<_>>(), ["tools"]);
    assert_eq!(names(&legacy), names(&modern));
    let wrapped = &legacy["tools"][0]["outputSchema"];
    assert_eq!(wrapped["properties"]["result"]["items"]["$ref"], "#/$defs/n");
    assert_eq!(wrapped["$defs"], json!({ "n": {} }));
    assert!(legacy["tools"][1].get("execution").is_some());

    let oldest = tools(&gate, Revision::V2024_11_05).await;
    assert_eq!(oldest["tools"][0].get("outputSchema"), None);
    assert_eq!(names(&oldest), names(&modern));
}

#[tokio::test]
async fn each_revisions_list_is_prepared_once() {
    let (gate, _fleet) = gate(&[("s", &server(LEGACY))], PrefixMode::Always).await;
    for revision in Revision::ALL {
        let me = caller_of(revision);
        let list = gate.list(CapabilityKind::Tool, &me).await;
        let again = gate.list(CapabilityKind::Tool, &caller_of(revision)).await;
        assert_eq!(list.as_ptr(), again.as_ptr(), "{revision}");
    }
}

#[tokio::test]
async fn what_both_sides_speak_passes_byte_for_byte() {
    for revision in [LEGACY, MODERN] {
        let (gate, _fleet) = gate(&[("s", &server(revision))], PrefixMode::Always).await;
        let me = caller_of(revision);
        let read = pass(&gate, &me, "resources/read", json!({ "uri": "x://r" })).await.unwrap();
        let mut said = json!({ "contents": [], "kept": 1 });
        if revision == MODERN {
            said["resultType"] = json!("complete");
            said["_meta"] = json!({ INFO: { "name": "p", "version": "1" } });
            said["ttlMs"] = json!(7);
            said["cacheScope"] = json!("public");
        }
        assert_eq!(read.to_string(), said.to_string());
    }
}

#[tokio::test]
async fn a_result_crosses_in_both_directions() {
    let (gate, _fleet) =
        gate(&[("l", &server(LEGACY)), ("m", &server(MODERN))], PrefixMode::Always).await;
    let call = async |revision, tool: &str| {
        pass(&gate, &caller_of(revision), "tools/call", json!({ "name": tool })).await.unwrap()
    };
    let shown = call(MODERN, "l__t").await;
    assert_eq!(shown["resultType"], "complete");
    assert_eq!(shown["_meta"][INFO]["name"], "toolgate");
    assert_eq!(shown["structuredContent"], output(LEGACY));
    let shown = call(LEGACY, "m__t").await;
    let wrapped = json!({ "result": output(MODERN) });
    assert_eq!(shown, json!({ "content": [], "structuredContent": wrapped }));
}

#[tokio::test]
async fn a_missing_resource_is_called_what_the_caller_calls_it() {
    for from in [LEGACY, MODERN] {
        let (gate, _fleet) = gate(&[("s", &server(from))], PrefixMode::Always).await;
        for (to, code) in [(LEGACY, -32002), (MODERN, -32602)] {
            let me = caller_of(to);
            let error = pass(&gate, &me, "resources/read", json!({ "uri": "x://none" })).await;
            assert_eq!(error.unwrap()["code"], code, "{from} to {to}");
        }
    }
}

#[tokio::test]
async fn a_refusal_of_the_gate_fits_the_revision_too() {
    let (gate, fleet) =
        gate(&[("a", &server(LEGACY)), ("b", &server(LEGACY))], PrefixMode::Always).await;
    for (to, code) in [(LEGACY, -32002), (MODERN, -32602)] {
        let me = caller_of(to);
        let refused = pass(&gate, &me, "resources/read", json!({ "uri": "x://no" })).await;
        assert_eq!(refused.unwrap_err().rpc_code, code);
    }
    fleet.close().await;
}

#[tokio::test]
async fn a_server_of_ones_own_makes_everything_private() {
    let own = server(MODERN);
    let (gate, fleet) = empty(PrefixMode::Always);
    enlist(&fleet, "s", &own, PoolScope::PerCaller).await;
    fleet.wait_settled(|_| true).await;
    let (one, two) = (caller_of(MODERN), caller_of(MODERN));
    for me in [&one, &two] {
        let read = pass(&gate, me, "resources/read", json!({ "uri": "x://r" })).await.unwrap();
        assert_eq!(read["cacheScope"], "private", "the server said public");
        assert_eq!(read["ttlMs"], 7);
        let list = gate.list(CapabilityKind::Resource, me).await;
        let list: Value = serde_json::from_slice(&list).unwrap();
        assert_eq!(list["cacheScope"], "private");
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_of_servers_that_still_come_up_is_not_to_be_kept() {
    let (gate, fleet) = empty(PrefixMode::Always);
    enlist(&fleet, "s", &server(LEGACY), PoolScope::Shared).await;
    enlist(&fleet, "mute", &Mute, PoolScope::Shared).await;
    let early = tools(&gate, MODERN).await;
    assert_eq!((&early["ttlMs"], &early["tools"][0]["name"]), (&json!(0), &json!("s__t")));
    assert!(fleet.remove_server(&toolgate_model::ServerName::new("mute").unwrap()).await);
    assert_eq!(tools(&gate, MODERN).await["ttlMs"], 10_000);
}

#[tokio::test]
async fn capabilities_are_declared_by_revision() {
    let (gate, _fleet) = gate(&[("s", &server(MODERN))], PrefixMode::Always).await;
    let declared = |revision| -> Value {
        serde_json::from_slice(&gate.capabilities(&caller_of(revision))).unwrap()
    };
    for revision in Revision::ALL {
        let declared = declared(revision);
        assert_eq!(declared["extensions"], json!({ "a.b/c": {} }));
        assert_eq!(declared["tools"]["listChanged"], true);
        assert_eq!(declared.get("tasks"), None);
    }
}

#[tokio::test]
async fn a_modern_tool_with_marks_nobody_can_follow_is_hidden() {
    let marked = json!({ "type": "object",
        "properties": { "a": { "type": "object", "x-mcp-header": "A" } } });
    let server = |revision| {
        let marked = marked.clone();
        Played::new(json!({ "tools": {} }), move |method, _| match method {
            "tools/list" => json!({ "tools": [
                { "name": "marked", "inputSchema": marked }, { "name": "plain", "inputSchema": {} },
            ] }),
            _ => json!({ "content": [] }),
        })
        .speaking(revision)
    };
    for (revision, seen) in [(MODERN, 1), (LEGACY, 2)] {
        let (gate, _fleet) = gate(&[("s", &server(revision))], PrefixMode::Always).await;
        let list = tools(&gate, LEGACY).await;
        assert_eq!(list["tools"].as_array().unwrap().len(), seen);
    }
}
