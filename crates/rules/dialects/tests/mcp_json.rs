//! `.mcp.json`: what it says, and what it complains about.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

use std::path::Path;
use std::time::Duration;

use toolgate_dialects::{Dialect, FileRef, Interpolation, Reading, mcp_json};
use toolgate_model::{HttpKind, Scope, Severity, TransportSpec};

fn read(text: &str) -> Reading {
    mcp_json(text, &FileRef::new("/project/.mcp.json", Scope::Project))
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
    assert_eq!(kinds, [HttpKind::Auto, HttpKind::Streamable, HttpKind::Auto, HttpKind::Sse]);
    let TransportSpec::Stdio(files) = &reading.servers[0].spec.transport else { panic!() };
    assert_eq!(files.env["A"].expose(), "${B}");
    assert_eq!(files.cwd.as_deref(), Some(Path::new("/project")));
    assert_eq!(reading.servers[0].interpolation, Interpolation::Plain);
    assert_eq!(reading.servers[2].origin.line, 5);
    assert_eq!(reading.servers[4].spec.timeouts.max, Duration::from_secs(5));
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
        assert_eq!(read(text), Reading::default());
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
        assert_eq!(reading.diagnostics[0].severity, Severity::Error);
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
    assert!(
        said(r#"{"type": "ws", "url": "wss://x"}"#).iter().any(|it| it.contains("unknown type"))
    );
    assert!(said(r#"{"type": "http", "command": "x"}"#)[0].contains("is of type \"http\""));
    assert!(said(r#"{"type": "stdio", "url": "https://x"}"#)[0].contains("but has `url`"));
    let two = r#"{"type": "sse", "transport": "http", "url": "https://x"}"#;
    assert!(said(two)[0].contains("\"sse\" by `type` and \"http\" by `transport`"));
}

#[test]
fn mixed_and_repeated_fields_are_errors() {
    let both = said(r#"{"command": "x", "url": "https://x"}"#);
    assert!(both[0].starts_with("Error") && both[0].contains("both `command` and `url`"));
    assert!(said(r#"{"command": "x", "command": "y"}"#)[0].contains("says `command` twice"));
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
    let of = |path: &str, text: &str| Dialect::of(Path::new(path), text);
    assert_eq!(of("x.toml", "{"), Dialect::Toolgate);
    assert_eq!(of("x.json", ""), Dialect::McpJson);
    assert_eq!(of("x", "\u{feff} {}"), Dialect::McpJson);
    assert_eq!(of("x", "// note\n{}"), Dialect::McpJson);
    assert_eq!(of("x", "# note\n[servers]"), Dialect::Toolgate);
}
