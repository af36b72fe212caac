//! `policy check`: every finding about the rules, with its place and what to do.

use serde_json::{Value, json};
use toolgate_host::policy::{Checked, check};
use toolgate_host::{Diagnostic, Severity};

use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::out::{self, visible, visible_lines};

pub async fn run(context: &Context) -> Result<Exit, Failure> {
    let checked = check(&context.setup().await?).await?;
    let count = |severity| checked.diagnostics.iter().filter(|it| it.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    match context.json {
        true => out::json(&report(&checked, errors, warnings))?,
        false => {
            for found in &checked.diagnostics {
                out::line(&visible_lines(&found.to_string()))?;
            }
        }
    }
    if let [first, ..] = &checked.unknown[..] {
        let names: Vec<_> = checked.unknown.iter().map(|name| visible(name.as_str())).collect();
        out::note(&format!(
            "{} nothing is known yet of {}, so rules about it are not checked: run `toolgate \
             discover {}`, or serve once",
            out::cyan("note:"),
            names.join(", "),
            visible(first.as_str()),
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

/// The stable shape.
fn report(checked: &Checked, errors: usize, warnings: usize) -> Value {
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
