//! Edits touch what they must and nothing else: on examples with the exact text expected, on every
//! file under `tests/dialects`, and on documents that are made up, with comments wherever they may
//! stand.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

#[path = "../common/mod.rs"]
mod common;

mod files;
mod json;
mod made_up;
mod toml;

use toolgate_dialects::{Dialect, EditError, FileRef};
use toolgate_model::{
    ConfigScope, HttpSpec, Secret, ServerName, ServerSpec, StdioSpec, TransportSpec,
};

fn user() -> FileRef {
    FileRef::new("/home/me/config", ConfigScope::User)
}

fn name(name: &str) -> ServerName {
    ServerName::new(name).unwrap()
}

fn server(it: &str) -> ServerSpec {
    let stdio = StdioSpec {
        command: "npx".into(),
        args: vec!["-y".into(), "a \"server\"".into()],
        env: [("LOG".to_owned(), Secret::new("info".to_owned()))].into(),
        ..StdioSpec::default()
    };
    ServerSpec::new(name(it), TransportSpec::Stdio(stdio))
}

fn endpoint(it: &str) -> ServerSpec {
    let http = HttpSpec { url: "https://example.com/mcp".into(), ..HttpSpec::default() };
    ServerSpec::new(name(it), TransportSpec::Http(http))
}

fn set(dialect: Dialect, text: &str, spec: &ServerSpec) -> String {
    dialect.set(text, spec, &user()).unwrap().text
}

fn remove(dialect: Dialect, text: &str, it: &str) -> String {
    dialect.remove(text, &name(it)).unwrap().unwrap()
}

/// Adds a server, expects this text, takes it out and expects the first one again.
fn there_and_back(dialect: Dialect, before: &str, after: &str) {
    assert_eq!(set(dialect, before, &server("new")), after);
    assert_eq!(remove(dialect, after, "new"), before, "and back");
    let ends = |text: &str| text.replace('\n', "\r\n");
    assert_eq!(set(dialect, &ends(before), &server("new")), ends(after), "with CRLF");
    assert_eq!(remove(dialect, &ends(after), "new"), ends(before), "with CRLF and back");
    let marked = |text: &str| format!("\u{feff}{text}");
    assert_eq!(set(dialect, &marked(before), &server("new")), marked(after), "with a mark");
    assert_eq!(remove(dialect, &marked(after), "new"), marked(before), "with a mark and back");
}

fn switch(dialect: Dialect, text: &str, it: &str, enabled: bool) -> String {
    dialect.set_enabled(text, &name(it), enabled).unwrap().unwrap()
}

/// What a text has between the beginning and the end it shares with another, and what the other
/// has there.
fn difference<'t>(before: &'t str, after: &'t str) -> (&'t str, &'t str) {
    let shared = |pairs: &mut dyn Iterator<Item = (char, char)>| -> usize {
        pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
    };
    let start = shared(&mut before.chars().zip(after.chars()));
    let (before, after) = (&before[start..], &after[start..]);
    let end = shared(&mut before.chars().rev().zip(after.chars().rev()));
    (&before[..before.len() - end], &after[..after.len() - end])
}

/// Whether all that happened to a text is that a piece was put in, with a comma before it if it
/// needs one there. Where something empty gave way to the piece, that was one of `nothing`.
fn is_grown(before: &str, after: &str, nothing: &[&str]) -> bool {
    let is_put = |after: &str| {
        let (gone, _) = difference(before, after);
        gone.is_empty() || nothing.contains(&gone.trim())
    };
    let pairs = before.bytes().zip(after.bytes());
    let start = pairs.take_while(|(a, b)| a == b).count();
    let comma = after.as_bytes().get(start) == Some(&b',');
    is_put(after) || comma && is_put(&[&after[..start], &after[start + 1..]].concat())
}

#[test]
fn a_switch_is_one_line() {
    let json = "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"x\"\n    }\n  }\n}\n";
    let off = Dialect::McpJson.set_enabled(json, &name("a"), false).unwrap().unwrap();
    assert_eq!(off, json.replace("\"x\"\n", "\"x\",\n      \"disabled\": true\n"));
    let on = Dialect::McpJson.set_enabled(&off, &name("a"), true).unwrap().unwrap();
    assert_eq!(on, off.replace("true", "false"));

    let toml = "[servers.a]\ncommand = \"x\"\n\n[servers.b]\nurl = \"https://x\"\n";
    let off = Dialect::Toolgate.set_enabled(toml, &name("a"), false).unwrap().unwrap();
    assert_eq!(off, toml.replace("\"x\"\n", "\"x\"\nenabled = false\n"));
    let elsewhere = Dialect::Toolgate.set_enabled(toml, &name("far"), false).unwrap().unwrap();
    assert_eq!(elsewhere, format!("{toml}\n[servers.far]\nenabled = false\n"));
}

#[test]
fn something_else_in_the_way_is_named() {
    for (dialect, text, at, found) in [
        (Dialect::McpJson, r#"{"mcpServers": []}"#, "mcpServers", "a list"),
        (Dialect::McpJson, r#"{"mcpServers": "x"}"#, "mcpServers", "a string"),
        (Dialect::Toolgate, "servers = 1", "servers", "a number"),
        (Dialect::Toolgate, "[[servers]]\nname = 'x'\n", "servers", "a list"),
    ] {
        let error = dialect.set(text, &server("new"), &user()).unwrap_err();
        assert_eq!(error, EditError::WrongKind { at: at.to_owned(), found }, "{text}");
        assert!(dialect.remove(text, &name("new")).is_err());
    }
    let nothing = set(Dialect::McpJson, r#"{"mcpServers": null}"#, &endpoint("new"));
    assert!(nothing.starts_with("{\"mcpServers\": {\n"), "{nothing}");
    let broken = Dialect::Toolgate.set("x = \n", &server("new"), &user()).unwrap_err();
    assert!(matches!(broken, EditError::Syntax { line: 1, .. }), "{broken:?}");
    let twice = r#"{"mcpServers": {"a": {}, "a": {}}}"#;
    let error = Dialect::McpJson.remove(twice, &name("a")).unwrap_err();
    assert!(error.to_string().contains("`a` is there twice"), "{error}");
}
