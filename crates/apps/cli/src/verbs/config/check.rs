//! `config check`: prints every diagnostic about the config files, with its position and a hint.

use std::io::{self, IsTerminal as _};

use serde::Serialize;
use toolgate_host::{Diagnostic, DiagnosticSeverity};

use crate::cli_context::CliContext;
use crate::exit::{CliError, Exit};
use crate::out::{self, escape_invisible_lines};

/// The JSON output of `config check`.
#[derive(Debug, Serialize)]
struct ConfigCheckReport {
    servers: usize,
    errors: usize,
    warnings: usize,
    diagnostics: Vec<DiagnosticJson>,
}

/// One diagnostic as JSON.
#[derive(Debug, Serialize)]
struct DiagnosticJson {
    severity: DiagnosticSeverity,
    file: Option<String>,
    line: u32,
    column: u32,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    excerpt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl DiagnosticJson {
    fn of(found: &Diagnostic) -> Self {
        Self {
            severity: found.severity,
            file: found.origin.file.as_ref().map(|file| file.display().to_string()),
            line: found.origin.line,
            column: found.origin.column,
            message: found.message.clone(),
            excerpt: found.excerpt.as_ref().map(|excerpt| excerpt.text.clone()),
            hint: found.hint.clone(),
        }
    }
}

pub fn run(context: &CliContext) -> Result<Exit, CliError> {
    let plan = context.setup_options()?.read_files()?;
    let found = plan.check();
    let count = |severity| found.iter().filter(|it| it.severity == severity).count();
    let (errors, warnings) = (count(DiagnosticSeverity::Error), count(DiagnosticSeverity::Warning));
    let servers = plan.entries.len();
    if context.json {
        let diagnostics = found.iter().map(DiagnosticJson::of).collect();
        out::json(&ConfigCheckReport { servers, errors, warnings, diagnostics })?;
    } else {
        let coloured = io::stdout().is_terminal() && !out::is_colour_disabled();
        for found in &found {
            out::line(&diagnostic_text(found, coloured))?;
        }
    }
    let several = |number: usize, what: &str| {
        format!("{number} {what}{}", if number == 1 { "" } else { "s" })
    };
    out::note(&format!(
        "{}: {}, {}",
        several(servers, "server"),
        several(errors, "error"),
        several(warnings, "warning")
    ));
    Ok(if errors > 0 { Exit::Usage } else { Exit::Done })
}

/// Returns a diagnostic as text, with its severity and underlining coloured if `coloured` is set.
fn diagnostic_text(found: &Diagnostic, coloured: bool) -> String {
    let text = escape_invisible_lines(&found.to_string());
    if !coloured {
        return text;
    }
    let (word, code) = match found.severity {
        DiagnosticSeverity::Note => ("note:", "36"),
        DiagnosticSeverity::Error => ("error:", "31;1"),
        DiagnosticSeverity::Warning => ("warning:", "33;1"),
    };
    let painted = |code: &str, text: &str| format!("\x1b[{code}m{text}\x1b[0m");
    let text = text.replacen(word, &painted(code, word), 1);
    let lines = text.lines().map(|line| {
        let is_marks = line.trim_start_matches([' ', '|']).chars().all(|c| c == '^');
        match line.find('^').filter(|_| is_marks) {
            Some(at) => format!("{}{}", &line[..at], painted(code, &line[at..])),
            None => line.replacen("  hint:", &format!("  {}", painted("36", "hint:")), 1),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use toolgate_host::Origin;
    use toolgate_model::{ErrorCode, SourceExcerpt};

    use super::*;

    #[test]
    fn severity_and_underlining_are_coloured_and_nothing_else() {
        let excerpt = SourceExcerpt { text: "comand = …".into(), from: 0, width: 6 };
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
