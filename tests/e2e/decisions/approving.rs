//! Approvals by whoever runs the gateway: a call is made at most once for each, and never without.

use std::thread;

use serde_json::{Value, json};
use toolgate_e2e::{TestClient, TestGateway, within};

use super::{PATIENCE, Stage, act, made, refused};

/// Everything is asked about, and nobody waits long.
const ASKING: &str =
    "[policy]\nask = [\"mcp:coat/*\"]\n[approvals]\nvia = \"operator\"\nwait = \"1s\"\n";
/// The same, with time enough to answer.
const PATIENT: &str =
    "[policy]\nask = [\"mcp:coat/*\"]\n[approvals]\nvia = \"operator\"\nwait = \"40s\"\n";

fn opened(stage: &Stage) -> (TestGateway, TestClient) {
    let gateway = stage.serve();
    let client = gateway.client_with(&["coat__act", "coat__aside"]).unwrap();
    (gateway, client)
}

/// Asks for a call that nobody approves in time; the id of what waits now.
fn asked(stage: &Stage, client: &TestClient, text: &str) -> String {
    let answer = act(client, "coat__act", text);
    let decision = refused(&answer);
    assert_eq!(decision["effect"], "ask", "{answer}");
    let id = decision["id"].as_str().unwrap().to_owned();
    assert!(stage.pending().iter().any(|it| it["id"] == *id), "{id}");
    id
}

#[test]
fn unanswered_it_says_how_to_approve_it_and_approved_later_it_passes_once() {
    let stage = Stage::new(ASKING);
    let (_gateway, client) = opened(&stage);
    let answer = act(&client, "coat__act", "a");
    assert_eq!(answer["result"]["isError"], true);
    let id = refused(&answer)["id"].as_str().unwrap().to_owned();
    let said = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(said.contains(&format!("approval ID {id}")), "{said}");
    assert!(!said.contains("`toolgate"), "no command for a model: {said}");
    assert_eq!(stage.calls("coat"), 0);
    assert!(stage.decide(&id, "once"));
    assert_eq!(stage.calls("coat"), 0, "an approval makes no call by itself");
    made(&act(&client, "coat__act", "a"));
    assert_eq!(stage.calls("coat"), 1);
    // Replayed.
    asked(&stage, &client, "a");
    assert_eq!(stage.calls("coat"), 1);
}

#[test]
fn a_waiting_call_goes_on_when_it_is_approved_and_ends_when_it_is_denied() {
    let stage = Stage::new(PATIENT);
    let (_gateway, client) = opened(&stage);
    for (choice, reaches) in [("once", 1), ("deny", 1), ("once", 2)] {
        thread::scope(|scope| {
            let waiting = scope.spawn(|| act(&client, "coat__act", "a"));
            let id = stage.awaited()["id"].as_str().unwrap().to_owned();
            assert!(stage.decide(&id, choice));
            let answer = waiting.join().unwrap();
            match choice {
                "deny" => assert_eq!(refused(&answer)["effect"], "deny"),
                _ => made(&answer),
            }
        });
        assert_eq!(stage.calls("coat"), reaches, "{choice}");
        assert!(stage.pending().is_empty());
    }
}

#[test]
fn what_is_listed_and_shown_is_the_whole_call_with_nothing_hidden() {
    let stage = Stage::new(ASKING);
    let (_gateway, client) = opened(&stage);
    // The old trick: what matters stands far behind what is looked at.
    let text = format!("{}rm -rf\u{202e} /", "a".repeat(4000));
    let id = asked(&stage, &client, &text);
    let listed = stage.awaited();
    assert_eq!(listed["arguments"], json!({ "text": text }));
    assert_eq!((&listed["server"], &listed["tool"]), (&json!("coat"), &json!("act")));
    assert_eq!(listed["client"], "toolgate-e2e");
    for member in ["id", "caller", "digest", "expires"] {
        assert!(!listed[member].is_null(), "{member}: {listed}");
    }
    let shown = stage.setup.run(&["approvals", "show", &id]).unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("rm -rf⟦U+202E⟧ /"), "{shown}");
    assert!(!shown.contains('\u{202e}'));
}

