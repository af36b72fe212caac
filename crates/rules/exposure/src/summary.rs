//! Summarizes deferred tools, one line each, for models that search for them.
//!
//! The text comes from the servers and is untrusted: one sentence, of limited length, without
//! invisible characters.

use toolgate_model::{CapabilityId, CapabilityKind, is_invisible};
use toolgate_search::tokens::estimate;
use toolgate_wire::scan;

use crate::{Exposure, ExposureEntry, Visibility};

/// The longest sentence about one tool, in characters.
const LINE: usize = 100;
/// The longest summary, in tokens.
pub(crate) const WHOLE: u32 = 2_000;

/// Returns the definition of a capability as its server wrote it.
pub type DefinitionLookup<'a> = &'a dyn Fn(&CapabilityId) -> Option<&'a [u8]>;

/// Returns a paragraph per server and a line per deferred tool, and how many more there are if not
/// all fit. Empty if the profile gets no summary, or if no line fits.
pub fn summary(exposure: &Exposure, about: DefinitionLookup<'_>) -> String {
    let deferred = exposure.entries.iter().filter(|row| row.visibility == Visibility::Deferred);
    let lines =
        ToolSummaryLines::of(deferred.filter(|_| exposure.summarised), about, exposure.room);
    let mut text: String = lines.lines.iter().map(|line| line.text.as_str()).collect();
    if lines.left > 0 && !text.is_empty() {
        text.push_str(&format!("\nand {} more\n", lines.left));
    }
    text
}

/// The lines that fit, and how many do not.
pub(crate) struct ToolSummaryLines<'a> {
    pub lines: Vec<ToolSummaryLine<'a>>,
    pub left: usize,
}

/// A line about one tool. The first of a server starts with the server's name.
pub(crate) struct ToolSummaryLine<'a> {
    pub id: &'a CapabilityId,
    pub text: String,
    pub tokens: u32,
}

impl<'a> ToolSummaryLines<'a> {
    /// Returns the lines about these tools, in order, as far as they fit.
    pub fn of(
        rows: impl Iterator<Item = &'a ExposureEntry>,
        about: DefinitionLookup<'_>,
        room: u32,
    ) -> Self {
        let mut lines = Self { lines: Vec::new(), left: 0 };
        let mut sum: u32 = 0;
        for row in rows.filter(|row| row.id.kind == CapabilityKind::Tool) {
            let Some(name) = &row.exposed else { continue };
            if lines.left > 0 {
                lines.left += 1;
                continue;
            }
            let known = lines.lines.last().is_some_and(|line| line.id.server == row.id.server);
            let head = match (known, lines.lines.is_empty()) {
                (true, _) => String::new(),
                (false, true) => format!("{}:\n", row.id.server),
                (false, false) => format!("\n{}:\n", row.id.server),
            };
            let sentence = about(&row.id).and_then(|raw| scan::member_text(raw, "description"));
            let text = match sentence.map(|text| sentence_of(&text)).filter(|it| !it.is_empty()) {
                Some(sentence) => format!("{head}- {name}: {sentence}\n"),
                None => format!("{head}- {name}\n"),
            };
            let tokens = estimate(text.as_bytes());
            sum = sum.saturating_add(tokens);
            match sum <= room {
                true => lines.lines.push(ToolSummaryLine { id: &row.id, text, tokens }),
                false => lines.left = 1,
            }
        }
        lines
    }
}

/// Returns the first sentence of a text on one line, shortened if necessary.
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

/// Returns true if the sentence continues after a full stop, as after "e.g.".
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
