//! A server is changed where it stands and in the words that hold there, whatever else its document
//! says; and what is shown of a document in a finding is no credential.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

mod common;

use std::path::Path;

use toolgate_dialects::Dialect;
use toolgate_model::{ServerName, ServerSpec};

fn name(text: &str) -> ServerName {
    ServerName::new(text).unwrap()
}

fn spec(dialect: Dialect, text: &str, server: &str) -> ServerSpec {
    let reading = dialect.read(text, &common::place(dialect));
    reading.servers.into_iter().find(|it| it.spec.name == name(server)).unwrap().spec
}

/// Setting a server as it was read changes nothing.
fn set_again(dialect: Dialect, text: &str, server: &str) {
    let spec = spec(dialect, text, server);
    assert_eq!(dialect.set(text, &spec, &common::place(dialect)).unwrap().text, text);
}

const PROJECTS: &str = r#"{
  "mcpServers": { "mine": { "command": "mine" } },
  "projects": {
    "/projects/a": { "mcpServers": { "git": { "command": "git-mcp" }, "both": { "command": "a" } } },
    "/projects/b": { "mcpServers": { "mine": { "command": "b" }, "both": { "command": "b" } } }
  }
}
"#;

#[test]
fn a_server_of_one_project_is_changed_there() {
    let dialect = Dialect::ClaudeCode;
    let off = dialect.set_enabled(PROJECTS, &name("git"), false).unwrap().unwrap();
    assert!(!spec(dialect, &off, "git").enabled, "{off}");
    assert_eq!(off.matches("\"git\"").count(), 1, "{off}");
    let removed = dialect.remove(PROJECTS, &name("git")).unwrap().unwrap();
    assert_eq!(removed, PROJECTS.replace(r#""git": { "command": "git-mcp" }, "#, ""));
    set_again(dialect, PROJECTS, "git");
    // The user's own comes before a project's, and of two projects neither is chosen.
    let removed = dialect.remove(PROJECTS, &name("mine")).unwrap().unwrap();
    assert!(removed.contains(r#""mine": { "command": "b" }"#), "{removed}");
    assert_eq!(dialect.remove(PROJECTS, &name("both")).unwrap(), None);
}

#[test]
fn a_server_is_switched_by_the_word_it_has() {
    for (dialect, text) in [
        (Dialect::McpJson, r#"{"mcpServers": {"x": {"command": "c", "enabled": false}}}"#),
        (Dialect::McpJson, r#"{"mcpServers": {"x": {"command": "c", "disabled": true}}}"#),
        (
            Dialect::OpenCodeV2,
            r#"{"mcp": {"servers": {"y": {"type": "local", "command": ["c"]}}, "x": {"type": "local", "command": ["c"], "enabled": false}}}"#,
        ),
        (
            Dialect::OpenCode,
            r#"{"mcp": {"x": {"type": "local", "command": ["c"], "disabled": true, "enabled": false}}}"#,
        ),
    ] {
        assert!(!spec(dialect, text, "x").enabled);
        let on = dialect.set_enabled(text, &name("x"), true).unwrap().unwrap();
        assert!(spec(dialect, &on, "x").enabled, "{on}");
        let off = dialect.set_enabled(&on, &name("x"), false).unwrap().unwrap();
        assert_eq!(off, text);
    }
}

#[test]
fn the_version_of_opencode_is_told_by_where_servers_stand() {
    let of = |text: &str| Dialect::detect(Path::new("/p/opencode.json"), text);
    assert_eq!(of(r#"{"mcp": {"servers": {}}}"#), Dialect::OpenCodeV2);
    assert_eq!(of(r#"{"mcp": {"servers": {"x": {"disabled": true}}}}"#), Dialect::OpenCodeV2);
    let called_servers = r#"{"mcp": {"servers": {"type": "local", "command": ["c"]}}}"#;
    assert_eq!(of(called_servers), Dialect::OpenCode);
    assert_eq!(of("{}"), Dialect::OpenCode);
    // A server that is called so is one, whoever changes it.
    for dialect in [Dialect::OpenCode, Dialect::OpenCodeV2] {
        set_again(dialect, called_servers, "servers");
        let off = dialect.set_enabled(called_servers, &name("servers"), false).unwrap().unwrap();
        assert!(!spec(dialect, &off, "servers").enabled, "{off}");
    }
    // The times of the second version are read by either.
    let times = r#"{"mcp": {"servers": {"x": {"type": "local", "command": ["c"], "timeout": {"startup": 1000, "request": 2000}}}}}"#;
    for dialect in [Dialect::OpenCode, Dialect::OpenCodeV2] {
        let read = spec(dialect, times, "x").timeouts;
        assert_eq!([read.start, read.call].map(|it| it.unwrap().as_millis()), [1000, 2000]);
    }
}

#[test]
fn what_a_document_says_for_all_is_not_copied_into_an_entry() {
    let vscode = r#"{
  "servers": { "x": { "type": "stdio", "command": "c", "sandboxEnabled": true } },
  "sandbox": { "network": { "allowedDomains": ["example.com"] }, "filesystem": { "denyRead": ["/k"] } }
}
"#;
    set_again(Dialect::VsCode, vscode, "x");
    let zed = r#"{
  "context_server_timeout": 90,
  "context_servers": { "x": { "command": "c" }, "y": { "command": "c", "timeout": 90 } }
}
"#;
    set_again(Dialect::Zed, zed, "x");
    set_again(Dialect::Zed, zed, "y");
    let reviewed = "control_plane:\n  mcp_stdio_allowed_commands: [npx, uvx]\nmcp_servers:\n  - name: x\n    transport: stdio\n    command: uvx\n    stdio_allowed_commands: [uvx, git]\n    enabled: true\n  - name: y\n    transport: stdio\n    command: npx\n    enabled: true\n";
    set_again(Dialect::SecondBrain, reviewed, "x");
    set_again(Dialect::SecondBrain, reviewed, "y");
}

#[test]
fn a_finding_shows_words_and_no_value_that_may_be_a_credential() {
    let at = common::place(Dialect::McpJson);
    let text = r#"{"mcpServers": {"x": {"command": "c", "type": "htpp", "env": {"PIN": 987654},
      "args": [5, "canary"], "disabled": "yes"}}}"#;
    let found = Dialect::McpJson.read(text, &at).diagnostics;
    let shown: Vec<_> = found.iter().map(ToString::to_string).collect();
    let shown = shown.join("\n");
    assert!(shown.contains("\"type\": \"htpp\" …") && shown.contains("^^^^^^"), "{shown}");
    assert!(shown.contains("\"disabled\": \"yes\" …"), "{shown}");
    assert!(!shown.contains("canary") && !shown.contains("987654"), "{shown}");
    // The last value of a list is no key, though a bracket follows it.
    let text = "[servers.x]\ncommand = \"c\"\nargs = [\"--token\", \"canary${TOKEN}\"]\n";
    let found = Dialect::Toolgate.read(text, &common::place(Dialect::Toolgate)).diagnostics;
    assert_eq!(found.len(), 1);
    assert!(!found[0].to_string().contains("canary"), "{}", found[0]);
}
