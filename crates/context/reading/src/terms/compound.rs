//! Splits compounds: identifiers, hyphenated words, file names, versions, numbers.
//!
//! Each yields its parts and the whole, however it is joined: `parseConfig`, `parse_config` and
//! `parse-config` share all their words. Versions keep their points.

use std::ops::Range;

use super::words::{self, ByteClass, LONGEST, ScanBuffers};
use toolgate_terms::fold;

/// The maximum length of a compound, in bytes.
const FURTHEST: usize = 192;

/// The maximum number of pieces of a compound that is indexed as a whole. More are a sentence or a
/// path.
const MOST_PIECES: usize = 4;

/// The maximum number of camel-case parts. More are a key or a digest, not words.
const MOST_HUMPS: usize = 6;

/// The maximum number of underscores that join two words.
const MOST_LINES: usize = 8;

/// The maximum number of letters that form one word with digits: `s3`, `mp3`, `k8s`.
const TIED_LETTERS: usize = 3;

/// Endings after an apostrophe that are not words.
const CLITICS: [&str; 7] = ["s", "t", "m", "d", "ll", "ve", "re"];

/// Passes the words of the compound at the start to the sink. Returns its length.
pub(super) fn take(text: &str, room: &mut ScanBuffers, taker: &mut impl FnMut(&str)) -> usize {
    let compound = &text[..extent(text)];
    let mut pieces = std::mem::take(&mut room.pieces);
    split_pieces(compound, &mut pieces);
    let mut at = 0;
    while at < pieces.len() {
        let numbers = count_number_pieces(compound, &pieces[at..]);
        if numbers > 0 {
            take_number(compound, &pieces[at..at + numbers], room, taker);
            at += numbers;
        } else {
            if !is_clitic(compound, &pieces, at) {
                take_piece(&compound[pieces[at].clone()], room, taker);
            }
            at += 1;
        }
    }
    if pieces.len() > 1 {
        take_whole(compound, &pieces, room, taker);
    }
    room.pieces = pieces;
    compound.len()
}

fn extent(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut last_joiner = None;
    while let Some(&byte) = bytes.get(at) {
        if at > FURTHEST {
            at = last_joiner.unwrap_or(at);
            break;
        }
        let class = words::class(byte);
        if class < ByteClass::Joiner {
            at += 1;
            continue;
        }
        // Except for the comma, no ASCII joiner separates words elsewhere.
        let Some(c) =
            text[at..].chars().next().filter(|c| class != ByteClass::Between || *c == ',')
        else {
            break;
        };
        let is_word = !c.is_ascii() && fold::is_word(c) && !fold::is_dense(c);
        if !is_word {
            if !joins(text, at, c) {
                break;
            }
            last_joiner = Some(at);
        }
        at += c.len_utf8();
    }
    text[..at].trim_end_matches(is_joiner).len()
}

fn is_joiner(c: char) -> bool {
    matches!(c, '_' | '-' | '.' | '\'' | ',' | '\u{2010}' | '\u{2011}' | '\u{2019}')
}

/// Returns true if a character joins the words around it.
fn joins(text: &str, at: usize, c: char) -> bool {
    let rest = &text[at + c.len_utf8()..];
    let next = |c: char| fold::is_word(c) && !fold::is_dense(c);
    match c {
        '_' => {
            let more = rest.bytes().take(MOST_LINES).take_while(|byte| *byte == b'_').count();
            rest[more..].starts_with(next)
        }
        ',' => {
            let digits = rest.bytes().take(4).take_while(u8::is_ascii_digit).count();
            digits == 3 && text[..at].ends_with(|c: char| c.is_ascii_digit())
        }
        _ => is_joiner(c) && rest.starts_with(next),
    }
}

fn split_pieces(compound: &str, pieces: &mut Vec<Range<usize>>) {
    pieces.clear();
    let mut start = 0;
    for (at, c) in compound.char_indices().filter(|(_, c)| is_joiner(*c)) {
        if at > start {
            pieces.push(start..at);
        }
        start = at + c.len_utf8();
    }
    pieces.push(start..compound.len());
}

fn is_clitic(text: &str, pieces: &[Range<usize>], at: usize) -> bool {
    let before = text[..pieces[at].start].chars().next_back();
    at > 0
        && matches!(before, Some('\'' | '\u{2019}'))
        && CLITICS.iter().any(|clitic| text[pieces[at].clone()].eq_ignore_ascii_case(clitic))
}

/// Returns how many of the first pieces form one number: `3.14`, `v1.2.3`, `1,000`.
fn count_number_pieces(text: &str, pieces: &[Range<usize>]) -> usize {
    let is_digits = |piece: &str| !piece.is_empty() && piece.bytes().all(|b| b.is_ascii_digit());
    let Some(first) = pieces.first() else { return 0 };
    let leads = is_digits(text[first.clone()].trim_start_matches(['v', 'V']));
    let follows = |pair: &&[Range<usize>]| {
        matches!(&text[pair[0].end..pair[1].start], "." | ",") && is_digits(&text[pair[1].clone()])
    };
    let more = pieces.windows(2).take_while(follows).count();
    if leads && (more > 0 || is_digits(&text[first.clone()])) { 1 + more } else { 0 }
}

