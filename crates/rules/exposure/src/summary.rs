//! A line about each tool that is found rather than listed, for whoever is to search for it.
//!
//! The words are the servers' own, and untrusted: one sentence, bounded, without characters that
//! nobody sees.

use toolgate_model::{CapabilityId, CapabilityKind, is_invisible};
use toolgate_wire::scan;

use crate::{Exposure, Row, Seen, cost};

/// The most that is said of one tool, in characters.
const LINE: usize = 100;
/// The most that is said at all, in tokens.
pub(crate) const WHOLE: u32 = 2_000;

/// Where the definition of a capability is to be had, as its server wrote it.
pub type About<'a> = &'a dyn Fn(&CapabilityId) -> Option<&'a [u8]>;

/// A paragraph per server, a line per tool, and how many more there are where not all have room.
/// Empty, if the caller is sent none, or there is no room for a single line.
pub fn summary(exposure: &Exposure, about: About<'_>) -> String {
    let deferred = exposure.rows.iter().filter(|row| row.seen == Seen::Deferred);
    let lines = Lines::of(deferred.filter(|_| exposure.summarised), about, exposure.room);
    let mut text: String = lines.told.iter().map(|line| line.text.as_str()).collect();
    if lines.left > 0 && !text.is_empty() {
        text.push_str(&format!("\nand {} more\n", lines.left));
    }
    text
}

/// What has room.
pub(crate) struct Lines<'a> {
    pub told: Vec<Line<'a>>,
    pub left: usize,
}

/// What is said of one tool; before the first of a server stands that server.
pub(crate) struct Line<'a> {
    pub id: &'a CapabilityId,
    pub text: String,
    pub tokens: u32,
}

impl<'a> Lines<'a> {
    /// The lines about some tools, which are in order, as far as there is room.
    pub fn of(rows: impl Iterator<Item = &'a Row>, about: About<'_>, room: u32) -> Self {
        let mut lines = Self { told: Vec::new(), left: 0 };
        let mut sum: u32 = 0;
        for row in rows.filter(|row| row.id.kind == CapabilityKind::Tool) {
            let Some(name) = &row.exposed else { continue };
            if lines.left > 0 {
                lines.left += 1;
                continue;
            }
            let known = lines.told.last().is_some_and(|line| line.id.server == row.id.server);
            let head = match (known, lines.told.is_empty()) {
                (true, _) => String::new(),
                (false, true) => format!("{}:\n", row.id.server),
                (false, false) => format!("\n{}:\n", row.id.server),
            };
            let sentence = about(&row.id).and_then(|raw| scan::text(raw, "description"));
            let text = match sentence.map(|text| sentence_of(&text)).filter(|it| !it.is_empty()) {
                Some(sentence) => format!("{head}- {name}: {sentence}\n"),
                None => format!("{head}- {name}\n"),
            };
            let tokens = cost::tokens(text.as_bytes());
            sum = sum.saturating_add(tokens);
            match sum <= room {
                true => lines.told.push(Line { id: &row.id, text, tokens }),
                false => lines.left = 1,
            }
        }
        lines
    }
}

/// The first sentence of a text on one line, or as much of it as there is room for.
fn sentence_of(text: &str) -> String {
    let paragraph = text.trim().split("\n\n").next().unwrap_or_default();
    let mut line = String::new();
    let mut length = 0;
    let mut chars = paragraph.chars().peekable();
    while let Some(c) = chars.next() {
        let is_space = c.is_whitespace();
        if is_space && (line.is_empty() || line.ends_with(' ')) || is_invisible(c) && !is_space {
            continue;
        }
        if length == LINE {
            return format!("{}…", line.trim_end());
        }
        line.push(if is_space { ' ' } else { c });
        length += 1;
        let ends = match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => chars.peek().is_none_or(|next| next.is_whitespace()),
            _ => false,
        };
        if ends && !goes_on(chars.clone()) {
            break;
        }
    }
    line.trim_end().to_owned()
}

/// Whether what comes after a full stop is the same sentence, as after "e.g.".
fn goes_on(rest: impl Iterator<Item = char>) -> bool {
    let mut rest = rest.skip_while(|c| c.is_whitespace());
    rest.next().is_some_and(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_the_first_sentence_without_what_nobody_sees() {
        for (text, line) in [
            ("  Reads a\tfile. It may fail.\nMore", "Reads a file."),
            ("v1.2 is\u{200b} old\u{1b}[31m\n\nArgs: none", "v1.2 is old[31m"),
            ("Wrapped\nover lines, e.g. these. Not this.", "Wrapped over lines, e.g. these."),
            ("読み込む。次の文。", "読み込む。"),
            ("", ""),
        ] {
            assert_eq!(sentence_of(text), line);
        }
        let long = sentence_of(&"word ".repeat(40));
        assert!(long.ends_with("word…") && long.chars().count() <= LINE + 1, "{long}");
    }
}
