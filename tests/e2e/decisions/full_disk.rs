//! The home lies on a disk that is full, or its database is locked by another process: what may
//! change something is refused, what only reads goes on, and afterwards nothing is missing.
//!
//! The disk is a real one, small and in memory, mounted where only the gateway sees it. A machine
//! that lets nobody mount one fails these tests; they are never skipped.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, SqliteConnection};
use toolgate_e2e::process::{TestProcess, run_outside};
use toolgate_e2e::{TestClient, TestGateway, within};

use super::{PATIENCE, Stage, act, made, refused, told, tool_change};

/// Longer than the gateway takes it for granted that what could be written still can.
const PAUSE: Duration = Duration::from_millis(1200);
/// How many calls that only read are made in bad times.
const READS: usize = 20;
/// Longer than a locked database is waited for.
const LOCKED: Duration = Duration::from_secs(12);

const POSTURES: [&str; 2] = ["personal", "governed"];

/// A home of this posture where `act` and `look` are allowed, and `look` is known to only read.
fn stage(posture: &str, policy: &str) -> Stage {
    let stage = Stage::new(&format!(
        "[policy]\n{policy}\n[approvals]\nvia = \"operator\"\nwait = \"1s\"\n\
         [launch]\nposture = \"{posture}\"\n"
    ));
    let file = stage.setup.folder().join("toolgate.toml");
    let mut file = File::options().append(true).open(file).unwrap();
    file.write_all(b"[servers.coat.tools.look]\ntags = [\"mcp.read-only\"]\n").unwrap();
    stage
}

/// A small disk in the place of a home, for whoever enters.
struct Disk {
    holder: TestProcess,
    home: PathBuf,
}

impl Disk {
    const SIZE: &'static str = "size=4m";

    fn at(home: PathBuf) -> Self {
        let script = "mount -t tmpfs -o \"$0\" none \"$1\" && echo mounted && exec sleep 1000";
        let mut command = Command::new("unshare");
        command.args(["-Urm", "sh", "-c", script, Self::SIZE]).arg(&home);
        let holder = TestProcess::start(&mut command).expect("`unshare` of util-linux is needed");
        let said = holder.line(PATIENCE);
        assert_eq!(said.unwrap(), "mounted", "no disk can be mounted: {}", holder.stderr());
        Self { holder, home }
    }

    /// The same command, where the disk is.
    fn inside(&self, command: &Command) -> Command {
        let mut inside = Command::new("nsenter");
        inside.args(["-t", &self.holder.pid().to_string(), "-U", "-m", "--preserve-credentials"]);
        inside.args(["sh", "-c", "cd \"$0\" && exec \"$@\""]);
        inside.arg(command.get_current_dir().unwrap());
        inside.arg(command.get_program()).args(command.get_args());
        inside
    }

    fn serve(&self, stage: &Stage) -> TestGateway {
        let made: Value =
            serde_json::from_slice(&self.run(stage, &["keys", "add", "client"]).stdout).unwrap();
        let serve = stage.setup.command(&["serve", "--listen", "127.0.0.1:0"]);
        let gateway = TestGateway::start(&mut self.inside(&serve)).unwrap();
        TestGateway { key: Some(format!("Bearer {}", made["key"].as_str().unwrap())), ..gateway }
    }

    fn run(&self, stage: &Stage, verb: &[&str]) -> Output {
        let command = stage.setup.command(&[verb, &["--json", "--passphrase-stdin"]].concat());
        let passphrase = stage.passphrase.unwrap_or_default();
        run_outside(&self.inside(&command), &format!("{passphrase}\n")).unwrap()
    }

    /// The passphrase that was set lies beneath the disk.
    fn set_passphrase(&self, stage: &Stage) {
        let Some(passphrase) = stage.passphrase else { return };
        let verb = ["approvals", "passphrase", "--passphrase-stdin"];
        let command = self.inside(&stage.setup.command(&verb));
        let set = run_outside(&command, &format!("\n{passphrase}\n")).unwrap();
        assert!(set.status.success(), "{}", told(&set));
    }

