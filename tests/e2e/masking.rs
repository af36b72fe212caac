//! Nothing that may be a credential comes out of any command, log or error.
//!
//! Every dialect's file lies where its host has it, with a secret in each place that can hold one,
//! and the servers they name fail in the nastiest ways: they repeat what they were given. Then every
//! verb is run, and every text that comes out is looked through. What a tool returns as its result is
//! data and no concern of this.

mod files;
mod stage;

use std::time::Duration;

use serde_json::{Value, json};
use stage::Stage;
use toolgate_e2e::{TestGateway, within};

use files::FILES;

/// The names of the servers that the files declare.
fn names(stage: &mut Stage, config: &[&str]) -> Vec<String> {
    let output = stage.run(&[config, &["--json", "list", "--offline"]].concat());
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    let names = list["servers"].as_array().unwrap().iter();
    names.map(|server| server["name"].as_str().unwrap().to_owned()).collect()
}

/// A machine with all the files, and nothing done yet.
fn furnished() -> (Stage, Vec<(&'static str, std::path::PathBuf)>, Vec<String>) {
    let mut stage = Stage::new();
    let files = stage.furnish();
    let names = names(&mut stage, &[]);
    for file in &FILES {
        assert!(
            names.iter().any(|name| name.starts_with(file.dialect)),
            "{}: {names:?}",
            file.dialect
        );
    }
    (stage, files, names)
}

#[test]
fn verbs_that_show_what_is_declared_show_no_secret() {
    let (mut stage, files, names) = furnished();
    for words in [
        &["config", "check"][..],
        &["config", "files"],
        &["list", "--offline"],
        &["consent"],
        &["secret", "list"],
        &["install", "--list"],
    ] {
        stage.both(words);
    }
    for name in &names {
        stage.both(&["get", name]);
        stage.run(&["consent", name]);
    }
    for (_, path) in &files {
        let path = path.to_str().unwrap();
        stage.both(&["--config", path, "config", "check"]);
        stage.run(&["--config", path, "list", "--offline"]);
    }
    stage.assert_tight();
}

#[test]
fn servers_that_repeat_what_they_were_given_are_masked() {
    let (mut stage, files, names) = furnished();
    stage.both(&["list"]);
    for name in &names {
        stage.run(&["consent", name, "--yes"]);
    }
    for words in [&["servers"][..], &["list"], &["doctor"], &["discover"]] {
        stage.both(words);
    }
    for name in names.iter().filter(|name| !name.ends_with("-run")) {
        stage.run(&["--debug", "doctor", name]);
    }
    for name in ["mcp-json-gone", "mcp-json-run", "vscode-run", "mcp-json-web", "gemini-web"] {
        stage.both(&["call", name, "go"]);
        stage.both(&["discover", name]);
    }
    for (_, path) in &files {
        stage.run(&["--config", path.to_str().unwrap(), "--debug", "servers", "--wait", "10"]);
    }
    let home = stage.path("user/.local");
    stage.watch_files(&home, &[]);
    stage.assert_tight();
}

#[test]
fn carrying_servers_between_files_tells_no_secret() {
    let (mut stage, _, names) = furnished();
    stage.both(&["import", "--dry-run", "--yes"]);
    stage.both(&["import", "--dry-run", "--yes", "--to-secrets"]);
    for file in &FILES {
        stage.run(&["--debug", "export", "--to", file.dialect]);
        let out = format!("exported-{}", file.dialect);
        stage.run(&["--json", "export", "--to", file.dialect, "-o", &out]);
        let written = std::fs::read(stage.project().join(&out)).unwrap_or_default();
        stage.watch(&out, &written);
    }
    let told = stage.command(&["export", "--to", "toolgate", "--with-secrets"]).output().unwrap();
    assert!(
        Stage::holds(&String::from_utf8_lossy(&told.stdout)) > 50,
        "they are written when asked for"
    );
    for client in [
        "claude-code",
        "claude-desktop",
        "codex",
        "gemini",
        "zed",
        "goose",
        "continue",
        "opencode",
        "cursor",
        "vscode",
    ] {
        stage.run(&["install", client, "--approve", "client", "--dry-run"]);
        stage.run(&["--debug", "install", client, "--approve", "client", "--yes"]);
        stage.run(&["uninstall", client, "--dry-run"]);
        stage.run(&["--json", "uninstall", client]);
    }
    for name in &names {
        stage.run(&["add", "--force", "--dry-run", name, "--", "program"]);
        stage.run(&[
            "add",
            "--force",
            "--dry-run",
            "--scope",
            "user",
            name,
            "--url",
            "http://localhost/",
        ]);
        stage.run(&["--debug", "disable", name]);
        stage.run(&["--json", "enable", name]);
    }
    let secret = stage.filled("add", "--token=@@");
    let header = stage.filled("add", "X-A: @@");
    let env = stage.filled("add", "A=@@");
    let url = stage.filled("add", "https://u:@@@example.com/?k=@@");
    for more in [&["--dry-run"][..], &[], &["--force"], &[]] {
        stage.run(
            &[&["--debug", "add", "-e", &env, "added"], more, &["--", "<GONE>", &secret]].concat(),
        );
        stage.run(&[&["--json", "add", "-H", &header, "reached", "--url", &url], more].concat());
    }
    let entry = stage.filled(
        "add-json",
        r#"{"command": "x", "args": ["--token", "@@"], "env": {"A": "@@"}, "oddity": "@@"}"#,
    );
    let broken = stage.filled("add-json", r#"{"command": "x", "env": {"A": "@@" "B": "@@"}}"#);
    let typed = stage.filled(
        "add-json",
        r#"{"command": "x", "env": "@@", "args": ["@@", {"token": "@@"}], "headers": ["@@"]}"#,
    );
    for json in [entry, broken, typed] {
        stage.both(&["add-json", "--dry-run", "more", &json]);
        stage.both(&["add-json", "more", &json]);
    }
    let usage = stage.filled("usage", "--env=@@");
    stage.both(&["add", "x", "-e", &secret, &usage]);
    stage.both(&["import", "--yes", "--force", "--to-secrets"]);
    for name in &names {
        stage.run(&["remove", name]);
    }
    stage.both(&["import", "--yes"]);
    stage.assert_tight();
}

#[test]
fn a_file_broken_around_a_secret_shows_none_of_it() {
    let mut stage = Stage::new();
    let broken = [
        ("a.json", r#"{ "mcpServers": { "x": { "command": "y", "env": { "A": "@@ } } } }"#),
        ("b.json", r#"{ "mcpServers": { "x": { "command": "y", "env": { "A": @@ } } } }"#),
        ("c.json", r#"{ "mcpServers": { "x": { "command": "y", "env": { "A": "ab"@@" } } } }"#),
        (
            "d.json",
            r#"{ "mcpServers": { "x": { "command": 7, /* @@ */ "env": { "TOKEN=@@": "x" } } } } // @@"#,
        ),
        ("e.json", r#"{ "mcpServers": { "x": { "command": "y" "env": { "A": "@@" } } } }"#),
        (
            "f.json",
            r#"{ "mcpServers": { "x": { "command": "y", "headers": "@@", "env": ["A=@@"], "args": "--token @@" } } }"#,
        ),
        (
            "g.json",
            r#"{ "mcpServers": { "x": { "type": "https://u:@@@h", "url": "https://u:@@@h/?k=@@", "command": "@@" } } }"#,
        ),
        (
            "h.json",
            r#"{ "mcpServers": { "x": { "url": "nonsense:@@", "timeout": "x:@@", "disabled": "x:@@", "oauth": "@@" } } }"#,
        ),
        (
            "i.json",
            r#"{ "mcpServers": { "x": { "url": "http://h", "oauth": { "clientSecret": ["@@"], "scopes": 5 } }, "y": { "url": "http://h", "headers": { "Authorization: Bearer @@": "x", "A": "@@" } } } }"#,
        ),
        ("j.json", r#"{ "mcpServers": { "x": { "command": "y", "env": { "A": "\x@@" } } } }"#),
        (
            "k.json",
            "{ \"mcpServers\": { \"x\": { \"command\": \"y\", \"env\": { \"A\": \"@@\n@@\" } } } }",
        ),
        (
            "l.json",
            r#"{ "mcpServers": { "x": { "command": "y", "env": { "A": {"token": "@@"} } }, "x": { "command": "@@" } } }"#,
        ),
        ("a.toml", "[servers.x]\ncommand = \"y\"\nenv = { A = \"@@ }\n"),
        ("b.toml", "[servers.x]\ncommand = \"y\"\nenv = { A = @@ }\n"),
        ("c.toml", "[servers.x]\ncommand = \"y\"\nenv = { A = \"b\" @@ = }\n"),
        ("d.toml", "[servers.x]\ncommand = 7 # @@\nenv = \"@@\"\nheaders = { A = '@@' }\n"),
        ("e.toml", "[servers.x]\ncommand = \"y\"\nenv = { A = \"\"\"@@\n@@\"\" }\n@@"),
        ("f.toml", "[servers.x]\ncommand = \"y\"\nenv = { A = \"\\q@@\" }\n"),
        (
            "g.toml",
            "[servers.x]\ncommand = \"y\"\nargs = [\"--token\", @@]\n[servers.x]\nurl = \"@@\"\n",
        ),
        ("h.toml", "[servers.x]\ncommand = \"y\"\n@@\n"),
        ("i.toml", "[servers.x]\nurl = \"http://h\"\nheaders = { Authorization = 5@@ }\n"),
        (
            "j.toml",
            "[servers.x]\ncommand = \"y\"\ntransport = \"http://u:@@@h\"\ntimeouts = { call = \"x:@@\" }\nauth = \"@@\"\n",
        ),
        ("k.toml", "[servers.x]\nurl = \"http://h\"\nenv.TOKEN=@@\n"),
        ("l.toml", "[servers.x]\ncommand = \"y\"\nenv = { A = @@==, PIN = 987654 }\n"),
        ("m.toml", "[servers.x]\ncommand = \"y\"\nargs = [\n  \"--token\",\n  @@=\n]\n"),
        ("n.toml", "[servers.x]\ncommand = \"<GONE> --token @@\"\n"),
        (
            "goose.yaml",
            "extensions:\n  x:\n    type: stdio\n    cmd: y\n    env_keys: [\"A=@@\"]\n    envs: [@@]\n",
        ),
        ("a.yaml", "mcp_servers:\n  - name: x\n    command: y\n    env:\n      A: \"@@\n"),
        ("b.yaml", "mcp_servers:\n  - name: x\n    command: y\n    env:\n      A: @@: @@: c\n"),
        ("c.yaml", "mcp_servers:\n  - name: x\n    command: y\n    env:\n\tA: @@\n"),
        (
            "d.yaml",
            "mcp_servers:\n  - name: x\n    command: [@@]\n    env: @@\n    transport: @@\n",
        ),
        (
            "e.yaml",
            "mcp_servers:\n  - name: x\n    command: y\n    env:\n      A: |\n        @@\n     @@\n  @@\n",
        ),
        (
            "f.yaml",
            "mcp_servers:\n  - name: x\n    command: y\n    env:\n      A: *@@\n      B: !!@@ c\n",
        ),
        ("g.yaml", "mcp_servers:\n  - name: x\n    command: y\n    env: {A: @@, B: [@@}\n"),
        (
            "h.yaml",
            "mcp_servers:\n  - name: x\n    command: y\n    env:\n      A: '@@\n      B: d\n  - @@\n",
        ),
        (
            "i.yaml",
            "mcp_servers:\n  - name: x\n    headers:\n      Authorization: Bearer @@\n      Authorization: Bearer @@\n    url: @@\n",
        ),
    ];
    for (name, text) in broken {
        let (path, text) = (stage.project().join(name), stage.filled(name, text));
        stage.put(&path, &text);
        let path = path.to_str().unwrap().to_owned();
        stage.run(&["--config", &path, "--debug", "config", "check"]);
        stage.run(&["--config", &path, "--json", "config", "check"]);
        stage.run(&["--config", &path, "--debug", "list", "--offline"]);
        stage.run(&["--json", "import", "--from", &path, "--dry-run", "--yes"]);
    }
    stage.assert_tight();
}

#[test]
fn a_gateway_tells_neither_its_clients_nor_its_log() {
    let (mut stage, _, names) = furnished();
    let late =
        stage.filled("late", "\n[servers.late]\ncommand = \"<LATE>\"\nenv = { KEY = \"@@\" }\n");
    let file = stage.project().join("toolgate.toml");
    let text = std::fs::read_to_string(&file).unwrap() + &late;
    std::fs::write(&file, &text).unwrap();
    for name in names.iter().map(String::as_str).chain(["late"]) {
        stage.run(&["consent", name, "--yes"]);
    }
    let gateway =
        TestGateway::start(&mut stage.command(&["--debug", "serve", "--listen", "127.0.0.1:0"]))
            .unwrap();
    let client = gateway.client_with(&["late__go"]).unwrap();
    for tool in ["late__go", "mcp-json-gone__go", "vscode-run__go", "codex-web__go", "nothing"] {
        let answer = client.call(tool, &json!({})).unwrap();
        stage.watch(&format!("the answer of {tool}"), answer.to_string().as_bytes());
    }
    for method in ["resources/list", "resources/templates/list", "prompts/list"] {
        let answer = client.request(method, &json!({})).unwrap();
        stage.watch(method, answer.to_string().as_bytes());
    }
    for words in [&["servers"][..], &["list"], &["doctor"], &["discover"]] {
        stage.both(words);
    }
    for (why, bad) in [
        ("unclosed table", "[servers.more\ntoken = \"@@\n"),
        ("must be a", "[servers.more]\ncommand = 7 # @@\nenv = \"@@\"\n"),
    ] {
        let bad = stage.filled("bad edit", bad);
        std::fs::write(&file, format!("{text}\n{bad}")).unwrap();
        let told = || gateway.process.stderr().contains(why);
        assert!(within(Duration::from_secs(20), told), "{}", gateway.process.stderr());
        stage.both(&["servers"]);
    }
    let changed =
        stage.filled("changed", "\n[servers.more]\ncommand = \"<DIE>\"\nenv = { A = \"@@\" }\n");
    std::fs::write(&file, format!("{text}\n{changed}")).unwrap();
    let told = || gateway.process.stderr().contains("added more");
    assert!(within(Duration::from_secs(20), told), "{}", gateway.process.stderr());
    stage.both(&["servers", "--wait", "10"]);
    let log = gateway.process.stderr();
    drop(gateway);
    stage.watch("the gateway's log", log.as_bytes());
    let home = stage.path("user/.local");
    assert!(home.join("state/toolgate/state.db").is_file(), "what is remembered lies elsewhere");
    stage.watch_files(&home, &[]);
    stage.assert_tight();
}

#[test]
fn the_error_of_a_call_is_masked_too() {
    let mut stage = Stage::new();
    let late = "[servers.late]\ncommand = \"<LATE>\"\nenv = { KEY = \"@@\" }\n";
    let (late, file) = (stage.filled("late", late), stage.project().join("late.toml"));
    stage.put(&file, &late);
    stage.both(&["--config", file.to_str().unwrap(), "call", "late", "go"]);
    stage.assert_tight();
}
