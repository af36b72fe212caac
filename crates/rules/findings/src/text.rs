//! Classifies the invisible characters of a text.
//!
//! What nobody sees is removed: control, bidirectional, zero-width, tag and other invisible
//! characters, and whole terminal escape sequences. What writing needs is kept: line ends and tabs,
//! joiners inside emoji and between letters of scripts that use them, one selector after a character
//! that has variants, and the three flags that are written with tags. Other line separators become
//! `\n`, so that words do not run together.
//!
//! This module reports nothing; `catalog` creates the findings.

mod invisible_scan;
mod scripts;
mod terminal_commands;

use std::borrow::Cow;

use toolgate_model::is_invisible;

pub use invisible_scan::{HiddenCharDetector, decode_char, decode_escape, find_invisible};

use scripts::{
    FLAGS, is_ideograph, is_joining, is_keycap, is_mongolian, is_operator, is_pictograph,
};

const CANCEL_TAG: char = '\u{E007F}';
const BLACK_FLAG: char = '\u{1F3F4}';

/// What to do with a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CharAction {
    /// Keep it.
    Keep,
    /// Remove it.
    Remove,
    /// Replace an unusual line separator by a line feed.
    NewLine,
}

/// Returns the text without invisible characters; borrowed if there are none.
pub fn strip_text(text: &str) -> Cow<'_, str> {
    if find_invisible(text.as_bytes(), 0, false).is_none() {
        return Cow::Borrowed(text);
    }
    let mut cut = StrippedText::new(text.as_bytes(), "\n");
    let units = text.char_indices().map(|(at, c)| (c, at, at + c.len_utf8()));
    classify_chars(units, |fate, from, to| cut.take(fate, from, to));
    match cut.finish() {
        // Only whole characters were removed, so the rest is valid UTF-8.
        Some(left) => Cow::Owned(String::from_utf8_lossy(&left).into_owned()),
        None => Cow::Borrowed(text),
    }
}

/// Returns the characters that [`strip_text`] removes, each once, in code point order.
pub fn hidden_chars(text: &str) -> Vec<char> {
    if find_invisible(text.as_bytes(), 0, false).is_none() {
        return Vec::new();
    }
    let mut found = std::collections::BTreeSet::new();
    let units = text.char_indices().map(|(at, c)| (c, at, at + c.len_utf8()));
    classify_chars(units, |fate, from, _| {
        let c = text.get(from..).and_then(|rest| rest.chars().next());
        found.extend(c.filter(|c| fate != CharAction::Keep && is_hidden(*c)));
    });
    found.into_iter().collect()
}

/// Returns true if the character is removed unless the script needs it.
pub fn is_hidden(c: char) -> bool {
    is_invisible(c) && !matches!(c, '\n' | '\r' | '\t')
}

/// Calls `tell` with the action for each character and its byte range.
pub fn classify_chars(
    mut units: impl Iterator<Item = (char, usize, usize)> + Clone,
    mut tell: impl FnMut(CharAction, usize, usize),
) {
    let mut last = None;
    while let Some((c, from, to)) = units.next() {
        let ahead = || units.clone().map(|(c, ..)| c);
        if !is_hidden(c) {
            tell(CharAction::Keep, from, to);
            last = Some(c);
            let tags = if c == BLACK_FLAG { flag(ahead()) } else { 0 };
            for (c, from, to) in units.by_ref().take(tags) {
                tell(CharAction::Keep, from, to);
                last = Some(c);
            }
            continue;
        }
        if is_needed_by_script(c, last, ahead().next()) {
            tell(CharAction::Keep, from, to);
            last = Some(c);
            continue;
        }
        match c {
            '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                tell(CharAction::NewLine, from, to);
                last = Some('\n');
            }
            _ => tell(CharAction::Remove, from, to),
        }
        let command = terminal_commands::command_len(c, ahead());
        for (_, from, to) in units.by_ref().take(command) {
            tell(CharAction::Remove, from, to);
        }
    }
}

/// Returns true if the script needs this invisible character. `last` is the last character that was
/// kept, `next` the following one.
fn is_needed_by_script(c: char, last: Option<char>, next: Option<char>) -> bool {
    let Some(last) = last else { return false };
    match c {
        '\u{200C}' => is_joining(last),
        '\u{200D}' => {
            let joins_emoji =
                || (is_pictograph(last) || last == '\u{FE0F}') && next.is_some_and(is_pictograph);
            is_joining(last) || joins_emoji()
        }
        '\u{FE00}'..='\u{FE02}' => is_ideograph(last) || is_operator(last),
        '\u{FE0E}' | '\u{FE0F}' => is_pictograph(last) || is_keycap(last),
        '\u{180B}'..='\u{180F}' => is_mongolian(last),
        // The selectors that registered variation collections use.
        '\u{E0100}'..='\u{E011F}' => is_ideograph(last),
        _ => false,
    }
}