    /// The home, from outside.
    fn seen(&self) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.holder.pid()));
        root.join(self.home.strip_prefix("/").unwrap())
    }

    fn filler(&self) -> PathBuf {
        self.seen().join("filler")
    }

    /// Takes every page there is.
    fn fill(&self) {
        let mut file = File::options().create(true).append(true).open(self.filler()).unwrap();
        for size in [1 << 16, 1 << 12, 1] {
            let bytes = vec![b'x'; size];
            let full = loop {
                if let Err(error) = file.write_all(&bytes) {
                    break error;
                }
            };
            assert_eq!(full.kind(), ErrorKind::StorageFull, "{full}");
        }
    }

    fn free(&self) {
        std::fs::remove_file(self.filler()).unwrap();
    }

    /// Whether the journal on the disk holds a call with this text.
    fn journal_has(&self, text: &str) -> bool {
        journals(&self.seen()).iter().any(|file| {
            let records = std::fs::read_to_string(file).unwrap();
            records.lines().any(|line| line.contains(&format!("\"text\":\"{text}\"")))
        })
    }
}

/// All segments below a folder.
fn journals(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        match entry.is_dir() {
            true => found.extend(journals(&entry)),
            false => {
                found.extend(entry.extension().is_some_and(|it| it == "jsonl").then_some(entry))
            }
        }
    }
    found
}

fn ready(gateway: &TestGateway, approve: impl Fn()) -> TestClient {
    let client = gateway.client().unwrap();
    if client.await_tools(&["coat__act"], Duration::from_secs(5)).is_err() {
        approve();
    }
    client.await_tools(&["coat__act", "coat__look", "coat__aside"], PATIENCE).unwrap();
    client
}

/// Reads in every way there is; each of them must work.
fn read_much(client: &TestClient) {
    let listed = client.request("resources/list", &json!({})).unwrap();
    let uri = listed["result"]["resources"][0]["uri"].clone();
    for round in 0..READS {
        made(&act(client, "coat__look", &format!("read-{round}")));
        let read = client.request("resources/read", &json!({ "uri": uri })).unwrap();
        assert!(read["result"]["contents"].is_array(), "{read}");
        let prompt = client.request("prompts/get", &json!({ "name": "coat__brief" })).unwrap();
        assert!(prompt["result"]["messages"].is_array(), "{prompt}");
    }
}

