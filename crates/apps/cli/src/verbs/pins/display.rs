//! Formats changed definitions for the terminal.

use std::fmt::Write as _;

use crate::control::{PinChangeJson, PinJson};
use crate::out::{escape_invisible, escape_invisible_lines, relative_time};

/// Returns definitions and their changes as text.
pub fn pins_text(lines: &[PinJson]) -> String {
    let mut out = String::new();
    for line in lines {
        let PinJson { server, kind, name, state, .. } = line;
        let what = match kind.as_str() {
            "instructions" => format!("{} instructions", escape_invisible(server)),
            kind => format!("{} {kind} {}", escape_invisible(server), escape_invisible(name)),
        };
        let _ = writeln!(out, "{what}: {}", how(line, state));
        line.changes.iter().for_each(|change| write_change(&mut out, change));
        for finding in &line.findings {
            let _ = writeln!(out, "  finding: {}", escape_invisible(finding));
        }
    }
    out
}

fn how(line: &PinJson, state: &str) -> String {
    let by = escape_invisible(line.by.as_deref().unwrap_or("unknown"));
    let at = line.pinned_at.as_deref().map_or("unknown time".to_owned(), relative_time);
    match state {
        "changed" => format!("changed since it was approved ({by}, {at})"),
        "new" => "new, never approved".to_owned(),
        "gone" => format!("no longer offered; approved by {by}, {at}"),
        other => other.to_owned(),
    }
}

fn write_change(out: &mut String, change: &PinChangeJson) {
    let PinChangeJson { code, pointer, severity, text, before, after } = change;
    let line = format!("  {severity}: {text} [{code}] {pointer}");
    let _ = writeln!(out, "{}", escape_invisible(&line));
    for (sign, value) in [('-', before), ('+', after)] {
        for line in value.iter().flat_map(|value| value.lines()) {
            let _ = writeln!(out, "    {sign} {}", escape_invisible_lines(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_what_was_and_what_is() {
        let change = PinChangeJson {
            code: "description-changed".into(),
            pointer: "/description".into(),
            severity: "error".into(),
            text: "`description` was changed".into(),
            before: Some("one".into()),
            after: Some("two\nthree\u{202e}".into()),
        };
        let line = PinJson {
            server: "git".into(),
            kind: "tool".into(),
            name: "push".into(),
            state: "changed".into(),
            digest: None,
            pinned: None,
            by: Some("first listing".into()),
            pinned_at: Some("some time ago".into()),
            changes: vec![change],
            findings: vec!["instructs: git/push at description: orders\u{202e}".into()],
        };
        let expected = "git tool push: changed since it was approved (first listing, \
             some time ago)\n  error: `description` was changed [description-changed] \
             /description\n    - one\n    + two\n    + three⟦U+202E⟧\n  finding: instructs: git/push at description: \
             orders⟦U+202E⟧\n";
        assert_eq!(pins_text(&[line]), expected);
    }
}
