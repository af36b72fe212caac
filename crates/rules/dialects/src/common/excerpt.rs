//! Builds the excerpt of a line for a diagnostic, and decides how much of it may be shown.
//!
//! Keys are shown. Of values, only text that cannot be a credential is shown: brackets, `true`,
//! `false`, `null`, and values that the reader marks as harmless. The rest of the line is left out.

use toolgate_model::DiagnosticExcerpt;

/// The maximum width of a token, and of the key before it.
const WIDEST: usize = 80;
/// The maximum length of a text that is treated as a name.
const LONGEST_NAME: usize = 40;
/// The maximum indentation that is shown.
const DEEPEST: usize = 40;
/// The text shown for a tab: tab widths vary between terminals, and the marker must line up.
const TAB: &str = "    ";
/// Values that reveal nothing.
const HARMLESS_VALUES: [&str; 3] = ["true", "false", "null"];

/// How much of the text at a position may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExcerptVisibility {
    /// A key.
    Key,
    /// A value that is not a credential.
    Word,
    /// A value that may be a credential.
    Hidden,
}

/// A line, split at the position of a diagnostic.
pub(super) struct ExcerptLine<'a> {
    pub before: &'a str,
    /// Begins with the token that the diagnostic is about.
    pub after: &'a str,
    /// The offset in `before` of the key whose value is the token.
    pub key: Option<usize>,
}

/// Returns the shown part of a line: the token and its key, and nothing else.
pub(super) fn excerpt(
    line: &ExcerptLine<'_>,
    spot: ExcerptVisibility,
) -> Option<DiagnosticExcerpt> {
    let (word, after) = line.after.split_at(token(line.after));
    let first = word.chars().next()?;
    let shown = match (spot, first) {
        (_, '{' | '[') => first.to_string(),
        (ExcerptVisibility::Key, _) => cut(word),
        (ExcerptVisibility::Word, quote @ ('"' | '\'')) => {
            let inside = word.strip_prefix(quote).unwrap_or(word);
            format!("{quote}{}{quote}", shorten_name(inside.strip_suffix(quote).unwrap_or(inside)))
        }
        (ExcerptVisibility::Word, _) => shorten_name(word),
        (ExcerptVisibility::Hidden, _) if HARMLESS_VALUES.contains(&word) => word.to_owned(),
        (ExcerptVisibility::Hidden, quote @ ('"' | '\'')) => format!("{quote}…{quote}"),
        (ExcerptVisibility::Hidden, _) => "…".to_owned(),
    };
    let prefix = prefix(line);
    let suffix = if after.trim().is_empty() { "" } else { " …" };
    let (from, width) = (columns(&prefix), columns(&shown));
    Some(DiagnosticExcerpt { text: format!("{prefix}{shown}{suffix}"), from, width })
}

/// Returns the text before a token: its indentation and its key.
fn prefix(line: &ExcerptLine<'_>) -> String {
    let content = line.before.trim_start();
    let (indent, _) = line.before.split_at(line.before.len() - content.len());
    let indent: String = visible(indent).chars().take(DEEPEST).collect();
    let key = line.key.filter(|at| columns(&line.before[*at..]) <= WIDEST);
    match (content, key) {
        ("" | "[" | "[[" | "- ", _) => format!("{indent}{content}"),
        (_, Some(at)) if ["", "-"].contains(&line.before[..at].trim()) => {
            format!("{indent}{}", visible(content))
        }
        (_, Some(at)) => format!("{indent}… {}", visible(&line.before[at..])),
        (_, None) => format!("{indent}… "),
    }
}

/// Returns the beginning of a text that should be a name. A longer text, or one with a space or an
/// assignment sign, may be a secret that was put there by mistake.
pub(crate) fn shorten_name(text: &str) -> String {
    let goes_on = |c: char| c.is_whitespace() || c.is_control() || "=:".contains(c);
    let end = text.find(goes_on).unwrap_or(text.len());
    let end = text.char_indices().nth(LONGEST_NAME).map_or(end, |(longest, _)| end.min(longest));
    match end < text.len() {
        true => format!("{}…", &text[..end]),
        false => text.to_owned(),
    }
}

/// Truncates a long token.
fn cut(word: &str) -> String {
    let word = visible(word);
    match word.char_indices().nth(WIDEST) {
        Some((end, _)) => format!("{}…", &word[..end]),
        None => word,
    }
}

