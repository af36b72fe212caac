//! Output of the program: data on stdout, everything else on stderr.
//!
//! Colours and the spinner appear only on a terminal. Text from servers is untrusted: on a terminal
//! its control and invisible characters are escaped.

mod escape;
mod output_file;
mod spinner;
mod table;
mod time;

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use toolgate_host::DiagnosticSeverity;

use crate::cli_context::CliContext;
use crate::control::ConfigFinding;
use crate::exit::{CliError, ErrorCode, Exit, OrFail as _, Result, cli_error};

pub use escape::{escape_for_terminal, escape_invisible, escape_invisible_lines, escape_json};
pub use output_file::OutputFile;
pub use spinner::Spinner;
pub use table::TextTable;
pub use time::{exact_time, relative_time};

/// Whether `--quiet` suppresses notes.
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// Suppresses everything on stderr except errors and prompts.
pub fn set_quiet(is_quiet: bool) {
    IS_QUIET.store(is_quiet, Ordering::Relaxed);
}

/// Prints the data of a verb: the value as JSON with `--json`, otherwise the text.
pub fn print(
    context: &CliContext,
    value: &(impl Serialize + ?Sized),
    text: impl FnOnce() -> String,
) -> Result<Exit> {
    match context.json {
        true => json(value)?,
        false => data(text().as_bytes())?,
    }
    Ok(Exit::Done)
}

/// Prints a list: as JSON with `--json`, otherwise as text, or the note `none` if it is empty.
pub fn print_list<T: Serialize>(
    context: &CliContext,
    rows: &[T],
    none: &str,
    text: impl FnOnce(&[T]) -> String,
) -> Result<Exit> {
    if rows.is_empty() && !context.json {
        note(none);
        return Ok(Exit::Done);
    }
    print(context, rows, || text(rows))
}

/// Prints the result of a change: as JSON with `--json`, otherwise as a note.
pub fn print_done(context: &CliContext, value: &impl Serialize, text: &str) -> Result<Exit> {
    match context.json {
        true => json(value)?,
        false => note(text),
    }
    Ok(Exit::Done)
}

/// Writes bytes to stdout.
pub fn data(bytes: &[u8]) -> Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
    written.map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => CliError::broken_pipe(),
        _ => cli_error!(CliWrite, "cannot write to standard output: {error}"),
    })
}

/// Writes one line to stdout.
pub fn line(text: &str) -> Result<()> {
    data(format!("{text}\n").as_bytes())
}

/// Writes a value to stdout as JSON.
pub fn json(value: &(impl Serialize + ?Sized)) -> Result<()> {
    let text =
        serde_json::to_string_pretty(value).or_fail(ErrorCode::CliInternal, "cannot write JSON")?;
    line(&if stdout_is_terminal() { escape_json(&text) } else { text })
}

/// Writes a value to stdout as one line of JSON.
pub fn json_line(value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string(value);
    line(&text.or_fail(ErrorCode::CliInternal, "cannot write JSON")?)
}

/// Writes text from a server to stdout: unchanged, or with invisible characters escaped if stdout
/// is a terminal.
pub fn text(text: &str) -> Result<()> {
    let shown = if stdout_is_terminal() { escape_invisible_lines(text) } else { text.to_owned() };
    let end = if shown.is_empty() || shown.ends_with('\n') { "" } else { "\n" };
    data(format!("{shown}{end}").as_bytes())
}

/// Prints a line to stderr, unless `--quiet` is given. It may quote servers and files, so its
/// control and invisible characters are escaped.
pub fn note(text: &str) {
    note_lines(&escape_invisible(text));
}

/// Prints lines to stderr, as [`note`] does.
pub fn note_lines(text: &str) {
    if !IS_QUIET.load(Ordering::Relaxed) {
        alert(&escape_invisible_lines(text));
    }
}

/// Prints a line to stderr as [`note`] does, after a coloured label.
pub fn labelled_note(label: &str, text: &str) {
    if !IS_QUIET.load(Ordering::Relaxed) {
        alert(&format!("{label} {}", escape_invisible(text)));
    }
}

