//! Decisions: nothing is called that was not decided, as the servers' own ledgers see it.
//!
//! The server is the testkit's turncoat: it writes every call down, on disk before it answers, and
//! changes its definitions when it is told to. What these tests believe is that ledger, the answers
//! clients get, and what the commands print; not the gateway's own records.

mod approving;
mod forms;
mod full_disk;
mod killed;
mod names;
mod people;
mod rug_pull;
mod same_bytes;

use std::path::PathBuf;
use std::process::Output;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_e2e::gateway::{GatewaySetup, TestServer, http_entry, stdio_entry, testkit};
use toolgate_e2e::{TestClient, TestGateway, marked_processes, within};
use toolgate_testkit::turncoat::{TurncoatChangeTarget, TurncoatFieldChange, TurncoatUpdate};

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// How the gateway comes to the turncoat, and in which era.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Stdio,
    StdioModern,
    Http,
    HttpModern,
}

impl Way {
    fn is_modern(self) -> bool {
        matches!(self, Way::StdioModern | Way::HttpModern)
    }

    fn is_http(self) -> bool {
        matches!(self, Way::Http | Way::HttpModern)
    }
}

/// A home with turncoats in it.
struct Stage {
    setup: GatewaySetup,
    /// What those that a gateway starts bear.
    mark: String,
    /// The operator's, where the posture demands one.
    passphrase: Option<&'static str>,
    /// Those that listen, which end with the stage.
    _listening: Mutex<Vec<TestServer>>,
}

/// One server of a stage.
#[derive(Clone, Copy)]
struct Coat<'a> {
    name: &'a str,
    way: Way,
    /// How it is from the start.
    from: &'a [TurncoatFieldChange],
}

impl<'a> Coat<'a> {
    fn named(name: &'a str) -> Self {
        Self { name, way: Way::Stdio, from: &[] }
    }
}

impl Stage {
    /// A home whose config is this text and a turncoat named `coat`.
    fn new(config: &str) -> Self {
        Self::with(config, &[Coat::named("coat")])
    }

    /// The same with these turncoats.
    fn with(config: &str, coats: &[Coat<'_>]) -> Self {
        let (setup, mark) = (GatewaySetup::new("").unwrap(), marked_processes::new_mark());
        let mut listening = Vec::new();
        let mut text = config.to_owned() + "\n";
        for coat in coats {
            let options = options(&setup, coat);
            let options: Vec<&str> = options.iter().map(String::as_str).collect();
            if coat.way.is_http() {
                let server = TestServer::start_with("turncoat", "127.0.0.1:0", &options).unwrap();
                text += &http_entry(coat.name, &server.url);
                listening.push(server);
            } else {
                let words = testkit("turncoat", &[&["--stdio"], &options[..]].concat()).unwrap();
                text += &stdio_entry(coat.name, &words, &[(marked_processes::VARIABLE, &mark)]);
            }
        }
        if text.contains("\"governed\"") {
            setup.key(GatewaySetup::CLIENT).unwrap();
        }
        std::fs::write(setup.folder().join("toolgate.toml"), &text).unwrap();
        let passphrase = text.contains("posture = \"governed\"").then_some("open sesame");
        if let Some(passphrase) = passphrase {
            let set = ["approvals", "passphrase"];
            let set = setup.run_with_passphrase(&set, &format!("\n{passphrase}")).unwrap();
            assert!(set.status.success(), "{}", told(&set));
        }
        Self { setup, mark, passphrase, _listening: Mutex::new(listening) }
    }

    fn serve(&self) -> TestGateway {
        self.setup.serve().unwrap()
    }

    /// The calls a server received, oldest first.
    fn ledger(&self, server: &str) -> Vec<Value> {
        self.lines(server, "call")
    }

    /// How many calls it received.
    fn calls(&self, server: &str) -> usize {
        self.ledger(server).len()
    }

    /// Waits until every server that a gateway started is gone: what it was sent is in its ledger.
    fn is_left(&self) {
        let gone =
            within(PATIENCE, || marked_processes::find_marked(&self.mark).unwrap().is_empty());
        assert!(gone, "{:?} are still there", marked_processes::find_marked(&self.mark));
    }

    fn lines(&self, server: &str, event: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(ledger_file(&self.setup, server)).unwrap_or_default();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line["event"] == event).collect()
    }

    /// Makes a server's definitions other than at the start in just this, and waits until they are.
    fn turn(&self, server: &str, changes: Vec<TurncoatFieldChange>, announce: bool) {
        let before = self.lines(server, "turned").len();
        let turn = serde_json::to_string(&TurncoatUpdate { changes, announce }).unwrap();
        // The server takes a text it has not seen; the number makes every turn one.
        let text = format!("{turn}{}", " ".repeat(before + 1));
        let file = control_file(&self.setup, server);
        std::fs::write(file.with_extension("new"), text).unwrap();
        std::fs::rename(file.with_extension("new"), &file).unwrap();
        let turned = within(PATIENCE, || self.lines(server, "turned").len() > before);
        assert!(turned, "{server} did not turn");
    }

