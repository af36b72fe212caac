//! Servers that change what they offer without end: what that leaves in the database, the journal
//! and the log has a limit, and a good server beside them is not touched.

use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;
use sqlx::{ConnectOptions as _, Connection as _};
use toolgate_e2e::gateway::{GatewaySetup, stdio_entry, testkit};
use toolgate_e2e::{TestGateway, within};

const PATIENCE: Duration = Duration::from_secs(120);

/// Offers a thousand tools, and other ones, or the same ones defined otherwise, at every look; and
/// says after every look that they changed. How often they were listed stands in a file.
const RESTLESS: &str = r#"
import json, os, sys

listed = 0

def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()

def tool(number):
    name = "tool_%d" % number
    if os.environ["HOW"] == "renames":
        name += "_%d" % listed
    words = "version %d of it. " % listed
    return {"name": name, "description": words * 10, "inputSchema": {"type": "object"}}

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message or "method" not in message:
        continue
    if message["method"] == "initialize":
        say({"id": message["id"], "result": {
            "protocolVersion": "2025-11-25", "serverInfo": {"name": "restless", "version": "1"},
            "capabilities": {"tools": {"listChanged": True}}}})
    elif message["method"] == "tools/list":
        listed += 1
        say({"id": message["id"], "result": {"tools": [tool(number) for number in range(1000)]}})
        with open(os.environ["LISTED"], "w") as file:
            file.write(str(listed))
        say({"method": "notifications/tools/list_changed"})
    else:
        say({"id": message["id"], "error": {"code": -32601, "message": "no such method"}})
"#;

/// A gateway with such a server and a good one, after the first was listed so often and both have
/// ended.
fn outlived(how: &str, lists: u32) -> (GatewaySetup, TestGateway) {
    let setup = GatewaySetup::new("").unwrap();
    let listed = setup.folder().join("listed");
    let words = ["python3", "-c", RESTLESS].map(str::to_owned);
    let env = [("HOW", how), ("LISTED", listed.to_str().unwrap())];
    let restless = stdio_entry("restless", &words, &env);
    let echo = stdio_entry("echo", &testkit("echo", &["--stdio"]).unwrap(), &[]);
    std::fs::write(setup.folder().join("toolgate.toml"), restless + &echo).unwrap();
    let mut gateway = setup.serve().unwrap();
    let client = gateway.client_with(&["echo__echo"]).unwrap();
    let times = || std::fs::read_to_string(&listed).ok()?.parse::<u32>().ok();
    // Whoever has a list is told of changes: so it is looked at.
    let grown = within(PATIENCE, || client.tools().is_ok() && times() >= Some(lists));
    assert!(grown, "it was listed {:?} times", times());
    let answer = client.call("echo__echo", &json!({"text": "still there"})).unwrap();
    assert!(answer.to_string().contains("still there"), "{answer}");
    gateway.process.signal(Signal::TERM).unwrap();
    gateway.process.wait(PATIENCE).unwrap();
    (setup, gateway)
}

/// The memory of a gateway that has the good server alone, after it was called.
fn resident_with_echo(setup: &GatewaySetup) -> u64 {
    let echo = stdio_entry("echo", &testkit("echo", &["--stdio"]).unwrap(), &[]);
    std::fs::write(setup.folder().join("toolgate.toml"), echo).unwrap();
    let gateway = setup.serve().unwrap();
    let client = gateway.client_with(&["echo__echo"]).unwrap();
    client.call("echo__echo", &json!({"text": "here"})).unwrap();
    gateway.process.resident().unwrap()
}

/// What a query over the database of a home counts.
fn counted(home: &Path, query: &'static str) -> i64 {
    let file = ["state.db", "state/state.db"].map(|it| home.join(it));
    let file = file.iter().find(|file| file.exists()).expect("the home has a database");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(file);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut connection = options.connect().await.unwrap();
        let count = sqlx::query_scalar::<_, i64>(query).fetch_one(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        count
    })
}

#[test]
fn a_server_that_renames_its_tools_without_end_fills_no_database() {
    let (setup, _gateway) = outlived("renames", 12);
    let pins = counted(&setup.home(), "select count(*) from pins where server = 'restless'");
    assert!((1000..=4097).contains(&pins), "{pins} definitions are pinned");
    let known =
        counted(&setup.home(), "select count(*) from definitions where server = 'restless'");
    assert!(known <= 1000, "{known} definitions are known");
    // Nothing that was pinned before went for it.
    let echo = counted(&setup.home(), "select count(*) from pins where server = 'echo'");
    assert!(echo > 1, "{echo}");
    // A gateway without the server carries little of what it left behind.
    let (after, fresh) =
        (resident_with_echo(&setup), resident_with_echo(&GatewaySetup::new("").unwrap()));
    assert!(after * 2 < fresh * 3, "{after} bytes, and {fresh} in a home that never had it");
}

#[test]
fn a_server_that_changes_its_tools_without_end_fills_no_journal_and_no_log() {
    let (setup, gateway) = outlived("changes", 12);
    let exported = setup.run(&["audit", "export"]).unwrap();
    let exported = String::from_utf8_lossy(&exported.stdout).into_owned();
    let drifts = exported.lines().filter(|line| line.contains("\"drift\"")).count();
    assert!((1..=110).contains(&drifts), "{drifts} changes are on record");
    let log = gateway.process.stderr();
    assert!(log.lines().count() < 1000, "{} lines, {} bytes", log.lines().count(), log.len());
}
