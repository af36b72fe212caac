//! Arguments that do not fit, and tools whose definitions cannot be used.

use serde_json::{Value, json};
use toolgate_gate::Visibility;
use toolgate_model::{CapabilityKind, PrefixMode};
use toolgate_wire::Revision;

use crate::fleet::{
    Played, caller, caller_of, gate, lets_others_pass, pass, tools, with_definitions,
    with_one_blocking_thread,
};

fn reader() -> Played {
    let schema = json!({ "type": "object", "required": ["path"],
        "properties": { "path": { "type": "string" }, "lines": { "type": "integer" } } });
    with_definitions(json!([
        { "name": "read", "inputSchema": schema },
        { "name": "any", "inputSchema": { "type": "object" } },
        { "name": "none", "inputSchema": { "type": "object", "additionalProperties": false } },
    ]))
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_told_to_the_model_and_never_sent() {
    let server = reader();
    let (gate, _fleet) = gate(&[("s", &server)], PrefixMode::default()).await;
    for revision in Revision::ALL {
        let me = caller_of(revision);
        for (arguments, told) in [
            (json!({ "path": 5 }), "/path"),
            (json!({ "path": "x", "lines": "all" }), "/lines"),
            (json!({}), "path"),
        ] {
            let params = json!({ "name": "s__read", "arguments": arguments });
            let result = pass(&gate, &me, "tools/call", params).await.unwrap();
            assert_eq!(result["isError"], true, "{revision} {result}");
            let text = result["content"][0]["text"].as_str().unwrap();
            assert!(text.contains(told) && text.starts_with("s__read: "), "{text}");
            assert_eq!(result.get("resultType").is_some(), revision == Revision::V2026_07_28);
        }
        assert_eq!(server.count("tools/call"), 0);
    }
}

#[tokio::test]
async fn arguments_that_fit_pass_as_they_came() {
    let server = reader();
    let (gate, _fleet) = gate(&[("s", &server)], PrefixMode::default()).await;
    let me = caller();
    for (tool, arguments) in [
        ("read", Some(json!({ "path": "x", "lines": 3, "more": null }))),
        ("any", Some(json!({ "what": ["ever"] }))),
        ("any", None),
        ("none", Some(json!({}))),
        ("none", Some(Value::Null)),
        ("none", None),
    ] {
        let mut params = json!({ "name": format!("s__{tool}") });
        if let Some(arguments) = arguments {
            params["arguments"] = arguments;
        }
        let result = pass(&gate, &me, "tools/call", params.clone()).await.unwrap();
        params["name"] = json!(tool);
        assert_eq!(result["structuredContent"], params);
    }
}

#[tokio::test]
async fn null_leaves_out_what_is_repeated_in_a_header_and_nothing_else() {
    let text = json!({ "type": "string" });
    let marked = json!({ "type": "string", "x-mcp-header": "Region" });
    let nested = json!({ "type": "string", "x-mcp-header": "Zone" });
    let place =
        json!({ "type": "object", "properties": { "zone": nested, "street": text.clone() } });
    let server = with_definitions(json!([{ "name": "read", "inputSchema": { "type": "object",
        "properties": { "region": marked, "place": place, "path": text } } }]));
    let (gate, _fleet) = gate(&[("s", &server)], PrefixMode::default()).await;
    for (arguments, fits) in [
        (json!({ "path": "x", "region": null }), true),
        (json!({ "place": { "zone": null, "street": "y" } }), true),
        (json!({ "path": null }), false),
        (json!({ "path": null, "region": null }), false),
        (json!({ "place": { "street": null } }), false),
        (json!({ "place": null }), false),
    ] {
        let params = json!({ "name": "s__read", "arguments": arguments });
        let result = pass(&gate, &caller(), "tools/call", params).await.unwrap();
        assert_eq!(result.get("isError").is_none(), fits, "{arguments}: {result}");
    }
    assert_eq!(server.count("tools/call"), 2);
}

#[tokio::test]
async fn whoever_wants_a_task_is_told_by_an_error() {
    let capabilities = json!({ "tools": {}, "tasks": { "requests": { "tools": { "call": {} } } } });
    let server = Played::new(capabilities, |method, _| match method {
        "tools/list" => json!({ "tools": [{ "name": "work", "inputSchema":
            { "type": "object", "required": ["id"] }, "execution": { "taskSupport": "optional" } }] }),
        _ => json!({ "task": { "taskId": "1", "status": "working" } }),
    });
    let (gate, _fleet) = gate(&[("s", &server)], PrefixMode::default()).await;
    let params = json!({ "name": "s__work", "arguments": {}, "task": {} });
    let refused = pass(&gate, &caller(), "tools/call", params).await.unwrap_err();
    assert_eq!(refused.rpc_code, -32602);
    assert!(refused.message.contains("id"), "{refused}");
    assert_eq!(server.count("tools/call"), 0);
}

#[tokio::test]
async fn a_tool_nobody_can_use_is_left_out_alone_and_says_why() {
    let broken = json!({ "type": "object", "properties": { "a": { "type": "no-such-type" } } });
    let server = with_definitions(json!([
        { "name": "good", "inputSchema": {} },
        { "name": "broken", "inputSchema": broken },
        { "name": "bare" },
    ]));
    let (gate, _fleet) = gate(&[("s", &server)], PrefixMode::default()).await;
    let me = caller();
    assert_eq!(tools(&gate, &me).await, ["s__good"]);
    for hidden in ["s__broken", "s__bare"] {
        assert!(pass(&gate, &me, "tools/call", json!({ "name": hidden })).await.is_err());
    }
    let exposure = gate.exposure("default").unwrap();
    let row = |name: &str| {
        exposure
            .entries
            .iter()
            .find(|row| &*row.id.name == name && row.id.kind == CapabilityKind::Tool)
    };
    assert_eq!(row("good").unwrap().visibility, Visibility::Listed);
    let broken = row("broken").unwrap();
    assert_eq!(broken.visibility, Visibility::Hidden);
    assert!(broken.because.rule.contains("/inputSchema"), "{}", broken.because);
    assert_eq!(exposure.findings.len(), 2, "{:?}", exposure.findings);
}

#[test]
fn others_are_served_while_arguments_are_checked_that_take_long() {
    with_one_blocking_thread(async {
        let list = json!({ "type": "array", "items": { "type": "string" } });
        let word = json!({ "type": "string", "pattern": "^(?!x)(a+)+$" });
        let server = with_definitions(json!([
            { "name": "many", "inputSchema": { "type": "object", "properties": { "list": list } } },
            { "name": "word", "inputSchema": { "type": "object", "properties": { "word": word } } },
        ]));
        let (gate, _fleet) = gate(&[("s", &server)], PrefixMode::default()).await;
        let me = caller();
        let mut long = vec![json!("x"); 100_000];
        long.push(json!(7));
        for (tool, given, quick) in [
            ("many", json!({ "list": [7] }), true),
            ("many", json!({ "list": long }), false),
            ("word", json!({ "word": format!("{}!", "a".repeat(40)) }), false),
        ] {
            let params = json!({ "name": format!("s__{tool}"), "arguments": given });
            let (result, others) = lets_others_pass(pass(&gate, &me, "tools/call", params)).await;
            assert_eq!(result.unwrap()["isError"], true);
            assert_eq!(others, !quick, "{tool}");
        }
        assert_eq!(server.count("tools/call"), 0);
    });
}
