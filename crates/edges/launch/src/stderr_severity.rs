//! Classifies the lines of a server's stderr by severity.
//!
//! Only a line that marks itself as info, debug or trace is logged at debug level. Any other line,
//! such as a plain sentence or a frame of a traceback, may explain why a server does not work.

/// The severity of a stderr line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StderrSeverity {
    /// Logged as a warning.
    Loud,
    /// Logged at info level.
    Plain,
    /// Logged at debug level.
    Quiet,
}

const LOUD: &[&str] =
    &["error", "err", "fatal", "critical", "panic", "panicked", "warn", "warning"];
const QUIET: &[&str] = &["info", "debug", "trace"];
/// Keys that precede a level in structured logs.
const KEYS: &[&str] = &["level", "lvl", "severity", "levelname", "loglevel"];

/// How many words of a line are searched for its level. Later words are prose.
const WORDS_READ: usize = 8;

/// Classifies a line by the first level it contains.
pub(crate) fn classify_line(line: &str) -> StderrSeverity {
    if line.trim().is_empty() {
        return StderrSeverity::Quiet;
    }
    let words = line.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let mut before = "";
    for word in words.take(WORDS_READ) {
        let is_exception = word.ends_with("Error") || word.ends_with("Exception");
        if is_exception || word == "Traceback" || is_any(LOUD, word) {
            return StderrSeverity::Loud;
        }
        if is_any(QUIET, word) && (is_any(KEYS, before) || is_marked(line, word)) {
            return StderrSeverity::Quiet;
        }
        before = word;
    }
    StderrSeverity::Plain
}

fn is_any(of: &[&str], word: &str) -> bool {
    of.iter().any(|one| one.eq_ignore_ascii_case(word))
}

/// Returns true if a word of a line looks like a level: in capitals, in brackets, or at the
/// beginning and followed by a colon. Otherwise it is an ordinary word, as in `no info found`.
fn is_marked(line: &str, word: &str) -> bool {
    // The word is a slice of the line.
    let start = word.as_ptr() as usize - line.as_ptr() as usize;
    let (before, after) = (&line[..start], &line[start + word.len()..]);
    let in_brackets = before.ends_with(['[', '<']) && after.starts_with([']', '>']);
    word.bytes().all(|byte| byte.is_ascii_uppercase())
        || in_brackets
        || before.trim().is_empty() && after.starts_with(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_that_say_they_are_info_debug_or_trace_are_held_back() {
        for line in [
            "ERROR could not bind",
            "2026-11-15 10:00:00,123 - server - WARNING - slow",
            "[error] no such tool",
            "npm ERR! code E404",
            "TypeError: x is not a function",
            "Traceback (most recent call last):",
            "thread 'main' panicked at src/main.rs:1",
            "0 errors found: fatal",
        ] {
            assert_eq!(classify_line(line), StderrSeverity::Loud, "{line}");
        }
        for line in [
            "cannot open database",
            "  File \"/app/server.py\", line 3, in debug",
            "    debug(info)",
            "    at Server.info (server.js:3:7)",
            "Secure MCP Filesystem Server running on stdio",
            "no info found for this account",
            "notice: this version is old",
        ] {
            assert_eq!(classify_line(line), StderrSeverity::Plain, "{line}");
        }
        for line in [
            "INFO: finished without error",
            "INFO:root:ready",
            "info: ready",
            "DEBUG warn level set",
            "[debug] 3 tools",
            "2026-11-15 10:00:00,123 - server - INFO - ready",
            "2026-11-15T10:00:00Z TRACE server: frame",
            "{\"level\":\"info\",\"msg\":\"ready\"}",
            "time=10:00 level=debug msg=ready",
            "",
            "  ",
        ] {
            assert_eq!(classify_line(line), StderrSeverity::Quiet, "{line}");
        }
    }
}
