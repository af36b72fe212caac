//! The piece of a line that a finding speaks of, and how much of it may be shown.
//!
//! Keys are shown, and of values only what can be no credential: braces, `true`, `false`, `null`,
//! and what its reader calls a mere word or number. The rest of the line is left out.

use toolgate_model::Excerpt;

/// The widest word, and the widest key before one, that is shown in full.
const WIDEST: usize = 80;
/// The longest text that is taken for a word or a name.
const LONGEST_NAME: usize = 40;
/// The deepest indentation that is shown.
const DEEPEST: usize = 40;
/// What a tab is shown as: how far it goes depends on who shows it, and marks stand below.
const TAB: &str = "    ";
/// Values that tell nothing.
const TELLING_NOTHING: [&str; 3] = ["true", "false", "null"];

/// What stands at a place, as far as showing it is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spot {
    /// A key.
    Key,
    /// A value that is no credential, whatever it is.
    Word,
    /// A value that may be one.
    Hidden,
}

/// A line, divided where the place is.
pub(super) struct Line<'a> {
    pub before: &'a str,
    /// Begins with the word that is spoken of.
    pub after: &'a str,
    /// Where in `before` the key begins that the word is the value of.
    pub key: Option<usize>,
}

/// What is shown of a line: the word, the key it is the value of, and nothing else.
pub(super) fn excerpt(line: &Line<'_>, spot: Spot) -> Option<Excerpt> {
    let (word, after) = line.after.split_at(token(line.after));
    let first = word.chars().next()?;
    let shown = match (spot, first) {
        (_, '{' | '[') => first.to_string(),
        (Spot::Key, _) => cut(word),
        (Spot::Word, quote @ ('"' | '\'')) => {
            let inside = word.strip_prefix(quote).unwrap_or(word);
            format!("{quote}{}{quote}", beginning(inside.strip_suffix(quote).unwrap_or(inside)))
        }
        (Spot::Word, _) => beginning(word),
        (Spot::Hidden, _) if TELLING_NOTHING.contains(&word) => word.to_owned(),
        (Spot::Hidden, quote @ ('"' | '\'')) => format!("{quote}…{quote}"),
        (Spot::Hidden, _) => "…".to_owned(),
    };
    let prefix = prefix(line);
    let suffix = if after.trim().is_empty() { "" } else { " …" };
    let (from, width) = (columns(&prefix), columns(&shown));
    Some(Excerpt { text: format!("{prefix}{shown}{suffix}"), from, width })
}

/// What is shown before a word: its indentation, and the key it is the value of.
fn prefix(line: &Line<'_>) -> String {
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

/// The beginning of a text that should be a word or a name: what is longer, or goes on after a space
/// or a sign of assignment, may be something else that was put there by mistake.
pub(crate) fn beginning(text: &str) -> String {
    let goes_on = |c: char| c.is_whitespace() || c.is_control() || "=:".contains(c);
    let end = text.find(goes_on).unwrap_or(text.len());
    let end = text.char_indices().nth(LONGEST_NAME).map_or(end, |(longest, _)| end.min(longest));
    match end < text.len() {
        true => format!("{}…", &text[..end]),
        false => text.to_owned(),
    }
}

/// A word, its end left out where it is too long.
fn cut(word: &str) -> String {
    let word = visible(word);
    match word.char_indices().nth(WIDEST) {
        Some((end, _)) => format!("{}…", &word[..end]),
        None => word,
    }
}

/// A text whose characters each have a place of their own.
fn visible(text: &str) -> String {
    let shown = |c: char| match c {
        '\t' => TAB.to_owned(),
        c if c.is_control() => "\u{fffd}".to_owned(),
        c => c.to_string(),
    };
    text.chars().map(shown).collect()
}

/// How many columns a text takes on a terminal.
fn columns(text: &str) -> usize {
    text.chars().map(width).sum()
}

/// How many columns a character takes: none if it joins the one before, two in the scripts and
/// among the pictures that are drawn wide.
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

/// The length of the word a line begins with: a quoted text, or up to the next separator.
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

    /// The excerpt at `|`, the key of the value there at `^`.
    fn shown(line: &str, spot: Spot) -> String {
        let key = line.find('^');
        let line = line.replacen('^', "", 1);
        let (before, after) = line.split_once('|').unwrap();
        let Excerpt { text, from, width } = excerpt(&Line { before, after, key }, spot).unwrap();
        format!("{text}\n{}{}", " ".repeat(from), "^".repeat(width))
    }

    #[test]
    fn a_word_is_shown_with_its_key_and_a_value_is_not() {
        let line = r#"  "a": {"env": {"K": "canary"}, ^"type": |"htp", "x": "canary"}"#;
        assert_eq!(shown(line, Spot::Word), "  … \"type\": \"htp\" …\n            ^^^^^");
        assert_eq!(shown(line, Spot::Hidden), "  … \"type\": \"…\" …\n            ^^^");
        assert_eq!(shown("^PIN = |1234", Spot::Hidden), "PIN = …\n      ^");
        assert_eq!(shown("^on = |true", Spot::Hidden), "on = true\n     ^^^^");
        assert_eq!(shown(r#"["--token", |"canary"]"#, Spot::Hidden), "… \"…\" …\n  ^^^");
    }

    #[test]
    fn marks_stand_below_the_word_whatever_is_before_it() {
        assert_eq!(shown("\t|\"a\": 1", Spot::Key), "    \"a\" …\n    ^^^");
        assert_eq!(shown("^\"名前\": |\"x\"", Spot::Word), "\"名前\": \"x\"\n        ^^^");
        assert_eq!(shown("|\"e\u{301}\": 1", Spot::Key), "\"e\u{301}\" …\n^^^");
        let long = "x".repeat(200);
        let cut = shown(&format!("{}|{long}", " ".repeat(300)), Spot::Key);
        assert_eq!(cut.lines().next().unwrap().chars().count(), DEEPEST + WIDEST + 1);
        assert_eq!(shown(&format!("^{long}: |1"), Spot::Word), "… 1\n  ^");
    }
}
