//! Matches phrases: ordered slots of alternative words with bounded gaps between them.

use crate::words::{NormalizedWord, contains_word};

/// One slot of a phrase: any of these words (separated by spaces), with at most `gap` other words
/// before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PhraseSlot {
    gap: usize,
    words: &'static str,
}

/// A slot that must follow immediately.
pub(crate) const fn then(words: &'static str) -> PhraseSlot {
    PhraseSlot { gap: 0, words }
}

/// A slot that may follow after at most `gap` other words.
pub(crate) const fn soon(gap: usize, words: &'static str) -> PhraseSlot {
    PhraseSlot { gap, words }
}

/// Returns the offset where a phrase begins. A phrase does not cross sentences.
pub(crate) fn find(words: &[NormalizedWord], phrase: &[PhraseSlot]) -> Option<usize> {
    let (first, rest) = phrase.split_first()?;
    let begins = |(_, word): &(usize, &NormalizedWord)| contains_word(first.words, &word.text);
    let mut starts = words.iter().enumerate().filter(begins);
    let (_, word) = starts.find(|(at, _)| goes_on(words, *at, rest))?;
    Some(word.at)
}

fn goes_on(words: &[NormalizedWord], at: usize, rest: &[PhraseSlot]) -> bool {
    let Some((slot, rest)) = rest.split_first() else { return true };
    let sentence = words.get(at).map(|word| word.sentence);
    let reach = words.iter().enumerate().skip(at + 1).take(slot.gap + 1);
    let reach = reach.take_while(|(_, word)| Some(word.sentence) == sentence);
    reach
        .filter(|(_, word)| contains_word(slot.words, &word.text))
        .any(|(next, _)| goes_on(words, next, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::split_words;

    #[test]
    fn a_phrase_is_found_within_a_sentence() {
        let phrase = [then("never"), soon(2, "tell show"), soon(2, "user")];
        let found = |text| find(&split_words(text), &phrase);
        assert_eq!(found("Please never ever tell it to the user"), None, "too far apart");
        assert_eq!(found("Please never tell the user"), Some(7));
        assert_eq!(found("It can never show. The user sees nothing"), None);
        assert_eq!(found("NEVER\nshow this user"), Some(0));
    }
}
