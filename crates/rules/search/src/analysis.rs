//! Computes the weight of each term in a document.
//!
//! The weight is the number of occurrences, each weighted by its field and the field's length,
//! saturated. It depends on the document alone, so it is computed once, when the document is added.

use crate::lexicon::{Lexicon, LexiconEntry};
use crate::terms::{self, StemToken};
use crate::weights::FieldWeights;
use crate::words::WordKind;
use crate::{IndexedCapability, SearchField, weights};

/// A term of a document before the index assigns it a number.
#[derive(Debug, Clone, Copy)]
pub(crate) enum IndexTerm<'a> {
    /// A stem.
    Stem(&'a str),
    /// A concept of the lexicon.
    Concept(u32),
}

/// The maximum number of words read from one field.
const MOST_WORDS: usize = 2000;

/// Passes every term of the document to `sink`, once, with its weight.
pub(crate) fn weigh(document: &IndexedCapability, mut sink: impl FnMut(IndexTerm<'_>, f32)) {
    let texts = terms::tokenize(document, MOST_WORDS);
    let lengths = lengths(&texts);
    let mut found = TermOccurrences::default();
    for (field, tokens) in &texts {
        let weight = field_weight(*field, lengths[*field as usize]);
        let kept = tokens.iter().filter(|token| terms::is_indexed(token));
        kept.for_each(|token| found.stem(token, weight));
        collect_concepts(tokens, weight, &mut found);
    }
    // Sort the weights as well, because a floating-point sum depends on the order.
    found.parts.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    for group in found.parts.chunk_by(|a, b| a.0 == b.0) {
        let (key, _, place) = group[0];
        let term = match found.stems.get(place as usize) {
            Some(stem) => IndexTerm::Stem(stem),
            None => IndexTerm::Concept(key as u32),
        };
        sink(term, saturate(group.iter().map(|part| part.1).sum()));
    }
}

/// All occurrences of terms in a document, in a form that sorts quickly.
#[derive(Default)]
struct TermOccurrences<'a> {
    /// The hash of a stem or the number of a concept; the weight; the index among the stems.
    parts: Vec<(u64, f32, u32)>,
    stems: Vec<&'a str>,
}

/// A bit in the keys of stems that separates them from concepts.
const STEM: u64 = 1 << 63;

impl<'a> TermOccurrences<'a> {
    fn stem(&mut self, token: &'a StemToken, weight: f32) {
        self.parts.push((token.hash | STEM, weight, self.stems.len() as u32));
        self.stems.push(&token.stem);
    }

    fn concept(&mut self, concept: u32, weight: f32) {
        self.parts.push((u64::from(concept), weight, u32::MAX));
    }
}

/// Saturates a weight: further occurrences of a word count less and less.
fn saturate(weight: f32) -> f32 {
    weight * (weights::SATURATION + 1.0) / (weight + weights::SATURATION)
}

fn lengths(texts: &[(SearchField, Vec<StemToken>)]) -> [usize; SearchField::ALL.len()] {
    let mut lengths = [0; SearchField::ALL.len()];
    for (field, tokens) in texts {
        let words = tokens.iter().filter(|token| token.word.kind != WordKind::Joined).count();
        lengths[*field as usize] += words;
    }
    lengths
}

fn field_weight(field: SearchField, length: usize) -> f32 {
    let FieldWeights { weight, usual_length, length_discount } = weights::field_weights(field);
    let relative = length as f32 / usual_length;
    weight / (1.0 - length_discount + length_discount * relative)
}

/// Collects the concepts and topics of words and phrases.
fn collect_concepts(tokens: &[StemToken], weight: f32, found: &mut TermOccurrences<'_>) {
    let lexicon = Lexicon::get();
    let connected = terms::phrase_tokens(tokens);
    for at in 0..connected.len() {
        for (_, entry) in lexicon.entries_at_start(&connected[at..]) {
            push_entry(entry, weight, found);
        }
    }
    // `GitHub` is not a phrase of `git` and `hub`, but the lexicon can know the joined form.
    for token in tokens.iter().filter(|token| token.word.kind == WordKind::Joined) {
        if let Some(entry) = lexicon.entry(&token.stem) {
            push_entry(entry, weight, found);
        }
    }
}

fn push_entry(entry: &LexiconEntry, weight: f32, found: &mut TermOccurrences<'_>) {
    let clear = weight * weights::clarity(entry.concepts.len());
    entry.concepts.iter().for_each(|(concept, _)| found.concept(*concept, clear));
    let share = weight / entry.topics.len() as f32;
    entry.topics.iter().for_each(|topic| found.concept(*topic, share));
}
