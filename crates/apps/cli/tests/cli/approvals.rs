//! `approvals`: calls that wait for the operator, decided while a gateway lives and while none does.

use serde_json::{Value, json};

use crate::support::{Place, Running, calling, eventually, opening, run, run_outside, witness};

/// Calls of `w` are asked about; a call waits this long.
fn asking(wait: &str) -> Place {
    let place = Place::with("");
    std::fs::create_dir_all(place.home()).unwrap();
    let rules = format!("[policy]\nask = [\"mcp:w/*\"]\n\n[approvals]\nwait = \"{wait}\"\n");
    let config = format!("{}\n{rules}", witness("w", &place.work()));
    std::fs::write(place.home().join("config.toml"), config).unwrap();
    place
}

/// A client that shows no forms.
fn client(place: &Place) -> Running {
    let mut client = Running::start(&mut place.verb(&["serve", "--stdio"]));
    opening().iter().for_each(|message| client.send(message));
    client.answer(1);
    client.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    assert!(client.answer(2).to_string().contains("w__count"));
    client
}

fn approvals(place: &Place, words: &[&str]) -> Value {
    let said = run_outside(place.verb(&["approvals", "--json"]).args(words));
    assert_eq!(said.code, 0, "{said:?}");
    said.json()
}

/// The one call that waits.
fn waiting(place: &Place) -> Value {
    let count = || approvals(place, &["list"]).as_array().unwrap().len();
    eventually("a call that waits", || count() == 1);
    approvals(place, &["list"])[0].clone()
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn a_call_that_waits_is_shown_whole_and_goes_on_when_it_is_approved() {
    let place = asking("25s");
    let mut client = client(&place);
    let arguments = json!({ "path": "a\u{202e}b", "n": 1 });
    let params = json!({ "name": "w__count", "arguments": arguments });
    let call =
        |id: u32| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
    client.send(&call(3));
    let row = waiting(&place);
    let mut keys: Vec<_> = row.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    let shape = "arguments asked because caller client definition digest expires id identity kind \
                 server tool";
    assert_eq!(keys.join(" "), shape);
    assert_eq!(
        (&row["server"], &row["tool"], &row["client"]),
        (&json!("w"), &json!("count"), &json!("test"))
    );
    assert_eq!(row["arguments"], arguments);

    let id = row["id"].as_str().unwrap();
    let said = run(&mut place.verb(&["approvals", "show", id]));
    assert!(said.out.contains("a⟦U+202E⟧b") && said.out.contains("mcp:w/*"), "{said:?}");
    let said = run(&mut place.verb(&["approvals"]));
    assert!(said.out.contains(id) && !said.out.contains('\u{202e}'), "{said:?}");

    let said = run_outside(&mut place.verb(&["approvals", "approve", id]));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("a⟦U+202E⟧b") && said.err.contains("approved once"), "{said:?}");
    assert_eq!(text(&client.answer(3)), "1");
    let said = run_outside(&mut place.verb(&["approvals", "approve", id]));
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("decided before (`once`, by operator (terminal))"), "{said:?}");

    client.send(&call(4));
    let id = waiting(&place)["id"].as_str().unwrap().to_owned();
    assert_eq!(run_outside(&mut place.verb(&["approvals", "deny", &id])).code, 0);
    let denied = client.answer(4);
    assert_eq!(denied["result"]["isError"], true, "{denied}");
    assert!(text(&denied).contains("denied by operator"), "{denied}");
    assert_eq!(approvals(&place, &["list"]), json!([]));
}

#[test]
fn approved_when_nothing_runs_the_same_call_passes_once_after_a_restart() {
    let place = asking("300ms");
    let mut first = client(&place);
    first.send(&calling(3, "w__count"));
    let told = first.answer(3);
    drop(first); // killed
    let id = waiting(&place)["id"].as_str().unwrap().to_owned();
    assert!(text(&told).contains(&format!("approval ID {id}")), "{told}");
    assert!(!told.to_string().contains("toolgate approvals"), "a model reads this: {told}");
    let outcome = approvals(&place, &["approve", &id]);
    assert_eq!((&outcome["choice"], &outcome["call"]["tool"]), (&json!("once"), &json!("count")));
    assert_eq!(approvals(&place, &["grants"])[0]["choice"], "once");

    let mut second = client(&place);
    second.send(&calling(3, "w__count"));
    assert_eq!(text(&second.answer(3)), "1");
    second.send(&calling(4, "w__count"));
    assert!(text(&second.answer(4)).contains("this call is not approved yet"));
    assert_eq!(approvals(&place, &["grants"]), json!([]));
}

