//! Finds the terms of a text and the positions of the query's words in it.

use std::collections::HashMap;

use toolgate_reading::terms::TermIndexer;

use super::library_query::LibraryQueryWord;

/// The number of a term. All texts of one [`TermMatcher`] share the numbers.
pub(super) type TermNumber = u32;

/// A scanner that finds the words of a query in texts.
pub(super) struct TermMatcher {
    numbers: HashMap<Box<str>, TermNumber>,
    /// The query's word for each term, if any.
    words: Vec<Option<usize>>,
    indexer: TermIndexer,
    /// A buffer for the terms of the current text.
    indexed: String,
}

/// The terms of one text, and where the query's words occur in it.
#[derive(Debug, Default)]
pub(super) struct QueryWordMatches {
    /// Its terms in order, without the additional terms of its own language.
    pub(super) terms: Vec<TermNumber>,
    /// The occurrences of the query's words, as word and position, in order.
    pub(super) places: Vec<(usize, usize)>,
}

impl TermMatcher {
    pub(super) fn new(words: &[LibraryQueryWord]) -> Self {
        let (numbers, indexed) = (HashMap::new(), String::new());
        let mut matcher = Self { numbers, words: Vec::new(), indexer: TermIndexer::new(), indexed };
        for (word, asked) in words.iter().enumerate() {
            for term in &asked.terms {
                let number = matcher.term_number(term);
                matcher.words[number as usize] = Some(word);
            }
        }
        matcher
    }

    /// Returns the number of terms found so far. All term numbers are below it.
    pub(super) fn term_count(&self) -> usize {
        self.words.len()
    }

    /// Returns the terms, indexed by their numbers.
    pub(super) fn term_texts(&self) -> Vec<&str> {
        let mut spelled = vec![""; self.term_count()];
        for (term, number) in &self.numbers {
            spelled[*number as usize] = term;
        }
        spelled
    }

    pub(super) fn scan_text(&mut self, text: &str) -> QueryWordMatches {
        let mut indexed = std::mem::take(&mut self.indexed);
        indexed.clear();
        self.indexer.index(text, &mut indexed);
        // A text may contain every word twice, the second time as a term of its own language.
        let (mut terms, mut places, mut own) = (Vec::new(), Vec::new(), Vec::new());
        for (place, term) in indexed.split_terminator(' ').enumerate() {
            let number = self.term_number(term);
            let is_own = term.ends_with('_');
            if !is_own {
                terms.push(number);
            }
            if let Some(word) = self.words[number as usize] {
                if is_own { own.push((word, place)) } else { places.push((word, place)) }
            }
        }
        if own.len() > places.len() {
            places = own;
        }
        self.indexed = indexed;
        QueryWordMatches { terms, places }
    }

    fn term_number(&mut self, term: &str) -> TermNumber {
        if let Some(number) = self.numbers.get(term) {
            return *number;
        }
        let number = self.words.len() as TermNumber;
        self.words.push(None);
        self.numbers.insert(term.into(), number);
        number
    }
}

impl QueryWordMatches {
    /// Adds `weight` to the count of each word, for each of its occurrences.
    pub(super) fn add_counts(&self, counts: &mut [f64], weight: f64) {
        for &(word, _) in &self.places {
            counts[word] += weight;
        }
    }
}