/// Prints a line to stderr, also with `--quiet`. Errors are ignored, because stderr may be closed.
pub fn alert(text: &str) {
    let _ = writeln!(io::stderr(), "{}", escape_for_terminal(text, ""));
}

/// Prints a hint: what the user can do next.
pub fn hint(text: &str) {
    labelled_note(&cyan("hint:"), text);
}

/// Prints a remark, marked as a note.
pub fn remark(text: &str) {
    labelled_note(&cyan("note:"), text);
}

/// Prints a warning.
pub fn warning(text: &str) {
    labelled_note(&cyan("warning:"), text);
}

/// Prints all findings about the config files in full. Text from the files is untrusted.
pub fn print_findings(findings: &[ConfigFinding]) {
    findings.iter().for_each(|finding| note_lines(&finding.text));
}

/// Prints a short summary of the findings, for verbs with another purpose: one line per error, and
/// how to see the rest. With `verbose` it prints all findings in full.
pub fn print_findings_summary(found: &[ConfigFinding], verbose: bool) {
    if verbose {
        return print_findings(found);
    }
    let of = |severity| found.iter().filter(move |finding| finding.severity == severity);
    of(DiagnosticSeverity::Error).for_each(|error| alert(&escape_invisible_lines(&error.brief)));
    let (errors, warnings) =
        (of(DiagnosticSeverity::Error).count(), of(DiagnosticSeverity::Warning).count());
    let what = match (errors, warnings) {
        (0, 0) => return,
        (_, 0) => String::new(),
        (_, warnings) => format!("{} in the config files: ", count(warnings, "warning")),
    };
    hint(&format!("{what}run `toolgate config check` for details"));
}

/// Prints notes about what servers offer.
pub fn print_notes(notes: &[String]) {
    notes.iter().for_each(|text| remark(text));
}

/// Returns true if stderr is a terminal.
pub fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Returns true if the user can be prompted: stdin and stderr are terminals.
pub fn can_prompt() -> bool {
    io::stdin().is_terminal() && stderr_is_terminal()
}

/// Returns true if stdout is a terminal.
pub fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Returns true if output on stderr may have colours.
pub fn stderr_has_colour() -> bool {
    stderr_is_terminal() && !is_colour_disabled()
}

/// Returns true if output on stdout may have colours.
pub fn stdout_has_colour() -> bool {
    stdout_is_terminal() && !is_colour_disabled()
}

fn is_colour_disabled() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// A colour of text on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// For errors and what is refused.
    Red,
    /// For warnings and what waits.
    Yellow,
    /// For what works and is allowed.
    Green,
    /// For hints and notes.
    Cyan,
    /// For what is off.
    Grey,
}

impl Colour {
    /// Returns the colour of a word that names a state or a decision.
    pub fn of_state(word: &str) -> Option<Self> {
        match word {
            "connected" | "enabled" | "pinned" | "given" | "allow" => Some(Self::Green),
            "failed" | "blocked" | "disconnected" | "changed" | "deny" => Some(Self::Red),
            "connecting" | "not_started" | "needs_auth" | "waiting" | "new" | "ask" => {
                Some(Self::Yellow)
            }
            "disabled" | "gone" | "unused" => Some(Self::Grey),
            _ => None,
        }
    }

    /// Returns the text in this colour.
    pub fn paint(self, text: &str) -> String {
        let code = match self {
            Self::Red => "31;1",
            Self::Yellow => "33",
            Self::Green => "32",
            Self::Cyan => "36",
            Self::Grey => "90",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// Colours text red for stderr, for errors.
pub fn red(text: &str) -> String {
    if stderr_has_colour() { Colour::Red.paint(text) } else { text.to_owned() }
}

/// Colours text cyan for stderr, for hints and notes.
pub fn cyan(text: &str) -> String {
    if stderr_has_colour() { Colour::Cyan.paint(text) } else { text.to_owned() }
}

/// Returns a number with its noun, in the plural unless the number is 1.
pub fn count<N: Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    let ending = if number == N::from(1) { "" } else { "s" };
    format!("{number} {noun}{ending}")
}

/// Formats a number of bytes for people.
pub fn format_size(bytes: u64) -> String {
    match bytes {
        0..1000 => format!("{bytes} B"),
        1000..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
