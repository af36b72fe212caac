//! Splits a text into words: identifiers at camel-case boundaries and digits, scripts without
//! spaces into pairs of characters.
//!
//! It knows no language and drops only punctuation; other modules weigh the words.

use std::ops::Range;

use toolgate_terms::fold;

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SearchWord {
    /// The folded word.
    pub(crate) text: String,
    /// The start in the text, in bytes.
    pub(crate) start: usize,
    /// The end (exclusive), in bytes.
    pub(crate) end: usize,
    /// The kind of the word.
    pub(crate) kind: WordKind,
}

/// The kind of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordKind {
    /// A word as the text has it, or one camel-case part of an identifier.
    Plain,
    /// All parts of an identifier joined: `github` beside `git` and `hub`.
    Joined,
    /// Digits.
    Number,
    /// Two neighbouring characters of a script without spaces.
    Pair,
}

/// The maximum length of a word. Longer ones are truncated, because a hostile server can send them.
const LONGEST: usize = 64;

/// The maximum number of letters before digits that stay one word: `s3`, `mp3`, `ec2`; but `page`
/// `2`.
const TIED_LETTERS: usize = 3;

/// The maximum number of letters before a hyphen for which both sides also form one word.
const HYPHENED_LETTERS: usize = 2;

/// The class of a character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CharClass {
    Upper,
    Lower,
    Digit,
    Dense,
    Other,
}

/// Returns the words of `text` in order, at most `limit`. The joined form of an identifier follows
/// its parts.
pub(crate) fn words(text: &str, limit: usize) -> Vec<SearchWord> {
    let mut found = Vec::new();
    let mut before = 0..0;
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        if found.len() >= limit {
            break;
        }
        let dense = match class(c) {
            CharClass::Other => continue,
            class => class == CharClass::Dense,
        };
        let mut end = start + c.len_utf8();
        while let Some(&(at, next)) = chars.peek() {
            let same = match class(next) {
                CharClass::Other => false,
                class => (class == CharClass::Dense) == dense,
            };
            if !same {
                break;
            }
            end = at + next.len_utf8();
            chars.next();
        }
        if dense {
            pairs(text, start..end, &mut found);
        } else {
            run(text, start..end, &mut found);
            push_hyphenated(text, &before, start..end, &mut found);
        }
        before = start..end;
    }
    found.truncate(limit);
    found
}

fn class(c: char) -> CharClass {
    if c.is_ascii_lowercase() {
        return CharClass::Lower;
    }
    if c.is_ascii() {
        return match c {
            'A'..='Z' => CharClass::Upper,
            '0'..='9' => CharClass::Digit,
            _ => CharClass::Other,
        };
    }
    match c {
        '\u{300}'..='\u{36f}' => CharClass::Lower,
        '\u{ff10}'..='\u{ff19}' => CharClass::Digit,
        // Written without spaces, or with endings that a stemmer would have to know.
        _ if fold::is_dense(c) => CharClass::Dense,
        _ if c.is_uppercase() => CharClass::Upper,
        _ if c.is_alphabetic() => CharClass::Lower,
        _ => CharClass::Other,
    }
}

/// Adds every pair of neighbouring characters of a run; a single character stays alone.
fn pairs(text: &str, range: Range<usize>, found: &mut Vec<SearchWord>) {
    let places: Vec<usize> = text[range.clone()].char_indices().map(|(at, _)| at).collect();
    let mut push = |start: usize, end: usize| {
        let (start, end) = (range.start + start, range.start + end);
        found.push(SearchWord {
            text: text[start..end].to_owned(),
            start,
            end,
            kind: WordKind::Pair,
        });
    };
    if places.len() == 1 {
        return push(0, range.len());
    }
    for (at, &start) in places.iter().enumerate().take(places.len() - 1) {
        push(start, places.get(at + 2).copied().unwrap_or(range.len()));
    }
}

/// Adds the camel-case parts of one run of letters and digits, and their joined form if there are
/// several.
fn run(text: &str, range: Range<usize>, found: &mut Vec<SearchWord>) {
    if is_simple(&text.as_bytes()[range.clone()]) {
        return found.push(word(text, range.start, range.end, WordKind::Plain));
    }
    let cuts = cuts(&text[range.clone()]);
    let first = found.len();
    let mut humps = 0;
    for pair in cuts.windows(2) {
        let (start, end) = (range.start + pair[0], range.start + pair[1]);
        let word = word(text, start, end, WordKind::Plain);
        humps += usize::from(word.kind == WordKind::Plain);
        found.push(word);
    }
    if !join_letters_and_digits(text, &range, first, found) && humps > 1 {
        found.push(word(text, range.start, range.end, WordKind::Joined));
    }
}

