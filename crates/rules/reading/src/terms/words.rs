//! Finds the words of a text. Plain ones are met in the loop below; whatever is put together goes to
//! `compound`, and scripts without blanks to `dense`.
//!
//! What a word is worth, and which words are forms of one, is decided elsewhere.

use std::ops::Range;

use super::{compound, dense, fold};

/// Longer words are cut: nobody types them.
pub(super) const LONGEST: usize = 48;

/// Why words are taken from a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It is to be found by them.
    Keep,
    /// They are looked for: no more of them than tell something.
    Ask,
}

/// What takes words, in lower case.
pub(super) trait Taker {
    fn take(&mut self, word: &str);
}

/// What finding words needs room for.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// A word in lower case.
    pub(super) low: String,
    /// The pieces of a compound.
    pub(super) pieces: Vec<Range<usize>>,
    /// Where the humps of a piece begin.
    pub(super) cuts: Vec<usize>,
}

/// Hands the words of a text to a taker, in order.
pub(super) fn scan(text: &str, purpose: Purpose, room: &mut Room, taker: &mut impl Taker) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let class = class(byte);
        if class == Class::Between || class == Class::Joiner {
            at += 1;
            continue;
        }
        let mut end = at + 1;
        while class < Class::Digit && is_lower(bytes, end) {
            end += 1;
        }
        if class < Class::Digit && end - at <= LONGEST && ends(bytes, end) {
            plain(&text[at..], end - at, room, taker);
            at = end;
        } else if class == Class::Beyond {
            at = other(text, at, purpose, room, taker);
        } else {
            at += compound::take(&text[at..], room, taker);
        }
    }
}

fn is_lower(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_some_and(|byte| class(*byte) == Class::Lower)
}

/// A word of plain letters, at most the first of them a capital.
fn plain(text: &str, length: usize, room: &mut Room, taker: &mut impl Taker) {
    let (word, rest) = text.split_at(length);
    if length == 1 && symbol(word, rest.as_bytes(), taker) {
        return;
    }
    if word.as_bytes()[0].is_ascii_lowercase() {
        return taker.take(word);
    }
    taker.take(lower(word, &mut room.low));
}

/// A word of ASCII letters in lower case.
pub(super) fn lower<'a>(word: &str, low: &'a mut String) -> &'a str {
    low.clear();
    low.push_str(word);
    low.make_ascii_lowercase();
    low
}

/// A letter that a sign makes another name: `C++`, `F#`.
fn symbol(letter: &str, rest: &[u8], taker: &mut impl Taker) -> bool {
    let sign = match rest {
        [b'+', b'+', ..] => "plusplus",
        [b'#', ..] => "sharp",
        _ => return false,
    };
    taker.take(&(letter.to_ascii_lowercase() + sign));
    true
}

/// What begins beyond ASCII; says where it ends.
fn other(
    text: &str,
    at: usize,
    purpose: Purpose,
    room: &mut Room,
    taker: &mut impl Taker,
) -> usize {
    let Some(first) = text[at..].chars().next() else { return text.len() };
    if dense::is_dense(first) {
        return at + dense::take(&text[at..], purpose, taker);
    }
    if !fold::is_word(first) {
        return at + first.len_utf8();
    }
    at + compound::take(&text[at..], room, taker)
}

/// Whether a word of plain letters is over here.
fn ends(bytes: &[u8], end: usize) -> bool {
    let at = |at: usize| bytes.get(at).map_or(Class::Between, |byte| class(*byte));
    match at(end) {
        Class::Between => true,
        Class::Joiner => at(end + 1) == Class::Between,
        _ => false,
    }
}

/// What a byte is to a word. Letters come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    Lower,
    Upper,
    Digit,
    Joiner,
    Between,
    Beyond,
}

pub(super) fn class(byte: u8) -> Class {
    CLASS[usize::from(byte)]
}

const CLASS: [Class; 256] = {
    let mut table = [Class::Between; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            b'_' | b'-' | b'.' | b'\'' => Class::Joiner,
            0x80.. => Class::Beyond,
            _ => Class::Between,
        };
        byte += 1;
    }
    table
};

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    impl Taker for Vec<String> {
        fn take(&mut self, word: &str) {
            self.push(word.to_owned());
        }
    }

    pub(in super::super) fn kept(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        scan(text, Purpose::Keep, &mut Room::default(), &mut words);
        words
    }

    pub(in super::super) fn asked(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        scan(text, Purpose::Ask, &mut Room::default(), &mut words);
        words
    }

    #[test]
    fn plain_words_come_in_lower_case_and_in_order() {
        assert_eq!(
            kept("The Quick, brown (fox) – jumps."),
            ["the", "quick", "brown", "fox", "jumps"]
        );
        assert_eq!(kept("**bold** _it_ `x` a.\nb"), ["bold", "it", "x", "a", "b"]);
    }

    #[test]
    fn signs_that_make_a_name_stay() {
        assert_eq!(kept("C++ and c# or C"), ["cplusplus", "and", "csharp", "or", "c"]);
    }

    #[test]
    fn words_of_all_scripts_are_found() {
        assert_eq!(kept("Größe МИР שלום हिन्दी"), ["größe", "мир", "שלום", "हिन्दी"]);
    }

    #[test]
    fn words_are_bounded() {
        assert_eq!(kept(&"x".repeat(1000))[0].len(), LONGEST);
        assert!(kept(&"é".repeat(1000)).iter().all(|word| word.len() <= LONGEST));
    }

    #[test]
    fn nothing_comes_of_nothing() {
        assert!(kept("").is_empty());
        assert!(kept(" \u{0}\u{7}… — 🎉 _-.' ''").is_empty());
    }
}
