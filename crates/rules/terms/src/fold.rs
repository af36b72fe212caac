//! Folds letters to one spelling: lower case, without diacritics, full width as half width.
//!
//! Only scripts with optional marks are folded. In Indic scripts marks are vowels, and in kana and
//! Hangul they make another letter: those stay.

use unicode_normalization::char::{compose, decompose_compatible, is_combining_mark};

/// Returns true if a character belongs to a word.
pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() || is_silent(c) || (c > '\u{2ff}' && is_combining_mark(c))
}

/// Returns true for invisible marks inside words: soft hyphens, joiners, the Arabic tatweel.
pub fn is_silent(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{640}')
}

/// Appends a word in lower case, with composed letters, as stemmers expect it.
pub fn lower(word: &str, out: &mut String) {
    for c in word.chars().flat_map(char::to_lowercase).filter(|c| !is_silent(*c)) {
        let joined =
            if is_accent(c) { out.chars().next_back().and_then(|a| compose(a, c)) } else { None };
        match joined {
            Some(letter) => {
                out.pop();
                out.push(letter);
            }
            None => out.push(c),
        }
    }
}

/// Returns a text in lower case without diacritics. Its words keep their endings.
pub fn fold_text(text: &str) -> String {
    let mut low = String::with_capacity(text.len());
    let mut folded = String::with_capacity(text.len());
    lower(text, &mut low);
    fold(&low, &mut folded);
    folded
}

/// Appends a lower-case word without diacritics, or the word itself if nothing would be left.
pub fn fold(word: &str, out: &mut String) {
    let before = out.len();
    fold_letters(word, out);
    if out.len() == before {
        out.push_str(word);
    }
}

fn fold_letters(word: &str, out: &mut String) {
    for c in word.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            fold_letter(c, out);
        }
    }
}

fn fold_letter(c: char, out: &mut String) {
    let plain = match c {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'đ' | 'ð' => "d",
        'þ' => "th",
        'ł' => "l",
        'ħ' => "h",
        'ı' => "i",
        'ŧ' => "t",
        'ς' => "σ",
        // A separate letter, although Unicode decomposes it.
        'й' => "й",
        '٠'..='٩' => return out.push(digit(c, '٠')),
        '۰'..='۹' => return out.push(digit(c, '۰')),
        '०'..='९' => return out.push(digit(c, '०')),
        _ if is_mark(c) => "",
        _ if is_foldable(c) => return take_apart(c, out),
        _ => return out.push(c),
    };
    out.push_str(plain);
}

fn digit(c: char, zero: char) -> char {
    let value = (c as u32).saturating_sub(zero as u32);
    char::from_digit(value, 10).unwrap_or(c)
}

fn take_apart(c: char, out: &mut String) {
    decompose_compatible(c, |part| {
        // A decomposition can contain blanks and brackets: `㈠`, `¨`.
        if !is_mark(part) && part.is_alphanumeric() {
            out.extend(part.to_lowercase());
        }
    });
}

fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}')
}

/// Returns true for marks that are dropped: accents, Hebrew points, Arabic vowels.
fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{591}'..='\u{5c7}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{fe00}'..='\u{fe0f}')
}

/// Returns true for Latin, Greek and Cyrillic letters, and compatibility forms.
fn is_foldable(c: char) -> bool {
    matches!(c,
        '\u{aa}'..='\u{52f}' | '\u{1d00}'..='\u{1fff}' | '\u{2070}'..='\u{218f}'
        | '\u{2460}'..='\u{24ff}' | '\u{2c60}'..='\u{2c7f}' | '\u{fb00}'..='\u{fb06}'
        | '\u{ff10}'..='\u{ff9f}' | '\u{1d400}'..='\u{1d7ff}')
}

/// Returns true for Thai, Lao, Myanmar, Khmer, kana, Han, and Hangul, whose endings no stemmer here
/// knows.
pub fn is_dense(c: char) -> bool {
    is_han(c)
        || matches!(c,
            '\u{e01}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
            | '\u{3041}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}'
            | '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7af}' | '\u{ff66}'..='\u{ff9f}')
}

/// Returns true for Han characters.
pub fn is_han(c: char) -> bool {
    matches!(c,
        '\u{3005}' | '\u{3007}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::fold_text as folded;

    #[test]
    fn letters_lose_case_marks_and_width() {
        assert_eq!(folded("Crème"), "creme");
        assert_eq!(folded("e\u{301}tude"), "etude");
        assert_eq!(folded("Straße"), "strasse");
        assert_eq!(folded("Łódź"), "lodz");
        assert_eq!(folded("Tiếng"), "tieng");
        assert_eq!(folded("ＡＰＩ２"), "api2");
        assert_eq!(folded("Ёлка"), "елка");
        assert_eq!(folded("ΆΛΦΑς"), "αλφασ");
        assert_eq!(folded("İstanbul"), "istanbul");
        assert_eq!(folded("ﬁle"), "file");
    }

    #[test]
    fn letters_of_their_own_stay() {
        for word in ["天気", "가나다", "がぎ", "हिन्दी", "ไทย", "мой"] {
            assert_eq!(folded(word), word);
        }
    }

    #[test]
    fn a_mark_alone_is_a_word() {
        assert_eq!(folded("\u{651}"), "\u{651}");
        assert_eq!(folded("ͺ"), "ͺ");
    }

    #[test]
    fn what_nobody_reads_is_gone() {
        assert_eq!(folded("exam\u{ad}ple"), "example");
        assert_eq!(folded("می\u{200c}خواهم"), "میخواهم");
    }
}
