//! A text in words, for patterns to be laid on: lower case, without what is invisible, and with
//! letters that only look Latin taken for what they look like.

use unicode_security::skeleton;

use crate::text::stripped;

/// One word and where it stands in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    /// The offset of its first character in the text the words were made of.
    pub(crate) at: usize,
    /// The number of its sentence.
    pub(crate) sentence: usize,
}

/// The words of a text. An apostrophe is no border: `don't` is one word, `dont`.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut current = Word { text: String::new(), at: 0, sentence: 0 };
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

fn push(words: &mut Vec<Word>, current: &mut Word) {
    if !current.text.is_empty() {
        let text = plain(&std::mem::take(&mut current.text));
        words.push(Word { text, ..*current });
    }
}

/// A word as it looks: letters of other scripts among Latin ones are the Latin ones they resemble.
fn plain(word: &str) -> String {
    let mixed = !word.is_ascii() && word.chars().any(|c| c.is_ascii_alphabetic());
    if mixed { word.chars().map(latin).collect() } else { word.to_owned() }
}

/// The Latin letter that a letter of another script looks like, if there is one.
fn latin(c: char) -> char {
    let mut look = skeleton(c.encode_utf8(&mut [0; 4])).collect::<Vec<_>>().into_iter();
    match (c.is_ascii(), look.next(), look.next()) {
        (false, Some(one), None) if one.is_ascii_alphanumeric() => one.to_ascii_lowercase(),
        _ => c,
    }
}

/// What a name looks like, in lower case: two names with the same look cannot be told apart.
pub(crate) fn looks_like(name: &str) -> String {
    let name = stripped(name).to_lowercase();
    // UTS 39 takes `m` for `rn`, which is right for eyes and harmless for comparing.
    skeleton(&name).collect::<String>().to_lowercase()
}

/// The parts of an identifier: `userPassword`, `user-password` and `USER_PASSWORD` are two words.
pub(crate) fn parts(name: &str) -> Vec<String> {
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
        let found = words("Don't TELL the usеr."); // the second e is Cyrillic
        let texts: Vec<_> = found.iter().map(|word| (word.text.as_str(), word.at)).collect();
        assert_eq!(texts[..2], [("dont", 0), ("tell", 6)]);
        assert_eq!(found[3].text, "user");
    }

    #[test]
    fn identifiers_fall_into_parts() {
        assert_eq!(parts("userPassword"), ["user", "password"]);
        assert_eq!(parts("API_KEY-2"), ["api", "key", "2"]);
        assert_eq!(parts("пароль"), ["пароль"]);
    }
}
