//! Finds where to split a text that is too long: preferably between paragraphs, then sentences,
//! lines, and words.

use std::ops::Range;

/// The minimum length of a part, in sixteenths of the maximum.
const LEAST: usize = 9;

/// Returns the offset at which to split a piece that is longer than `most`: after its start, and at
/// most `most` bytes later. Only the end of the part is searched, so splitting a text takes linear
/// time.
pub(crate) fn find_split(text: &str, piece: &Range<usize>, most: usize) -> usize {
    let end = text.floor_char_boundary(piece.start + most);
    let from = piece.start + most * LEAST / 16;
    let bytes = text.as_bytes();
    let mut best = (0, end);
    for at in from..end {
        let worth = split_score(&bytes[..piece.end], at);
        if worth > 0 && worth >= best.0 {
            best = (worth, at + 1);
        }
    }
    best.1
}

/// Returns how good a split after this byte is.
fn split_score(bytes: &[u8], at: usize) -> u8 {
    let next = bytes.get(at + 1).copied();
    match bytes[at] {
        b'\n' if next == Some(b'\n') || next == Some(b'\r') => 4,
        b'\n' if closes(bytes, at) || next.is_some_and(|next| !next.is_ascii_lowercase()) => 3,
        b'\n' => 2,
        b' ' | b'\t' if ends_sentence(bytes, at) => 3,
        b' ' | b'\t' => 1,
        // The end of a sentence in Chinese and Japanese.
        0x82 if at >= 2 && bytes[at - 2..at] == [0xe3, 0x80] => 3,
        _ => 0,
    }
}

fn closes(bytes: &[u8], at: usize) -> bool {
    let before = bytes[..at].last().copied().filter(|byte| *byte != b'\r');
    before.is_some_and(|byte| b".!?:;}>|)".contains(&byte))
}

fn ends_sentence(bytes: &[u8], at: usize) -> bool {
    matches!(bytes[..at], [.., b'.' | b'!' | b'?'] | [.., b'.' | b'!' | b'?', b'"' | b'\'' | b')'])
}

#[cfg(test)]
mod tests {
    use super::find_split;

    fn parted(text: &str, most: usize) -> (&str, &str) {
        text.split_at(find_split(text, &(0..text.len()), most))
    }

    #[test]
    fn sentences_stay_whole_where_they_can() {
        let (first, second) = parted("One is here. Two is there. Three comes late", 32);
        assert_eq!((first, second), ("One is here. Two is there. ", "Three comes late"));
        let (first, _) = parted("これは一つの文です。これは二つ目の文です。これは三つ目", 64);
        assert!(first.ends_with('。'), "{first}");
    }

    #[test]
    fn lines_and_words_stay_whole_where_they_can() {
        assert_eq!(parted("alpha beta\ngamma delta epsilon", 16).0, "alpha beta\n");
        assert_eq!(parted("alphabet betagamma deltaepsilon", 20).0, "alphabet betagamma ");
    }

    #[test]
    fn letters_stay_whole_always() {
        let text = "ä".repeat(100);
        let (first, second) = parted(&text, 33);
        assert_eq!(first.len(), 32);
        assert_eq!(second.len(), 168);
    }
}