#[test]
fn an_approval_is_for_these_arguments_and_no_others() {
    let stage = Stage::new(ASKING);
    let (_gateway, client) = opened(&stage);
    let id = asked(&stage, &client, "a");
    assert!(stage.decide(&id, "once"));
    asked(&stage, &client, "b");
    let more = client.call("coat__act", &json!({"text": "a", "kind": "long"})).unwrap();
    refused(&more);
    refused(&client.call("coat__aside", &json!({"text": "a"})).unwrap());
    assert_eq!(stage.calls("coat"), 0);
    made(&act(&client, "coat__act", "a"));
    assert_eq!(stage.calls("coat"), 1);
}

#[test]
fn an_approval_is_for_its_caller_and_no_other() {
    let stage = Stage::new(ASKING);
    let keys = ["ada", "eve"].map(|name| stage.setup.key(name).unwrap());
    let gateway = stage.serve();
    let holder = |key: &String| {
        let credential = Some(key.clone());
        TestClient::connect_as(credential, &gateway.url, &json!({})).unwrap()
    };
    let (ada, eve) = (holder(&keys[0]), holder(&keys[1]));
    ada.await_tools(&["coat__act"], PATIENCE).unwrap();
    let id = asked(&stage, &ada, "a");
    assert!(stage.decide(&id, "once"));
    let hers = asked(&stage, &eve, "a");
    assert_ne!(hers, id);
    assert!(stage.decide(&hers, "tool"));
    made(&act(&eve, "coat__act", "b"));
    assert_eq!(stage.calls("coat"), 1);
    // What eve was allowed for good is nothing to ada, and ada's one call is still hers.
    made(&act(&ada, "coat__act", "a"));
    asked(&stage, &ada, "a");
    assert_eq!(stage.calls("coat"), 2);
}

#[test]
fn what_is_expired_can_neither_be_approved_nor_used() {
    let config = format!("{ASKING}expiry = \"3s\"\n");
    let stage = Stage::new(&config);
    let (_gateway, client) = opened(&stage);
    let late = asked(&stage, &client, "late");
    let unused = asked(&stage, &client, "unused");
    assert!(stage.decide(&unused, "once"));
    assert!(within(PATIENCE, || stage.pending().is_empty()));
    // The grant of a one-time approval ends with it.
    let gone = within(PATIENCE, || stage.json(&["approvals", "grants"]) == json!([]));
    assert!(gone);
    assert!(!stage.decide(&late, "once"));
    asked(&stage, &client, "late");
    asked(&stage, &client, "unused");
    assert_eq!(stage.calls("coat"), 0);
}

/// Whoever answers first decides, however many answer at once, and whatever they say.
#[test]
fn answered_twice_at_once_it_is_decided_once() {
    let stage = Stage::new(PATIENT);
    let (_gateway, client) = opened(&stage);
    for round in 0..toolgate_e2e::count(50) {
        let text = format!("round {round}");
        let before = stage.calls("coat");
        thread::scope(|scope| {
            let waiting = scope.spawn(|| act(&client, "coat__act", &text));
            let id = stage.awaited()["id"].as_str().unwrap().to_owned();
            let answers: Vec<_> = ["once", "deny", "once", "deny"]
                .map(|choice| {
                    let (stage, id) = (&stage, id.clone());
                    scope.spawn(move || (choice, stage.decide(&id, choice)))
                })
                .into_iter()
                .map(|answer| answer.join().unwrap())
                .collect();
            let accepted: Vec<_> = answers.iter().filter(|(_, accepted)| *accepted).collect();
            assert_eq!(accepted.len(), 1, "{answers:?}");
            let answer = waiting.join().unwrap();
            let reached = stage.calls("coat") - before;
            match accepted[0].0 {
                "deny" => assert_eq!((refused(&answer)["effect"] == "deny", reached), (true, 0)),
                _ => {
                    made(&answer);
                    assert_eq!(reached, 1);
                }
            }
        });
    }
}

