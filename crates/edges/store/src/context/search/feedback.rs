//! What the best candidates have in common counts for all.
//!
//! A question names its subject in a few words; the passages that answer it best name it in more.
//! Those words are looked for in the other candidates too, with a small weight. A candidate says the
//! more about the subject, the nearer it comes to the best one: where one stands out, only its words
//! count, and they change nothing above it.

use std::collections::HashMap;

use super::asked::weight;
use super::rank::{Read, Usual, best_first, saturated};
use super::sighting::{Lookout, Term};

/// How many candidates are asked for words.
const ASKED: usize = 10;

/// How many words they may name, and how many of those may count in the end, the rarer ones.
const NAMED: usize = 300;
const WORDS: usize = 30;

/// What those count together, beside the words of the query.
const SHARE: f64 = 0.4;

/// How fast a candidate's say falls with its score.
const FALL: i32 = 4;

/// Of how many passages a word may stand in one: more are too common to tell anything.
const COMMON: i64 = 8;

/// A term of the best candidates, and what it is worth there.
pub(super) struct Named {
    number: Term,
    pub(super) term: String,
    worth: f64,
}

/// The terms that are worth most in the best candidates, not knowing how rare they are.
pub(super) fn named(read: &[Read], lookout: &Lookout, usual: &Usual) -> Vec<Named> {
    let asked = &read[..read.len().min(ASKED)];
    let best = asked.first().map_or(0.0, |read| read.score);
    let mut worth = vec![0.0; lookout.terms()];
    let mut counts = Counts::new(lookout);
    for passage in asked.iter().filter(|passage| passage.score > 0.0) {
        let say = (passage.score / best).powi(FALL);
        let length = usual.passage_length(passage);
        counts.each(passage, |number, count| worth[number] += say * saturated(count / length));
    }
    let mut numbers: Vec<Term> = (0..).take(worth.len()).collect();
    numbers.retain(|number| worth[*number as usize] > 0.0);
    let spelled = lookout.spelled();
    let most_first = |one: &Term, other: &Term| {
        let (one, other) = (*one as usize, *other as usize);
        worth[other].total_cmp(&worth[one]).then_with(|| spelled[one].cmp(spelled[other]))
    };
    if numbers.len() > NAMED {
        numbers.select_nth_unstable_by(NAMED, most_first);
        numbers.truncate(NAMED);
    }
    let named = |number: Term| {
        let (term, worth) = (spelled[number as usize].to_owned(), worth[number as usize]);
        Named { number, term, worth }
    };
    numbers.into_iter().map(named).collect()
}

/// Adds to each candidate what those terms are worth in it. `known` is in how many of all passages
/// they stand, and `asked` how many words the query has.
pub(super) fn add(
    (read, lookout): (&mut [Read], &Lookout),
    named: Vec<Named>,
    (known, all): (&HashMap<String, i64>, i64),
    (asked, usual): (f64, &Usual),
) {
    let telling = |named: Named| {
        let passages = known.get(&named.term).copied().unwrap_or_default();
        let rarity = weight(passages, all);
        let tells = passages > 1 && passages <= all / COMMON;
        tells.then_some((Named { worth: named.worth * rarity, ..named }, rarity))
    };
    let mut telling: Vec<_> = named.into_iter().filter_map(telling).collect();
    telling.sort_by(|(one, _), (other, _)| {
        other.worth.total_cmp(&one.worth).then_with(|| one.term.cmp(&other.term))
    });
    telling.truncate(WORDS);
    let together: f64 = telling.iter().map(|(named, _)| named.worth).sum();
    let share = SHARE * asked / together;
    let mut weights = vec![0.0; lookout.terms()];
    for (named, rarity) in telling {
        weights[named.number as usize] = share * named.worth * rarity;
    }
    let mut counts = Counts::new(lookout);
    for passage in read.iter_mut() {
        let length = usual.passage_length(passage);
        let mut worth = 0.0;
        counts.each(passage, |number, count| {
            worth += weights[number] * saturated(count / length);
        });
        passage.score += worth;
    }
    best_first(read);
}

/// Counts the terms of one passage after the other.
struct Counts(Vec<f64>);

impl Counts {
    fn new(lookout: &Lookout) -> Self {
        Self(vec![0.0; lookout.terms()])
    }

    /// Calls with each term of a passage, once, in the order they are first said, and how often it
    /// is said.
    fn each(&mut self, passage: &Read, mut found: impl FnMut(usize, f64)) {
        let terms = || passage.title.terms.iter().chain(&passage.body.terms);
        terms().for_each(|number| self.0[*number as usize] += 1.0);
        for number in terms() {
            let count = std::mem::take(&mut self.0[*number as usize]);
            if count > 0.0 {
                found(*number as usize, count);
            }
        }
    }
}
