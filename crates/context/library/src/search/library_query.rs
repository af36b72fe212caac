//! Parses a query into words and phrases in double quotes. All other characters only separate
//! words, so every query is valid.

use std::collections::HashMap;

use toolgate_reading::terms::{QueryTerm, TermIndexer};

use crate::prepared_document::index_terms;

/// The maximum length of a query in bytes. The rest is ignored.
const LONGEST: usize = 8 * 1024;

/// The maximum number of words. The rarest count.
const WORDS: usize = 32;

/// The maximum number of phrases, and of terms in each.
const PHRASES: usize = 4;
const PHRASE_TERMS: usize = 32;

/// The maximum number of further words with which quotes count as phrases.
const BESIDE: usize = 3;

/// A parsed query.
#[derive(Debug)]
pub(super) struct LibraryQuery {
    /// The words with their number of occurrences. A repeated word weighs more.
    words: Vec<(usize, QueryTerm)>,
    phrases: Vec<Vec<String>>,
}

/// A query with weighted words.
#[derive(Debug)]
pub(super) struct WeightedLibraryQuery {
    /// Its words, the rarest first.
    pub(super) words: Vec<LibraryQueryWord>,
    /// The phrases that must occur literally.
    pub(super) phrases: Vec<Vec<String>>,
}

/// A word of a query.
#[derive(Debug)]
pub(super) struct LibraryQueryWord {
    /// The index terms that match it.
    pub(super) terms: Vec<String>,
    /// The approximate number of passages that contain it.
    pub(super) passages: i64,
    /// The number of its occurrences in the query.
    pub(super) times: usize,
    /// Its weight in the score.
    pub(super) weight: f64,
}

impl LibraryQuery {
    pub(super) fn parse(text: &str) -> Self {
        let text = &text[..text.floor_char_boundary(LONGEST)];
        let mut indexer = TermIndexer::new();
        let words = indexer.query_terms(text);
        let all = index_terms(text, &mut indexer);
        let times =
            |word: &QueryTerm| all.split(' ').filter(|term| *term == word.term).count().max(1);
        let words: Vec<_> = words.into_iter().map(|word| (times(&word), word)).collect();
        // Phrases are between the first and second quote, the third and fourth, and so on. An
        // unclosed quote is ignored.
        let parts: Vec<&str> = text.split('"').collect();
        let closed = parts.len().saturating_sub(1);
        let quoted = parts[..closed].iter().skip(1).step_by(2);
        let phrases = quoted.take(PHRASES).map(|quoted| phrase_terms(quoted, &mut indexer));
        let phrases = phrases.filter(|phrase| phrase.len() > 1).collect();
        Self { phrases: keep_intended_phrases(phrases, &words), words }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty() && self.phrases.is_empty()
    }

    /// Returns every term of the words.
    pub(super) fn terms(&self) -> impl Iterator<Item = &str> {
        let words = self.words.iter().map(|(_, word)| word);
        words
            .flat_map(|word| std::iter::once(&word.term).chain(&word.other_stems))
            .map(String::as_str)
    }

    /// Computes the weights of the words from the number of passages that contain them.
    pub(super) fn into_weighted(
        self,
        known: &HashMap<String, i64>,
        all: i64,
    ) -> WeightedLibraryQuery {
        let word = |(times, asked): (usize, QueryTerm)| {
            // Use the other stems only if they occur, because each costs a lookup.
            let others = asked.other_stems.into_iter().filter(|term| known.contains_key(term));
            let terms: Vec<String> = std::iter::once(asked.term).chain(others).collect();
            let passages: i64 = terms.iter().filter_map(|term| known.get(term)).sum();
            let passages = passages.min(all);
            LibraryQueryWord {
                weight: rarity_weight(passages, all) * times as f64,
                terms,
                passages,
                times,
            }
        };
        let mut words: Vec<LibraryQueryWord> = self.words.into_iter().map(word).collect();
        words.sort_by_key(|word| word.passages);
        words.truncate(WORDS);
        WeightedLibraryQuery { words, phrases: self.phrases }
    }
}

/// Returns the phrases, or none if the query is a whole sentence, in which quotes have other
/// reasons.
fn keep_intended_phrases(
    phrases: Vec<Vec<String>>,
    words: &[(usize, QueryTerm)],
) -> Vec<Vec<String>> {
    let quoted = |word: &QueryTerm| phrases.iter().flatten().any(|term| *term == word.term);
    let beside = words.iter().filter(|(_, word)| !quoted(word)).count();
    if beside <= BESIDE { phrases } else { Vec::new() }
}

/// Returns the significant terms of a phrase in order. The index does not keep the others in place.
fn phrase_terms(quoted: &str, indexer: &mut TermIndexer) -> Vec<String> {
    let telling: Vec<String> =
        indexer.query_terms(quoted).into_iter().map(|word| word.term).collect();
    let all = index_terms(quoted, indexer);
    let terms = all.split(' ').filter(|term| telling.iter().any(|telling| telling == term));
    terms.take(PHRASE_TERMS).map(str::to_owned).collect()
}

/// Returns the weight of a term that occurs in `passages` of `all` passages (IDF).
pub(super) fn rarity_weight(passages: i64, all: i64) -> f64 {
    let (passages, all) = (passages as f64, all.max(passages) as f64);
    (1.0 + (all - passages + 0.5) / (passages + 0.5)).ln()
}
