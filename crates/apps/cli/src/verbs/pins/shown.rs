//! What changed, as a person reads it.

use std::fmt::Write as _;

use crate::control::{ChangeLine, PinLine};
use crate::out::{visible, visible_lines};

/// Definitions and what changed in each.
pub fn text(lines: &[PinLine]) -> String {
    let mut out = String::new();
    for line in lines {
        let PinLine { server, kind, name, state, .. } = line;
        let what = match kind.as_str() {
            "instructions" => format!("{} instructions", visible(server)),
            kind => format!("{} {kind} {}", visible(server), visible(name)),
        };
        let _ = writeln!(out, "{what}: {}", how(line, state));
        line.changes.iter().for_each(|change| one(&mut out, change));
        for finding in &line.findings {
            let _ = writeln!(out, "  finding: {}", visible(finding));
        }
    }
    out
}

fn how(line: &PinLine, state: &str) -> String {
    let by = visible(line.by.as_deref().unwrap_or("somebody"));
    let at = line.pinned_at.as_deref().unwrap_or("some time ago");
    match state {
        "changed" => format!("changed since it was approved ({by}, {at})"),
        "new" => "new, never approved".to_owned(),
        "gone" => format!("not offered any more; approved by {by}, {at}"),
        other => other.to_owned(),
    }
}

fn one(out: &mut String, change: &ChangeLine) {
    let ChangeLine { code, pointer, severity, text, before, after } = change;
    let _ = writeln!(out, "  {severity}: {} [{code}] {}", visible(text), visible(pointer));
    for (sign, value) in [('-', before), ('+', after)] {
        for line in value.iter().flat_map(|value| value.lines()) {
            let _ = writeln!(out, "    {sign} {}", visible_lines(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_what_was_and_what_is() {
        let change = ChangeLine {
            code: "description-changed".into(),
            pointer: "/description".into(),
            severity: "error".into(),
            text: "`description` was changed".into(),
            before: Some("one".into()),
            after: Some("two\nthree\u{202e}".into()),
        };
        let line = PinLine {
            server: "git".into(),
            kind: "tool".into(),
            name: "push".into(),
            state: "changed".into(),
            digest: None,
            pinned: None,
            by: Some("first listing".into()),
            pinned_at: Some("2026-01-02T03:04:05.000Z".into()),
            changes: vec![change],
            findings: vec!["instructs: git/push at description: orders\u{202e}".into()],
        };
        let expected = "git tool push: changed since it was approved (first listing, \
             2026-01-02T03:04:05.000Z)\n  error: `description` was changed [description-changed] \
             /description\n    - one\n    + two\n    + three⟦U+202E⟧\n  finding: instructs: git/push at description: \
             orders⟦U+202E⟧\n";
        assert_eq!(text(&[line]), expected);
    }
}
