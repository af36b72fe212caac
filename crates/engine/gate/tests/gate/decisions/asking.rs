//! Somebody is asked, in each way there is, and what he approved is what is sent.

use std::time::Duration;

use toolgate_store::ApprovalChoice;

use super::*;

#[tokio::test]
async fn each_choice_of_a_form_does_what_it_says() {
    for (says, first, second, asked) in [
        (chooses("once"), true, true, 2),
        (chooses("always this tool"), true, true, 1),
        (chooses("always this server"), true, true, 1),
        (chooses("deny"), false, false, 2),
        (json!({ "action": "decline" }), false, false, 2),
        (json!({ "action": "cancel" }), false, false, 2),
    ] {
        let (world, _) = World::new(json!([tool("t")]), mode(PolicyMode::Ask)).await;
        let (me, person) = with_forms(says.clone(), || {});
        for (expected, n) in [(first, 1), (second, 2)] {
            let answer = world.call(&me, "s__t", json!({ "n": n })).await;
            assert_eq!(answer["isError"] != true, expected, "{says} {n}: {answer}");
        }
        let passed = usize::from(first) + usize::from(second);
        assert_eq!((world.calls(), person.asked.lock().unwrap().len()), (passed, asked), "{says}");
    }
}

#[tokio::test]
async fn an_operator_approves_a_call_that_waits() {
    let (world, _) = World::new(json!([tool("t")]), rules([(Effect::Ask, "mcp:s/t")])).await;
    let me = with_client("c");
    let broker = world.gate.approvals().unwrap().clone();
    let approving = async {
        let call = &world.until_listed(1).await[0];
        assert_eq!(&call.arguments[..], br#"{"a":"b"}"#);
        broker.settle(&call.id, ApprovalChoice::Once, "a test").await.unwrap().unwrap()
    };
    let (answer, _) = tokio::join!(world.call(&me, "s__t", json!({ "a": "b" })), approving);
    assert_ne!(answer["isError"], true, "{answer}");
    assert_eq!(world.calls(), 1);
    let told = world.journal().await;
    let expected = ["ask tools/call", "approved once", "allow tools/call", "done Ok"];
    assert_eq!(told[1..], expected, "{told:?}");
}

#[tokio::test]
async fn a_call_nobody_approves_says_how_and_passes_once_when_it_is_repeated() {
    let mut said = rules([(Effect::Ask, "mcp:s/t")]);
    said.approvals.wait = Duration::from_millis(50);
    let (world, _) = World::new(json!([tool("t")]), said).await;
    let me = with_client("c");
    let answer = world.call(&me, "s__t", json!({ "a": 1 })).await;
    let (told, text) = (decision(&answer), answer["content"][0]["text"].as_str().unwrap());
    assert_eq!(told["effect"], "ask");
    let id = told["id"].as_str().unwrap();
    assert!(text.contains(&format!("approval ID {id}")), "{text}");
    assert!(!text.contains("`toolgate"), "no command for a model: {text}");
    world
        .gate
        .approvals()
        .unwrap()
        .settle(id, ApprovalChoice::Once, "a test")
        .await
        .unwrap()
        .unwrap();
    decision(&world.call(&me, "s__t", json!({ "a": 2 })).await);
    decision(&world.call(&with_client("d"), "s__t", json!({ "a": 1 })).await);
    assert_eq!(world.calls(), 0, "neither another call nor another client");
    world.call(&me, "s__t", json!({ "a": 1 })).await;
    assert_eq!(world.calls(), 1);
    decision(&world.call(&me, "s__t", json!({ "a": 1 })).await);
    assert_eq!(world.calls(), 1);
}

#[tokio::test]
async fn what_changed_while_somebody_was_asked_is_not_sent() {
    for silent in [false, true] {
        let recheck = Some(Duration::ZERO).filter(|_| silent);
        let said = GovernanceSettings { recheck, ..mode(PolicyMode::Ask) };
        let (world, wares) = World::new(json!([tool("t")]), said).await;
        let (server, before) = (world.server.clone(), world.fleet.generation());
        let meanwhile = move || {
            wares.change(|wares| wares["tools"][0]["description"] = "does another thing".into());
            if !silent {
                server.notify("notifications/tools/list_changed", json!({}));
            }
        };
        let (me, _) = with_forms(chooses("once"), meanwhile);
        let answer = world.call(&me, "s__t", json!({})).await;
        decision(&answer);
        assert_eq!(world.calls(), 0);
        assert_ne!(world.fleet.generation(), before);
    }
}

#[tokio::test]
async fn a_rule_written_while_somebody_was_asked_holds() {
    let (world, _) = World::new(json!([tool("t")]), mode(PolicyMode::Ask)).await;
    let gate = world.gate.clone();
    let (me, _) = with_forms(chooses("once"), move || {
        gate.set_governance(&rules([(Effect::Deny, "mcp:s/t")]));
    });
    decision(&world.call(&me, "s__t", json!({})).await);
    assert_eq!(world.calls(), 0);
}

#[tokio::test]
async fn in_the_governed_posture_a_client_is_asked_only_if_its_key_is_listed() {
    let mut said = governed(rules([(Effect::Ask, "mcp:s/t")]));
    said.approvals.wait = Duration::from_millis(30);
    said.approvals.via = Some(toolgate_model::ApprovalChannel::Elicitation);
    let (world, _) = World::new(json!([tool("t")]), said.clone()).await;
    super::pins::approve_all(&world).await;
    let (me, person) = with_forms(chooses("once"), || {});
    assert_eq!(decision(&world.call(&me, "s__t", json!({})).await)["effect"], "ask");
    assert_eq!((world.calls(), person.asked.lock().unwrap().len()), (0, 0));
    said.approvals.clients.insert("form".into(), toolgate_model::ApprovalChannel::Elicitation);
    world.gate.set_governance(&said);
    assert_eq!(decision(&world.call(&me, "s__t", json!({})).await)["effect"], "ask");
    assert_eq!((world.calls(), person.asked.lock().unwrap().len()), (0, 0), "it is only a name");
    said.approvals.clients.insert("key:form".into(), toolgate_model::ApprovalChannel::Elicitation);
    world.gate.set_governance(&said);
    let (me, person) = with_forms(chooses("once"), || {});
    let me = known_as("key:form", me);
    world.call(&me, "s__t", json!({ "again": 1 })).await;
    assert_eq!((world.calls(), person.asked.lock().unwrap().len()), (1, 1));
}

#[tokio::test]
async fn a_caller_who_gives_up_takes_his_question_with_him() {
    let (world, _) = World::new(json!([tool("t")]), rules([(Effect::Ask, "mcp:s/t")])).await;
    let me = with_client("c");
    tokio::select! {
        answer = world.call(&me, "s__t", json!({})) => panic!("nobody approved it: {answer}"),
        _ = world.until_listed(1) => {}
    }
    world.until_listed(0).await;
    assert_eq!(world.calls(), 0);
}

#[tokio::test]
async fn whoever_approves_one_request_lets_no_other_pass() {
    let mut said = rules([(Effect::Ask, "mcp:s")]);
    said.approvals.wait = Duration::from_millis(50);
    let (world, _) = World::new(json!([tool("t")]), said).await;
    let me = with_client("c");
    let call = |extra: Value| json!({ "name": "s__t", "arguments": { "a": 1 }, "extra": extra });
    let noted = |meta: Value| json!({ "name": "s__t", "arguments": {}, "_meta": { "x/y": meta } });
    for (method, approved, other) in [
        ("foo/run", json!({ "n": 1 }), json!({ "n": 2 })),
        ("foo/run", json!({ "n": 1, "uri": "x://r" }), json!({ "n": 1, "uri": "x://q" })),
        ("tools/call", call(json!(1)), call(json!(2))),
        ("tools/call", noted(json!(1)), noted(json!(2))),
        ("resources/read", json!({ "uri": "x://r", "n": 1 }), json!({ "uri": "x://r", "n": 2 })),
    ] {
        let reached = world.server.count(method);
        let _ = world.pass(&me, method, approved.clone()).await;
        let broker = world.gate.approvals().unwrap();
        let waiting = broker.list().await.unwrap();
        let id = waiting.last().unwrap().id.clone();
        broker.settle(&id, ApprovalChoice::Once, "a test").await.unwrap().unwrap();
        let _ = world.pass(&me, method, other.clone()).await;
        assert_eq!(world.server.count(method), reached, "{method} {other}");
        world.pass(&me, method, approved.clone()).await.unwrap();
        assert_eq!(world.server.count(method), reached + 1, "{method} {approved}");
    }
}

#[tokio::test]
async fn a_method_is_not_sent_if_what_it_names_changed_while_somebody_was_asked() {
    let (world, wares) =
        World::new(json!([tool("t")]), rules([(Effect::Ask, "mcp:s/foo/*")])).await;
    let (server, gate) = (world.server.clone(), world.gate.clone());
    let (me, person) = with_forms(chooses("once"), move || {
        wares.change(|wares| wares["tools"][0]["description"] = "does another thing".into());
        server.notify("notifications/tools/list_changed", json!({}));
    });
    let refused = world.pass(&me, "foo/run", json!({ "name": "t" })).await.unwrap_err();
    assert!(refused.message.contains("changed while"), "{refused}");
    let (me, _) = with_forms(chooses("once"), move || {
        gate.set_governance(&rules([
            (Effect::Ask, "mcp:s/foo/*"),
            (Effect::Deny, "resource:s/x://*"),
        ]));
    });
    let refused = world.pass(&me, "foo/run", json!({ "uri": "x://r" })).await.unwrap_err();
    assert!(refused.message.contains("resource:s/x://*"), "{refused}");
    assert_eq!((world.server.count("foo/run"), person.asked.lock().unwrap().len()), (0, 1));
}
