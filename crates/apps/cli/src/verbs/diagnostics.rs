//! Diagnostics about config files as `config check` and `policy check` print them.

use serde_json::{Value, json};
use toolgate_host::{Diagnostic, DiagnosticSeverity};

use crate::cli_context::CliContext;
use crate::exit::{Exit, Result};
use crate::out::{self, Colour, escape_invisible_lines};

/// Prints diagnostics, with `facts` beside them in JSON, and a summary line. `checked` says what
/// was checked. Returns the exit code 2 if there are errors.
pub fn print(
    context: &CliContext,
    found: &[Diagnostic],
    facts: Value,
    checked: &str,
) -> Result<Exit> {
    let count = |severity| found.iter().filter(|it| it.severity == severity).count();
    let (errors, warnings) = (count(DiagnosticSeverity::Error), count(DiagnosticSeverity::Warning));
    let mut report = facts;
    report["errors"] = json!(errors);
    report["warnings"] = json!(warnings);
    report["diagnostics"] = found.iter().map(to_json).collect();
    let coloured = out::stdout_has_colour();
    out::print(context, &report, || {
        found.iter().map(|found| diagnostic_text(found, coloured) + "\n").collect()
    })?;
    let (wrong, odd) = (out::count(errors, "error"), out::count(warnings, "warning"));
    out::note(&format!("{checked}: {wrong}, {odd}"));
    Ok(if errors > 0 { Exit::Usage } else { Exit::Done })
}

/// Returns a diagnostic in its stable JSON form.
fn to_json(found: &Diagnostic) -> Value {
    let Diagnostic { severity, code, origin, message, excerpt, hint, .. } = found;
    let mut json = json!({
        "severity": severity, "code": code, "file": origin.file.as_deref(), "line": origin.line,
        "column": origin.column, "message": message,
    });
    if let Some(excerpt) = excerpt {
        json["excerpt"] = json!(excerpt.text);
    }
    if let Some(hint) = hint {
        json["hint"] = json!(hint);
    }
    json
}

/// Returns a diagnostic as text, with its severity and underlining coloured if `coloured` is set.
fn diagnostic_text(found: &Diagnostic, coloured: bool) -> String {
    let text = escape_invisible_lines(&found.to_string());
    if !coloured {
        return text;
    }
    let (word, colour) = match found.severity {
        DiagnosticSeverity::Note => ("note:", Colour::Cyan),
        DiagnosticSeverity::Error => ("error:", Colour::Red),
        DiagnosticSeverity::Warning => ("warning:", Colour::Yellow),
    };
    let text = text.replacen(word, &colour.paint(word), 1);
    let lines = text.lines().map(|line| {
        let is_marks = line.trim_start_matches([' ', '|']).chars().all(|c| c == '^');
        match line.find('^').filter(|_| is_marks) {
            Some(at) => format!("{}{}", &line[..at], colour.paint(&line[at..])),
            None => line.replacen("  hint:", &format!("  {}", Colour::Cyan.paint("hint:")), 1),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use toolgate_host::Origin;
    use toolgate_model::{DiagnosticExcerpt, ErrorCode};

    use super::*;

    #[test]
    fn severity_and_underlining_are_coloured_and_nothing_else() {
        let excerpt = DiagnosticExcerpt { text: "comand = …".into(), from: 0, width: 6 };
        let origin = Origin { line: 2, column: 1, ..Origin::built_in() };
        let found = Diagnostic::warning(ErrorCode::ConfigInvalid, origin, "it is wrong")
            .severity(DiagnosticSeverity::Error)
            .hint("right it");
        let found = Diagnostic { excerpt: Some(excerpt), ..found };
        let text = diagnostic_text(&found, true);
        assert!(text.contains("\x1b[31;1merror:\x1b[0m it is wrong"), "{text:?}");
        assert!(text.contains("| \x1b[31;1m^^^^^^\x1b[0m"), "{text:?}");
        assert!(text.contains("\x1b[36mhint:\x1b[0m right it"), "{text:?}");
        assert!(!diagnostic_text(&found, false).contains('\x1b'));
    }
}
