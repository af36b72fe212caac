//! Any text at all, and any small damage to a good file: no panic, and every complaint has a line.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

use proptest::prelude::*;
use toolgate_dialects::{Dialect, FileRef};
use toolgate_model::Scope;

const TOML: &str = r#"
roots = ["a"]
prefix = "never"
[servers.one]
command = "x"
args = ["y", "ü"]
env = { A = "${env:B:-c}" }
timeouts = { start = "5s" }
tools.t = { alias = "u" }
[servers."two words"]
url = "https://x"
headers = { Authorization = "z" }
"#;

const JSON: &str = r#"{ // note
  "mcpServers": {
    "one": {"type": "stdio", "command": "x", "args": ["y", "ü"], "env": {"A": "${B}"}},
    "two": {"type": "http", "url": "https://x", "headers": {"H": "z"}, "timeout": 1000,},
  }
}"#;

fn check(dialect: Dialect, text: &str) {
    let reading = dialect.read(text, &FileRef::new("/f", Scope::Project));
    for found in &reading.diagnostics {
        assert!(found.origin.line > 0 && found.origin.column > 0, "{found} in {text:?}");
    }
}

/// Cuts a piece out of a text and puts another in its place.
fn damaged(text: &'static str) -> impl Strategy<Value = String> {
    let places = text.char_indices().count();
    (0..places, 0..8usize, "[\\PC\n\"{}\\[\\]=,:#']{0,6}").prop_map(move |(at, cut, put)| {
        let kept_before = text.chars().take(at);
        let kept_after = text.chars().skip(at + cut);
        kept_before.chain(put.chars()).chain(kept_after).collect()
    })
}

/// Enough to meet every field; `PROPTEST_CASES` asks for more.
fn config() -> ProptestConfig {
    let given = ProptestConfig::default();
    ProptestConfig { cases: given.cases.max(3000), ..given }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn damaged_toml_is_survived(text in damaged(TOML)) {
        check(Dialect::Toolgate, &text);
    }

    #[test]
    fn damaged_json_is_survived(text in damaged(JSON)) {
        check(Dialect::McpJson, &text);
    }

    #[test]
    fn any_text_is_survived(text in "\\PC{0,60}") {
        check(Dialect::Toolgate, &text);
        check(Dialect::McpJson, &text);
    }
}
