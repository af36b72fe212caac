//! Finds the words of a text. Plain words are handled here, compounds in `compound`, and scripts
//! without blanks in `dense`.
//!
//! Other modules weigh words and relate their forms.

use std::ops::Range;

use toolgate_terms::fold;

use super::{compound, dense};

/// The maximum length of a word, in bytes. Longer ones are truncated.
pub(super) const LONGEST: usize = 48;

/// The purpose of scanning a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordScanPurpose {
    /// To index it.
    Index,
    /// To query: only the words that tell something.
    Query,
}

/// Reusable buffers for scanning.
#[derive(Debug, Default)]
pub(super) struct ScanBuffers {
    /// A word in lower case.
    pub(super) low: String,
    /// The pieces of a compound.
    pub(super) pieces: Vec<Range<usize>>,
    /// Where the camel-case parts of a piece begin.
    pub(super) cuts: Vec<usize>,
}

/// Passes the words of a text to a sink, in order.
pub(super) fn scan(
    text: &str,
    purpose: WordScanPurpose,
    room: &mut ScanBuffers,
    taker: &mut impl FnMut(&str),
) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let class = class(byte);
        if class == ByteClass::Between || class == ByteClass::Joiner {
            at += 1;
            continue;
        }
        let mut end = at + 1;
        while class < ByteClass::Digit && is_lower(bytes, end) {
            end += 1;
        }
        if class < ByteClass::Digit && end - at <= LONGEST && ends(bytes, end) {
            take_plain(&text[at..], end - at, room, taker);
            at = end;
        } else if class == ByteClass::Beyond {
            at = take_non_ascii(text, at, purpose, room, taker);
        } else {
            at += compound::take(&text[at..], room, taker);
        }
    }
}

fn is_lower(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_some_and(|byte| class(*byte) == ByteClass::Lower)
}

/// Passes on a word of plain letters, at most the first one a capital.
fn take_plain(text: &str, length: usize, room: &mut ScanBuffers, taker: &mut impl FnMut(&str)) {
    let (word, rest) = text.split_at(length);
    if length == 1 && take_symbol(word, rest.as_bytes(), taker) {
        return;
    }
    if word.as_bytes()[0].is_ascii_lowercase() {
        return taker(word);
    }
    taker(lower(word, &mut room.low));
}

/// Returns an ASCII word in lower case.
pub(super) fn lower<'a>(word: &str, low: &'a mut String) -> &'a str {
    low.clear();
    low.push_str(word);
    low.make_ascii_lowercase();
    low
}

/// Passes on a name of a letter and signs: `C++`, `F#`.
fn take_symbol(letter: &str, rest: &[u8], taker: &mut impl FnMut(&str)) -> bool {
    let sign = match rest {
        [b'+', b'+', ..] => "plusplus",
        [b'#', ..] => "sharp",
        _ => return false,
    };
    taker(&(letter.to_ascii_lowercase() + sign));
    true
}

/// Passes on words that begin with a non-ASCII character. Returns their end.
fn take_non_ascii(
    text: &str,
    at: usize,
    purpose: WordScanPurpose,
    room: &mut ScanBuffers,
    taker: &mut impl FnMut(&str),
) -> usize {
    let Some(first) = text[at..].chars().next() else { return text.len() };
    if fold::is_dense(first) {
        return at + dense::take(&text[at..], purpose, taker);
    }
    if !fold::is_word(first) {
        return at + first.len_utf8();
    }
    at + compound::take(&text[at..], room, taker)
}

/// Returns true if a word of plain letters ends here.
fn ends(bytes: &[u8], end: usize) -> bool {
    let at = |at: usize| bytes.get(at).map_or(ByteClass::Between, |byte| class(*byte));
    match at(end) {
        ByteClass::Between => true,
        ByteClass::Joiner => at(end + 1) == ByteClass::Between,
        _ => false,
    }
}

/// The class of a byte within words. Letters come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ByteClass {
    Lower,
    Upper,
    Digit,
    Joiner,
    Between,
    Beyond,
}

pub(super) fn class(byte: u8) -> ByteClass {
    CLASS[usize::from(byte)]
}

const CLASS: [ByteClass; 256] = {
    let mut table = [ByteClass::Between; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' => ByteClass::Lower,
            b'A'..=b'Z' => ByteClass::Upper,
            b'0'..=b'9' => ByteClass::Digit,
            b'_' | b'-' | b'.' | b'\'' => ByteClass::Joiner,
            0x80.. => ByteClass::Beyond,
            _ => ByteClass::Between,
        };
        byte += 1;
    }
    table
};

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn scanned(text: &str, purpose: WordScanPurpose) -> Vec<String> {
        let mut words = Vec::new();
        let mut push = |word: &str| words.push(word.to_owned());
        scan(text, purpose, &mut ScanBuffers::default(), &mut push);
        words
    }

    pub(in super::super) fn kept(text: &str) -> Vec<String> {
        scanned(text, WordScanPurpose::Index)
    }

    pub(in super::super) fn asked(text: &str) -> Vec<String> {
        scanned(text, WordScanPurpose::Query)
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
