//! Where the words of a query stand in a text.

use std::collections::HashMap;

use toolgate_reading::terms::Indexer;

use super::asked::Word;
use crate::context::prepared::indexed;

/// The words of a query, by the terms they stand as.
pub(super) struct Lookout<'q> {
    words: HashMap<&'q str, usize>,
    indexer: Indexer,
}

/// Where words stand in one text.
#[derive(Debug, Default)]
pub(super) struct Sighting {
    /// All terms of the text, each followed by a blank.
    pub(super) terms: String,
    /// Which word stands at which place, in order.
    pub(super) places: Vec<(usize, usize)>,
    /// How many terms the text has.
    pub(super) length: usize,
}

impl<'q> Lookout<'q> {
    pub(super) fn new(words: &'q [Word]) -> Self {
        let terms = |(number, word): (usize, &'q Word)| {
            word.terms.iter().map(move |term| (term.as_str(), number))
        };
        let words = words.iter().enumerate().flat_map(terms).collect();
        Self { words, indexer: Indexer::new() }
    }

    pub(super) fn see(&mut self, text: &str) -> Sighting {
        let terms = indexed(text, &mut self.indexer);
        // A text may have every word twice, the second time by its own language.
        let (mut places, mut own, mut length) = (Vec::new(), Vec::new(), 0);
        for (place, term) in terms.split_terminator(' ').enumerate() {
            let is_own = term.ends_with('_');
            length += usize::from(!is_own);
            if let Some(&word) = self.words.get(term) {
                if is_own { own.push((word, place)) } else { places.push((word, place)) }
            }
        }
        if own.len() > places.len() {
            places = own;
        }
        Sighting { terms, places, length }
    }
}

impl Sighting {
    /// How often each word stands there.
    pub(super) fn count(&self, counts: &mut [f64], weight: f64) {
        for &(word, _) in &self.places {
            counts[word] += weight;
        }
    }
}
