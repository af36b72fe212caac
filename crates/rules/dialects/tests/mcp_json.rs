//! `.mcp.json`: what it says, and what it complains about.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

use std::path::Path;
use std::time::Duration;

use toolgate_dialects::{Dialect, FileRef, ParsedFile};
use toolgate_model::{ConfigScope, DiagnosticSeverity, HttpTransportKind, TransportSpec};

fn read(text: &str) -> ParsedFile {
    Dialect::McpJson.read(text, &FileRef::new("/project/.mcp.json", ConfigScope::Project))
}

/// A file with one entry, and what is said about it.
fn said(entry: &str) -> Vec<String> {
    let reading = read(&format!("{{\"mcpServers\": {{\"a\": {entry}}}}}"));
    let found = reading.diagnostics.iter();
    found
        .map(|found| {
            let hint = found.hint.as_deref().unwrap_or_default();
            format!("{:?} {} | {hint}", found.severity, found.message)
        })
        .collect()
}

#[test]
fn every_kind_of_entry_is_understood() {
    let reading = read(
        r#"{
  "mcpServers": {
    "files": {"type": "stdio", "command": "npx", "args": ["-y", "s"], "env": {"A": "${B}"}},
    "plain": {"command": "x"},
    "http": {"type": "http", "url": "https://x/mcp", "headers": {"Authorization": "Bearer ${T}"}},
    "stream": {"type": "streamable-http", "url": "https://y/mcp"},
    "bare": {"url": "https://z/mcp", "timeout": 5000},
    "old": {"transport": "sse", "url": "https://w/sse"},
    "off": {"command": "x", "disabled": true}
  }
}"#,
    );
    assert_eq!(reading.diagnostics, []);
    let kinds: Vec<_> = reading.servers.iter().map(|it| it.spec.transport.as_str()).collect();
    assert_eq!(kinds, ["stdio", "stdio", "http", "http", "http", "sse", "stdio"]);
    let kinds = [2, 3, 4, 5].map(|index| match &reading.servers[index].spec.transport {
        TransportSpec::Http(http) => http.kind,
        other => panic!("{other:?}"),
    });
    assert_eq!(
        kinds,
        [
            HttpTransportKind::Auto,
            HttpTransportKind::Streamable,
            HttpTransportKind::Auto,
            HttpTransportKind::Sse
        ]
    );
    let TransportSpec::Stdio(files) = &reading.servers[0].spec.transport else { panic!() };
    // Variables are in our grammar from here on.
    assert_eq!(files.env["A"].expose(), "${env:B}");
    assert_eq!(files.cwd.as_deref(), Some(Path::new("/project")));
    assert_eq!(reading.servers[2].origin.line, 5);
    assert_eq!(reading.servers[4].spec.timeouts.max, Some(Duration::from_secs(5)));
    assert!(!reading.servers[6].spec.enabled);
}

#[test]
fn comments_trailing_commas_and_a_byte_order_mark_are_fine() {
    let reading = read(
        "\u{feff}// mine\n{ /* all */ \"mcpServers\": \
         {\"a\": {\"command\": \"x\", \"args\": [\"y\",],},},}",
    );
    assert_eq!(reading.diagnostics, []);
    assert_eq!(reading.servers.len(), 1);
    assert_eq!(reading.servers[0].origin.line, 2);
}

#[test]
fn an_empty_file_says_nothing() {
    for text in ["", "{}", "{\"mcpServers\": {}}"] {
        assert_eq!(read(text), ParsedFile::default());
    }
}

