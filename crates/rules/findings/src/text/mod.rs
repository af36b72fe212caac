//! Text as a model may read it: without what nobody would see.
//!
//! Control, bidirectional, zero-width, tag and other invisible characters go, and commands to a
//! terminal go whole. What belongs to writing stays: line ends and tabs, the joiners inside emoji
//! and between letters of scripts that use them, one selector behind a character that has variants,
//! and the three flags that are written with tags. Line ends of other kinds become `\n`, so that
//! words do not grow together.
//!
//! Nothing is judged here: what was found is told by `catalog`.

mod json;
mod scripts;
mod sequence;
mod suspect;

use std::borrow::Cow;

use toolgate_model::is_invisible;

pub use json::strip_json;
pub use suspect::Watch;

use scripts::{
    FLAGS, is_ideograph, is_joining, is_keycap, is_mongolian, is_operator, is_pictograph,
};

const CANCEL_TAG: char = '\u{E007F}';
const BLACK_FLAG: char = '\u{1F3F4}';

/// What becomes of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stays,
    Goes,
    /// It ends a line in a way of its own.
    Ends,
}

/// The text without what nobody would see; borrowed if there is nothing of that.
pub fn stripped(text: &str) -> Cow<'_, str> {
    if suspect::find(text.as_bytes(), 0, false).is_none() {
        return Cow::Borrowed(text);
    }
    let mut cut = Cut::new(text.as_bytes(), "\n");
    let units = text.char_indices().map(|(at, c)| (c, at, at + c.len_utf8()));
    walk(units, |fate, from, to| cut.take(fate, from, to));
    match cut.finish() {
        // Whole characters went, so that what is left is text.
        Some(left) => Cow::Owned(String::from_utf8_lossy(&left).into_owned()),
        None => Cow::Borrowed(text),
    }
}

/// The characters of a text that a model is not given, each once, in order of their numbers.
pub fn hidden(text: &str) -> Vec<char> {
    if suspect::find(text.as_bytes(), 0, false).is_none() {
        return Vec::new();
    }
    let mut found = std::collections::BTreeSet::new();
    let units = text.char_indices().map(|(at, c)| (c, at, at + c.len_utf8()));
    walk(units, |fate, from, _| {
        let c = text.get(from..).and_then(|rest| rest.chars().next());
        found.extend(c.filter(|c| fate != Fate::Stays && is_hidden(*c)));
    });
    found.into_iter().collect()
}

/// Whether a character needs a reason to stay.
fn is_hidden(c: char) -> bool {
    is_invisible(c) && !matches!(c, '\n' | '\r' | '\t')
}

/// Goes over characters with the places they stand at, and says of each what becomes of it.
fn walk(
    mut units: impl Iterator<Item = (char, usize, usize)> + Clone,
    mut tell: impl FnMut(Fate, usize, usize),
) {
    let mut last = None;
    while let Some((c, from, to)) = units.next() {
        let ahead = || units.clone().map(|(c, ..)| c);
        if !is_hidden(c) {
            tell(Fate::Stays, from, to);
            last = Some(c);
            let tags = if c == BLACK_FLAG { flag(ahead()) } else { 0 };
            for (c, from, to) in units.by_ref().take(tags) {
                tell(Fate::Stays, from, to);
                last = Some(c);
            }
            continue;
        }
        if belongs(c, last, ahead().next()) {
            tell(Fate::Stays, from, to);
            last = Some(c);
            continue;
        }
        match c {
            '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                tell(Fate::Ends, from, to);
                last = Some('\n');
            }
            _ => tell(Fate::Goes, from, to),
        }
        let command = sequence::behind(c, ahead());
        for (_, from, to) in units.by_ref().take(command) {
            tell(Fate::Goes, from, to);
        }
    }
}

/// Whether a character nobody sees is part of writing here: `last` is what stays before it, `next`
/// what comes behind it.
fn belongs(c: char, last: Option<char>, next: Option<char>) -> bool {
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
        // Those that the registered collections of variants use.
        '\u{E0100}'..='\u{E011F}' => is_ideograph(last),
        _ => false,
    }
}

/// How many tags behind a black flag make it one of the flags that are written so.
fn flag(tags: impl Iterator<Item = char> + Clone) -> usize {
    let as_tag = |c: char| char::from_u32(c as u32 + 0xE0000);
    let fits = |name: &&&str| {
        let written = name.chars().filter_map(as_tag).chain([CANCEL_TAG]);
        tags.clone().take(name.len() + 1).eq(written)
    };
    FLAGS.iter().find(fits).map_or(0, |name| name.len() + 1)
}

/// A copy without what goes, made only once something does.
struct Cut<'a> {
    source: &'a [u8],
    copied: usize,
    out: Option<Vec<u8>>,
    line_end: &'static str,
}

impl<'a> Cut<'a> {
    fn new(source: &'a [u8], line_end: &'static str) -> Self {
        Self { source, copied: 0, out: None, line_end }
    }

    fn take(&mut self, fate: Fate, from: usize, to: usize) {
        match fate {
            Fate::Stays => {}
            Fate::Goes => self.put(from, to, b""),
            Fate::Ends => self.put(from, to, self.line_end.as_bytes()),
        }
    }

    /// Puts something in place of a part of the source, behind everything so far.
    fn put(&mut self, from: usize, to: usize, instead: &[u8]) {
        let out = self.out.get_or_insert_with(|| Vec::with_capacity(self.source.len()));
        out.extend_from_slice(self.source.get(self.copied..from).unwrap_or_default());
        out.extend_from_slice(instead);
        self.copied = to;
    }

    /// The copy; `None` if nothing went.
    fn finish(self) -> Option<Vec<u8>> {
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
            assert_eq!(stripped(text), left, "{text:?}");
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
            assert!(matches!(stripped(text), Cow::Borrowed(_)), "{text:?}");
            assert!(hidden(text).is_empty(), "{text:?}");
        }
    }

    #[test]
    fn a_joiner_or_selector_stays_once() {
        assert_eq!(stripped("می\u{200c}\u{200c}\u{200c}خ"), "می\u{200c}خ");
        assert_eq!(stripped("❤\u{fe0f}\u{fe0f}\u{fe0e}"), "❤\u{fe0f}");
    }

    #[test]
    fn what_was_hidden_is_named_once() {
        assert_eq!(hidden("a\u{202e}b\u{1b}[1mc\u{202e}"), ['\u{1b}', '\u{202e}']);
    }
}
