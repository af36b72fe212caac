//! How loud a line on a server's stderr is.
//!
//! Servers write greetings and progress there as often as errors. A line is loud only if it says so.

/// What a line of stderr deserves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Severity {
    /// Shown in the ordinary log.
    Loud,
    /// Shown when debugging.
    Quiet,
}

const LOUD: &[&str] =
    &["error", "err", "fatal", "critical", "panic", "panicked", "warn", "warning"];
const QUIET: &[&str] = &["info", "debug", "trace", "notice", "verbose"];

/// Only the beginning of a line carries its level; further on, the words are prose.
const WORDS_READ: usize = 8;

/// The first level named in the line decides.
pub(crate) fn of(line: &str) -> Severity {
    let words = line.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    for word in words.take(WORDS_READ) {
        let names = |levels: &[&str]| levels.iter().any(|level| level.eq_ignore_ascii_case(word));
        let is_exception = word.ends_with("Error") || word.ends_with("Exception");
        if is_exception || word == "Traceback" || names(LOUD) {
            return Severity::Loud;
        }
        if names(QUIET) {
            return Severity::Quiet;
        }
    }
    Severity::Quiet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_name_an_error_are_loud_and_the_rest_is_quiet() {
        for line in [
            "ERROR could not bind",
            "2026-11-15 10:00:00,123 - server - WARNING - slow",
            "[error] no such tool",
            "npm ERR! code E404",
            "TypeError: x is not a function",
            "Traceback (most recent call last):",
            "thread 'main' panicked at src/main.rs:1",
        ] {
            assert_eq!(of(line), Severity::Loud, "{line}");
        }
        for line in [
            "Secure MCP Filesystem Server running on stdio",
            "INFO: finished without error",
            "DEBUG warn level set",
            "0 errors found",
            "",
        ] {
            assert_eq!(of(line), Severity::Quiet, "{line}");
        }
    }
}
