//! Splits scripts without blanks between words into pairs of neighbouring characters.
//!
//! A single Han character is often a word, so it is indexed as well, and queried if there is
//! nothing longer.

use toolgate_terms::fold::{is_dense, is_han};

use super::words::WordScanPurpose;

/// Passes the words of the run at the start to the sink. Returns its length.
pub(super) fn take(text: &str, purpose: WordScanPurpose, taker: &mut impl FnMut(&str)) -> usize {
    let mut before = None;
    let mut end = 0;
    for (at, c) in text.char_indices() {
        if !is_dense(c) {
            break;
        }
        end = at + c.len_utf8();
        if purpose == WordScanPurpose::Index && is_han(c) {
            taker(&text[at..end]);
        }
        if let Some(before) = before {
            taker(&text[before..end]);
        }
        before = Some(at);
    }
    let single = before == Some(0);
    let is_taken = purpose == WordScanPurpose::Index && text.chars().next().is_some_and(is_han);
    if single && !is_taken {
        taker(&text[..end]);
    }
    end
}

#[cfg(test)]
mod tests {
    use crate::terms::words::tests::{asked, kept};

    #[test]
    fn neighbours_are_words() {
        assert_eq!(asked("天气预报"), ["天气", "气预", "预报"]);
        assert_eq!(asked("PDFを開く"), ["pdf", "を開", "開く"]);
        assert_eq!(asked("안녕 세상"), ["안녕", "세상"]);
        assert_eq!(asked("กขค"), ["กข", "ขค"]);
    }

    #[test]
    fn a_single_character_finds_longer_words() {
        assert_eq!(asked("猫"), ["猫"]);
        assert_eq!(kept("黒猫"), ["黒", "猫", "黒猫"]);
        assert_eq!(kept("あ"), ["あ"]);
    }
}
