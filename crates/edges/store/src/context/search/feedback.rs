//! What the best candidates have in common counts for all.
//!
//! A question names its subject in a few words; the passages that answer it best name it in more.
//! Those words are looked for in the other candidates too, with a small weight. A candidate says the
//! more about the subject, the nearer it comes to the best one: where one stands out, only its words
//! count, and they change nothing above it.

use std::collections::HashMap;

use super::asked::weight;
use super::rank::{Read, Usual, best_first, saturated};

/// How many candidates are asked for words.
const ASKED: usize = 10;

/// How many words they may add.
const WORDS: usize = 30;

/// What those count together, beside the words of the query.
const SHARE: f64 = 0.4;

/// How fast a candidate's say falls with its score.
const FALL: i32 = 4;

/// Of how many passages a word may stand in one: more are too common to tell anything.
const COMMON: i64 = 8;

/// The terms of the best candidates with what they are worth there, not knowing how rare they are.
pub(super) fn terms(read: &[Read], usual: &Usual) -> HashMap<String, f64> {
    let asked = &read[..read.len().min(ASKED)];
    let best = asked.first().map_or(0.0, |read| read.score);
    let mut terms = HashMap::new();
    for passage in asked.iter().filter(|passage| passage.score > 0.0) {
        let say = (passage.score / best).powi(FALL);
        let length = usual.passage_length(passage);
        for (term, count) in counts(passage) {
            *terms.entry(term.to_owned()).or_default() += say * saturated(count / length);
        }
    }
    terms
}

fn counts(passage: &Read) -> HashMap<&str, f64> {
    let mut counts = HashMap::new();
    let texts = [&passage.title, &passage.body];
    let terms = texts.into_iter().flat_map(|text| text.terms.split_terminator(' '));
    for term in terms.filter(|term| !term.ends_with('_')) {
        *counts.entry(term).or_default() += 1.0;
    }
    counts
}

/// Adds to each candidate what those terms are worth in it. `known` is in how many of all passages
/// they stand, and `asked` how many words the query has.
pub(super) fn add(
    read: &mut [Read],
    terms: HashMap<String, f64>,
    (known, all): (&HashMap<String, i64>, i64),
    (asked, usual): (f64, &Usual),
) {
    let telling = |(term, worth): (String, f64)| {
        let passages = known.get(&term).copied().unwrap_or_default();
        let rarity = weight(passages, all);
        (passages > 1 && passages <= all / COMMON).then_some((term, worth * rarity, rarity))
    };
    let mut telling: Vec<_> = terms.into_iter().filter_map(telling).collect();
    telling.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    telling.truncate(WORDS);
    let together: f64 = telling.iter().map(|(_, worth, _)| worth).sum();
    let share = SHARE * asked / together;
    let weights: HashMap<&str, f64> = telling
        .iter()
        .map(|(term, worth, rarity)| (term.as_str(), share * worth * rarity))
        .collect();
    for passage in read.iter_mut() {
        let length = usual.passage_length(passage);
        let found = counts(passage).into_iter();
        let worth = found.filter_map(|(term, count)| {
            weights.get(term).map(|weight| weight * saturated(count / length))
        });
        let worth: f64 = worth.sum();
        passage.score += worth;
    }
    best_first(read);
}
