//! Servers that misbehave: what comes of each, and that a good server beside them never notices.
//!
//! The table says for every mode of the testkit's hostile server whether its tools are listed and
//! what its caller gets. Modes that flood have the gateway to themselves, one after another, so
//! that what its memory grows by is theirs (T26); all others share one gateway (T27, T29 to T35).

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_e2e::gateway::{Gateway, Setup, stdio_entry, testkit};
use toolgate_e2e::mcp::answer;
use toolgate_e2e::{Client, within};
use toolgate_testkit::hostile::MODES;

/// How a server comes up.
#[derive(Clone, Copy, Debug, PartialEq)]
enum List {
    /// It is connected, and `echo` and these are listed.
    Shown(&'static [&'static str]),
    /// It failed, for a reason that says this, and nothing of it is listed.
    Failed(&'static str),
}

/// What the caller of `trigger` gets.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Call {
    /// A result that says this.
    Says(&'static str),
    /// An error, at once.
    Fails,
    /// An error, when the time for a call without a sign of life is up.
    Silent,
    /// An error, when the time for any call is up.
    Endless,
}

use Call::{Endless, Fails, Says, Silent};
use List::{Failed, Shown};

const ORDINARY: List = Shown(&["trigger"]);
const MARKED: List = Shown(&["trigger", "described"]);

