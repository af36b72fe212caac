//! Converts texts and queries to the terms of an index.
//!
//! A term is a word without case, diacritics and endings, computed the same way for texts and
//! queries in any language. It consists of `a-z`, `0-9`, `.`, `_` and non-ASCII letters, so
//! SQLite's tokenizer `ascii` with `tokenchars '._'` treats it as one token.
//!
//! Every word has one main term: its English stem, or the stem of its script. In a text of another
//! language in Latin letters, the stem in that language is added with a trailing `_`.
//! [`query_terms`] returns those as well, so a query need not know the languages of the texts.

mod compound;
mod dense;
mod language;
mod stop_words;
mod word_cache;
mod words;

use std::collections::HashSet;

pub use toolgate_terms::fold::fold_text as fold;

use language::{Language, OWN};
use stop_words::LanguageTally;
use word_cache::WordCache;
use words::{ScanBuffers, WordScanPurpose};

/// The version of the terms. An index with another version must be rebuilt, because the same text
/// yields different terms.
pub const VERSION: u32 = 1;

/// The approximate size of the pieces a text is processed in. Each piece has one language.
const PIECE: usize = 1 << 16;

/// The maximum number of words of a query.
const MOST_ASKED: usize = 256;

/// Converts texts to terms and caches words. Reuse it for many texts.
#[derive(Debug, Default)]
pub struct TermIndexer {
    cache: WordCache,
    /// The words of the current piece, by their number in the cache.
    words: Vec<u32>,
    stop_words: Vec<u32>,
    buffers: ScanBuffers,
    /// The number of pieces so far.
    pieces: u32,
}

impl TermIndexer {
    /// Returns an indexer with an empty cache.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the terms of a text, each followed by a blank: for each piece its words in order,
    /// then each of its stop words once. It works in pieces because the cache can be emptied
    /// between them.
    pub fn index(&mut self, text: &str, terms: &mut String) {
        let mut rest = text;
        while !rest.is_empty() {
            self.pieces = self.pieces.wrapping_add(1).max(1);
            let (piece, next) = rest.split_at(piece_end(rest));
            self.cache.make_room();
            let language = self.scan_words(piece, WordScanPurpose::Index).text_language();
            self.write(language, terms);
            rest = next;
        }
    }

    /// Returns the terms of a query; see [`query_terms`].
    pub fn query_terms(&mut self, request: &str) -> Vec<QueryTerm> {
        self.cache.make_room();
        let request = &request[..piece_end(request)];
        let language = self.scan_words(request, WordScanPurpose::Query).request_language();
        let words = std::mem::take(&mut self.words);
        let telling = words.iter().filter(|at| {
            !self.cache.entry_mut(**at as usize).stop_word.is_stop_in_request(language)
        });
        let mut telling: Vec<u32> = telling.copied().collect();
        if telling.is_empty() {
            telling.clone_from(&words);
        }
        let mut known = HashSet::new();
        telling.retain(|at| known.insert(self.cache.term(*at as usize).to_owned()));
        telling.truncate(MOST_ASKED);
        self.words = words;
        telling.into_iter().map(|at| self.query_term(at as usize)).collect()
    }

    fn query_term(&mut self, at: usize) -> QueryTerm {
        let term = self.cache.term(at).to_owned();
        let mut others: Vec<String> = Vec::new();
        if self.cache.entry_mut(at).is_latin {
            for language in Language::beside_english() {
                let stem = self.cache.language_stem(at, language);
                if !others.iter().any(|other| other == stem) {
                    others.push(stem.to_owned());
                }
            }
        }
        QueryTerm { term, other_stems: others }
    }

    fn scan_words(&mut self, text: &str, purpose: WordScanPurpose) -> LanguageTally {
        self.words.clear();
        let mut tally = LanguageTally::default();
        words::scan(text, purpose, &mut self.buffers, &mut |word| {
            let at = self.cache.intern(word);
            tally.add(self.cache.entry_mut(at).stop_word);
            self.words.push(at as u32);
        });
        tally
    }

    fn write(&mut self, language: Language, terms: &mut String) {
        self.stop_words.clear();
        for &at in &self.words {
            let met = self.cache.entry_mut(at as usize);
            if !met.stop_word.is_stop_in_text(language) {
                push(self.cache.term(at as usize), terms);
            } else if met.seen != self.pieces {
                met.seen = self.pieces;
                self.stop_words.push(at);
            }
        }
        for &at in &self.stop_words {
            push(self.cache.term(at as usize), terms);
        }
        if language.has_own_stems() {
            self.write_language_stems(language, terms);
        }
    }

    fn write_language_stems(&mut self, language: Language, terms: &mut String) {
        for &at in &self.words {
            let met = self.cache.entry_mut(at as usize);
            if met.is_latin && !met.stop_word.is_stop_in_text(language) {
                push(self.cache.language_stem(at as usize, language), terms);
            }
        }
    }
}

fn push(term: &str, terms: &mut String) {
    terms.push_str(term);
    terms.push(' ');
}

/// Returns where to end a piece: after a blank, if there is one near the end.
fn piece_end(text: &str) -> usize {
    if text.len() <= PIECE {
        return text.len();
    }
    let end = text.floor_char_boundary(PIECE);
    let near = text.floor_char_boundary(PIECE - 1024);
    text[near..end].rfind(|c: char| c.is_ascii_whitespace()).map_or(end, |at| near + at + 1)
}

/// A word of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryTerm {
    /// The main term of every text that contains the word.
    pub term: String,
    /// The stems of the word in other languages.
    pub other_stems: Vec<String>,
}

impl QueryTerm {
    /// Returns true if a term of a text is a form of the word.
    pub fn matches(&self, term: &str) -> bool {
        self.term == term
            || (term.ends_with(OWN) && self.other_stems.iter().any(|other| other == term))
    }
}

/// Appends the terms of a text, each followed by a blank. For many texts a [`TermIndexer`] is
/// faster.
pub fn index(text: &str, terms: &mut String) {
    TermIndexer::new().index(text, terms);
}

/// Returns the distinctive terms of a query, each once, in order. Stop words are included only if
/// there is nothing else.
pub fn query_term_strings(text: &str) -> Vec<String> {
    query_terms(text).into_iter().map(|asked| asked.term).collect()
}

/// Returns the terms of a query like [`query_term_strings`], with their stems in other languages.
pub fn query_terms(text: &str) -> Vec<QueryTerm> {
    TermIndexer::new().query_terms(text)
}

/// Returns true if a word is a stop word in any supported language. A word with a meaning in
/// English is not, even if it is a stop word elsewhere: `war`.
pub fn is_stop(word: &str) -> bool {
    let mut low = String::with_capacity(word.len());
    toolgate_terms::fold::lower(word, &mut low);
    stop_words::lookup(&low).is_stop_in_request(Language::ENGLISH)
}

#[cfg(test)]
mod tests;