/// Passes on a number with its points, and also the first two parts of a longer version.
fn take_number(
    text: &str,
    pieces: &[Range<usize>],
    room: &mut ScanBuffers,
    taker: &mut impl FnMut(&str),
) {
    let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else { return };
    let digits = text[first.start..last.end].trim_start_matches(['v', 'V']);
    room.low.clear();
    room.low.extend(digits.chars().filter(|c| *c != ',').take(LONGEST));
    let digits = room.low.trim_end_matches('.');
    let third = digits.match_indices('.').nth(1);
    if let Some((at, _)) = third {
        taker(&digits[..at]);
    }
    taker(digits);
}

/// Passes on the camel-case parts of a piece, and the piece.
fn take_piece(piece: &str, room: &mut ScanBuffers, taker: &mut impl FnMut(&str)) {
    let mut cuts = std::mem::take(&mut room.cuts);
    find_humps(piece, &mut cuts);
    if cuts.len() > 2 && cuts.len() <= MOST_HUMPS + 1 && !keeps_digits(piece) {
        let humps = cuts.windows(2).map(|pair| &piece[pair[0]..pair[1]]);
        humps.filter(|hump| hump.len() > 1).for_each(|hump| take_word(hump, room, taker));
    }
    room.cuts = cuts;
    take_word(piece, room, taker);
}

fn keeps_digits(piece: &str) -> bool {
    piece.chars().any(|c| c.is_numeric())
        && piece.chars().filter(|c| !c.is_numeric()).take(TIED_LETTERS + 1).count() <= TIED_LETTERS
}

/// Finds where the camel-case parts of a piece begin, and its end. Stops at one more than the
/// maximum.
fn find_humps(piece: &str, cuts: &mut Vec<usize>) {
    cuts.clear();
    cuts.push(0);
    let mut before = None;
    let mut chars = piece.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let after = chars.peek().map(|(_, c)| *c);
        // The last capital of an acronym begins the next part: `HTTPServer`; but `PDFs`.
        let leads = || after.is_some_and(char::is_lowercase) && at + c.len_utf8() + 1 < piece.len();
        let is_hump = match before {
            Some(before) if c.is_uppercase() => !char::is_uppercase(before) || leads(),
            Some(before) => before.is_numeric() != c.is_numeric(),
            None => false,
        };
        if is_hump && cuts.len() <= MOST_HUMPS {
            cuts.push(at);
        }
        before = Some(c);
    }
    cuts.push(piece.len());
}

/// Passes on all pieces joined, if there are only a few.
fn take_whole(
    compound: &str,
    pieces: &[Range<usize>],
    room: &mut ScanBuffers,
    taker: &mut impl FnMut(&str),
) {
    let is_name = pieces.len() <= MOST_PIECES
        && compound.len() <= LONGEST
        && !compound.contains(['\'', '\u{2019}', ','])
        && count_number_pieces(compound, pieces) < pieces.len();
    if is_name {
        let joined: String = pieces.iter().map(|piece| &compound[piece.clone()]).collect();
        take_word(&joined, room, taker);
    }
}

fn take_word(piece: &str, room: &mut ScanBuffers, taker: &mut impl FnMut(&str)) {
    if piece.is_ascii() {
        return taker(words::lower(&piece[..piece.len().min(LONGEST)], &mut room.low));
    }
    room.low.clear();
    fold::lower(piece, &mut room.low);
    room.low.truncate(room.low.floor_char_boundary(LONGEST));
    if room.low.contains(char::is_alphanumeric) {
        taker(&room.low);
    }
}

#[cfg(test)]
mod tests {
    use crate::terms::words::tests::kept;

    #[test]
    fn identifiers_are_parts_and_whole() {
        assert_eq!(kept("parseConfig"), ["parse", "config", "parseconfig"]);
        assert_eq!(kept("parse_config"), ["parse", "config", "parseconfig"]);
        assert_eq!(kept("parse-config"), ["parse", "config", "parseconfig"]);
        assert_eq!(kept("getHTTPResponse"), ["get", "http", "response", "gethttpresponse"]);
        assert_eq!(kept("config.toml"), ["config", "toml", "configtoml"]);
        assert_eq!(kept("__init__"), ["init"]);
        assert_eq!(kept("a__b"), ["a", "b", "ab"]);
        assert_eq!(kept("PDFs HTTP"), ["pdfs", "http"]);
    }

    #[test]
    fn letters_keep_their_digits() {
        assert_eq!(kept("s3 mp3 k8s"), ["s3", "mp3", "k8s"]);
        assert_eq!(kept("python3 page12"), ["python", "python3", "page", "12", "page12"]);
        assert_eq!(kept("utf-8"), ["utf", "8", "utf8"]);
    }

    #[test]
    fn numbers_and_versions_keep_their_points() {
        assert_eq!(kept("3.14"), ["3.14"]);
        assert_eq!(kept("v1.2.3"), ["1.2", "1.2.3"]);
        assert_eq!(kept("1,000,000 and 1,2"), ["1000000", "and", "1", "2"]);
        assert_eq!(kept("2024-11-05"), ["2024", "11", "05", "20241105"]);
        assert_eq!(kept("node-18.2.0."), ["node", "18.2", "18.2.0", "node1820"]);
        assert_eq!(kept("v2"), ["v2"]);
    }

    #[test]
    fn apostrophes_part_words() {
        assert_eq!(kept("don't John's l’homme"), ["don", "john", "l", "homme"]);
    }

    #[test]
    fn keys_and_paths_stay_bounded() {
        assert_eq!(kept("aGVsbG8gd29ybGQ").len(), 1);
        assert_eq!(kept("a-b-c-d-e-f").len(), 6);
        let long = "ab-".repeat(1000);
        assert_eq!(kept(&long).len(), 1000);
    }
}