/// Identical calls at once, one approval: one of them is made.
#[test]
fn one_approval_lets_one_of_many_identical_calls_through() {
    let stage = Stage::new(&PATIENT.replace("40s", "3s"));
    let (_gateway, client) = opened(&stage);
    thread::scope(|scope| {
        let calls: Vec<_> =
            (0..6).map(|_| scope.spawn(|| act(&client, "coat__act", "same"))).collect();
        let id = stage.awaited()["id"].as_str().unwrap().to_owned();
        assert!(stage.decide(&id, "once"));
        let answers: Vec<Value> = calls.into_iter().map(|call| call.join().unwrap()).collect();
        let made = answers.iter().filter(|it| it["result"]["isError"] != true).count();
        assert_eq!(made, 1, "{answers:?}");
    });
    assert_eq!(stage.calls("coat"), 1);
}

#[test]
fn a_grant_survives_a_restart_and_ends_when_it_is_revoked() {
    let stage = Stage::new(ASKING);
    let (gateway, client) = opened(&stage);
    let id = asked(&stage, &client, "a");
    assert!(stage.decide(&id, "server"));
    made(&act(&client, "coat__aside", "b"));
    drop((client, gateway));
    let (_gateway, client) = opened(&stage);
    made(&act(&client, "coat__act", "c"));
    let grants = stage.json(&["approvals", "grants"]);
    let grant = grants[0]["id"].as_str().unwrap_or_else(|| panic!("{grants}")).to_owned();
    assert!(stage.run(&["approvals", "revoke", &grant]).status.success());
    asked(&stage, &client, "d");
    assert_eq!(stage.calls("coat"), 2);
}

#[test]
fn a_flood_of_questions_is_bounded() {
    let stage = Stage::new(&ASKING.replace("1s", "100ms"));
    let (_gateway, client) = opened(&stage);
    let mut turned_away = 0;
    for number in 0..120 {
        let answer = act(&client, "coat__act", &format!("{number}"));
        turned_away += usize::from(refused(&answer)["id"].is_null());
    }
    assert!(turned_away >= 20, "{turned_away}");
    assert!(stage.pending().len() <= 100);
    assert_eq!(stage.calls("coat"), 0);
}

/// The server changes while somebody thinks: what he approved is not what would be called.
#[test]
fn what_changed_while_it_was_waited_for_is_not_called() {
    let stage = Stage::new(&format!("{PATIENT}[pins]\nrecheck = \"0s\"\n"));
    let (gateway, client) = opened(&stage);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| act(&client, "coat__act", "a"));
        let id = stage.awaited()["id"].as_str().unwrap().to_owned();
        let change = super::tool_change("act", "/description", json!("Does more."));
        stage.turn("coat", vec![change], false);
        stage.decide(&id, "once");
        refused(&waiting.join().unwrap());
    });
    drop((client, gateway));
    stage.is_left();
    assert_eq!(stage.calls("coat"), 0);
}

#[test]
fn an_unverified_credential_is_no_caller_of_its_own() {
    let stage = Stage::new(ASKING);
    let (gateway, client) = opened(&stage);
    let id = asked(&stage, &client, "a");
    for credential in ["Bearer one", "Bearer two", "Basic bWU6bWU="] {
        let credential = Some(credential.to_owned());
        let other = TestClient::connect_as(credential, &gateway.url, &json!({})).unwrap();
        assert_eq!(asked(&stage, &other, "a"), id, "the same call of the same caller");
    }
    let callers: Vec<_> = stage.pending().iter().map(|call| call["caller"].clone()).collect();
    assert_eq!(callers, ["local"]);
}

#[test]
fn what_was_read_in_one_session_counts_in_the_next() {
    let stage = Stage::new(
        "[policy]\nallow = [\"mcp:coat/*\"]\ntaint = true\n\
         [approvals]\nvia = \"operator\"\nwait = \"1s\"\n\
         [servers.coat.tools.act]\ntags = [\"egress\"]\n",
    );
    let (gateway, first) = opened(&stage);
    made(&act(&first, "coat__act", "nothing was read yet"));
    let next = gateway.client().unwrap();
    let decision = act(&next, "coat__act", "in a new session");
    assert_eq!(refused(&decision)["effect"], "ask", "{decision}");
    let named = TestClient::connect_as(Some("Bearer other".to_owned()), &gateway.url, &json!({}));
    let decision = act(&named.unwrap(), "coat__act", "under another name");
    assert_eq!(refused(&decision)["effect"], "ask", "{decision}");
    assert_eq!(stage.json(&["approvals", "untaint"])["cleared"], json!(["local"]));
    made(&act(&next, "coat__act", "the operator has said so"));
}