/// The records of all chains.
fn exported(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{}", told(output));
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// How often a call of a tool with this text was allowed, and how each ended.
fn outcomes(records: &[Value], tool: &str, text: &str) -> Vec<String> {
    let event = |record: &Value, member: &str| record["event"][member].clone();
    let allowed = records.iter().filter(|record| {
        event(record, "type") == "decided"
            && event(record, "effect") == "allow"
            && record["about"]["name"] == tool
            && event(record, "arguments")["text"] == text
    });
    let outcome = |allowed: &Value| {
        let mut done = records
            .iter()
            .filter(|it| event(it, "type") == "done" && it["call"] == allowed["call"]);
        let done = done.next().map(|done| event(done, "outcome"));
        done.and_then(|done| done.as_str().map(str::to_owned)).unwrap_or_default()
    };
    allowed.map(outcome).collect()
}

const ALLOWING: &str = "allow = [\"mcp:coat/act\", \"mcp:coat/look\"]\nask = [\"mcp:coat/aside\"]";

#[test]
fn on_a_full_disk_only_what_reads_goes_on_and_nothing_is_missing_afterwards() {
    for posture in POSTURES {
        let stage = stage(posture, ALLOWING);
        let disk = Disk::at(stage.setup.home());
        disk.set_passphrase(&stage);
        let gateway = disk.serve(&stage);
        let client = ready(&gateway, || {
            let approved = disk.run(&stage, &["pins", "approve", "coat", "--yes"]);
            assert!(approved.status.success(), "{}", told(&approved));
        });
        made(&act(&client, "coat__act", "before"));
        let mut acknowledged = vec!["before".to_owned()];

        disk.fill();
        // Some records still find room in pages that are there; then they do not.
        let refusal = loop {
            thread::sleep(PAUSE);
            let text = format!("during-{}", acknowledged.len());
            let answer = act(&client, "coat__act", &text);
            if answer["result"]["isError"] == true {
                break answer;
            }
            assert!(disk.journal_has(&text), "{posture}: {text} was made and is not on disk");
            acknowledged.push(text);
            assert!(acknowledged.len() < 40, "{posture}: the disk is never full");
        };
        let because = refused(&refusal)["because"].as_str().unwrap();
        assert!(because.contains("the journal cannot be written"), "{posture}: {because}");
        for round in 0..READS {
            refused(&act(&client, "coat__act", &format!("refused-{round}")));
            refused(&act(&client, "coat__aside", "asked"));
        }
        let reached = stage.calls("coat");
        assert_eq!(reached, acknowledged.len(), "{posture}: what was refused was not sent");
        read_much(&client);

        disk.free();
        let recovered =
            within(PATIENCE, || act(&client, "coat__act", "after")["result"]["isError"] != true);
        assert!(recovered, "{posture}: {}", gateway.process.stderr());
        acknowledged.push("after".to_owned());
        read_much(&client);
        drop((client, gateway));
        accounted_for(&stage, &disk, &acknowledged, posture);
    }
}

/// Everything that was acknowledged is on record with its end, nothing else was called, and the
/// chain proves itself.
fn accounted_for(stage: &Stage, disk: &Disk, acknowledged: &[String], posture: &str) {
    let verified = disk.run(stage, &["audit", "verify"]);
    assert!(verified.status.success(), "{posture}: {}", told(&verified));
    let records = exported(&disk.run(stage, &["audit", "export"]));
    for text in acknowledged {
        assert_eq!(outcomes(&records, "act", text), ["ok"], "{posture}: {text}");
    }
    for round in 0..READS {
        let read = outcomes(&records, "look", &format!("read-{round}"));
        assert_eq!(read, ["ok", "ok"], "{posture}");
        let refused = outcomes(&records, "act", &format!("refused-{round}"));
        assert!(refused.is_empty(), "{posture}: {refused:?}");
    }
    let recovered = records.iter().find(|record| record["event"]["kind"] == "journal-recovered");
    let detail = recovered.map(|record| record["event"]["detail"].to_string()).unwrap_or_default();
    assert!(detail.contains("dropped") && detail.contains("No space left"), "{posture}: {detail}");
}

#[test]
fn while_the_database_is_locked_only_what_needs_none_goes_on_and_nothing_is_missing_afterwards() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for posture in POSTURES {
        let asking = "allow = [\"mcp:coat/look\"]\nask = [\"mcp:coat/act\", \"mcp:coat/aside\"]";
        let stage = stage(posture, asking);
        let gateway = stage.serve();
        let client = ready(&gateway, || stage.approve_pins("coat"));
        // `act` is granted for good before.
        refused(&act(&client, "coat__act", "first"));
        let id = stage.awaited()["id"].as_str().unwrap().to_owned();
        assert!(stage.decide(&id, "tool"));
        made(&act(&client, "coat__act", "granted"));

        let lock = runtime.block_on(locked(&stage));
        let since = Instant::now();
        let asked = thread::scope(|scope| {
            let asked = scope.spawn(|| act(&client, "coat__aside", "asked"));
            let reader = gateway.client().unwrap();
            read_much(&reader);
            assert!(!asked.is_finished(), "{posture}: readers wait for the database");
            asked.join().unwrap()
        });
        let because = refused(&asked)["because"].as_str().unwrap();
        assert!(because.contains("cannot ask for approval"), "{posture}: {because}");
        // What was granted is not any more what it was: that holds at once, and is kept later.
        stage.turn("coat", vec![tool_change("act", "/description", json!("Other"))], true);
        let withheld =
            within(PATIENCE, || act(&client, "coat__act", "changed")["result"]["isError"] == true);
        assert!(withheld, "{posture}: a changed tool was called");
        thread::sleep(LOCKED.saturating_sub(since.elapsed()));
        runtime.block_on(unlocked(lock));

        let forgotten = || stage.json(&["approvals", "grants"]).as_array().unwrap().is_empty();
        assert!(within(PATIENCE, forgotten), "{posture}: {}", gateway.process.stderr());
        let asked = act(&client, "coat__aside", "asked");
        assert_eq!(refused(&asked)["effect"], "ask", "{posture}");
        let id = stage.awaited_with("asked")["id"].as_str().unwrap().to_owned();
        assert!(stage.decide(&id, "once"));
        made(&act(&client, "coat__aside", "asked"));
        drop((client, gateway));
        let verified = stage.run(&["audit", "verify"]);
        assert!(verified.status.success(), "{posture}: {}", told(&verified));
        let records = exported(&stage.run(&["audit", "export"]));
        assert_eq!(outcomes(&records, "aside", "asked"), ["ok"], "{posture}");
        assert_eq!(outcomes(&records, "look", "read-0"), ["ok"], "{posture}");
    }
}

/// Locks the database of a home against everybody else who writes.
async fn locked(stage: &Stage) -> SqliteConnection {
    let home = stage.setup.home();
    let file = ["state.db", "state/state.db"].map(|it| home.join(it));
    let file = file.iter().find(|file| file.exists()).expect("the home has a database");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(file);
    let mut connection = options.connect().await.unwrap();
    connection.execute("BEGIN EXCLUSIVE").await.unwrap();
    connection
}

async fn unlocked(mut connection: SqliteConnection) {
    connection.execute("ROLLBACK").await.unwrap();
    connection.close().await.unwrap();
}
