//! Tools that are found rather than listed.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::broadcast::error::TryRecvError;
use toolgate_exposure::NamingOptions;
use toolgate_gate::{Gate, GateEvent, GatewaySettings};
use toolgate_model::{CapabilityKind, DeclaredTool, ExposureMode, PrefixMode, Profile, ServerSpec};
use toolgate_search::tokens::estimate;
use toolgate_wire::Revision;

use crate::fleet::{
    Played, all_is_told, apply_settings, caller, caller_of, empty, gate, lets_others_pass, listed,
    member, pass, profiles, seeing, spec, tool, tools, with_definitions, with_one_blocking_thread,
};

const OWN: [&str; 3] = ["tool_search", "call_tool", "call_read_only_tool"];

fn searching(expose: ExposureMode) -> GatewaySettings {
    GatewaySettings { expose, ..GatewaySettings::default() }
}

fn weather() -> Played {
    let schema = json!({ "type": "object", "required": ["city"],
        "properties": { "city": { "type": "string" } } });
    with_definitions(json!([
        { "name": "forecast", "description": "Weather forecast for a city.", "inputSchema": schema },
        tool("send_mail", "Sends an e-mail message to somebody."),
        tool("resize_image", "Changes the size of a picture."),
    ]))
}

async fn call(gate: &Gate, caller: &Arc<toolgate_gate::Caller>, tool: &str, given: Value) -> Value {
    let params = json!({ "name": tool, "arguments": given });
    pass(gate, caller, "tools/call", params).await.unwrap()
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_is_found_is_given_whole_and_joins_the_finders_list_alone() {
    let (gate, _fleet) = gate(&[("s", &weather())], searching(ExposureMode::Search)).await;
    let (me, other) = (caller(), caller());
    assert_eq!(tools(&gate, &me).await, OWN);
    assert_eq!(tools(&gate, &other).await, OWN);
    all_is_told().await;
    let mut events = gate.events();
    let found =
        call(&gate, &me, "tool_search", json!({ "query": "weather tomorrow", "limit": 1 })).await;
    let definition = &found["structuredContent"]["tools"][0];
    assert_eq!(definition["name"], "s__forecast");
    assert_eq!(definition["inputSchema"]["required"], json!(["city"]));
    assert_eq!(serde_json::from_str::<Value>(text(&found)).unwrap(), found["structuredContent"]);

    let event = events.recv().await.unwrap();
    let GateEvent::ListChanged { kind: CapabilityKind::Tool, caller, .. } = &event else {
        panic!("{event:?}")
    };
    assert_eq!(*caller, Some(me.id));
    assert_eq!(tools(&gate, &me).await, [OWN[0], OWN[1], OWN[2], "s__forecast"]);
    assert_eq!(&listed(&gate, CapabilityKind::Tool, &me).await[3], definition);
    assert_eq!(tools(&gate, &other).await, OWN);
    // Found once more, it is where it was.
    call(&gate, &me, "tool_search", json!({ "query": "weather tomorrow", "limit": 1 })).await;
    assert_eq!(events.try_recv().unwrap_err(), TryRecvError::Empty);
    gate.release(me.id);
    assert_eq!(tools(&gate, &me).await, OWN);
}

#[tokio::test]
async fn a_call_through_call_tool_is_the_call_itself() {
    let server = weather();
    let (gate, _fleet) = gate(&[("s", &server)], searching(ExposureMode::Search)).await;
    for revision in Revision::ALL {
        let me = caller_of(revision);
        let meant = json!({ "name": "s__forecast", "arguments": { "city": "Bern" } });
        let params = json!({ "name": "call_tool", "arguments": meant,
            "_meta": { "progressToken": 7 } });
        pass(&gate, &me, "tools/call", params).await.unwrap();
        let sent = server.seen.lock().unwrap().last().unwrap()["params"].clone();
        assert_eq!(sent["name"], "forecast");
        assert_eq!(sent["arguments"], json!({ "city": "Bern" }));
        assert!(sent["_meta"].get("progressToken").is_some(), "{sent}");
        // What is deferred is visible, and what is visible can be called.
        let direct = json!({ "name": "s__send_mail" });
        pass(&gate, &me, "tools/call", direct).await.unwrap();
        pass(
            &gate,
            &me,
            "tools/call",
            json!({ "name": "call_tool", "arguments": { "name": "s__send_mail" } }),
        )
        .await
        .unwrap();
        let sent = server.seen.lock().unwrap().last().unwrap()["params"].clone();
        assert_eq!(sent.get("arguments"), None, "{sent}");
    }
    let calls = server.count("tools/call");
    let me = caller();
    let unfit = json!({ "name": "s__forecast", "arguments": { "city": 7 } });
    let result = call(&gate, &me, "call_tool", unfit).await;
    assert!(text(&result).contains("s__forecast: ") && text(&result).contains("/city"));
    assert_eq!(result["isError"], true);
    assert_eq!(server.count("tools/call"), calls);
}

#[tokio::test]
async fn what_is_wrong_with_a_search_or_a_call_is_told_to_the_model() {
    let (gate, _fleet) = gate(&[("s", &weather())], searching(ExposureMode::Search)).await;
    let me = caller();
    for (tool, given, told) in [
        ("tool_search", json!({}), "`query`"),
        ("tool_search", json!({ "query": " " }), "`query`"),
        ("tool_search", json!({ "query": "x", "limit": "many" }), "`limit`"),
        ("call_tool", json!({}), "`name`"),
        ("call_tool", json!({ "name": 7 }), "`name`"),
        ("call_tool", json!({ "name": "s__forecast", "arguments": "{}" }), "`arguments`"),
        ("call_tool", json!({ "name": "nosuch" }), "tool_search"),
        ("call_tool", json!({ "name": "call_tool" }), "cannot be called this way"),
    ] {
        let result = call(&gate, &me, tool, given).await;
        assert_eq!(result["isError"], true);
        assert!(text(&result).contains(told), "{result}");
    }
    let nested = json!({ "name": "tool_search", "arguments": { "query": "weather" } });
    let found = call(&gate, &me, "call_tool", nested).await;
    assert_eq!(found["structuredContent"]["tools"][0]["name"], "s__forecast");
    let nothing = call(&gate, &me, "tool_search", json!({ "query": "zzqqxx" })).await;
    assert_eq!(nothing["structuredContent"], json!({ "tools": [] }));
    assert_eq!(nothing.get("isError"), None);
}

#[tokio::test]
async fn a_search_answers_in_the_callers_revision() {
    let (gate, _fleet) = gate(&[("s", &weather())], searching(ExposureMode::Search)).await;
    for revision in Revision::ALL {
        let me = caller_of(revision);
        let found = call(&gate, &me, "tool_search", json!({ "query": "picture size" })).await;
        assert_eq!(found.get("structuredContent").is_some(), revision.has_structured_output());
        assert_eq!(found.get("resultType").is_some(), revision == Revision::V2026_07_28);
        assert!(text(&found).contains("s__resize_image"));
        assert!(tools(&gate, &me).await.contains(&"s__resize_image".to_owned()));
    }
}

#[tokio::test]
async fn few_tools_are_listed_and_many_are_summed_up() {
    let (few, _fleet) = gate(&[("s", &weather())], searching(ExposureMode::Auto)).await;
    assert_eq!(tools(&few, &caller()).await.len(), 3);
    assert!(pass(&few, &caller(), "tools/call", json!({ "name": "call_tool" })).await.is_err());
    let all: Vec<_> = (0..16).map(|n| tool(&format!("t{n}"), "Does this. And that.")).collect();
    let (many, _fleet) =
        gate(&[("s", &with_definitions(json!(all)))], searching(ExposureMode::Auto)).await;
    let list = listed(&many, CapabilityKind::Tool, &caller()).await;
    assert_eq!(list.len(), OWN.len());
    let description = list[0]["description"].as_str().unwrap();
    assert!(description.contains("\n\ns:\n- s__t0: Does this.\n"), "{description}");
    let searched = gate(&[("s", &weather())], searching(ExposureMode::Search)).await;
    let list = listed(&searched.0, CapabilityKind::Tool, &caller()).await;
    assert!(!list[0]["description"].as_str().unwrap().contains("s__forecast"));
}

#[tokio::test]
async fn call_read_only_tool_says_that_it_only_reads_and_calls_nothing_else() {
    let server = weather();
    let (gate, fleet) = empty(searching(ExposureMode::Search));
    let mut tools = spec("s");
    let read = DeclaredTool { tags: Some(vec!["read-only".into()]), ..DeclaredTool::default() };
    tools.selection.tools.insert("forecast".into(), read);
    fleet.add_server(member(tools, &server)).await;
    fleet.wait_settled(|_| true).await;
    let me = caller();
    let own = listed(&gate, CapabilityKind::Tool, &me).await;
    let hints: Vec<_> = own.iter().map(|tool| &tool["annotations"]["readOnlyHint"]).collect();
    assert_eq!(hints, [true, false, true], "{own:?}");

    let read = json!({ "name": "s__forecast", "arguments": { "city": "Bern" } });
    let answer = call(&gate, &me, "call_read_only_tool", read).await;
    assert_ne!(answer["isError"], true, "{answer}");
    assert_eq!(server.count("tools/call"), 1);
    for unknown in ["s__send_mail", "s__resize_image"] {
        let answer = call(&gate, &me, "call_read_only_tool", json!({ "name": unknown })).await;
        assert_eq!(answer["isError"], true, "{answer}");
        assert!(text(&answer).contains("use call_tool"), "{answer}");
    }
    assert_eq!(server.count("tools/call"), 1, "nothing else was called");
}

#[tokio::test]
async fn the_gates_own_names_are_nobody_elses_where_they_are_needed() {
    let server = with_definitions(json!([tool("call_tool", "Phones."), tool("other", "")]));
    let search = Profile { expose: Some(ExposureMode::Search), ..Profile::default() };
    let style = NamingOptions { prefix: PrefixMode::Never, ..NamingOptions::default() };
    let profiles = profiles([("search", search)]);
    let (gate, _fleet) =
        gate(&[("s", &server)], GatewaySettings { style, profiles, expose: ExposureMode::All })
            .await;
    assert_eq!(tools(&gate, &caller()).await, ["call_tool", "other"]);
    pass(&gate, &caller(), "tools/call", json!({ "name": "call_tool" })).await.unwrap();
    assert_eq!(server.count("tools/call"), 1);
    let me = seeing("search", Revision::LATEST_LEGACY);
    assert_eq!(tools(&gate, &me).await, OWN);
    let found = call(&gate, &me, "tool_search", json!({ "query": "phones" })).await;
    let name = found["structuredContent"]["tools"][0]["name"].as_str().unwrap().to_owned();
    assert_ne!(name, "call_tool");
    call(&gate, &me, "call_tool", json!({ "name": name })).await;
    assert_eq!(server.count("tools/call"), 2);
}

#[tokio::test]
async fn a_search_finds_what_its_caller_sees_as_it_is_now() {
    let hidden = ServerSpec { tags: Some(vec!["other".into()]), ..spec("hidden") };
    let (gate, fleet) = empty(GatewaySettings {
        profiles: profiles([(
            "mine",
            Profile { tags: Some(vec!["mcp".into()]), ..Profile::default() },
        )]),
        ..GatewaySettings::default()
    });
    fleet.add_server(member(hidden, &weather())).await;
    fleet.wait_settled(|_| true).await;
    let names = async |profile: &str| -> Vec<String> {
        let found = gate.search(profile, "weather forecast", 5).await.unwrap();
        assert!(found.iter().all(|found| !found.why.is_empty() && found.score > 0.0));
        found.into_iter().map(|found| found.exposed).collect()
    };
    assert_eq!(names("default").await[0], "hidden__forecast");
    assert_eq!(names("mine").await, [""; 0]);
    fleet.add_server(member(spec("seen"), &weather())).await;
    fleet.wait_settled(|_| true).await;
    assert_eq!(names("mine").await[0], "seen__forecast");
    let found = &gate.search("default", "weather forecast", 1).await.unwrap()[0];
    let definition: Value = serde_json::from_slice(&found.definition).unwrap();
    assert_eq!(definition["name"], found.exposed.as_str());
    assert!(fleet.remove_server(&spec("seen").name).await);
    assert_eq!(names("mine").await, [""; 0]);
    assert!(gate.search("nosuch", "weather", 5).await.is_err());
}

#[tokio::test]
async fn over_its_budget_a_profile_lists_what_fits() {
    let long = "Very long. ".repeat(200);
    let server = with_definitions(json!([tool("long", &long), tool("short", "Short.")]));
    let tight = Profile { budget: Some(400), ..Profile::default() };
    let manner =
        GatewaySettings { profiles: profiles([("tight", tight)]), ..GatewaySettings::default() };
    let (gate, _fleet) = gate(&[("s", &server)], manner).await;
    let me = seeing("tight", Revision::LATEST_LEGACY);
    assert_eq!(tools(&gate, &me).await, [OWN[0], OWN[1], OWN[2], "s__short"]);
    pass(&gate, &me, "tools/call", json!({ "name": "s__long" })).await.unwrap();
    assert_eq!(tools(&gate, &caller()).await.len(), 2);
}

/// What a budget is for: it holds for what is really sent, the gate's own tools and lines included.
#[tokio::test]
async fn what_is_sent_costs_about_what_the_budget_says() {
    let described = |n: usize| tool(&format!("tool_{n}"), &"Does a thing. ".repeat(n + 1));
    let server = with_definitions((0..40).map(described).collect());
    for (expose, budget) in
        [(ExposureMode::All, 1_200), (ExposureMode::All, 2_500), (ExposureMode::Auto, 900)]
    {
        let (expose, result_limit) = (Some(expose), Some(1_000));
        let tight = Profile { expose, budget: Some(budget), result_limit, ..Profile::default() };
        let manner = GatewaySettings {
            profiles: profiles([("tight", tight)]),
            ..GatewaySettings::default()
        };
        let (gate, _fleet) = gate(&[("s", &server)], manner).await;
        let me = seeing("tight", Revision::LATEST_LEGACY);
        let sent = listed(&gate, CapabilityKind::Tool, &me).await;
        let sent: Vec<_> = sent.iter().map(Value::to_string).collect();
        let cost: u32 = sent.iter().map(|tool| estimate(tool.as_bytes())).sum();
        assert!(cost <= budget + budget / 10, "{expose:?}: {cost} of {budget}: {sent:?}");
        assert!(cost >= budget / 2, "{expose:?}: {cost} of {budget}: {sent:?}");
        assert!(sent.iter().any(|tool| tool.contains("read_result")), "{sent:?}");
        assert!(sent.iter().any(|tool| tool.contains("s__tool_0")), "{sent:?}");
    }
}

#[tokio::test]
async fn a_list_that_is_not_everybodys_is_not_to_be_shared() {
    let scope = async |gate: &Gate, caller: &toolgate_gate::Caller| -> Value {
        let list = gate.list(CapabilityKind::Tool, caller).await;
        serde_json::from_slice::<Value>(&list).unwrap()["cacheScope"].clone()
    };
    let (gate, fleet) = gate(&[("s", &weather())], searching(ExposureMode::Search)).await;
    let (me, other) = (caller_of(Revision::V2026_07_28), caller_of(Revision::V2026_07_28));
    assert_eq!(scope(&gate, &me).await, "public");
    call(&gate, &me, "tool_search", json!({ "query": "weather" })).await;
    assert_eq!(scope(&gate, &me).await, "private");
    assert_eq!(scope(&gate, &other).await, "public");
    // Where the client's name decides, others see something else at the same address.
    let mut manner = searching(ExposureMode::Search);
    manner.profiles.clients.insert("someone".into(), "root".into());
    apply_settings(&gate, &fleet, manner).await;
    assert_eq!(scope(&gate, &other).await, "private");
}

#[test]
fn others_are_served_while_many_tools_are_indexed() {
    with_one_blocking_thread(async {
        let all: Vec<_> = (0..300).map(|n| tool(&format!("t{n}"), "Weather of a place.")).collect();
        let server = with_definitions(json!(all));
        let (gate, _fleet) = gate(&[("s", &server)], GatewaySettings::default()).await;
        let me = caller();
        tools(&gate, &me).await;
        let (found, others) = lets_others_pass(gate.search("default", "weather", 5)).await;
        assert_eq!(found.unwrap().len(), 5);
        assert!(others);
        let (_, others) = lets_others_pass(gate.search("default", "place", 5)).await;
        assert!(!others, "there is nothing left to index");
    });
}
