//! Catalogs are live and nobody waits for them: what a server offered last is shown until it says
//! otherwise.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_e2e::gateway::{GatewaySetup, TestGateway, stdio_entry, testkit};
use toolgate_e2e::{StatelessTestClient, within};

/// How many servers work.
const WORKING: usize = 20;

/// A server that begins once no file keeps it out, so that its declaration is the same on a good day
/// and on a bad one.
fn late(folder: &Path, name: &str) -> Vec<String> {
    let script = folder.join("late.sh");
    if !script.exists() {
        fs::write(
            &script,
            "#!/bin/sh\nwhile [ -e \"$1\" ]; do sleep 0.05; done\nshift\nexec \"$@\"\n",
        )
        .unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let bolt = bolt(folder, name);
    let mut words = vec![script.display().to_string(), bolt.display().to_string()];
    words.extend(testkit("echo", &["--stdio", "--tools", "3"]).unwrap());
    words
}

/// The file that keeps a server out.
fn bolt(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.bolt"))
}

fn states(setup: &GatewaySetup) -> Value {
    let shown = setup.run(&["servers", "--json", "--wait", "0"]).unwrap();
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap_or_default();
    shown["servers"].clone()
}

fn state(servers: &Value, name: &str) -> String {
    let found = servers.as_array().into_iter().flatten().find(|server| server["name"] == name);
    found.and_then(|server| server["state"].as_str()).unwrap_or_default().to_owned()
}

fn listed(gateway: &TestGateway) -> BTreeSet<String> {
    gateway.client().unwrap().tools().unwrap().into_iter().collect()
}

#[test]
fn nobody_waits_for_a_slow_server_and_its_last_known_tools_are_listed() {
    let setup = GatewaySetup::new("").unwrap();
    let folder = setup.folder();
    let patient = "timeouts = { start = \"10m\" }\n";
    let mut config: Vec<String> = (0..WORKING)
        .map(|number| {
            let command = testkit("echo", &["--stdio", "--tools", "3"]).unwrap();
            let name = format!("up{number}");
            stdio_entry(&name, &command, &[("ECHO_NAME", &name)])
        })
        .collect();
    for name in ["slow", "silent"] {
        config.push(stdio_entry(name, &late(folder, name), &[]) + patient);
    }
    fs::write(folder.join("toolgate.toml"), config.join("\n")).unwrap();

    let first = setup.serve().unwrap();
    let known = (WORKING + 2) * 3;
    assert!(
        within(Duration::from_secs(60), || listed(&first).len() == known),
        "{}",
        states(&setup)
    );
    let before = listed(&first);
    drop(first);

    for name in ["slow", "silent"] {
        fs::write(bolt(folder, name), "").unwrap();
    }
    let second = setup.serve().unwrap();
    // Both forms of the protocol, from the first moment on.
    let modern = StatelessTestClient::new(&second.url, None, json!({})).unwrap();
    let answer = modern.request("tools/list", &json!({})).unwrap();
    let tools = answer["result"]["tools"].as_array().into_iter().flatten();
    let modern: BTreeSet<_> =
        tools.filter_map(|tool| tool["name"].as_str()).map(str::to_owned).collect();
    let legacy = listed(&second);
    let servers = states(&setup);
    // All of this was answered while both handshakes were open.
    assert_eq!(state(&servers, "slow"), "connecting", "{servers}");
    assert_eq!(state(&servers, "silent"), "connecting", "{servers}");
    assert_eq!((&legacy, &modern), (&before, &before));

    // The one that is only slow comes up, and nothing of it was lost meanwhile.
    fs::remove_file(bolt(folder, "slow")).unwrap();
    let up = within(Duration::from_secs(60), || state(&states(&setup), "slow") == "connected");
    assert!(up, "{}", states(&setup));
    assert_eq!(listed(&second), before);
    assert_eq!(state(&states(&setup), "silent"), "connecting");
}
