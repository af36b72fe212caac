//! A cache of words: their terms, and which are stop words.
//!
//! A text has few distinct words, so nearly all are found in the cache. The cache is emptied when
//! it is full. Its hashes are seeded, so that no text can make them collide.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use indexmap::IndexMap;

use super::language::{self, Language};
use super::stop_words::{self, StopWord};

/// The maximum number of words.
const MOST: usize = 1 << 16;

/// The maximum number of letters.
const MOST_LETTERS: usize = 1 << 22;

/// What is known about a word.
#[derive(Debug)]
pub(super) struct CachedWord {
    term: Box<str>,
    pub(super) stop_word: StopWord,
    /// The number of the text in which it last occurred as a stop word.
    pub(super) seen: u32,
    pub(super) is_latin: bool,
}

/// The cache.
#[derive(Debug, Default)]
pub(super) struct WordCache {
    words: IndexMap<Box<str>, CachedWord, RandomState>,
    /// The stems of words in the languages they were requested for.
    language_stems: HashMap<(usize, Language), Box<str>, RandomState>,
    /// The number of letters of all words and stems.
    letters: usize,
}

impl WordCache {
    /// Empties the cache if it is full. Numbers that `intern` returned before become invalid.
    pub(super) fn make_room(&mut self) {
        if self.words.len() >= MOST || self.letters >= MOST_LETTERS {
            *self = Self::default();
        }
    }

    /// Returns the number of a word in lower case and adds it if necessary.
    pub(super) fn intern(&mut self, word: &str) -> usize {
        if let Some(number) = self.words.get_index_of(word) {
            return number;
        }
        let mut term = String::with_capacity(word.len());
        language::push_term(word, &mut term);
        self.letters += word.len() + term.len();
        let (stop_word, is_latin) = (stop_words::lookup(word), language::is_latin(word));
        let entry = CachedWord { term: term.into(), stop_word, seen: 0, is_latin };
        self.words.insert_full(word.into(), entry).0
    }

    /// Returns the entry of a word.
    pub(super) fn entry_mut(&mut self, at: usize) -> &mut CachedWord {
        &mut self.words[at]
    }

    /// Returns the main term of a word.
    pub(super) fn term(&self, at: usize) -> &str {
        &self.words[at].term
    }

    /// Returns the stem of a word in this language.
    pub(super) fn language_stem(&mut self, at: usize, language: Language) -> &str {
        let Self { words, language_stems, letters } = self;
        language_stems.entry((at, language)).or_insert_with(|| {
            let mut stem = String::new();
            let word = words.get_index(at).map_or("", |(word, _)| word);
            language::push_language_stem(language, word, &mut stem);
            *letters += stem.len();
            stem.into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_met_again() {
        let mut memory = WordCache::default();
        let first = memory.intern("connections");
        for number in 0..5_000 {
            memory.intern(&format!("word{number}"));
        }
        assert_eq!(memory.term(first), "connect");
        assert_eq!(memory.term(memory.words.len() - 1), "word4999");
        let again = memory.intern("connections");
        assert_eq!(again, first);
    }

    #[test]
    fn it_forgets_rather_than_grow() {
        let mut memory = WordCache::default();
        for number in 0..3 * MOST {
            memory.make_room();
            memory.intern(&number.to_string());
        }
        assert!(memory.words.len() <= MOST);
        assert!(memory.letters < 64 * MOST);
    }

    #[test]
    fn stems_of_several_languages_are_kept_apart() {
        let mut memory = WordCache::default();
        let at = memory.intern("abbandonare");
        let german = Language::of_code("de").expect("German");
        let italian = Language::of_code("it").expect("Italian");
        assert_eq!(memory.language_stem(at, italian), "abbandon_");
        assert_eq!(memory.language_stem(at, german), "abbandonar_");
        assert_eq!(memory.language_stem(at, italian), "abbandon_");
        assert_eq!(memory.term(at), "abbandonar");
    }
}