#[test]
fn a_syntax_error_is_one_complaint_with_its_place() {
    let cases = [
        ("{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"\n", 3),
        ("{\n'mcpServers': {}}", 2),
        ("{\n\"a\": 1\n\"b\": 2}", 2),
        ("[\n1]", 1),
    ];
    for (text, line) in cases {
        let reading = read(text);
        assert_eq!(reading.diagnostics.len(), 1, "{text}");
        assert_eq!(reading.diagnostics[0].origin.line, line, "{:?}", reading.diagnostics);
        assert_eq!(reading.diagnostics[0].severity, DiagnosticSeverity::Error);
    }
}

#[test]
fn nesting_without_end_is_refused() {
    let reading = read(&"[".repeat(100_000));
    assert_eq!(reading.diagnostics.len(), 1);
}

#[test]
fn a_type_we_do_not_speak_is_an_error_with_a_way_out() {
    assert!(said(r#"{"type": "htpp", "url": "https://x"}"#)[0].contains("did you mean \"http\"?"));
    let ws = said(r#"{"type": "ws", "url": "wss://x"}"#);
    assert!(ws.len() == 1 && ws[0].contains("WebSocket is not supported"), "{ws:?}");
    assert!(said(r#"{"type": "http", "command": "x"}"#)[0].contains("is of type \"http\""));
    assert!(said(r#"{"type": "stdio", "url": "https://x"}"#)[0].contains("but has `url`"));
    let two = r#"{"type": "sse", "transport": "http", "url": "https://x"}"#;
    assert!(said(two)[0].contains("has two transport types: \"sse\" and \"http\""));
}

#[test]
fn mixed_and_repeated_fields_are_errors() {
    let both = said(r#"{"command": "x", "url": "https://x"}"#);
    assert!(both[0].starts_with("Error") && both[0].contains("both `command` and `url`"));
    assert!(said(r#"{"command": "x", "command": "y"}"#)[0].contains("has `command` twice"));
    let env = r#"{"command": "x", "env": {"A": "1", "A": "2"}}"#;
    assert!(said(env)[0].contains("`env.A` twice"));
}

#[test]
fn of_two_entries_with_one_name_the_first_stays() {
    let reading = read(r#"{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}"#);
    let TransportSpec::Stdio(stdio) = &reading.servers[0].spec.transport else { panic!() };
    assert_eq!((stdio.command.as_str(), reading.servers.len()), ("x", 1));
    assert!(reading.diagnostics[0].message.contains("declared twice"));
}

#[test]
fn a_name_nobody_could_see_is_refused() {
    let reading = read("{\"mcpServers\": {\"a\u{202e}b\": {\"command\": \"x\"}}}");
    assert_eq!(reading.servers, []);
    assert!(reading.diagnostics[0].message.contains("U+202E"));
}

#[test]
fn no_complaint_shows_a_secret() {
    let entry = r#"{"url": "https://x", "headers": {"A": "s3cret\n"}, "env": {"B": "s3cret"}}"#;
    let said = said(entry).join("\n");
    assert!(said.contains("line break"), "{said}");
    assert!(!said.contains("s3cret"), "{said}");
}

#[test]
fn an_explicitly_named_file_is_told_by_extension_then_content() {
    let of = |path: &str, text: &str| Dialect::detect(Path::new(path), text);
    assert_eq!(of("x.toml", "{"), Dialect::Toolgate);
    assert_eq!(of("x.json", ""), Dialect::McpJson);
    assert_eq!(of("x", "\u{feff} {}"), Dialect::McpJson);
    assert_eq!(of("x", "// note\n{}"), Dialect::McpJson);
    assert_eq!(of("x", "# note\n[servers]"), Dialect::Toolgate);
}

#[test]
fn a_map_without_a_key_around_it_is_read_only_if_it_looks_like_servers() {
    let names = |text: &str| {
        let servers = read(text).servers;
        servers.iter().map(|it| it.spec.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(r#"{"a": {"command": "x"}, "b": {"url": "https://x"}}"#), ["a", "b"]);
    assert_eq!(names(r#"{"$schema": "s", "a": {"command": "x"}}"#), ["a"]);
    for other in [r#"{"a": {"b": "c"}}"#, r#"{"a": {"command": "x"}, "b": 1}"#] {
        assert_eq!(names(other), [""; 0], "{other}");
        assert!(!read(other).diagnostics.is_empty(), "{other}");
    }
    assert_eq!(names(r#"{"mcpServers": {}, "a": {"command": "x"}}"#), [""; 0]);
}

#[test]
fn an_edit_goes_where_the_servers_of_the_file_stand() {
    let at = FileRef::new("/project/.mcp.json", ConfigScope::Project);
    let new = read(r#"{"b": {"command": "new"}}"#).servers[0].spec.clone();
    let a = read(r#"{"a": {"command": "x"}}"#).servers[0].spec.name.clone();
    for (text, key) in [
        (r#"{"a": {"command": "x"}}"#, None),
        (r#"{"mcp_servers": {"a": {"command": "x"}}}"#, Some("mcp_servers")),
        (r#"{"mcpServers": {"a": {"command": "x"}}}"#, Some("mcpServers")),
    ] {
        let written = Dialect::McpJson.set(text, &new, &at).unwrap().text;
        let names = read(&written).servers.into_iter().map(|it| it.spec.name.to_string());
        assert_eq!(names.collect::<Vec<_>>(), ["a", "b"], "{written}");
        let keys = ["mcpServers", "mcp_servers"].into_iter().filter(|key| written.contains(key));
        assert_eq!(keys.collect::<Vec<_>>(), key.into_iter().collect::<Vec<_>>(), "{written}");
        let off = Dialect::McpJson.set_enabled(&written, &a, false).unwrap().unwrap();
        assert!(!read(&off).servers[0].spec.enabled, "{off}");
        let removed = Dialect::McpJson.remove(&off, &a).unwrap().unwrap();
        let names = read(&removed).servers.into_iter().map(|it| it.spec.name.to_string());
        assert_eq!(names.collect::<Vec<_>>(), ["b"], "{removed}");
    }
}

#[test]
fn the_same_name_may_stand_in_a_project_and_beside_it() {
    let text = r#"{
  "mcpServers": {"a": {"command": "users"}},
  "projects": {"/home/me/app": {"mcpServers": {"a": {"command": "projects"}}}}
}"#;
    let reading =
        Dialect::ClaudeCode.read(text, &FileRef::new("/home/me/.claude.json", ConfigScope::User));
    assert_eq!(reading.diagnostics, []);
    let found: Vec<_> = reading
        .servers
        .iter()
        .map(|it| match &it.spec.transport {
            TransportSpec::Stdio(stdio) => (stdio.command.as_str(), it.only_in.as_deref()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(found, [("projects", Some(Path::new("/home/me/app"))), ("users", None)]);
}
