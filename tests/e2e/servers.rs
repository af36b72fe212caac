//! Released servers behind the gateway, all at once, reached by every released client.
//!
//! Each server does something real: a file is read, a commit found, a time converted; the
//! everything server also asks back and reports progress.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use toolgate_e2e::gateway::{GatewaySetup, sampling, stdio_entry};
use toolgate_e2e::peers;

use crate::plan::{Carrier, Era, Peer, names, text};

/// One tool of each server, and those the everything server adds once it knows the client.
const SOME_TOOLS: [&str; 6] = [
    "everything__echo",
    "everything__trigger-elicitation-request",
    "everything__trigger-sampling-request",
    "filesystem__read_text_file",
    "git__git_log",
    "time__convert_time",
];

const DOCUMENT: &str = "demo://resource/static/document/features.md";

/// A setup with all four servers, and a folder with a file in a repository for them to look at.
fn setup() -> GatewaySetup {
    let setup = GatewaySetup::new("").unwrap();
    let folder = setup.folder().join("project");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("note.txt"), "written by the test\n").unwrap();
    commit(&folder);
    let shown = |path: std::path::PathBuf| path.display().to_string();
    let node = shown(peers::node().unwrap());
    let npm = |package: &str| {
        shown(peers::npm(&format!("@modelcontextprotocol/{package}/dist/index.js")).unwrap())
    };
    let python = |program: &str| shown(peers::python("servers", program).unwrap());
    let folder = folder.display().to_string();
    let entries = [
        ("everything", vec![node.clone(), npm("server-everything"), "stdio".to_owned()]),
        ("filesystem", vec![node, npm("server-filesystem"), folder.clone()]),
        ("git", vec![python("mcp-server-git"), "--repository".to_owned(), folder]),
        ("time", vec![python("mcp-server-time"), "--local-timezone=UTC".to_owned()]),
    ];
    let config: Vec<_> =
        entries.iter().map(|(name, words)| sampling(&stdio_entry(name, words, &[]))).collect();
    std::fs::write(setup.folder().join("toolgate.toml"), config.join("\n")).unwrap();
    setup
}

fn commit(folder: &Path) {
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]);
        command.args(["-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false"]);
        let done = command.args(arguments).current_dir(folder).output().unwrap();
        assert!(done.status.success(), "git {arguments:?}: {done:?}");
    };
    git(&["init", "--quiet"]);
    git(&["add", "note.txt"]);
    git(&["commit", "--quiet", "--message", "a commit of the test"]);
}

fn steps(folder: &Path) -> Vec<Value> {
    let call =
        |tool: &str, arguments: Value| json!({"do": "call", "name": tool, "arguments": arguments});
    let note = folder.join("project/note.txt");
    let time = json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"});
    vec![
        json!({"do": "list", "until": SOME_TOOLS}),
        call("everything__echo", json!({"message": "hello"})),
        call("everything__trigger-long-running-operation", json!({"duration": 1, "steps": 3})),
        call("everything__trigger-sampling-request", json!({"prompt": "Say", "maxTokens": 10})),
        call("everything__trigger-elicitation-request", json!({})),
        call("filesystem__read_text_file", json!({"path": note})),
        call("git__git_log", json!({"repo_path": folder.join("project"), "max_count": 1})),
        call("time__convert_time", time),
        json!({"do": "read", "uri": DOCUMENT}),
        json!({"do": "prompt", "name": "everything__simple-prompt", "arguments": {}}),
    ]
}

fn serves_all(peer: Peer, setup: &GatewaySetup, carrier: &Carrier) {
    let report = peer.play(carrier, steps(setup.folder()));
    let [list, echo, long, sampled, elicited, file, log, time, document, prompt] =
        &report.steps[..]
    else {
        panic!("{report:?}");
    };
    for tool in SOME_TOOLS {
        assert!(names(&list["tools"], tool), "no {tool} in {list}");
    }
    assert!(names(&list["resources"], DOCUMENT), "{list}");
    assert!(names(&list["prompts"], "everything__simple-prompt"), "{list}");
    assert!(text(echo).contains("hello"), "{echo}");
    assert_eq!(long["progress"].as_array().map(Vec::len), Some(3), "{long}");
    assert!(text(sampled).contains("an imagined answer"), "{sampled}");
    assert!(elicited.to_string().contains("ada@example.org"), "{elicited}");
    assert!(text(file).contains("written by the test"), "{file}");
    assert!(text(log).contains("a commit of the test"), "{log}");
    assert!(text(time).contains("21:00"), "{time}");
    assert_eq!(document["result"]["contents"][0]["uri"], DOCUMENT, "{document}");
    assert!(prompt["result"]["messages"][0]["content"]["text"].is_string(), "{prompt}");
}

fn over_http(peer: Peer) {
    let setup = setup();
    let gateway = setup.serve().unwrap();
    serves_all(peer, &setup, &Carrier::Http(gateway.url.clone()));
}

fn over_stdio(peer: Peer) {
    let setup = setup();
    let carrier = Carrier::Stdio(setup.words(&["serve", "--stdio"]));
    serves_all(peer, &setup, &carrier);
}

#[test]
fn typescript_over_http() {
    over_http(Peer::TypeScript);
}

#[test]
fn python_over_http() {
    over_http(Peer::Python);
}

#[test]
fn rmcp_over_http() {
    over_http(Peer::Rmcp(Era::Legacy));
}

#[test]
fn typescript_over_stdio() {
    over_stdio(Peer::TypeScript);
}

#[test]
fn python_over_stdio() {
    over_stdio(Peer::Python);
}

#[test]
fn rmcp_over_stdio() {
    over_stdio(Peer::Rmcp(Era::Legacy));
}
