//! How loud a line on a server's stderr is.
//!
//! A line is held back only if it says itself that it is info, debug or trace. Everything else may be
//! the reason why a server does not work: a plain sentence, a frame of a traceback.

/// What a line of stderr deserves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Severity {
    /// A warning in the ordinary log.
    Loud,
    /// A remark in the ordinary log.
    Plain,
    /// Shown when debugging.
    Quiet,
}

const LOUD: &[&str] =
    &["error", "err", "fatal", "critical", "panic", "panicked", "warn", "warning"];
const QUIET: &[&str] = &["info", "debug", "trace"];
/// Words that stand before a level in structured logs.
const KEYS: &[&str] = &["level", "lvl", "severity", "levelname", "loglevel"];

/// Only the beginning of a line carries its level; further on, the words are prose.
const WORDS_READ: usize = 8;

/// The first level named in the line decides.
pub(crate) fn of(line: &str) -> Severity {
    if line.trim().is_empty() {
        return Severity::Quiet;
    }
    let words = line.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let mut before = "";
    for word in words.take(WORDS_READ) {
        let is_exception = word.ends_with("Error") || word.ends_with("Exception");
        if is_exception || word == "Traceback" || is_any(LOUD, word) {
            return Severity::Loud;
        }
        if is_any(QUIET, word) && (is_any(KEYS, before) || is_marked(line, word)) {
            return Severity::Quiet;
        }
        before = word;
    }
    Severity::Plain
}

fn is_any(of: &[&str], word: &str) -> bool {
    of.iter().any(|one| one.eq_ignore_ascii_case(word))
}

/// Whether a word of a line stands where loggers write levels: in capitals, in brackets, or at the
/// beginning with a colon after it. Otherwise it is a word like any other, as in `no info found`.
fn is_marked(line: &str, word: &str) -> bool {
    // The word is a part of the line.
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
            assert_eq!(of(line), Severity::Loud, "{line}");
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
            assert_eq!(of(line), Severity::Plain, "{line}");
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
            assert_eq!(of(line), Severity::Quiet, "{line}");
        }
    }
}
