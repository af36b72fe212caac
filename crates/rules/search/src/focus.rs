//! Which sentences of a request say what is wanted, and which only tell the story around it.
//!
//! `I've booked a flight and a hotel. How warm will it be there?` is about neither flights nor
//! hotels. It is a hint, not a filter: the story often names what the question only means.

use std::ops::Range;
use std::sync::OnceLock;

use crate::hashed::{self, Hashes};
use crate::lexicon::Lexicon;
use crate::manner::{self, Manner};
use crate::terms::Token;
use crate::weights;

/// Words that ask wherever they stand in a sentence.
const ASKING: &str = "please pls need want wanna help tell show give wonder wondering";

/// The parts of a request that are only told.
#[derive(Debug, Default)]
pub(crate) struct Focus {
    told: Vec<Range<usize>>,
}

impl Focus {
    /// Reads a request. One in which no sentence asks, or every one, is told or asked as a whole.
    pub(crate) fn of(text: &str, tokens: &[Token]) -> Self {
        let sentences = sentences(text);
        if sentences.len() < 2 {
            return Self::default();
        }
        let (asked, told): (Vec<_>, Vec<_>) =
            sentences.into_iter().partition(|range| asks(text, tokens, range));
        if asked.is_empty() { Self::default() } else { Self { told } }
    }

    /// What a word that begins at this byte counts.
    pub(crate) fn at(&self, place: usize) -> f32 {
        if self.told.iter().any(|range| range.contains(&place)) { weights::TOLD } else { 1.0 }
    }
}

/// Cuts after the end of a sentence: a point within an address or a number is none.
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

fn asks(text: &str, tokens: &[Token], range: &Range<usize>) -> bool {
    let from = tokens.partition_point(|token| token.word.start < range.start);
    let until = tokens.partition_point(|token| token.word.start < range.end);
    let tokens = &tokens[from..until];
    let sentence = &text[range.clone()];
    sentence.trim_end().ends_with(['?', '？'])
        || manner::by_words(text, tokens) != Manner::Unknown
        || tokens.iter().any(|token| asking().contains(&hashed::hash(&token.word.text)))
        || tokens
            .first()
            .and_then(|token| Lexicon::get().word(&token.stem))
            .is_some_and(|e| e.is_action)
}

fn asking() -> &'static Hashes {
    static WORDS: OnceLock<Hashes> = OnceLock::new();
    WORDS.get_or_init(|| ASKING.split_whitespace().map(hashed::hash).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms;

    fn told(text: &str) -> Vec<&str> {
        let focus = Focus::of(text, &terms::tokens(text, 100));
        focus.told.into_iter().map(|range| text[range].trim()).collect()
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
