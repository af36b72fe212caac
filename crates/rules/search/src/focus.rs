//! Separates the sentences of a request that ask for something from those that only give
//! background.
//!
//! `I've booked a flight and a hotel. How warm will it be there?` is about neither flights nor
//! hotels. This is a hint, not a filter: the background often names what the question refers to.

use std::ops::Range;
use std::sync::OnceLock;

use crate::hashing::{self, HashKeySet};
use crate::intent::{self, ReadWriteIntent};
use crate::lexicon::Lexicon;
use crate::terms::StemToken;
use crate::weights;

/// Words that mark a sentence as asking.
const ASKING: &str = "please pls need want wanna help tell show give wonder wondering";

/// The parts of a request that are only background.
#[derive(Debug, Default)]
pub(crate) struct QueryBackground {
    background: Vec<Range<usize>>,
}

impl QueryBackground {
    /// Analyzes a request. If no sentence asks, or every one does, nothing is background.
    pub(crate) fn of(text: &str, tokens: &[StemToken]) -> Self {
        let sentences = sentences(text);
        if sentences.len() < 2 {
            return Self::default();
        }
        let (asked, told): (Vec<_>, Vec<_>) =
            sentences.into_iter().partition(|range| asks(text, tokens, range));
        if asked.is_empty() { Self::default() } else { Self { background: told } }
    }

    /// Returns the weight of a word that begins at this byte.
    pub(crate) fn weight_at(&self, place: usize) -> f32 {
        if self.background.iter().any(|range| range.contains(&place)) { weights::TOLD } else { 1.0 }
    }
}

/// Splits a text into sentences. A full stop within an address or a number does not end one.
fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|&(_, next)| next);
        let ends = match c {
            '。' | '？' | '！' | '\n' => true,
            '.' | '?' | '!' | ';' => next.is_none_or(char::is_whitespace),
            _ => false,
        };
        if ends || next.is_none() {
            let end = at + c.len_utf8();
            if text[start..end].chars().any(char::is_alphanumeric) {
                ranges.push(start..end);
            }
            start = end;
        }
    }
    ranges
}

fn asks(text: &str, tokens: &[StemToken], range: &Range<usize>) -> bool {
    let from = tokens.partition_point(|token| token.word.start < range.start);
    let until = tokens.partition_point(|token| token.word.start < range.end);
    let tokens = &tokens[from..until];
    let sentence = &text[range.clone()];
    sentence.trim_end().ends_with(['?', '？'])
        || intent::intent_from_words(text, tokens) != ReadWriteIntent::Unknown
        || tokens.iter().any(|token| asking().contains(&hashing::hash(&token.word.text)))
        || tokens
            .first()
            .and_then(|token| Lexicon::get().entry(&token.stem))
            .is_some_and(|e| e.is_action)
}

fn asking() -> &'static HashKeySet {
    static WORDS: OnceLock<HashKeySet> = OnceLock::new();
    WORDS.get_or_init(|| ASKING.split_whitespace().map(hashing::hash).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms;

    fn told(text: &str) -> Vec<&str> {
        let focus = QueryBackground::of(text, &terms::tokens(text, 100));
        focus.background.into_iter().map(|range| text[range].trim()).collect()
    }

    #[test]
    fn the_story_is_told_and_the_question_asked() {
        let text = "I've booked a flight to Rome. Our hotel is by the sea; how warm is it there?";
        assert_eq!(told(text), ["I've booked a flight to Rome.", "Our hotel is by the sea;"]);
        assert_eq!(told("Send it to Bob. He has been waiting."), ["He has been waiting."]);
        assert_eq!(told("明天去北京。天气怎么样？"), ["明天去北京。"]);
    }

    #[test]
    fn a_request_of_one_kind_is_taken_as_a_whole() {
        for text in
            ["", "...", "weather in Oslo", "My v1.2 printer is broken. It smokes.", "Who? Why?"]
        {
            assert!(told(text).is_empty(), "{text}");
        }
    }
}