/// Adds the joined form of a few letters, a hyphen and a word: `to-do`, `e-mail`, `x-ray`.
fn push_hyphenated(
    text: &str,
    before: &Range<usize>,
    range: Range<usize>,
    found: &mut Vec<SearchWord>,
) {
    let short = (1..=HYPHENED_LETTERS).contains(&before.len());
    if short && text.get(before.end..range.start) == Some("-") {
        let (head, tail) = (&text[before.clone()], &text[range.clone()]);
        if is_simple(head.as_bytes()) && is_simple(tail.as_bytes()) {
            let mut whole = word(text, before.start, range.end, WordKind::Joined);
            whole.text.retain(|c| c != '-');
            found.push(whole);
        }
    }
}

/// Returns true for the common case: plain letters, at most the first one a capital.
fn is_simple(run: &[u8]) -> bool {
    let rest = run.split_first().map_or(run, |(_, rest)| rest);
    run.first().is_some_and(u8::is_ascii_alphabetic) && rest.iter().all(u8::is_ascii_lowercase)
}

/// Replaces a few letters followed by digits by the whole: they are one word.
fn join_letters_and_digits(
    text: &str,
    range: &Range<usize>,
    first: usize,
    found: &mut Vec<SearchWord>,
) -> bool {
    let parts = &found[first..];
    let letters = parts.iter().filter(|word| word.kind == WordKind::Plain);
    let letters: usize = letters.map(|word| word.text.chars().count()).sum();
    let ties = parts.iter().any(|word| word.kind == WordKind::Number)
        && (1..=TIED_LETTERS).contains(&letters)
        && range.len() <= 2 * TIED_LETTERS;
    if ties {
        found.truncate(first);
        found.push(word(text, range.start, range.end, WordKind::Plain));
    }
    ties
}

fn word(text: &str, start: usize, end: usize, kind: WordKind) -> SearchWord {
    let piece = &text[start..end];
    let piece = &piece[..piece.floor_char_boundary(LONGEST)];
    let mut folded =
        if piece.is_ascii() { piece.to_ascii_lowercase() } else { fold::fold_text(piece) };
    folded.truncate(folded.floor_char_boundary(LONGEST));
    let digits = folded.bytes().all(|byte| byte.is_ascii_digit());
    SearchWord { text: folded, start, end, kind: if digits { WordKind::Number } else { kind } }
}

/// Returns where the parts of a run begin, and its end.
fn cuts(run: &str) -> Vec<usize> {
    let mut cuts = vec![0];
    let chars: Vec<(usize, CharClass)> = run.char_indices().map(|(at, c)| (at, class(c))).collect();
    for at in 1..chars.len() {
        let (place, now) = chars[at];
        let before = chars[at - 1].1;
        let after = chars.get(at + 1).map(|next| next.1);
        let hump = match (before, now) {
            (CharClass::Lower, CharClass::Upper) => true,
            // The last capital of an acronym begins the next part: `HTTPServer`; but `PDFs`.
            (CharClass::Upper, CharClass::Upper) => {
                after == Some(CharClass::Lower) && !plural_of_acronym(&chars, at)
            }
            (CharClass::Digit, other) | (other, CharClass::Digit) => other != CharClass::Digit,
            _ => false,
        };
        if hump {
            cuts.push(place);
        }
    }
    cuts.push(run.len());
    cuts
}

fn plural_of_acronym(chars: &[(usize, CharClass)], at: usize) -> bool {
    at + 2 == chars.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<String> {
        words(text, 100).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn identifiers_are_cut_at_humps_and_separators() {
        assert_eq!(
            cut("list_pull-requests/all.items"),
            ["list", "pull", "requests", "all", "items"]
        );
        assert_eq!(cut("getHTTPResponse"), ["get", "http", "response", "gethttpresponse"]);
        assert_eq!(cut("GitHub"), ["git", "hub", "github"]);
        assert_eq!(cut("PDFs"), ["pdfs"]);
    }

    #[test]
    fn short_letters_keep_their_digits() {
        assert_eq!(cut("s3 mp3 page2 k8s"), ["s3", "mp3", "page", "2", "k8s"]);
        assert_eq!(cut("2024-11-05"), ["2024", "11", "05"]);
    }

    #[test]
    fn a_few_letters_and_a_hyphen_belong_to_the_next_word() {
        assert_eq!(cut("to-do e-Mail"), ["to", "do", "todo", "e", "mail", "email"]);
        assert_eq!(cut("list-all a - b x-9"), ["list", "all", "a", "b", "x", "9"]);
    }

    #[test]
    fn scripts_without_spaces_become_pairs() {
        assert_eq!(cut("天气预报"), ["天气", "气预", "预报"]);
        assert_eq!(cut("PDFを開く"), ["pdf", "を開", "開く"]);
        assert_eq!(cut("猫"), ["猫"]);
    }

    #[test]
    fn words_are_bounded_in_length_and_number() {
        assert_eq!(cut(&"x".repeat(1000))[0].len(), LONGEST);
        assert_eq!(words(&"a b ".repeat(1000), 7).len(), 7);
    }

    #[test]
    fn nothing_comes_of_nothing() {
        assert!(cut("").is_empty());
        assert!(cut(" \u{0}\u{7}… — 🎉").is_empty());
    }
}
