//! Output of the program: data on stdout, everything else on stderr.
//!
//! Colours and the spinner appear only on a terminal. Text from servers is untrusted: on a terminal
//! its control and invisible characters are escaped.

mod escape;
mod spinner;
mod table;

use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;
use toolgate_host::DiagnosticSeverity;

use crate::control::ConfigFinding;
use crate::exit::CliError;

pub use escape::{escape_for_terminal, escape_invisible, escape_invisible_lines, escape_json};
pub use spinner::Spinner;
pub use table::{TextTable, TruncatedEnd};

/// Writes bytes to stdout.
pub fn data(bytes: &[u8]) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
    written.map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => CliError::broken_pipe(),
        _ => CliError::failed(format!("cannot write to standard output: {error}")),
    })
}

/// Writes one line to stdout.
pub fn line(text: &str) -> Result<(), CliError> {
    data(format!("{text}\n").as_bytes())
}

/// Writes a value to stdout as JSON.
pub fn json(value: &impl Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| CliError::failed(format!("cannot write JSON: {error}")))?;
    line(&if io::stdout().is_terminal() { escape_json(&text) } else { text })
}

/// Writes text from a server to stdout: unchanged, or with invisible characters escaped if stdout
/// is a terminal.
pub fn text(text: &str) -> Result<(), CliError> {
    let shown =
        if io::stdout().is_terminal() { escape_invisible_lines(text) } else { text.to_owned() };
    let end = if shown.is_empty() || shown.ends_with('\n') { "" } else { "\n" };
    data(format!("{shown}{end}").as_bytes())
}

/// Prints a line to stderr. Errors are ignored, because stderr may be closed.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{}", escape_for_terminal(text, ""));
}

/// Prints all findings about the config files in full. Text from the files is untrusted.
pub fn print_findings(findings: &[ConfigFinding]) {
    findings.iter().for_each(|finding| note(&escape_invisible_lines(&finding.text)));
}

/// Prints a short summary of the findings, for verbs with another purpose: one line per error, and
/// how to see the rest. With `verbose` it prints all findings in full.
pub fn print_findings_summary(found: &[ConfigFinding], verbose: bool) {
    if verbose {
        return print_findings(found);
    }
    let of = |severity| found.iter().filter(move |finding| finding.severity == severity);
    of(DiagnosticSeverity::Error).for_each(|error| note(&escape_invisible_lines(&error.brief)));
    let (errors, warnings) =
        (of(DiagnosticSeverity::Error).count(), of(DiagnosticSeverity::Warning).count());
    let what = match (errors, warnings) {
        (0, 0) => return,
        (_, 0) => String::new(),
        (_, 1) => "1 warning in the config files: ".to_owned(),
        (_, more) => format!("{more} warnings in the config files: "),
    };
    note(&format!("{} {what}run `toolgate config check` for details", cyan("hint:")));
}

/// Prints notes about what servers offer. Names in them are untrusted.
pub fn print_notes(notes: &[String]) {
    notes.iter().for_each(|text| note(&format!("{} {}", cyan("note:"), escape_invisible(text))));
}

/// Returns true if stderr is a terminal.
pub fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Returns true if the user can be prompted: stdin and stderr are terminals.
pub fn can_prompt() -> bool {
    io::stdin().is_terminal() && stderr_is_terminal()
}

/// Returns true if output on stderr may have colours.
pub fn stderr_has_colour() -> bool {
    stderr_is_terminal() && !is_colour_disabled()
}

/// Returns true if `NO_COLOR` is set.
pub fn is_colour_disabled() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// Colours text red, for errors.
pub fn red(text: &str) -> String {
    paint("31;1", text)
}

/// Colours text cyan, for hints and notes.
pub fn cyan(text: &str) -> String {
    paint("36", text)
}

fn paint(code: &str, text: &str) -> String {
    if stderr_has_colour() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

/// Formats a number of bytes for people.
pub fn format_size(bytes: usize) -> String {
    match bytes {
        0..1000 => format!("{bytes} B"),
        1000..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
