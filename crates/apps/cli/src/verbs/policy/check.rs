//! `policy check`: prints every diagnostic about the rules, with its position and a hint.

use serde_json::{Value, json};
use toolgate_host::policy::{PolicyCheckReport, check};
use toolgate_host::{Diagnostic, DiagnosticSeverity};

use crate::cli_context::CliContext;
use crate::exit::{CliError, Exit};
use crate::out::{self, escape_invisible, escape_invisible_lines};

pub async fn run(context: &CliContext) -> Result<Exit, CliError> {
    let checked = check(&context.load_setup().await?).await?;
    let count = |severity| checked.diagnostics.iter().filter(|it| it.severity == severity).count();
    let (errors, warnings) = (count(DiagnosticSeverity::Error), count(DiagnosticSeverity::Warning));
    match context.json {
        true => out::json(&report_json(&checked, errors, warnings))?,
        false => {
            for found in &checked.diagnostics {
                out::line(&escape_invisible_lines(&found.to_string()))?;
            }
        }
    }
    if let [first, ..] = &checked.unknown[..] {
        let names: Vec<_> =
            checked.unknown.iter().map(|name| escape_invisible(name.as_str())).collect();
        out::note(&format!(
            "{} the capabilities of {} are not known yet, so rules about them are not checked; run \
             `toolgate discover {}`",
            out::cyan("note:"),
            names.join(", "),
            escape_invisible(first.as_str()),
        ));
    }
    let several = |number: usize, what: &str| {
        format!("{number} {what}{}", if number == 1 { "" } else { "s" })
    };
    out::note(&format!(
        "{}, mode {}: {}, {}",
        several(checked.rules, "rule"),
        checked.mode,
        several(errors, "error"),
        several(warnings, "warning"),
    ));
    Ok(if errors > 0 { Exit::Usage } else { Exit::Done })
}

/// Returns the report in its stable JSON form.
fn report_json(checked: &PolicyCheckReport, errors: usize, warnings: usize) -> Value {
    let line = |found: &Diagnostic| {
        json!({
            "severity": found.severity,
            "file": found.origin.file.as_ref().map(|file| file.display().to_string()),
            "line": found.origin.line,
            "column": found.origin.column,
            "message": found.message,
            "hint": found.hint,
        })
    };
    json!({
        "rules": checked.rules,
        "mode": checked.mode,
        "errors": errors,
        "warnings": warnings,
        "unknown": checked.unknown,
        "diagnostics": checked.diagnostics.iter().map(line).collect::<Vec<_>>(),
    })
}