    /// Runs a verb that must succeed, and gives what it printed as JSON.
    fn json(&self, verb: &[&str]) -> Value {
        let output = self.run(verb);
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{verb:?}: {}", told(&output));
        serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("{verb:?}: {}", told(&output)))
    }

    fn run(&self, verb: &[&str]) -> Output {
        let verb = [verb, &["--json"]].concat();
        match self.passphrase {
            Some(passphrase) => self.setup.run_with_passphrase(&verb, passphrase).unwrap(),
            None => self.setup.run(&verb).unwrap(),
        }
    }

    /// The calls that wait for an approval.
    fn pending(&self) -> Vec<Value> {
        self.json(&["approvals", "list"]).as_array().unwrap().clone()
    }

    /// The one call that waits, once it does.
    fn awaited(&self) -> Value {
        let mut pending = Vec::new();
        let there = within(PATIENCE, || {
            pending = self.pending();
            !pending.is_empty()
        });
        assert!(there && pending.len() == 1, "{pending:?}");
        pending.remove(0)
    }

    /// The call with this text that waits, once it does, whatever else waits.
    fn awaited_with(&self, text: &str) -> Value {
        let mut found = None;
        within(PATIENCE, || {
            found = self.pending().into_iter().find(|call| call["arguments"]["text"] == text);
            found.is_some()
        });
        found.unwrap_or_else(|| panic!("nobody is asked about {text}: {:?}", self.pending()))
    }

    /// Decides about a call as an operator does; whether that was accepted.
    fn decide(&self, id: &str, choice: &str) -> bool {
        let verb = match choice {
            "deny" => vec!["approvals", "deny", id],
            "once" => vec!["approvals", "approve", id],
            always => vec!["approvals", "approve", id, "--always", always],
        };
        self.run(&verb).status.success()
    }

    /// Approves a server's definitions as they are now.
    fn approve_pins(&self, server: &str) {
        let output = self.run(&["pins", "approve", server, "--yes"]);
        assert!(output.status.success(), "{}", told(&output));
    }
}

fn ledger_file(setup: &GatewaySetup, server: &str) -> PathBuf {
    setup.folder().join(format!("{server}.ledger"))
}

fn control_file(setup: &GatewaySetup, server: &str) -> PathBuf {
    setup.folder().join(format!("{server}.control"))
}

fn options(setup: &GatewaySetup, coat: &Coat<'_>) -> Vec<String> {
    let path = |path: PathBuf| path.display().to_string();
    let mut options = vec!["--ledger".to_owned(), path(ledger_file(setup, coat.name))];
    options.extend(["--control".to_owned(), path(control_file(setup, coat.name))]);
    if coat.way.is_modern() {
        options.push("--modern".to_owned());
    }
    if !coat.from.is_empty() {
        let turn = TurncoatUpdate { changes: coat.from.to_vec(), announce: false };
        let turn = serde_json::to_string(&turn).unwrap();
        options.extend(["--after", "0", "--change", &turn].map(str::to_owned));
    }
    options
}

fn told(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it));
    format!("{:?}\n{out}\n{err}", output.status.code())
}

/// A change of a tool.
fn tool_change(name: &str, at: &str, to: Value) -> TurncoatFieldChange {
    TurncoatFieldChange {
        of: TurncoatChangeTarget::Tool,
        name: name.to_owned(),
        at: at.to_owned(),
        to: Some(to),
    }
}

/// Calls a tool as a person's client does.
fn act(client: &TestClient, tool: &str, text: &str) -> Value {
    client.call(tool, &json!({ "text": text })).unwrap()
}

/// The decision a refused call carries; none if it was not refused.
fn decision(answer: &Value) -> Option<&Value> {
    let in_result = &answer["result"]["_meta"]["dev.toolgate/decision"];
    let told = if in_result.is_null() { &answer["error"]["data"] } else { in_result };
    told.get("effect").map(|_| told)
}

/// Fails unless the call was refused, and gives what was decided.
#[track_caller]
fn refused(answer: &Value) -> &Value {
    let decision = decision(answer).unwrap_or_else(|| panic!("not refused: {answer}"));
    assert!(decision["effect"] != "allow", "{answer}");
    assert!(decision["because"].as_str().is_some_and(|it| !it.is_empty()), "{answer}");
    decision
}

/// Fails unless the call was made.
#[track_caller]
fn made(answer: &Value) {
    assert!(answer["result"]["content"].is_array(), "{answer}");
    assert!(answer["result"]["isError"] != true, "{answer}");
}
