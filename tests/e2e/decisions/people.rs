//! Released clients approve: whoever sits before the TypeScript or the Python SDK is asked in his
//! client, in both eras, and every choice does what it says. Who cannot be asked there is served by
//! the commands.

use std::thread;

use serde_json::{Value, json};

use super::{Coat, Stage};
use crate::plan::{Carrier, Era, Peer};

const CLIENTS: [Peer; 4] = [
    Peer::TypeScript2(Era::Modern),
    Peer::TypeScript2(Era::Legacy),
    Peer::Python2(Era::Modern),
    Peer::Python2(Era::Legacy),
];

const ASKING: &str = "[policy]\nask = [\"mcp:*/*\"]\n";

/// What a person does with our form.
fn chosen(choice: &str) -> Value {
    match choice {
        "cancel" | "decline" => json!({ "action": choice }),
        choice => json!({ "action": "accept", "content": { "choice": choice } }),
    }
}

/// A server for each case, what is called there one after the other, what is answered to each
/// question, and which calls reach the server.
struct Case {
    server: &'static str,
    calls: &'static [&'static str],
    answers: &'static [&'static str],
    reach: &'static [&'static str],
}

const CASES: [Case; 7] = [
    Case { server: "once", calls: &["act", "act"], answers: &["once", "deny"], reach: &["act"] },
    Case {
        server: "tool",
        calls: &["act", "act", "aside"],
        answers: &["always this tool", "deny"],
        reach: &["act", "act"],
    },
    Case {
        server: "server",
        calls: &["act", "aside", "look"],
        answers: &["always this server"],
        reach: &["act", "aside", "look"],
    },
    Case { server: "deny", calls: &["act"], answers: &["deny"], reach: &[] },
    Case { server: "decline", calls: &["act"], answers: &["decline"], reach: &[] },
    Case { server: "cancel", calls: &["act"], answers: &["cancel"], reach: &[] },
    // An accepted form without a choice is none.
    Case { server: "empty", calls: &["act"], answers: &[""], reach: &[] },
];

fn call(server: &str, tool: &str) -> Value {
    json!({"do": "call", "name": format!("{server}__{tool}"), "arguments": {"text": "a"}})
}

#[test]
fn every_choice_in_every_client() {
    thread::scope(|scope| {
        for client in CLIENTS {
            scope.spawn(move || every_choice(client));
        }
    });
}

fn every_choice(client: Peer) {
    let coats = CASES.each_ref().map(|case| Coat::named(case.server));
    let stage = Stage::with(ASKING, &coats);
    let gateway = stage.serve();
    let until: Vec<_> = CASES.iter().map(|case| format!("{}__act", case.server)).collect();
    let mut plan = vec![json!({"do": "list", "until": until})];
    let calls = CASES.iter().flat_map(|case| case.calls.iter().map(|tool| call(case.server, tool)));
    plan.extend(calls);
    let answers: Vec<_> =
        CASES.iter().flat_map(|case| case.answers).map(|choice| chosen(choice)).collect();
    let carrier = Carrier::Http(gateway.url.clone());
    let report = client.play_answering(&json!(answers), &carrier, plan);
    for case in &CASES {
        let ledger = stage.ledger(case.server);
        let reached: Vec<_> = ledger.iter().map(|call| call["name"].as_str().unwrap()).collect();
        assert_eq!(reached, case.reach, "{client:?}, {}: {report:?}", case.server);
    }
    let questions = report.asked("elicitation/create");
    assert_eq!(questions.len(), answers.len(), "{client:?}: {questions:?}");
    for question in questions {
        let message = question["message"].as_str().unwrap();
        assert!(
            message.contains("\"text\": \"a\"") || message.contains("\"text\":\"a\""),
            "{message}"
        );
        // Nothing is chosen before somebody chooses.
        assert!(question["requestedSchema"]["properties"]["choice"].get("default").is_none());
    }
}

/// A client that cannot show a form: the call waits until somebody decides at the command line.
#[test]
fn a_client_without_elicitation_is_served_by_the_commands() {
    thread::scope(|scope| {
        for client in CLIENTS {
            scope.spawn(move || served_by_commands(client));
        }
    });
}

fn served_by_commands(client: Peer) {
    let stage = Stage::new(ASKING);
    let gateway = stage.serve();
    let plan = vec![json!({"do": "list", "until": ["coat__act"]}), call("coat", "act")];
    let carrier = Carrier::Http(gateway.url.clone());
    let report = thread::scope(|scope| {
        let playing = scope.spawn(|| client.play_answering(&Value::Null, &carrier, plan));
        let waiting = stage.awaited();
        assert_eq!(stage.calls("coat"), 0);
        assert!(stage.decide(waiting["id"].as_str().unwrap(), "once"));
        playing.join().unwrap()
    });
    assert_eq!(stage.calls("coat"), 1, "{client:?}: {report:?}");
    assert_eq!(report.steps[1]["result"]["structuredContent"]["number"], 1, "{report:?}");
    assert!(report.asked.is_empty());
}
