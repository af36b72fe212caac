//! Where the words of a query stand in a text, and which terms the text has.

use std::collections::HashMap;

use toolgate_reading::terms::Indexer;

use super::asked::Word;

/// A term by its number: all texts a [`Lookout`] has seen share the numbers.
pub(super) type Term = u32;

/// Sees texts with the words of a query in mind.
pub(super) struct Lookout {
    numbers: HashMap<Box<str>, Term>,
    /// Which word of the query each term stands for.
    words: Vec<Option<usize>>,
    indexer: Indexer,
    /// The terms of the text at hand.
    indexed: String,
}

/// What was seen of one text.
#[derive(Debug, Default)]
pub(super) struct Sighting {
    /// Its terms in order, without those it has by its own language.
    pub(super) terms: Vec<Term>,
    /// Which word stands at which place, in order.
    pub(super) places: Vec<(usize, usize)>,
}

impl Lookout {
    pub(super) fn new(words: &[Word]) -> Self {
        let (numbers, indexed) = (HashMap::new(), String::new());
        let mut lookout = Self { numbers, words: Vec::new(), indexer: Indexer::new(), indexed };
        for (word, asked) in words.iter().enumerate() {
            for term in &asked.terms {
                let number = lookout.number(term);
                lookout.words[number as usize] = Some(word);
            }
        }
        lookout
    }

    /// How many terms were seen so far: each one's number is below.
    pub(super) fn terms(&self) -> usize {
        self.words.len()
    }

    /// The terms by their numbers.
    pub(super) fn spelled(&self) -> Vec<&str> {
        let mut spelled = vec![""; self.terms()];
        for (term, number) in &self.numbers {
            spelled[*number as usize] = term;
        }
        spelled
    }

    pub(super) fn see(&mut self, text: &str) -> Sighting {
        let mut indexed = std::mem::take(&mut self.indexed);
        indexed.clear();
        self.indexer.index(text, &mut indexed);
        // A text may have every word twice, the second time by its own language.
        let (mut terms, mut places, mut own) = (Vec::new(), Vec::new(), Vec::new());
        for (place, term) in indexed.split_terminator(' ').enumerate() {
            let number = self.number(term);
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
        Sighting { terms, places }
    }

    fn number(&mut self, term: &str) -> Term {
        if let Some(number) = self.numbers.get(term) {
            return *number;
        }
        let number = self.words.len() as Term;
        self.words.push(None);
        self.numbers.insert(term.into(), number);
        number
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