/// What comes of every mode that does not flood.
#[rustfmt::skip]
const CALM: &[(&str, List, Call)] = &[
    ("stdoutnoise", ORDINARY, Says("triggered")),
    ("hang", ORDINARY, Silent),
    ("hanginit", Failed("within 3 s"), Fails),
    ("slowdrip", ORDINARY, Silent),
    ("slowprogress", ORDINARY, Endless),
    ("daemonize", ORDINARY, Says("")),
    ("ignoreterm", ORDINARY, Says("triggered")),
    ("exitmid", ORDINARY, Fails),
    ("exitstart", Failed("left-pad"), Fails),
    ("wrongid", ORDINARY, Silent),
    ("stringid", ORDINARY, Silent),
    ("nullid", ORDINARY, Silent),
    ("floatid", ORDINARY, Silent),
    ("dupresp", ORDINARY, Says("triggered")),
    ("unsolicited", ORDINARY, Says("triggered")),
    ("deep", ORDINARY, Fails),
    ("dupkey", ORDINARY, Fails),
    ("case", ORDINARY, Says("triggered")),
    ("latin1", ORDINARY, Fails),
    ("batch", ORDINARY, Fails),
    ("crlf", ORDINARY, Says("triggered")),
    ("badschema", ORDINARY, Says("triggered")),
    ("redos", Shown(&["trigger", "redos"]), Says("triggered")),
    ("refssrf", ORDINARY, Says("triggered")),
    ("loopcursor", Failed("no end in sight"), Fails),
    ("freshcursor", Failed("no end in sight"), Fails),
    ("emptycursor", Shown(&["trigger", "last"]), Says("triggered")),
    ("ansi", MARKED, Says("before")),
    ("tags", MARKED, Says("before")),
    ("bidi", MARKED, Says("before")),
    ("zwsp", MARKED, Says("before")),
    ("poison", Shown(&["trigger", "poisoned"]), Says("triggered")),
    ("inject", ORDINARY, Says("IMPORTANT")),
    ("shadow", ORDINARY, Says("triggered")),
    ("longname", ORDINARY, Says("triggered")),
    ("rugpull", ORDINARY, Says("triggered")),
    ("listchanged", ORDINARY, Says("triggered")),
    ("envdump", ORDINARY, Says("PATH")),
    ("fddump", ORDINARY, Says("pipe")),
    ("elicit", ORDINARY, Says(r#""granted":0"#)),
    ("elicit_url", ORDINARY, Says(r#""granted":0"#)),
    ("sampling", ORDINARY, Says(r#""granted":0"#)),
];

/// What comes of every mode that floods.
const FLOODS: &[(&str, List, Call)] = &[
    ("nonewline", ORDINARY, Fails),
    ("bigline", ORDINARY, Fails),
    ("stderrflood", ORDINARY, Says("triggered")),
    ("progressflood", ORDINARY, Endless),
    ("hugelist", Failed("no end in sight"), Fails),
    ("b64bomb", ORDINARY, Fails),
];

const START: Duration = Duration::from_secs(3);
const CALL: Duration = Duration::from_secs(3);
const MAX: Duration = Duration::from_secs(5);
/// What "at once" may mean on a machine that is busy with forty hostile servers.
const SLACK: Duration = Duration::from_secs(2);
/// How much more memory a flood may cost.
const FLOODED: u64 = 64 << 20;

#[test]
fn every_mode_is_in_the_table() {
    let mut known: Vec<_> = CALM.iter().chain(FLOODS).map(|(mode, ..)| *mode).collect();
    let mut all: Vec<_> = MODES.iter().map(|mode| mode.name).collect();
    known.sort_unstable();
    all.sort_unstable();
    assert_eq!(known, all);
}

/// A gateway with these hostile servers and a good one.
fn among(cases: &[(&str, List, Call)]) -> (Setup, Gateway) {
    let mut config = stdio_entry("good", &testkit("fixture", &["--stdio"]).unwrap(), &[]);
    for (mode, ..) in cases {
        config += &stdio_entry(mode, &testkit("hostile", &[mode]).unwrap(), &[]);
        config += "timeouts = { start = \"3s\", call = \"3s\", max = \"5s\" }\n";
    }
    let setup = Setup::new(&config).unwrap();
    let gateway = setup.serve().unwrap();
    gateway.client_with(&["good__test_echo"]).unwrap();
    (setup, gateway)
}

/// Calls the good server over and over while `work` goes on.
fn while_the_good_is_served(url: &str, work: impl FnOnce()) {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let good = scope.spawn(|| {
            let client = Client::connect(url).unwrap();
            let mut slowest = Duration::ZERO;
            let mut rounds = 0_u32;
            while !over.load(Ordering::Relaxed) {
                rounds += 1;
                let begun = Instant::now();
                let answer = client.call("good__test_echo", &json!({"round": rounds})).unwrap();
                let took = begun.elapsed();
                assert_eq!(answer["result"]["structuredContent"]["round"], rounds, "{answer}");
                assert!(took < SLACK, "the good server took {took:?} in round {rounds}");
                slowest = slowest.max(took);
                std::thread::sleep(Duration::from_millis(5));
            }
            println!("good: {rounds} calls, the slowest took {slowest:?}");
        });
        let done = Done(&over);
        work();
        drop(done);
        good.join().unwrap();
    });
}

/// Says that the work is over, also when it fails.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn comes_up(url: &str, setup: &Setup, (mode, list, _): (&str, List, Call)) {
    let client = Client::connect(url).unwrap();
    match list {
        Shown(tools) => {
            let named = |tool: &&str| format!("{mode}__{tool}");
            let tools: Vec<String> = ["echo"].iter().chain(tools).map(named).collect();
            let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
            client.await_tools(&tools, Duration::from_secs(10)).unwrap();
        }
        Failed(reason) => {
            let mut entry = Value::Null;
            let failed = within(START + SLACK, || {
                entry = shown(setup, mode);
                entry["state"] == "failed"
            });
            assert!(failed, "{mode}: {entry}");
            let said = entry["reason"].as_str().unwrap_or_default();
            assert!(said.contains(reason), "{mode}: {entry}");
            let prefix = format!("{mode}__");
            assert!(!client.tools().unwrap().iter().any(|tool| tool.starts_with(&prefix)));
        }
    }
}

/// A server as `servers --json` shows it.
fn shown(setup: &Setup, name: &str) -> Value {
    let output = setup.run(&["servers", "--json"]).unwrap();
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let servers = shown["servers"].as_array().into_iter().flatten();
    servers.into_iter().find(|server| server["name"] == name).cloned().unwrap_or_default()
}

fn is_called(url: &str, (mode, _, call): (&str, List, Call)) {
    let client = Client::connect(url).unwrap();
    let begun = Instant::now();
    let answer = trigger(&client, mode);
    let took = begun.elapsed();
    let least = match call {
        Says(_) | Fails => Duration::ZERO,
        Silent => CALL,
        Endless => MAX,
    };
    println!("{mode}: {took:?} {}", answer.to_string().chars().take(200).collect::<String>());
    assert!(took >= least && took < least + SLACK, "{mode}: took {took:?}: {answer}");
    match call {
        Says(text) => {
            assert!(!failed(&answer), "{mode}: {answer}");
            let said = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
            assert!(said.contains(text), "{mode}: {answer}");
        }
        Fails | Silent | Endless => assert!(failed(&answer), "{mode}: {answer}"),
    }
}

/// Calls `trigger` and wants to hear of its progress.
fn trigger(client: &Client, mode: &str) -> Value {
    let id = client.next_id();
    let params = json!({"name": format!("{mode}__trigger"), "_meta": {"progressToken": "t"}});
    let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
    answer(client.post(&call.to_string()).unwrap(), &json!(id)).unwrap()
}

fn failed(answer: &Value) -> bool {
    answer.get("error").is_some() || answer["result"]["isError"] == true
}

/// Whatever a server did to one call, its next ones are served again before long.
fn recovers(url: &str, mode: &str) {
    let client = Client::connect(url).unwrap();
    let mut answer = Value::Null;
    let recovered = within(Duration::from_secs(15), || {
        answer = client.call(&format!("{mode}__echo"), &json!({"text": mode})).unwrap();
        answer["result"]["content"][0]["text"] == mode
    });
    assert!(recovered, "{mode}: {answer}");
}

/// A server comes up, is called and is called again, each as the table says.
fn holds(url: &str, setup: &Setup, case: (&str, List, Call)) {
    comes_up(url, setup, case);
    is_called(url, case);
    if matches!(case.1, Shown(_)) {
        recovers(url, case.0);
    }
}

#[test]
fn hostile_servers_harm_only_their_own_calls() {
    let (setup, gateway) = among(CALM);
    let (setup, url) = (&setup, &gateway.url);
    while_the_good_is_served(url, || {
        std::thread::scope(|scope| {
            for case in CALM {
                scope.spawn(move || holds(url, setup, *case));
            }
        });
    });
}

#[test]
fn a_flood_costs_bounded_memory_and_harms_only_its_own_call() {
    for case in FLOODS {
        let (setup, gateway) = among(&[*case]);
        let before = gateway.process.resident().unwrap();
        while_the_good_is_served(&gateway.url, || holds(&gateway.url, &setup, *case));
        let grown = gateway.process.resident().unwrap().saturating_sub(before);
        println!("{}: {} MiB more", case.0, grown >> 20);
        assert!(grown <= FLOODED, "{}: {} MiB more", case.0, grown >> 20);
    }
}