/// Returns how many tags after a black flag form one of the known flags.
fn flag(tags: impl Iterator<Item = char> + Clone) -> usize {
    let as_tag = |c: char| char::from_u32(c as u32 + 0xE0000);
    let fits = |name: &&&str| {
        let written = name.chars().filter_map(as_tag).chain([CANCEL_TAG]);
        tags.clone().take(name.len() + 1).eq(written)
    };
    FLAGS.iter().find(fits).map_or(0, |name| name.len() + 1)
}

/// A copy of the source without the removed parts. It allocates only when something is removed.
pub struct StrippedText<'a> {
    source: &'a [u8],
    copied: usize,
    out: Option<Vec<u8>>,
    line_end: &'static str,
}

impl<'a> StrippedText<'a> {
    /// Starts a copy in which `line_end` replaces unusual line separators.
    pub fn new(source: &'a [u8], line_end: &'static str) -> Self {
        Self { source, copied: 0, out: None, line_end }
    }

    /// Applies an action to a part of the source.
    pub fn take(&mut self, fate: CharAction, from: usize, to: usize) {
        match fate {
            CharAction::Keep => {}
            CharAction::Remove => self.put(from, to, b""),
            CharAction::NewLine => self.put(from, to, self.line_end.as_bytes()),
        }
    }

    /// Replaces a part of the source. Parts must come in ascending order.
    pub fn put(&mut self, from: usize, to: usize, instead: &[u8]) {
        let out = self.out.get_or_insert_with(|| Vec::with_capacity(self.source.len()));
        out.extend_from_slice(self.source.get(self.copied..from).unwrap_or_default());
        out.extend_from_slice(instead);
        self.copied = to;
    }

    /// Returns the copy, or `None` if nothing was removed.
    pub fn finish(self) -> Option<Vec<u8>> {
        let mut out = self.out?;
        out.extend_from_slice(self.source.get(self.copied..).unwrap_or_default());
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_goes() {
        for (text, left) in [
            ("a\u{200b}b\u{202e}c\u{feff}", "abc"),
            ("x\u{1b}[31mred\u{1b}[0m", "xred"),
            ("\u{1b}]8;;https://evil.example\u{7}docs\u{1b}]8;;\u{7}", "docs"),
            ("a\u{e0049}\u{e0067}\u{e006e}", "a"),
            ("one\u{2028}two\u{c}three\u{85}four", "one\ntwo\nthree\nfour"),
            ("soft\u{ad}hyphen", "softhyphen"),
            ("a\u{fe0f}\u{fe00}", "a"),
            ("\u{1F600}\u{e0101}\u{e0102}", "\u{1F600}"),
            ("\u{1F3F4}\u{e0067}\u{e0062}\u{e0078}\u{e007f}", "\u{1F3F4}"),
            ("a\u{200d}b", "ab"),
        ] {
            assert_eq!(strip_text(text), left, "{text:?}");
        }
    }

    #[test]
    fn what_belongs_to_writing_stays() {
        for text in [
            "line\r\n\ttab",
            "👩\u{200d}👩\u{200d}👧",
            "❤\u{fe0f}\u{200d}🔥",
            "1\u{fe0f}\u{20e3}",
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "\u{1F3F4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
            "葛\u{e0100}",
            "日本語 Zażółć",
        ] {
            assert!(matches!(strip_text(text), Cow::Borrowed(_)), "{text:?}");
            assert!(hidden_chars(text).is_empty(), "{text:?}");
        }
    }

    #[test]
    fn a_joiner_or_selector_stays_once() {
        assert_eq!(strip_text("می\u{200c}\u{200c}\u{200c}خ"), "می\u{200c}خ");
        assert_eq!(strip_text("❤\u{fe0f}\u{fe0f}\u{fe0e}"), "❤\u{fe0f}");
    }

    #[test]
    fn what_was_hidden_is_named_once() {
        assert_eq!(hidden_chars("a\u{202e}b\u{1b}[1mc\u{202e}"), ['\u{1b}', '\u{202e}']);
    }
}
