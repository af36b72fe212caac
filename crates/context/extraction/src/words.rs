//! Compares words: folded, without endings, and with irregular forms.
//!
//! These are not the terms of the index. Here two words are compared directly, so related forms
//! that no rule joins can still match.

use std::collections::HashSet;

use toolgate_terms::fold::fold_text;
pub(crate) use toolgate_terms::stem::english as stem;

/// A word of a text and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextWord<'a> {
    /// The word as the text has it.
    pub(crate) text: &'a str,
    /// The start, in bytes.
    pub(crate) start: usize,
}

/// Returns the words of a text. Names such as `no_std`, `serde_json::Value`, `0.9.1`, `C++` are one
/// word.
pub(crate) fn words(text: &str) -> impl Iterator<Item = TextWord<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let skip = rest.find(|c: char| c.is_alphanumeric())?;
        let start = at + skip;
        let end = start + length(&text[start..]);
        at = end;
        Some(TextWord { text: &text[start..end], start })
    })
}

/// Returns the length of the word at the start. Connectors count only between letters or digits.
fn length(text: &str) -> usize {
    let mut end = 0;
    for (at, c) in text.char_indices() {
        if is_wide(c) {
            return if at == 0 { c.len_utf8() } else { end };
        }
        if c.is_alphanumeric() {
            end = at + c.len_utf8();
        } else if !matches!(c, '_' | '.' | '-' | '\'' | '’' | ':' | '+' | '#') {
            break;
        } else if matches!(c, '+' | '#') && at == end {
            // `C++`, `C#`.
            let letters = text[..at].chars().all(|c| c.is_alphabetic() || c == '+');
            end = if at <= 2 && letters { at + 1 } else { end };
        } else if at > end + 1 {
            break;
        }
    }
    end
}

/// Returns true if a character is a word by itself, as in Chinese and Japanese.
fn is_wide(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x30ff | 0x3400..=0x9fff | 0xac00..=0xd7af | 0xf900..=0xfaff)
}

/// The stems of a text's words.
#[derive(Debug, Clone, Default)]
pub(crate) struct StemSet(HashSet<String>);

impl StemSet {
    /// Returns the stems of a text.
    pub(crate) fn of(text: &str) -> Self {
        let mut stems = Self::default();
        stems.add(text);
        stems
    }

    /// Adds the stems of another text.
    pub(crate) fn add(&mut self, text: &str) {
        for word in words(text) {
            let folded = fold(word.text);
            for part in split_identifier(word.text) {
                self.0.insert(stem(&fold(part)));
            }
            self.0.insert(stem(&folded));
        }
    }

    /// Adds the stems of another set.
    pub(crate) fn join(&mut self, other: &Self) {
        self.0.extend(other.0.iter().cloned());
    }

    /// Returns true if one of the stems is this one, or differs from it only in its ending.
    pub(crate) fn contains(&self, wanted: &str) -> bool {
        self.0.contains(wanted)
            || wanted.len() >= 6 && self.0.iter().any(|stem| are_related(stem, wanted))
    }

    /// Returns the number of stems.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the number of stems that both sets contain.
    pub(crate) fn shared(&self, other: &Self) -> usize {
        self.0.iter().filter(|stem| other.0.contains(*stem)).count()
    }
}

/// Returns true if a list of words, each between blanks, contains the word.
pub(crate) fn listed(list: &str, word: &str) -> bool {
    !word.is_empty() && !word.contains(' ') && list.contains(&format!(" {word} "))
}

/// Splits an identifier into pieces: `serde_json` → `serde`, `json`; `camelCase` → `camel`, `Case`.
pub(crate) fn split_identifier(word: &str) -> Vec<&str> {
    // Versions and decimals are not split.
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        return vec![word];
    }
    let mut found = Vec::new();
    for piece in word.split(|c: char| !c.is_alphanumeric()).filter(|piece| !piece.is_empty()) {
        let mut start = 0;
        let mut small = false;
        for (at, c) in piece.char_indices() {
            if small && c.is_uppercase() {
                found.push(&piece[start..at]);
                start = at;
            }
            small = c.is_lowercase();
        }
        found.push(&piece[start..]);
    }
    found
}

/// Returns the word in lower case, without accents and possessive endings. German umlauts become
/// two letters.
pub(crate) fn fold(word: &str) -> String {
    let word = word.trim_end_matches("'s").trim_end_matches("’s").trim_end_matches(['\'', '’']);
    let low = word.to_lowercase().replace('ä', "ae").replace('ö', "oe").replace('ü', "ue");
    fold_text(&low)
}

/// Returns true if two stems are forms of one word: a long common prefix and short endings.
fn are_related(one: &str, other: &str) -> bool {
    let common = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    common >= 6
        && one.len() <= common + 3
        && other.len() <= common + 3
        && one.bytes().all(|byte| byte.is_ascii_alphabetic())
}
