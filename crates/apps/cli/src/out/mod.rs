//! What leaves the program: data on stdout, everything else on stderr.
//!
//! Colour and movement only where a person watches. Text of servers is untrusted: on a terminal it
//! is shown with its control and invisible characters made visible.

mod spinner;
mod table;
mod visible;

use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;
use toolgate_host::Severity;

use crate::control::Finding;
use crate::exit::Failure;

pub use spinner::Spinner;
pub use table::{Cut, Table};
pub use visible::{harmless, harmless_json, visible, visible_lines};

/// Writes data.
pub fn data(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
    written.map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::nobody_reads(),
        _ => Failure::failed(format!("write to standard output: {error}")),
    })
}

/// Writes one line of data.
pub fn line(text: &str) -> Result<(), Failure> {
    data(format!("{text}\n").as_bytes())
}

/// Writes a value as JSON.
pub fn json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::failed(format!("write JSON: {error}")))?;
    line(&if io::stdout().is_terminal() { harmless_json(&text) } else { text })
}

/// Writes text that came from a server: exactly, unless a terminal would act on it.
pub fn text(text: &str) -> Result<(), Failure> {
    let shown = if io::stdout().is_terminal() { visible_lines(text) } else { text.to_owned() };
    let end = if shown.is_empty() || shown.ends_with('\n') { "" } else { "\n" };
    data(format!("{shown}{end}").as_bytes())
}

/// Says something to the person, who may not be listening.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{}", harmless(text, ""));
}

/// Says all there is to say about the files; text of theirs is as untrusted as a server's.
pub fn findings(findings: &[Finding]) {
    findings.iter().for_each(|finding| note(&visible_lines(&finding.text)));
}

/// Says what is wrong with the files beside something else that was asked for: what is left out
/// because of an error, a line each, and where the rest is told. All of it to who wants more.
pub fn faults(found: &[Finding], verbose: bool) {
    if verbose {
        return findings(found);
    }
    let of = |severity| found.iter().filter(move |finding| finding.severity == severity);
    of(Severity::Error).for_each(|error| note(&visible_lines(&error.brief)));
    let (errors, warnings) = (of(Severity::Error).count(), of(Severity::Warning).count());
    let what = match (errors, warnings) {
        (0, 0) => return,
        (0, 1) => "there is a warning about the files: ".to_owned(),
        (0, more) => format!("there are {more} warnings about the files: "),
        (_, 0) => String::new(),
        (_, 1) => "one more is a warning: ".to_owned(),
        (_, more) => format!("{more} more are warnings: "),
    };
    note(&format!("{} {what}`toolgate config check` shows more", cyan("hint:")));
}

/// Says what there is to know about what servers offer; their names are as untrusted as all they
/// say.
pub fn remarks(notes: &[String]) {
    notes.iter().for_each(|text| note(&format!("{} {}", cyan("note:"), visible(text))));
}

/// Whether a person watches stderr.
pub fn is_watched() -> bool {
    io::stderr().is_terminal()
}

/// Whether a person can be asked: he sees the question and types the answer.
pub fn can_ask() -> bool {
    io::stdin().is_terminal() && is_watched()
}

/// Whether stderr is to be coloured.
pub fn stderr_has_colour() -> bool {
    is_watched() && !colour_is_declined()
}

/// Whether the user wants no colours at all.
pub fn colour_is_declined() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// For what went wrong.
pub fn red(text: &str) -> String {
    painted("31;1", text)
}

/// For what to do.
pub fn cyan(text: &str) -> String {
    painted("36", text)
}

fn painted(code: &str, text: &str) -> String {
    if stderr_has_colour() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

/// A number of bytes, for people.
pub fn size(bytes: usize) -> String {
    match bytes {
        0..1000 => format!("{bytes} B"),
        1000..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
