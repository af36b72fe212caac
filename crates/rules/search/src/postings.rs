//! Which term stands in which document, and how heavily: the inverted index itself.
//!
//! It knows numbers of documents only. Whose they are, and when they go, is the index's business.

use std::collections::HashMap;
use std::sync::Arc;

use crate::analysis::Term;
use crate::lexicon::Lexicon;
use crate::similar::Shape;
use crate::terms::Key;

/// That a term stands in a document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Posting {
    /// The number of the document.
    pub(crate) document: u32,
    /// How often the term stands in it, weighted by field and length, saturated.
    pub(crate) weight: f32,
}

/// All postings by term.
#[derive(Debug, Clone, Default)]
pub(crate) struct Postings {
    numbers: HashMap<Arc<str>, u32>,
    words: Vec<Stem>,
    free: Vec<u32>,
    concepts: Vec<Vec<Posting>>,
}

#[derive(Debug, Clone)]
struct Stem {
    text: Arc<str>,
    /// The text in short, to compare with many of them quickly.
    shape: Shape,
    postings: Vec<Posting>,
}

impl Postings {
    /// The documents that hold a term, in no order.
    pub(crate) fn of(&self, key: Key) -> &[Posting] {
        let postings = match key {
            Key::Word(number) => self.words.get(number as usize).map(|stem| &stem.postings),
            Key::Concept(number) => self.concepts.get(number as usize),
        };
        postings.map(Vec::as_slice).unwrap_or_default()
    }

    /// The term of a stem, if any document holds it.
    pub(crate) fn key(&self, stem: &str) -> Option<Key> {
        self.numbers.get(stem).copied().map(Key::Word)
    }

    /// The stem of a term.
    pub(crate) fn stem(&self, key: Key) -> Option<&str> {
        match key {
            Key::Word(number) => Some(&self.words.get(number as usize)?.text),
            Key::Concept(_) => None,
        }
    }

    /// Every stem of a shape that is admitted, with its term.
    pub(crate) fn stems(
        &self,
        admits: impl Fn(Shape) -> bool,
    ) -> impl Iterator<Item = (&str, Key)> {
        let all = self.words.iter().enumerate();
        let near = all.filter(move |(_, stem)| admits(stem.shape) && !stem.postings.is_empty());
        near.map(|(number, stem)| (&*stem.text, Key::Word(number as u32)))
    }

    /// Adds that a term stands in a document.
    pub(crate) fn add(&mut self, term: Term<'_>, posting: Posting) -> Key {
        let key = match term {
            Term::Stem(stem) => Key::Word(self.number(stem)),
            Term::Concept(concept) => Key::Concept(concept),
        };
        if let Some(postings) = self.of_mut(key) {
            postings.push(posting);
        }
        key
    }

    /// Takes out the postings of documents that have gone, and a stem nobody holds any more.
    pub(crate) fn sweep(&mut self, key: Key, lives: impl Fn(u32) -> bool) {
        let Some(postings) = self.of_mut(key) else {
            return;
        };
        postings.retain(|posting| lives(posting.document));
        if postings.is_empty()
            && let Key::Word(number) = key
        {
            let stem = &mut self.words[number as usize];
            self.numbers.remove(&std::mem::replace(&mut stem.text, "".into()));
            stem.postings = Vec::new();
            self.free.push(number);
        }
    }

    fn of_mut(&mut self, key: Key) -> Option<&mut Vec<Posting>> {
        match key {
            Key::Word(number) => Some(&mut self.words.get_mut(number as usize)?.postings),
            Key::Concept(number) => {
                if self.concepts.is_empty() {
                    self.concepts.resize_with(Lexicon::get().concepts(), Vec::new);
                }
                self.concepts.get_mut(number as usize)
            }
        }
    }

    /// The number of a stem: its own, one that has become free, or the next.
    fn number(&mut self, stem: &str) -> u32 {
        if let Some(&number) = self.numbers.get(stem) {
            return number;
        }
        let text: Arc<str> = stem.into();
        let entry = Stem { shape: Shape::of(stem), text: Arc::clone(&text), postings: Vec::new() };
        let number = self.free.pop().unwrap_or(self.words.len() as u32);
        match self.words.get_mut(number as usize) {
            Some(place) => *place = entry,
            None => self.words.push(entry),
        }
        self.numbers.insert(text, number);
        number
    }
}