/// Replaces tabs and control characters, so that every character is visible.
fn visible(text: &str) -> String {
    let shown = |c: char| match c {
        '\t' => TAB.to_owned(),
        c if c.is_control() => "\u{fffd}".to_owned(),
        c => c.to_string(),
    };
    text.chars().map(shown).collect()
}

/// Returns the width of a text on a terminal.
fn columns(text: &str) -> usize {
    text.chars().map(width).sum()
}

/// Returns the width of a character: 0 for combining characters, 2 for wide scripts and emoji.
fn width(c: char) -> usize {
    const NONE: [(u32, u32); 6] = [
        (0x300, 0x36f),
        (0x200b, 0x200f),
        (0x202a, 0x202e),
        (0x2060, 0x2064),
        (0x20d0, 0x20ff),
        (0xfe00, 0xfe0f),
    ];
    const WIDE: [(u32, u32); 10] = [
        (0x1100, 0x115f),
        (0x2e80, 0x303e),
        (0x3041, 0x33ff),
        (0x3400, 0x4dbf),
        (0x4e00, 0xa4cf),
        (0xac00, 0xd7a3),
        (0xf900, 0xfaff),
        (0xff00, 0xff60),
        (0x1f300, 0x1faff),
        (0x20000, 0x3fffd),
    ];
    let is_among = |ranges: &[(u32, u32)]| {
        ranges.iter().any(|(first, last)| (*first..=*last).contains(&u32::from(c)))
    };
    match c {
        c if c.is_ascii() => 1,
        _ if is_among(&NONE) => 0,
        _ if is_among(&WIDE) => 2,
        _ => 1,
    }
}

/// Returns the length of the token at the start of a line: a quoted string, or the text up to the
/// next separator.
pub(super) fn token(line: &str) -> usize {
    let quote = match line.chars().next() {
        Some(quote @ ('"' | '\'')) => quote,
        _ => {
            let end = line.find(|c: char| c.is_whitespace() || ",:=[]{}#".contains(c));
            return end.unwrap_or(line.len()).max(line.chars().next().map_or(0, char::len_utf8));
        }
    };
    let mut escaped = false;
    for (index, c) in line.char_indices().skip(1) {
        match c {
            '\\' if !escaped => escaped = true,
            c if c == quote && !escaped => return index + c.len_utf8(),
            _ => escaped = false,
        }
    }
    line.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the excerpt at `|`, whose key begins at `^`.
    fn shown(line: &str, spot: ExcerptVisibility) -> String {
        let key = line.find('^');
        let line = line.replacen('^', "", 1);
        let (before, after) = line.split_once('|').unwrap();
        let DiagnosticExcerpt { text, from, width } =
            excerpt(&ExcerptLine { before, after, key }, spot).unwrap();
        format!("{text}\n{}{}", " ".repeat(from), "^".repeat(width))
    }

    #[test]
    fn a_word_is_shown_with_its_key_and_a_value_is_not() {
        let line = r#"  "a": {"env": {"K": "canary"}, ^"type": |"htp", "x": "canary"}"#;
        assert_eq!(
            shown(line, ExcerptVisibility::Word),
            "  … \"type\": \"htp\" …\n            ^^^^^"
        );
        assert_eq!(
            shown(line, ExcerptVisibility::Hidden),
            "  … \"type\": \"…\" …\n            ^^^"
        );
        assert_eq!(shown("^PIN = |1234", ExcerptVisibility::Hidden), "PIN = …\n      ^");
        assert_eq!(shown("^on = |true", ExcerptVisibility::Hidden), "on = true\n     ^^^^");
        assert_eq!(
            shown(r#"["--token", |"canary"]"#, ExcerptVisibility::Hidden),
            "… \"…\" …\n  ^^^"
        );
    }

    #[test]
    fn marks_stand_below_the_word_whatever_is_before_it() {
        assert_eq!(shown("\t|\"a\": 1", ExcerptVisibility::Key), "    \"a\" …\n    ^^^");
        assert_eq!(
            shown("^\"名前\": |\"x\"", ExcerptVisibility::Word),
            "\"名前\": \"x\"\n        ^^^"
        );
        assert_eq!(shown("|\"e\u{301}\": 1", ExcerptVisibility::Key), "\"e\u{301}\" …\n^^^");
        let long = "x".repeat(200);
        let cut = shown(&format!("{}|{long}", " ".repeat(300)), ExcerptVisibility::Key);
        assert_eq!(cut.lines().next().unwrap().chars().count(), DEEPEST + WIDEST + 1);
        assert_eq!(shown(&format!("^{long}: |1"), ExcerptVisibility::Word), "… 1\n  ^");
    }
}
