//! Splits text into normalised words for pattern matching: lower case, with look-alike letters
//! replaced by the Latin letters they resemble.

use unicode_security::skeleton;

use crate::text::strip_text;

/// A normalised word and its position in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NormalizedWord {
    pub(crate) text: String,
    /// The offset of the first character in the original text.
    pub(crate) at: usize,
    /// The number of the sentence.
    pub(crate) sentence: usize,
}

/// Splits a text into words. An apostrophe does not separate words: `don't` becomes `dont`.
pub(crate) fn split_words(text: &str) -> Vec<NormalizedWord> {
    let mut words = Vec::new();
    let mut current = NormalizedWord { text: String::new(), at: 0, sentence: 0 };
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let ended = matches!(before, '.' | '!' | '?' | '\n') && c.is_whitespace();
        if ended && (before != '\n' || c == '\n') {
            push(&mut words, &mut current);
            current.sentence += 1;
        }
        before = c;
        match c {
            '\'' | '’' if !current.text.is_empty() => {}
            c if c.is_alphanumeric() => {
                if current.text.is_empty() {
                    current.at = at;
                }
                current.text.extend(c.to_lowercase());
            }
            _ => push(&mut words, &mut current),
        }
    }
    push(&mut words, &mut current);
    words
}

fn push(words: &mut Vec<NormalizedWord>, current: &mut NormalizedWord) {
    if !current.text.is_empty() {
        let text = plain(&std::mem::take(&mut current.text));
        words.push(NormalizedWord { text, ..*current });
    }
}

/// Replaces letters of other scripts by the Latin letters they resemble, if the word also contains
/// Latin letters.
fn plain(word: &str) -> String {
    let mixed = !word.is_ascii() && word.chars().any(|c| c.is_ascii_alphabetic());
    if mixed { word.chars().map(latin).collect() } else { word.to_owned() }
}

/// Returns the Latin letter that a letter of another script resembles, or the letter itself.
fn latin(c: char) -> char {
    let mut look = skeleton(c.encode_utf8(&mut [0; 4])).collect::<Vec<_>>().into_iter();
    match (c.is_ascii(), look.next(), look.next()) {
        (false, Some(one), None) if one.is_ascii_alphanumeric() => one.to_ascii_lowercase(),
        _ => c,
    }
}

/// Returns the visual skeleton of a name in lower case. Names with equal skeletons look the same.
pub(crate) fn visual_skeleton(name: &str) -> String {
    let name = strip_text(name).to_lowercase();
    // UTS 39 maps `m` to `rn`; they look alike, and the comparison is unaffected.
    skeleton(&name).collect::<String>().to_lowercase()
}

/// Returns true if a list of words, separated by spaces, contains this one.
pub(crate) fn contains_word(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

/// Splits an identifier into words: `userPassword`, `user-password` and `USER_PASSWORD` have two.
pub(crate) fn split_identifier(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        let begins = c.is_uppercase() && (before.is_lowercase() || before.is_ascii_digit());
        if begins || !c.is_alphanumeric() {
            parts.push(String::new());
        }
        if let (Some(part), true) = (parts.last_mut(), c.is_alphanumeric()) {
            part.extend(c.to_lowercase());
        }
        before = c;
    }
    parts.retain(|part| !part.is_empty());
    parts.iter().map(|part| plain(part)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_lower_case_and_know_their_place() {
        let found = split_words("Don't TELL the usеr."); // the second e is Cyrillic
        let texts: Vec<_> = found.iter().map(|word| (word.text.as_str(), word.at)).collect();
        assert_eq!(texts[..2], [("dont", 0), ("tell", 6)]);
        assert_eq!(found[3].text, "user");
    }

    #[test]
    fn identifiers_fall_into_parts() {
        assert_eq!(split_identifier("userPassword"), ["user", "password"]);
        assert_eq!(split_identifier("API_KEY-2"), ["api", "key", "2"]);
        assert_eq!(split_identifier("пароль"), ["пароль"]);
    }
}
