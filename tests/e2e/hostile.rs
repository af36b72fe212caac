//! Servers that misbehave: what comes of each, and that a good server beside them never notices.
//!
//! The table says for every mode of the testkit's hostile server whether its tools are listed and
//! what its caller gets. Modes that flood have the gateway to themselves, one after another, so
//! that what its memory grows by is theirs (T26); all others share one gateway (T27, T29 to T35).
//! What a server sees of its surroundings is here too (T25).

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_e2e::gateway::{
    GatewaySetup, TestGateway, TestServer, http_entry, stdio_entry, testkit,
};
use toolgate_e2e::mcp::answer;
use toolgate_e2e::{TestClient, within};
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

/// A mode, and what comes of it.
type Case = (&'static str, List, Call);

const ORDINARY: List = Shown(&["trigger"]);
const MARKED: List = Shown(&["trigger", "described"]);

/// What comes of every mode that does not flood.
#[rustfmt::skip]
const CALM: &[Case] = &[
    ("stdoutnoise", ORDINARY, Says("triggered")),
    ("hang", ORDINARY, Silent),
    ("hanginit", Failed("within 3 s"), Fails),
    ("slowdrip", ORDINARY, Silent),
    ("slowprogress", ORDINARY, Endless),
    ("daemonize", ORDINARY, Says("")),
    ("ignoreterm", ORDINARY, Says("triggered")),
    ("exitmid", ORDINARY, Fails),
    ("exitstart", Failed("exit status: 1"), Fails),
    ("wrongid", ORDINARY, Silent),
    ("stringid", ORDINARY, Silent),
    ("nullid", ORDINARY, Silent),
    ("floatid", ORDINARY, Silent),
    ("dupresp", ORDINARY, Says("triggered")),
    ("unsolicited", ORDINARY, Says("triggered")),
    ("deep", ORDINARY, Fails),
    ("dupkey", ORDINARY, Silent),
    ("case", ORDINARY, Fails),
    ("latin1", ORDINARY, Fails),
    ("batch", ORDINARY, Silent),
    ("crlf", ORDINARY, Says("triggered")),
    ("badschema", ORDINARY, Says("triggered")),
    ("redos", Shown(&["trigger", "redos"]), Says("triggered")),
    ("refssrf", ORDINARY, Says("triggered")),
    ("loopcursor", Failed("does not end"), Fails),
    ("freshcursor", Failed("is too long"), Fails),
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
const FLOODS: &[Case] = &[
    ("nonewline", ORDINARY, Fails),
    ("bigline", ORDINARY, Fails),
    ("stderrflood", ORDINARY, Says("triggered")),
    ("progressflood", ORDINARY, Endless),
    ("hugelist", Failed("is too long"), Fails),
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

/// The same where the server is reached over HTTP: an answer comes with its own response, so that
/// one under a strange id is known at once to be wrong. `None` where a mode is about the process,
/// which is then none of ours.
fn on_http((mode, list, call): Case) -> Option<Case> {
    match mode {
        "stdoutnoise" | "stderrflood" | "daemonize" | "ignoreterm" | "exitmid" | "exitstart" => {
            None
        }
        "wrongid" | "stringid" | "nullid" | "floatid" | "dupkey" | "batch" => {
            Some((mode, list, Fails))
        }
        _ => Some((mode, list, call)),
    }
}

/// A gateway with hostile servers and a good one.
struct Stage {
    gateway: TestGateway,
    setup: GatewaySetup,
    _servers: Vec<TestServer>,
}

impl Stage {
    fn on_stdio(cases: &[Case]) -> Self {
        let started = |mode| stdio_entry(mode, &testkit("hostile", &[mode]).unwrap(), &[]);
        let entries = cases.iter().map(|(mode, ..)| started(mode));
        Self::new(&entries.collect::<Vec<_>>(), Vec::new())
    }

    fn on_http(cases: &[Case]) -> Self {
        let listening = |mode| TestServer::start_with("hostile", "127.0.0.1:0", &[mode]).unwrap();
        let servers: Vec<_> = cases.iter().map(|(mode, ..)| listening(*mode)).collect();
        let reached = cases.iter().zip(&servers);
        let entries = reached.map(|((mode, ..), server)| http_entry(mode, &server.url));
        Self::new(&entries.collect::<Vec<_>>(), servers)
    }

    fn new(entries: &[String], servers: Vec<TestServer>) -> Self {
        let mut config = stdio_entry("good", &testkit("fixture", &["--stdio"]).unwrap(), &[]);
        for entry in entries {
            config += entry;
            config += "timeouts = { start = \"3s\", call = \"3s\", max = \"5s\" }\n";
        }
        let setup = GatewaySetup::new(&config).unwrap();
        Self { gateway: setup.serve().unwrap(), setup, _servers: servers }
    }

    /// All of these at once, and the good one meanwhile.
    fn hold(&self, cases: &[Case]) {
        let (setup, url) = (&self.setup, self.gateway.url.as_str());
        while_the_good_is_served(url, || {
            std::thread::scope(|scope| {
                for case in cases {
                    scope.spawn(move || holds(url, setup, *case));
                }
            });
        });
    }
}

/// Calls the good server over and over while `work` goes on, and often enough in any case.
fn while_the_good_is_served(url: &str, work: impl FnOnce()) {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let good = scope.spawn(|| {
            let client = TestClient::connect(url).unwrap();
            client.await_tools(&["good__test_echo"], Duration::from_secs(10)).unwrap();
            let mut slowest = Duration::ZERO;
            let mut rounds = 0_u32;
            while rounds < 100 || !over.load(Ordering::Relaxed) {
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

fn comes_up(url: &str, setup: &GatewaySetup, (mode, list, _): Case) {
    let client = TestClient::connect(url).unwrap();
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
fn shown(setup: &GatewaySetup, name: &str) -> Value {
    let output = setup.run(&["servers", "--json"]).unwrap();
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let servers = shown["servers"].as_array().into_iter().flatten();
    servers.into_iter().find(|server| server["name"] == name).cloned().unwrap_or_default()
}

fn is_called(url: &str, (mode, _, call): Case) {
    let client = TestClient::connect(url).unwrap();
    let begun = Instant::now();
    let answer = trigger(&client, mode);
    let took = begun.elapsed();
    let least = match call {
        Says(_) | Fails => Duration::ZERO,
        Silent => CALL,
        Endless => MAX,
    };
    // Whose time was up says so, and nobody else does, however late that is on a busy machine.
    let (said, up) = (answer.to_string(), format!("no answer within {} s", least.as_secs()));
    assert!(took >= least, "{mode}: took {took:?}: {answer}");
    match call {
        Silent | Endless => assert!(said.contains(&up), "{mode}: {answer}"),
        Says(_) | Fails => assert!(!said.contains("no answer within"), "{mode}: {answer}"),
    }
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
fn trigger(client: &TestClient, mode: &str) -> Value {
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
    let client = TestClient::connect(url).unwrap();
    let mut answer = Value::Null;
    let recovered = within(Duration::from_secs(15), || {
        answer = client.call(&format!("{mode}__echo"), &json!({"text": mode})).unwrap();
        answer["result"]["content"][0]["text"] == mode
    });
    assert!(recovered, "{mode}: {answer}");
}

/// A server comes up, is called and is called again, each as the table says.
fn holds(url: &str, setup: &GatewaySetup, case: Case) {
    comes_up(url, setup, case);
    is_called(url, case);
    match case {
        ("rugpull", ..) => is_quarantined(url, case.0),
        (mode, Shown(_), _) => recovers(url, mode),
        (_, Failed(_), _) => {}
    }
}

/// A tool that became another one is not called again, and whoever calls it is told what to do.
fn is_quarantined(url: &str, mode: &str) {
    let client = TestClient::connect(url).unwrap();
    let mut answer = Value::Null;
    let refused = within(Duration::from_secs(15), || {
        answer = client.call(&format!("{mode}__echo"), &json!({"text": mode})).unwrap();
        answer["result"]["_meta"]["dev.toolgate/decision"]["effect"] == "deny"
    });
    assert!(refused, "{mode}: {answer}");
    let said = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
    assert!(said.contains("changed since it was approved"), "{answer}");
    assert!(!said.contains("toolgate pins"), "no command for a model: {answer}");
    let listed = client.tools().unwrap();
    assert!(!listed.contains(&format!("{mode}__echo")), "{listed:?}");
    // Only what changed is: the rest of the server is served.
    let answer = trigger(&client, mode);
    assert!(!failed(&answer), "{answer}");
}

#[test]
fn hostile_servers_harm_only_their_own_calls() {
    let stage = Stage::on_stdio(CALM);
    stage.hold(CALM);
    names_are_plain(&stage.gateway.client().unwrap().tools().unwrap());
}

#[test]
fn hostile_servers_on_http_harm_only_their_own_calls() {
    let cases: Vec<Case> = CALM.iter().copied().filter_map(on_http).collect();
    Stage::on_http(&cases).hold(&cases);
}

/// No name that a server chose can pose as another or hide what it is.
fn names_are_plain(tools: &[String]) {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    for tool in tools {
        assert!((1..=64).contains(&tool.len()) && tool.bytes().all(plain), "{tool:?}");
    }
    let distinct: HashSet<_> = tools.iter().collect();
    assert_eq!(distinct.len(), tools.len(), "{tools:?}");
}

#[test]
fn a_server_is_given_nothing_of_the_gateways_own() {
    let modes = ["envdump", "fddump"];
    let entries = modes.map(|mode| {
        let env = [("PROMISED", "yes")];
        stdio_entry(mode, &testkit("hostile", &[mode]).unwrap(), &env)
    });
    let setup = GatewaySetup::new(&entries.concat()).unwrap();
    let mut serve = setup.command(&["serve", "--listen", "127.0.0.1:0"]);
    let gateway = TestGateway::start(serve.env("GATEWAYS_OWN_TOKEN", "canary")).unwrap();
    let client = gateway.client_with(&["envdump__trigger", "fddump__trigger"]).unwrap();
    let dump = |mode: &str| -> Value {
        let answer = trigger(&client, mode);
        serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap()
    };
    let environment = dump("envdump");
    assert_eq!(environment["PROMISED"], "yes");
    assert!(!environment.to_string().contains("canary"), "{environment}");
    let descriptors = dump("fddump");
    // The server itself opens one to look at the others.
    let strange = |(number, target): (&String, &Value)| {
        let looking = target.as_str().is_some_and(|target| target.starts_with("/proc/"));
        !["0", "1", "2"].contains(&number.as_str()) && !looking
    };
    let strangers = descriptors.as_object().unwrap().iter().filter(|entry| strange(*entry));
    assert_eq!(strangers.count(), 0, "{descriptors}");
}

#[test]
fn a_flood_costs_bounded_memory_and_harms_only_its_own_call() {
    for case in FLOODS {
        bounded("stdio", &Stage::on_stdio(&[*case]), *case);
        if let Some(case) = on_http(*case) {
            bounded("http", &Stage::on_http(&[case]), case);
        }
    }
}

fn bounded(carrier: &str, stage: &Stage, case: Case) {
    let before = stage.gateway.process.resident().unwrap();
    stage.hold(&[case]);
    let grown = stage.gateway.process.peak().unwrap().saturating_sub(before);
    println!("{} on {carrier}: {} MiB more", case.0, grown >> 20);
    assert!(grown <= FLOODED, "{} on {carrier}: {} MiB more", case.0, grown >> 20);
}
