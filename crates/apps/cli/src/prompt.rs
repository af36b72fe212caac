//! Prompts at the terminal: a line of text, or yes or no.

use std::io::{self, BufRead as _, Write as _};

use crate::exit::{ErrorCode, OrFail as _, Result, cli_error};
use crate::out;

/// Prints a question and reads a line. Returns `None` if the terminal was closed.
pub fn read_line(question: &str) -> io::Result<Option<String>> {
    let mut stderr = io::stderr();
    let _ = stderr.write_all(question.as_bytes()).and_then(|()| stderr.flush());
    let mut line = String::new();
    let bytes = io::stdin().lock().read_line(&mut line)?;
    Ok((bytes > 0).then(|| line.trim().to_owned()))
}

/// Asks a question and returns the answer, which may be empty.
pub fn ask(question: &str) -> Result<String> {
    let line = read_line(&format!("{question} "));
    let line = line.or_fail(ErrorCode::CliRead, "cannot read your answer")?;
    Ok(line.unwrap_or_default())
}

/// Fails with the message `refused` unless the user confirms `action`, which is needed for a change.
/// Without a terminal the change is refused; `hint` says how to confirm it then.
pub fn confirm(question: &str, action: &str, hint: &str, refused: &str) -> Result<()> {
    if !out::can_prompt() {
        return Err(cli_error!(CliNoTerminal, "cannot ask whether to {action} without a terminal")
            .hint(hint));
    }
    match ask(&format!("{question} [y/N]"))?.as_str() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(cli_error!(CliNotConfirmed, "{refused}")),
    }
}
