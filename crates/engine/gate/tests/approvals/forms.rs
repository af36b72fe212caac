//! Asked through the caller's client.

use std::time::Duration;

use serde_json::json;
use toolgate_gate::approvals::CallApprovalOutcome;
use toolgate_session::Answer;
use toolgate_store::ApprovalChoice;
use toolgate_wire::Era;

use crate::support::*;

#[tokio::test]
async fn the_form_shows_the_whole_call_and_offers_no_default() {
    let client = Client::new([accepted("deny")]);
    let broker = broker().await;
    let call = Call::by_form(
        "{\"path\":\"/etc\\u202e/x\u{200b}\",\"cmd\":\"\\u0072m\\n-rf\",\"n\":1.50}",
        client.clone(),
    );
    assert!(matches!(
        call.obtain(&broker).await,
        CallApprovalOutcome::Decided { choice: ApprovalChoice::Deny, .. }
    ));
    let [form] = &client.forms()[..] else { panic!() };
    let message = form["message"].as_str().unwrap();
    let shown = [
        "Server: git\n",
        "Tool: push\n",
        "Client: editor (caller local)\n",
        "rule `mcp:git/*` in config.toml:3",
        "\"path\": \"/etc⟦U+202E⟧/x⟦U+200B⟧\"",
        "\"cmd\": \"rm\\n-rf\"",
        "\"n\": 1.50",
    ];
    for part in shown {
        assert!(message.contains(part), "{part} is not in {message}");
    }
    let schema = &form["requestedSchema"];
    let choices = ["once", "always this tool", "always this server", "deny"];
    assert_eq!(schema["properties"]["choice"]["enum"], json!(choices));
    assert_eq!(schema["required"], json!(["choice"]));
    assert_eq!(schema["properties"].as_object().unwrap().len(), 1);
    assert!(schema["properties"]["choice"].get("default").is_none());
}

#[tokio::test]
async fn every_choice_means_what_it_says() {
    let broker = broker().await;
    for (label, choice) in [
        ("once", ApprovalChoice::Once),
        ("always this tool", ApprovalChoice::Tool),
        ("always this server", ApprovalChoice::Server),
    ] {
        let call =
            Call::by_form(&json!({ "for": label }).to_string(), Client::new([accepted(label)]));
        let obtained = call.obtain(&broker).await;
        let CallApprovalOutcome::Decided { choice: chosen, by, .. } = obtained else {
            panic!("{obtained:?}")
        };
        assert_eq!((chosen, &*by), (choice, "the client editor, by a form"));
    }
    let kept: Vec<_> = broker.grants().await.unwrap().iter().map(|grant| grant.choice).collect();
    assert_eq!(kept.len(), 2, "what was approved once is used up: {kept:?}");
    assert!(kept.contains(&ApprovalChoice::Tool) && kept.contains(&ApprovalChoice::Server));
    assert_eq!(broker.list().await.unwrap(), []);
}

#[tokio::test]
async fn whatever_is_not_a_choice_is_no_approval() {
    let broker = broker().await;
    for result in [
        json!({"action": "decline"}),
        json!({"action": "accept"}),
        json!({"action": "accept", "content": {}}),
        json!({"action": "accept", "content": {"choice": "yes"}}),
        json!({"action": "accept", "content": {"choice": true}}),
        json!({}),
    ] {
        let client = Client::new([Reaction::Result(Duration::ZERO, result.clone())]);
        let obtained = Call::by_form("{}", client).obtain(&broker).await;
        assert!(
            matches!(obtained, CallApprovalOutcome::Decided { choice: ApprovalChoice::Deny, .. }),
            "{result}: {obtained:?}"
        );
    }
    assert_eq!(broker.grants().await.unwrap(), []);
}

