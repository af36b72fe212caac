//! What was asked: words, and phrases in double quotes. Everything else in a query is only what
//! stands between words, so no query is malformed.

use std::collections::HashMap;

use toolgate_reading::terms::{Asked, Indexer};

use crate::context::prepared::indexed;

/// How much of a query is read, in bytes.
const LONGEST: usize = 8 * 1024;

/// How many words of it count, the rarest.
const WORDS: usize = 32;

/// How many phrases of it count, and how many terms of each.
const PHRASES: usize = 4;
const PHRASE_TERMS: usize = 32;

/// How many further words a query may have for its phrases to be meant.
const BESIDE: usize = 3;

/// A query as it was asked.
#[derive(Debug)]
pub(super) struct Query {
    /// With how often each was said: who says a word twice means it.
    words: Vec<(usize, Asked)>,
    phrases: Vec<Vec<String>>,
}

/// A query whose words have weights.
#[derive(Debug)]
pub(super) struct Weighed {
    /// Its words, the rarest first.
    pub(super) words: Vec<Word>,
    /// What must stand so.
    pub(super) phrases: Vec<Vec<String>>,
}

/// A word of a query.
#[derive(Debug)]
pub(super) struct Word {
    /// The terms it may stand as.
    pub(super) terms: Vec<String>,
    /// In about how many passages it stands.
    pub(super) passages: i64,
    /// How often it was said.
    pub(super) times: usize,
    /// How much it tells.
    pub(super) weight: f64,
}

impl Query {
    pub(super) fn parse(text: &str) -> Self {
        let text = &text[..text.floor_char_boundary(LONGEST)];
        let mut indexer = Indexer::new();
        let words = indexer.asked(text);
        let all = indexed(text, &mut indexer);
        let times = |word: &Asked| all.split(' ').filter(|term| *term == word.term).count().max(1);
        let words: Vec<_> = words.into_iter().map(|word| (times(&word), word)).collect();
        // Between the first quote and the second, the third and the fourth; one that is not closed
        // means nothing.
        let parts: Vec<&str> = text.split('"').collect();
        let closed = parts.len().saturating_sub(1);
        let quoted = parts[..closed].iter().skip(1).step_by(2);
        let phrases = quoted.take(PHRASES).map(|quoted| phrase(quoted, &mut indexer));
        let phrases = phrases.filter(|phrase| phrase.len() > 1).collect();
        Self { phrases: meant(phrases, &words), words }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty() && self.phrases.is_empty()
    }

    /// Every term of its words.
    pub(super) fn terms(&self) -> impl Iterator<Item = &str> {
        let words = self.words.iter().map(|(_, word)| word);
        words.flat_map(|word| std::iter::once(&word.term).chain(&word.others)).map(String::as_str)
    }

    /// Weighs its words by how many of all passages they stand in.
    pub(super) fn weighed(self, known: &HashMap<String, i64>, all: i64) -> Weighed {
        let word = |(times, asked): (usize, Asked)| {
            // The others are asked for only where they are known to stand: each costs a look-up.
            let others = asked.others.into_iter().filter(|term| known.contains_key(term));
            let terms: Vec<String> = std::iter::once(asked.term).chain(others).collect();
            let passages: i64 = terms.iter().filter_map(|term| known.get(term)).sum();
            let passages = passages.min(all);
            Word { weight: weight(passages, all) * times as f64, terms, passages, times }
        };
        let mut words: Vec<Word> = self.words.into_iter().map(word).collect();
        words.sort_by_key(|word| word.passages);
        words.truncate(WORDS);
        Weighed { words, phrases: self.phrases }
    }
}

/// The phrases if they are meant: whoever asks in whole sentences quotes for other reasons.
fn meant(phrases: Vec<Vec<String>>, words: &[(usize, Asked)]) -> Vec<Vec<String>> {
    let quoted = |word: &Asked| phrases.iter().flatten().any(|term| *term == word.term);
    let beside = words.iter().filter(|(_, word)| !quoted(word)).count();
    if beside <= BESIDE { phrases } else { Vec::new() }
}

/// The telling words of a phrase, in order: the others do not stand where they were in the index.
fn phrase(quoted: &str, indexer: &mut Indexer) -> Vec<String> {
    let telling: Vec<String> = indexer.asked(quoted).into_iter().map(|word| word.term).collect();
    let all = indexed(quoted, indexer);
    let terms = all.split(' ').filter(|term| telling.iter().any(|telling| telling == term));
    terms.take(PHRASE_TERMS).map(str::to_owned).collect()
}

/// How much a term tells that stands in so many of all passages.
pub(super) fn weight(passages: i64, all: i64) -> f64 {
    let (passages, all) = (passages as f64, all.max(passages) as f64);
    (1.0 + (all - passages + 0.5) / (passages + 0.5)).ln()
}