#[test]
fn a_report_counts_calls_that_nobody_approved_as_refused() {
    let denied = |place: &Place| {
        let said = run(&mut place.verb(&["report", "--json"]));
        assert_eq!(said.code, 0, "{said:?}");
        said.json()["totals"]["denied"].as_u64().unwrap()
    };
    // Nobody answers in time. What the operator says later is about a call that is over.
    let place = asking("300ms");
    let mut late = client(&place);
    late.send(&calling(3, "w__count"));
    late.answer(3);
    late.close_stdin();
    late.end();
    assert_eq!(denied(&place), 1);
    let id = waiting(&place)["id"].as_str().unwrap().to_owned();
    approvals(&place, &["deny", &id]);
    assert_eq!(denied(&place), 1);

    let place = asking("25s");
    let mut denying = client(&place);
    denying.send(&calling(3, "w__count"));
    let id = waiting(&place)["id"].as_str().unwrap().to_owned();
    approvals(&place, &["deny", &id]);
    denying.answer(3);
    denying.close_stdin();
    denying.end();
    assert_eq!(denied(&place), 1);

    // The person at the client declines its form.
    let mut showing = Running::start(&mut place.verb(&["serve", "--stdio"]));
    let [mut initialize, initialized] = opening();
    initialize["params"]["capabilities"] = json!({ "elicitation": {} });
    [initialize, initialized].iter().for_each(|message| showing.send(message));
    showing.answer(1);
    showing.send(&calling(3, "w__count"));
    let form: Value = loop {
        let message: Value = serde_json::from_str(&showing.line()).unwrap();
        if message["method"] == "elicitation/create" {
            break message;
        }
    };
    let declined = json!({ "action": "decline" });
    showing.send(&json!({ "jsonrpc": "2.0", "id": form["id"], "result": declined }));
    assert_eq!(showing.answer(3)["result"]["isError"], true);
    showing.close_stdin();
    showing.end();
    assert_eq!(denied(&place), 2);
}

#[test]
fn always_holds_until_it_is_taken_back() {
    let place = asking("300ms");
    let mut client = client(&place);
    client.send(&calling(3, "w__count"));
    client.answer(3);
    let id = waiting(&place)["id"].as_str().unwrap().to_owned();
    let outcome = approvals(&place, &["approve", &id, "--always", "tool"]);
    for (call, count) in [(4, "1"), (5, "2")] {
        client.send(&calling(call, "w__count"));
        assert_eq!(text(&client.answer(call)), count);
    }
    let grant = outcome["grant"]["id"].as_str().unwrap();
    assert_eq!(approvals(&place, &["grants"])[0]["id"], grant);
    assert_eq!(approvals(&place, &["revoke", grant]), json!({ "revoked": 1 }));
    client.send(&calling(6, "w__count"));
    assert_eq!(client.answer(6)["result"]["isError"], true);
    let said = run_outside(&mut place.verb(&["approvals", "revoke", "--server", "w"]));
    assert_eq!(said.code, 1, "{said:?}");
}

#[test]
fn whoever_watches_hears_of_a_call_once() {
    let place = asking("25s");
    let mut client = client(&place);
    let watching = Running::start(&mut place.verb(&["approvals", "watch", "--json"]));
    client.send(&calling(3, "w__count"));
    let told: Value = serde_json::from_str(&watching.line()).unwrap();
    assert_eq!((&told["server"], &told["tool"]), (&json!("w"), &json!("count")));
    assert!(told["because"].as_str().unwrap().contains("mcp:w/*"), "{told}");
    let id = told["id"].as_str().unwrap();
    assert_eq!(run_outside(&mut place.verb(&["approvals", "approve", id])).code, 0);
    assert_eq!(text(&client.answer(3)), "1");
}

#[test]
fn what_is_not_there_is_said_to_be_not_there() {
    let place = Place::new();
    let said = run(&mut place.verb(&["approvals"]));
    assert_eq!((said.code, said.out.as_str()), (0, ""), "{said:?}");
    assert_eq!(approvals(&place, &[]), json!([]));
    assert_eq!(approvals(&place, &["grants"]), json!([]));
    for words in [["show", "x"], ["approve", "x"], ["deny", "x"], ["revoke", "x"]] {
        let said = run(place.verb(&["approvals"]).args(words));
        assert_eq!(said.code, 1, "{words:?}: {said:?}");
        assert!(said.err.contains("hint:"), "{said:?}");
    }
    for words in [&["revoke"][..], &["approve"], &["approve", "x", "--always", "all"]] {
        assert_eq!(run(place.verb(&["approvals"]).args(words)).code, 2, "{words:?}");
    }
}

#[test]
fn the_name_a_client_gives_itself_approves_nothing_in_the_governed_posture() {
    let place = asking("1ms");
    for words in [&["discover", "w"][..], &["pins", "approve", "w", "--yes"]] {
        let said = run_outside(&mut place.verb(words));
        assert_eq!(said.code, 0, "{said:?}");
    }
    let config = place.home().join("config.toml");
    let personal = std::fs::read_to_string(&config).unwrap();
    let more = "[approvals.clients.test]\nvia = \"client\"\n[launch]\nposture = \"governed\"\n";
    std::fs::write(&config, format!("{personal}{more}")).unwrap();
    let mut client = client(&place);
    client.send(&calling(3, "w__count"));
    let answer = client.answer(3);
    assert_eq!(answer["result"]["_meta"]["dev.toolgate/decision"]["effect"], "ask", "{answer}");
}
