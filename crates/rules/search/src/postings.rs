//! The inverted index: which term occurs in which document, with its weight.
//!
//! It knows only document numbers. `CapabilityIndex` knows the servers and removes documents.

use std::collections::HashMap;
use std::sync::Arc;

use crate::analysis::IndexTerm;
use crate::lexicon::Lexicon;
use crate::similar_words::WordShape;
use crate::terms::TermKey;

/// The occurrence of a term in a document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Posting {
    /// The number of the document.
    pub(crate) document: u32,
    /// The weighted and saturated number of occurrences.
    pub(crate) weight: f32,
}

/// All postings by term.
#[derive(Debug, Clone, Default)]
pub(crate) struct PostingLists {
    numbers: HashMap<Arc<str>, u32>,
    words: Vec<StemPostings>,
    free: Vec<u32>,
    concepts: Vec<Vec<Posting>>,
}

/// The postings of one stem.
#[derive(Debug, Clone)]
struct StemPostings {
    text: Arc<str>,
    /// The shape of the stem, for fast comparison.
    shape: WordShape,
    postings: Vec<Posting>,
}

impl PostingLists {
    /// Returns the documents that contain a term, in no order.
    pub(crate) fn get(&self, key: TermKey) -> &[Posting] {
        let postings = match key {
            TermKey::Word(number) => self.words.get(number as usize).map(|stem| &stem.postings),
            TermKey::Concept(number) => self.concepts.get(number as usize),
        };
        postings.map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the key of a stem, if any document contains it.
    pub(crate) fn key(&self, stem: &str) -> Option<TermKey> {
        self.numbers.get(stem).copied().map(TermKey::Word)
    }

    /// Returns the stem of a term.
    pub(crate) fn stem(&self, key: TermKey) -> Option<&str> {
        match key {
            TermKey::Word(number) => Some(&self.words.get(number as usize)?.text),
            TermKey::Concept(_) => None,
        }
    }

    /// Returns every stem with a shape that the filter accepts, with its key.
    pub(crate) fn stems(
        &self,
        admits: impl Fn(WordShape) -> bool,
    ) -> impl Iterator<Item = (&str, TermKey)> {
        let all = self.words.iter().enumerate();
        let near = all.filter(move |(_, stem)| admits(stem.shape) && !stem.postings.is_empty());
        near.map(|(number, stem)| (&*stem.text, TermKey::Word(number as u32)))
    }

    /// Adds a posting and returns the key of the term.
    pub(crate) fn add(&mut self, term: IndexTerm<'_>, posting: Posting) -> TermKey {
        let key = match term {
            IndexTerm::Stem(stem) => TermKey::Word(self.number(stem)),
            IndexTerm::Concept(concept) => TermKey::Concept(concept),
        };
        if let Some(postings) = self.get_mut(key) {
            postings.push(posting);
        }
        key
    }

    /// Removes the postings of removed documents, and the stem if none is left.
    pub(crate) fn remove_stale(&mut self, key: TermKey, lives: impl Fn(u32) -> bool) {
        let Some(postings) = self.get_mut(key) else {
            return;
        };
        postings.retain(|posting| lives(posting.document));
        if postings.is_empty()
            && let TermKey::Word(number) = key
        {
            let stem = &mut self.words[number as usize];
            self.numbers.remove(&std::mem::replace(&mut stem.text, "".into()));
            stem.postings = Vec::new();
            self.free.push(number);
        }
    }

    fn get_mut(&mut self, key: TermKey) -> Option<&mut Vec<Posting>> {
        match key {
            TermKey::Word(number) => Some(&mut self.words.get_mut(number as usize)?.postings),
            TermKey::Concept(number) => {
                if self.concepts.is_empty() {
                    self.concepts.resize_with(Lexicon::get().concepts(), Vec::new);
                }
                self.concepts.get_mut(number as usize)
            }
        }
    }

    /// Returns the number of a stem: its existing one, a free one, or the next.
    fn number(&mut self, stem: &str) -> u32 {
        if let Some(&number) = self.numbers.get(stem) {
            return number;
        }
        let text: Arc<str> = stem.into();
        let entry = StemPostings {
            shape: WordShape::of(stem),
            text: Arc::clone(&text),
            postings: Vec::new(),
        };
        let number = self.free.pop().unwrap_or(self.words.len() as u32);
        match self.words.get_mut(number as usize) {
            Some(place) => *place = entry,
            None => self.words.push(entry),
        }
        self.numbers.insert(text, number);
        number
    }
}
