//! Rules, modes, postures and taint: what reaches the server, and what the caller is told.

use super::*;

#[tokio::test]
async fn what_nobody_wrote_is_left_to_the_client() {
    let (world, _) = World::new(json!([tool("t")]), GovernanceSettings::default()).await;
    let answer = world.call(&with_client("c"), "s__t", json!({})).await;
    assert_ne!(answer["isError"], true, "{answer}");
    assert_eq!(world.calls(), 1);
}

#[tokio::test]
async fn what_is_denied_never_reaches_the_server_and_says_by_which_rule() {
    let (world, _) =
        World::new(json!([tool("t"), tool("u")]), rules([(Effect::Deny, "mcp:s/t")])).await;
    let me = with_client("c");
    let answer = world.call(&me, "s__t", json!({ "a": 1 })).await;
    let told = decision(&answer);
    assert_eq!(told["effect"], "deny");
    assert!(told["because"].as_str().unwrap().contains("mcp:s/t"), "{told}");
    assert!(told["because"].as_str().unwrap().contains("toolgate.toml"), "{told}");
    assert_eq!(world.calls(), 0);
    world.call(&me, "s__u", json!({})).await;
    assert_eq!(world.calls(), 1);
}

#[tokio::test]
async fn a_deny_of_a_whole_server_holds_for_reading_too_and_for_call_tool() {
    let (world, _) = World::new(json!([tool("t")]), rules([(Effect::Deny, "mcp:s")])).await;
    let me = with_client("c");
    for (method, params) in [
        ("resources/read", json!({ "uri": "x://r" })),
        ("resources/subscribe", json!({ "uri": "x://r" })),
        ("prompts/get", json!({ "name": "s__p" })),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": "s__p" },
            "argument": { "name": "a", "value": "b" } }),
        ),
    ] {
        let refused = world.pass(&me, method, params).await.unwrap_err();
        let data: Value = serde_json::from_slice(refused.data.as_ref().unwrap()).unwrap();
        assert_eq!(data["effect"], "deny", "{method}");
        assert_eq!(world.server.count(method), 0, "{method}");
    }
}

#[tokio::test]
async fn a_reload_holds_from_the_next_call_on() {
    let (world, _) = World::new(json!([tool("t")]), GovernanceSettings::default()).await;
    let me = with_client("c");
    world.call(&me, "s__t", json!({})).await;
    world.gate.set_governance(&rules([(Effect::Deny, "mcp:s/t")]));
    decision(&world.call(&me, "s__t", json!({})).await);
    assert_eq!(world.calls(), 1);
    world.gate.set_governance(&GovernanceSettings::default());
    world.call(&me, "s__t", json!({})).await;
    assert_eq!(world.calls(), 2);
}

#[tokio::test]
async fn nobody_to_ask_is_a_refusal_that_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let asks = rules([(Effect::Ask, "mcp:s/t")]);
    let (world, _) = World::writing(dir, None, spec("s"), json!([tool("t")]), asks).await;
    let answer = world.call(&with_client("c"), "s__t", json!({})).await;
    assert!(decision(&answer)["because"].as_str().unwrap().contains("nobody can be asked"));
    assert_eq!(world.calls(), 0);
}

#[tokio::test]
async fn a_client_that_approves_by_itself_is_not_asked_again_but_denies_hold() {
    let mut said = rules([(Effect::Ask, "mcp:s/t"), (Effect::Deny, "mcp:s/u")]);
    said.approvals.clients.insert("c".into(), toolgate_model::ApprovalChannel::Client);
    let (world, _) = World::new(json!([tool("t"), tool("u")]), said).await;
    let me = with_client("c");
    world.call(&me, "s__t", json!({})).await;
    assert_eq!(world.calls(), 1);
    decision(&world.call(&me, "s__u", json!({})).await);
    assert_eq!(world.calls(), 1);
}

#[tokio::test]
async fn after_untrusted_content_what_carries_data_out_is_asked_about() {
    let out = || {
        let mut out = spec("s");
        let egress = toolgate_model::DeclaredTool {
            tags: Some(vec!["egress".into()]),
            ..Default::default()
        };
        out.selection.tools.insert("send".into(), egress);
        out
    };
    let said =
        || GovernanceSettings { taint: Some(true), ..rules([(Effect::Allow, "mcp:s/send")]) };
    let tools = json!([tool("send"), tool("read")]);
    let (world, _) = World::with(out(), tools.clone(), said()).await;
    let (me, person) = with_forms(chooses("deny"), || {});
    world.call(&me, "s__send", json!({})).await;
    // Its own answer was content of an untrusted server, too.
    decision(&world.call(&me, "s__send", json!({})).await);
    assert_eq!((world.calls(), person.asked.lock().unwrap().len()), (1, 1));
    let (again, person) = with_forms(chooses("deny"), || {});
    decision(&world.call(&again, "s__send", json!({})).await);
    assert_eq!(
        (world.calls(), person.asked.lock().unwrap().len()),
        (1, 1),
        "in a new session, too"
    );
    let other = known_as("key:other", with_client("c"));
    world.call(&other, "s__send", json!({})).await;
    assert_eq!(world.calls(), 2, "another principal has read nothing");
    assert_eq!(world.gate.clear_taint(Some("local")), ["local"]);
    world.call(&again, "s__send", json!({})).await;
    assert_eq!(world.calls(), 3, "the operator has said so");

    let trusted = ServerSpec { trust: true, ..out() };
    let (world, _) = World::with(trusted, tools, said()).await;
    let (me, person) = with_forms(chooses("deny"), || {});
    for _ in 0..3 {
        world.call(&me, "s__read", json!({})).await;
        world.call(&me, "s__send", json!({})).await;
    }
    assert_eq!((world.calls(), person.asked.lock().unwrap().len()), (6, 0));
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_refused_before_anybody_is_asked() {
    let strict = json!([{ "name": "t", "inputSchema": { "type": "object",
        "properties": { "n": { "type": "integer" } }, "required": ["n"] } }]);
    let (world, _) = World::new(strict, rules([(Effect::Ask, "mcp:s/t")])).await;
    let (me, person) = with_forms(chooses("once"), || {});
    let answer = world.call(&me, "s__t", json!({ "n": "x" })).await;
    assert_eq!(answer["isError"], true);
    assert_eq!((world.calls(), person.asked.lock().unwrap().len()), (0, 0));
    assert_eq!(world.journal().await, ["noted pinned", "deny tools/call"]);
}

#[tokio::test]
async fn governed_believes_keys_and_not_what_a_client_calls_itself() {
    let listed = |name: &str| {
        let mut said = governed(rules([(Effect::Ask, "mcp:s/t")]));
        said.approvals.clients.insert(name.into(), toolgate_model::ApprovalChannel::Client);
        said.approvals.wait = std::time::Duration::from_millis(10);
        said
    };
    for (listed_as, client, person, passes) in [
        ("editor", "editor", "local", false),
        ("editor", "editor", "key:editor", false),
        ("key:ci", "key:ci", "local", false),
        ("key:ci", "editor", "key:ci", true),
        ("key:ci", "editor", "key:other", false),
    ] {
        let (world, _) = World::new(json!([tool("t")]), listed(listed_as)).await;
        super::pins::approve_all(&world).await;
        let me = known_as(person, with_client(client));
        let answer = world.call(&me, "s__t", json!({})).await;
        let row = format!("{listed_as} is listed; {client} of {person}: {answer}");
        assert_eq!(world.calls() == 1, passes, "{row}");
    }
}
