//! What a document weighs under each of its terms.
//!
//! The weight is the count of a term, each time by what its field counts and how long that field
//! is, saturated. It depends on the document alone, so it is computed once, when the document comes.

use crate::lexicon::{Entry, Lexicon};
use crate::terms::{self, Token};
use crate::words::Kind;
use crate::{Document, Field, weights};

/// A term of a document, before the index gives it a number.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Term<'a> {
    /// A stem.
    Stem(&'a str),
    /// A concept of the lexicon.
    Concept(u32),
}

/// Words read of one field of a document.
const MOST_WORDS: usize = 2000;

/// The tokens of one text of a document.
struct Text {
    field: Field,
    tokens: Vec<Token>,
}

/// Hands every term of the document to `sink`, each once, with its weight.
pub(crate) fn weigh(document: &Document, mut sink: impl FnMut(Term<'_>, f32)) {
    let texts: Vec<Text> = document.texts.iter().map(|(field, text)| read(*field, text)).collect();
    let lengths = lengths(&texts);
    let mut found = Found::default();
    for text in &texts {
        let weight = field_weight(text.field, lengths[text.field as usize]);
        stems(text, weight, &mut found);
        concepts(text, weight, &mut found);
    }
    // Weights are sorted too: a sum of fractions depends on the order of its parts.
    found.parts.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    for group in found.parts.chunk_by(|a, b| a.0 == b.0) {
        let (key, _, place) = group[0];
        let term = match found.stems.get(place as usize) {
            Some(stem) => Term::Stem(stem),
            None => Term::Concept(key as u32),
        };
        sink(term, saturated(group.iter().map(|part| part.1).sum()));
    }
}

/// Every occurrence of a term, small enough to be sorted quickly.
#[derive(Default)]
struct Found<'a> {
    /// The hash of a stem or the number of a concept; the weight; the place among the stems.
    parts: Vec<(u64, f32, u32)>,
    stems: Vec<&'a str>,
}

/// Set in the keys of stems, so that none is taken for a concept.
const STEM: u64 = 1 << 63;

impl<'a> Found<'a> {
    fn stem(&mut self, token: &'a Token, weight: f32) {
        self.parts.push((token.hash | STEM, weight, self.stems.len() as u32));
        self.stems.push(&token.stem);
    }

    fn concept(&mut self, concept: u32, weight: f32) {
        self.parts.push((u64::from(concept), weight, u32::MAX));
    }
}

/// More of the same word counts less and less.
fn saturated(weight: f32) -> f32 {
    weight * (weights::SATURATION + 1.0) / (weight + weights::SATURATION)
}

fn read(field: Field, text: &str) -> Text {
    Text { field, tokens: terms::of_field(field, text, MOST_WORDS) }
}

fn lengths(texts: &[Text]) -> [usize; Field::ALL.len()] {
    let mut lengths = [0; Field::ALL.len()];
    for text in texts {
        let words = text.tokens.iter().filter(|token| token.word.kind != Kind::Joined).count();
        lengths[text.field as usize] += words;
    }
    lengths
}

fn field_weight(field: Field, length: usize) -> f32 {
    let discount = weights::length_discount(field);
    let relative = length as f32 / weights::usual_length(field);
    weights::of(field) / (1.0 - discount + discount * relative)
}

fn stems<'a>(text: &'a Text, weight: f32, found: &mut Found<'a>) {
    let kept = text.tokens.iter().filter(|token| terms::is_indexed(token));
    kept.for_each(|token| found.stem(token, weight));
}

/// The concepts and topics of words and phrases.
fn concepts(text: &Text, weight: f32, found: &mut Found<'_>) {
    let lexicon = Lexicon::get();
    let connected = terms::connected(&text.tokens);
    for at in 0..connected.len() {
        for (_, entry) in lexicon.beginning(&connected[at..]) {
            expressed(entry, weight, found);
        }
    }
    // `GitHub` is no phrase of `git` and `hub`, but the whole may be known.
    for token in text.tokens.iter().filter(|token| token.word.kind == Kind::Joined) {
        if let Some(entry) = lexicon.word(&token.stem) {
            expressed(entry, weight, found);
        }
    }
}

fn expressed(entry: &Entry, weight: f32, found: &mut Found<'_>) {
    let clear = weight * weights::clarity(entry.concepts.len());
    entry.concepts.iter().for_each(|(concept, _)| found.concept(*concept, clear));
    let share = weight / entry.topics.len() as f32;
    entry.topics.iter().for_each(|topic| found.concept(*topic, share));
}