#[tokio::test]
async fn a_form_put_away_takes_the_call_back() {
    let broker = broker().await;
    let put_away = Reaction::Result(Duration::ZERO, json!({"action": "cancel"}));
    let call = Call::by_form("{}", Client::new([put_away]));
    assert_eq!(call.obtain(&broker).await, CallApprovalOutcome::Cancelled);
    listed(&broker, 0).await;
}

#[tokio::test]
async fn a_client_that_cannot_show_it_leaves_it_to_the_operator() {
    let broker = broker().await;
    let unable = Client::new([Reaction::Other(Answer::Unsupported)]);
    let failing = Answer::Failure { code: -32603, message: "no".into(), data: None };
    let failing = Client::new([Reaction::Other(failing)]);
    let without = Client::able("{}", []);
    let urls = Client::able(r#"{"elicitation":{"url":{}}}"#, []);
    for client in [unable, failing, without, urls] {
        let waiting = Call::by_form("{}", client).start(&broker);
        let [call] = &listed(&broker, 1).await[..] else { panic!() };
        broker.settle(&call.id, ApprovalChoice::Once, "operator").await.unwrap().unwrap();
        assert!(is_approved(&waiting.await.unwrap()));
    }
}

#[tokio::test]
async fn what_is_too_long_to_be_shown_whole_is_never_cut() {
    let broker = broker().await;
    let long = json!({ "text": "x".repeat(70_000), "danger": true }).to_string();
    let client = Client::new([]);
    let waiting = Call::by_form(&long, client.clone()).start(&broker);
    let [call] = &listed(&broker, 1).await[..] else { panic!() };
    assert_eq!(call.arguments, long.as_bytes());
    assert!(client.forms().is_empty());
    broker.settle(&call.id, ApprovalChoice::Deny, "operator").await.unwrap().unwrap();
    assert!(matches!(
        waiting.await.unwrap(),
        CallApprovalOutcome::Decided { choice: ApprovalChoice::Deny, .. }
    ));
}

#[tokio::test]
async fn a_modern_client_may_take_its_time_and_a_legacy_one_is_told_how_to_go_on() {
    let broker = broker().await;
    let legacy = Call::by_form("{}", Client::new([Reaction::Silent])).waiting(SHORT);
    let CallApprovalOutcome::Waiting { id } = legacy.obtain(&broker).await else { panic!() };
    broker.settle(&id, ApprovalChoice::Deny, "operator").await.unwrap().unwrap();
    let result = json!({"action": "accept", "content": {"choice": "once"}});
    let late = Client::new([Reaction::Result(SHORT * 4, result)]);
    let modern = Call { era: Era::Modern, ..Call::by_form("{}", late).waiting(SHORT) };
    assert!(is_approved(&modern.obtain(&broker).await));
}

#[tokio::test]
async fn no_answer_can_be_given_before_the_question() {
    // A client may bring answers with its call; it must not know what ours will be called.
    let broker = broker().await;
    let client = Client::new([accepted("deny"), accepted("deny")]);
    let call = Call::by_form("{}", client.clone());
    call.obtain(&broker).await;
    call.obtain(&broker).await;
    let asked = client.asked.lock().unwrap();
    let keys: Vec<_> = asked.iter().map(|it| it.key.clone().unwrap()).collect();
    assert_ne!(keys[0], keys[1]);
    assert!(keys.iter().all(|key| key.starts_with("approval-") && key.len() == 19), "{keys:?}");
}

#[tokio::test]
async fn a_form_nobody_answers_leaves_the_call_to_be_approved_later() {
    let broker = broker().await;
    let client = Client::new([Reaction::Silent]);
    let call = Call::by_form("{}", client.clone()).waiting(SHORT);
    let CallApprovalOutcome::Waiting { id } = call.obtain(&broker).await else { panic!() };
    broker.settle(&id, ApprovalChoice::Once, "operator").await.unwrap().unwrap();
    assert!(is_approved(&call.obtain(&broker).await));
    assert_eq!(client.forms().len(), 1, "the same call, repeated, is not asked about again");
}
