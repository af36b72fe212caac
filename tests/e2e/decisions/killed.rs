//! A gateway that is killed at any moment forgets nothing that was acknowledged, calls nothing twice,
//! and leaves a journal that proves itself.

use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use toolgate_e2e::{TestClient, TestGateway, within};

use super::{PATIENCE, Stage, act, decision};

const ASKING: &str =
    "[policy]\nask = [\"mcp:coat/*\"]\n[approvals]\nvia = \"operator\"\nwait = \"1s\"\n";

/// What is decided. `late` is once, when the call waits no more: nobody uses it up.
const CHOICES: [&str; 4] = ["once", "late", "tool", "deny"];

/// A number that looks random and is the same in every run of this test.
fn scattered(seed: usize, below: u64) -> u64 {
    let mut x = seed as u64 ^ 0x9e37_79b9_7f4a_7c15;
    for _ in 0..3 {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    x % below
}

fn opened(stage: &Stage) -> (TestGateway, TestClient) {
    let gateway = stage.serve();
    let client = gateway.client_with(&["coat__act"]).unwrap();
    (gateway, client)
}

/// How often a call with this text reached the server.
fn reached(stage: &Stage, text: &str) -> usize {
    let spelled = format!("\"{text}\"");
    let calls = stage.ledger("coat");
    calls.iter().filter(|call| call["params"].as_str().unwrap().contains(&spelled)).count()
}

#[test]
fn what_was_acknowledged_survives_a_kill_at_any_moment() {
    kill_often(&Stage::new(ASKING), toolgate_e2e::count(150), |_| {});
}

/// The same in the governed posture, where nothing is called that is not on record before.
#[test]
fn governed_nothing_was_called_that_is_not_on_record() {
    let stage = Stage::new(&format!("{ASKING}[launch]\nposture = \"governed\"\n"));
    let gateway = stage.serve();
    let client = gateway.client().unwrap();
    let known = within(PATIENCE, || stage.json(&["servers"])["servers"][0]["state"] == "connected");
    assert!(known);
    stage.approve_pins("coat");
    client.await_tools(&["coat__act"], PATIENCE).unwrap();
    drop((client, gateway));
    kill_often(&stage, toolgate_e2e::count(150), |text| {
        assert!(reached(&stage, text) == 0 || decided_to_call(&stage, text), "{text}");
    });
}

fn kill_often(stage: &Stage, runs: usize, holds: impl Fn(&str)) {
    let (mut acknowledgements, mut calls) = (0, 0);
    let longest = 2 * undisturbed(stage);
    for run in 0..runs {
        let text = format!("run-{run}");
        let choice = CHOICES[run % CHOICES.len()];
        let acknowledged = killed_while_deciding(stage, run, &text, choice, longest);
        acknowledgements += usize::from(acknowledged);
        calls += reached(stage, &text);
        let verified = stage.run(&["audit", "verify"]);
        assert!(verified.status.success(), "run {run}: {}", super::told(&verified));
        holds(&text);
        outlived(stage, run, &text, choice, acknowledged);
        // The next run begins without grants.
        for grant in stage.json(&["approvals", "grants"]).as_array().unwrap() {
            let id = grant["id"].as_str().unwrap();
            assert!(stage.run(&["approvals", "revoke", id]).status.success());
        }
    }
    println!("{runs} kills: {acknowledgements} decisions acknowledged, {calls} calls made before");
    // Half of the runs make a call if they are not killed before: enough kills fall on both sides.
    assert!(runs < 100 || (1..runs / 2).contains(&calls), "{calls} calls in {runs} runs");
    assert!(acknowledgements > 0, "nothing was acknowledged in {runs} runs");
}

/// How long a decision takes on this machine when nobody is killed.
fn undisturbed(stage: &Stage) -> Duration {
    let (_gateway, client) = opened(stage);
    thread::scope(|scope| {
        let calling = scope.spawn(|| act(&client, "coat__act", "undisturbed"));
        let id = stage.awaited_with("undisturbed")["id"].as_str().unwrap().to_owned();
        let begun = Instant::now();
        assert!(stage.decide(&id, "deny"));
        let took = begun.elapsed();
        assert!(decision(&calling.join().unwrap()).is_some());
        took
    })
}

/// A call waits, somebody decides, and the gateway is killed somewhere on the way. Whether the
/// decision was acknowledged.
fn killed_while_deciding(
    stage: &Stage,
    run: usize,
    text: &str,
    choice: &str,
    longest: Duration,
) -> bool {
    let (gateway, client) = opened(stage);
    thread::scope(|scope| {
        // It breaks off when the gateway does.
        let call = || client.call("coat__act", &serde_json::json!({ "text": text }));
        let calling = scope.spawn(call);
        let id = stage.awaited_with(text)["id"].as_str().unwrap().to_owned();
        let choice = match choice {
            "late" => {
                assert!(decision(&calling.join().unwrap().unwrap()).is_some());
                "once"
            }
            choice => choice,
        };
        let deciding = scope.spawn(move || stage.decide(&id, choice));
        // Any moment of a decision, and of the call after it.
        let longest = u64::try_from(longest.as_micros()).unwrap();
        thread::sleep(Duration::from_micros(scattered(run, longest)));
        gateway.process.signal(Signal::KILL).unwrap();
        let acknowledged = deciding.join().unwrap();
        stage.is_left();
        acknowledged
    })
}

/// What holds when the gateway is there again.
fn outlived(stage: &Stage, run: usize, text: &str, choice: &str, acknowledged: bool) {
    let before = reached(stage, text);
    assert!(before <= 1, "run {run}: called {before} times");
    let grants = stage.json(&["approvals", "grants"]);
    let granted = grants.as_array().is_some_and(|grants| !grants.is_empty());
    let pending = stage.pending().iter().any(|call| call["arguments"]["text"] == text);
    if acknowledged {
        assert!(!pending, "run {run}: {choice} was acknowledged and is asked for again");
    }
    match choice {
        "deny" => assert!(before == 0 && !granted, "run {run}: denied, and {grants}"),
        "tool" | "late" if acknowledged => assert!(granted, "run {run}: the grant is gone"),
        // `once` may be used up, by a call that was made or broke off before it was.
        _ => {}
    }
    let (_gateway, client) = opened(stage);
    let answer = act_briefly(stage, &client, text);
    let after = reached(stage, text);
    match (choice, granted) {
        ("tool", true) => assert_eq!(after, before + 1, "run {run}: {answer:?}"),
        ("once" | "late", true) => assert_eq!((before, after), (0, 1), "run {run}: {answer:?}"),
        _ => assert_eq!(after, before, "run {run}: called without approval: {answer:?}"),
    }
}

/// Whether the journal says that this call was let through.
fn decided_to_call(stage: &Stage, text: &str) -> bool {
    let exported = stage.setup.run(&["audit", "export"]).unwrap();
    let exported = String::from_utf8_lossy(&exported.stdout);
    exported.lines().any(|line| line.contains("\"allow\"") && line.contains(&format!("\"{text}\"")))
}

/// Makes the call, and denies it if somebody is asked; what was decided if it is not made.
fn act_briefly(stage: &Stage, client: &TestClient, text: &str) -> Option<serde_json::Value> {
    thread::scope(|scope| {
        let calling = scope.spawn(|| act(client, "coat__act", text));
        let mut asked = None;
        within(PATIENCE, || {
            asked = stage.pending().into_iter().find(|call| call["arguments"]["text"] == text);
            asked.is_some() || calling.is_finished()
        });
        if let Some(call) = asked {
            assert!(stage.decide(call["id"].as_str().unwrap(), "deny"));
        }
        decision(&calling.join().unwrap()).cloned()
    })
}
