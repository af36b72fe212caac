//! The first start, the refused start, and the start with broken entries.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use toolgate_e2e::gateway::{GatewaySetup, TestGateway, stdio_entry, testkit};
use toolgate_e2e::http::EndpointUrl;
use toolgate_e2e::process::TestProcess;
use toolgate_e2e::{binaries, within};

/// `serve` in a home where nothing is, without naming a config.
fn serve_in(home: &Path) -> TestGateway {
    let mut command = Command::new(binaries::find("toolgate").unwrap());
    command.arg("--home").arg(home).args(["serve", "--listen", "127.0.0.1:0"]).current_dir(home);
    TestGateway::start(&mut command).unwrap()
}

fn configs(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let own = files.into_iter().filter(|path| path.extension().is_some_and(|e| e == "toml"));
    own.chain(folders.iter().flat_map(|folder| configs(folder))).collect()
}

#[test]
fn the_first_start_writes_a_config_and_serves_something() {
    let home = TempDir::new().unwrap();
    let gateway = serve_in(home.path());
    let tools = gateway.client().unwrap().tools().unwrap();
    assert!(!tools.is_empty(), "nothing is served");
    drop(gateway);
    let [config] = &configs(home.path())[..] else {
        panic!("one config, not {:?}", configs(home.path()));
    };
    let written = std::fs::read_to_string(config).unwrap();
    assert!(written.contains("sample-server"), "{written}");
    assert!(written.contains('#'), "the example is explained:\n{written}");

    std::fs::write(config, format!("{written}\n# the user's own line\n")).unwrap();
    drop(serve_in(home.path()));
    assert!(std::fs::read_to_string(config).unwrap().ends_with("# the user's own line\n"));
}

#[test]
fn a_taken_port_says_who_holds_it() {
    let (one, other) = (GatewaySetup::new("").unwrap(), GatewaySetup::new("").unwrap());
    let gateway = one.serve().unwrap();
    let authority = EndpointUrl::parse(&gateway.url).unwrap().authority;
    let refused = other.run(&["serve", "--listen", &authority]).unwrap();
    assert!(!refused.status.success());
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains(&authority), "{said}");
    assert!(said.contains(&gateway.process.pid().to_string()), "who holds it: {said}");
    assert!(said.contains("--listen"), "what to do: {said}");
}

#[test]
fn broken_entries_harm_nobody() {
    let hostile = |mode| testkit("hostile", &[mode]).unwrap();
    let missing = vec!["/nonexistent/program".to_owned()];
    let config = [
        "[servers.senseless]\nargs = 3\n".to_owned(),
        "[servers.nothing]\n".to_owned(),
        stdio_entry("missing", &missing, &[]),
        stdio_entry("exits", &hostile("exitstart"), &[]),
        stdio_entry("hangs", &hostile("hanginit"), &[]) + "timeouts = { start = \"10m\" }\n",
        "[servers.unreachable]\nurl = \"http://127.0.0.1:1/mcp\"\n".to_owned(),
        stdio_entry("good", &testkit("fixture", &["--stdio"]).unwrap(), &[]),
    ];
    let setup = GatewaySetup::new(&config.join("\n")).unwrap();
    let gateway = setup.serve().unwrap();
    let client = gateway.client_with(&["good__test_simple_text"]).unwrap();
    let answer = client.call("good__test_simple_text", &json!({})).unwrap();
    assert!(answer.get("result").is_some(), "{answer}");
    let output = setup.run(&["servers", "--json", "--wait", "0"]).unwrap();
    let meanwhile: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(state(&meanwhile, "hangs"), "connecting", "nobody waited for it: {meanwhile}");

    let mut shown = Value::Null;
    let settled = within(Duration::from_secs(10), || {
        let output = setup.run(&["servers", "--json", "--wait", "0"]).unwrap();
        shown = serde_json::from_slice(&output.stdout).unwrap_or_default();
        ["missing", "exits", "unreachable"].iter().all(|name| state(&shown, name) == "failed")
    });
    assert!(settled, "{shown}");
    assert_eq!(state(&shown, "good"), "connected", "{shown}");
    for name in ["missing", "exits", "unreachable"] {
        let entry = entry(&shown, name);
        assert!(entry["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{entry}");
    }
}

fn entry<'a>(shown: &'a Value, name: &str) -> &'a Value {
    let servers = shown["servers"].as_array().into_iter().flatten();
    servers.into_iter().find(|server| server["name"] == name).unwrap_or(&Value::Null)
}

fn state<'a>(shown: &'a Value, name: &str) -> &'a str {
    entry(shown, name)["state"].as_str().unwrap_or_default()
}

#[test]
fn a_second_face_attaches_to_the_living_gateway() {
    let mark = toolgate_e2e::marked_processes::new_mark();
    let fixture = testkit("fixture", &["--stdio"]).unwrap();
    let entry =
        stdio_entry("fixture", &fixture, &[(toolgate_e2e::marked_processes::VARIABLE, &mark)]);
    let setup = GatewaySetup::new(&entry).unwrap();
    let gateway = setup.serve().unwrap();
    let added = json!({"name": "made_over_http"});
    let client = gateway.client_with(&["fixture__test_add_tool"]).unwrap();
    client.call("fixture__test_add_tool", &added).unwrap();
    client.await_tools(&["fixture__made_over_http"], Duration::from_secs(10)).unwrap();
    let mut face = setup.serve_stdio().unwrap();
    let listed = tools_over_stdio(&mut face);
    // A fixture of its own would not know the tool, and there would be two of them.
    assert!(listed.contains("fixture__made_over_http"), "{listed}");
    assert_eq!(toolgate_e2e::marked_processes::find_marked(&mark).unwrap().len(), 1);
}

fn tools_over_stdio(face: &mut TestProcess) -> String {
    let opening = toolgate_e2e::mcp::initialize("2025-11-25", &json!({}));
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let list = json!({"jsonrpc": "2.0", "id": "list", "method": "tools/list"});
    for message in [opening, initialized.to_string(), list.to_string()] {
        face.send(&message).unwrap();
    }
    loop {
        let line = face.line(Duration::from_secs(20)).unwrap();
        // Only the answer bears the id; the word itself may stand anywhere.
        if toolgate_e2e::mcp::member(&line, "id").is_some_and(|id| id == "\"list\"") {
            return line;
        }
    }
}
