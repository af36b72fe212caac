//! Pseudo-relevance feedback: the words of the best candidates also count for the others.
//!
//! A query describes its subject in a few words, and the best passages use further words for it.
//! This module adds a small score for those words in all candidates. The words of a candidate weigh
//! less the further its score is below the best one: if one candidate stands out, only its words
//! count, which does not change its rank.

use std::collections::HashMap;

use super::library_query::rarity_weight;
use super::rank::{AverageLengths, RankedCandidate, saturate, sort_by_score};
use super::term_matches::{TermMatcher, TermNumber};

/// The number of candidates that provide words.
const ASKED: usize = 10;

/// The maximum number of words they provide, and how many of those count in the end.
const NAMED: usize = 300;
const WORDS: usize = 30;

/// The total weight of those words, relative to the words of the query.
const SHARE: f64 = 0.4;

/// How fast a candidate's influence falls with its score.
const FALL: i32 = 4;

/// A word in more than one of this many passages is too common to count.
const COMMON: i64 = 8;

/// A term of the best candidates, with its weight.
pub(super) struct FeedbackTerm {
    number: TermNumber,
    pub(super) term: String,
    worth: f64,
}

/// Returns the terms with the highest weight in the best candidates, without their rarity.
pub(super) fn find_feedback_terms(
    read: &[RankedCandidate],
    matcher: &TermMatcher,
    usual: &AverageLengths,
) -> Vec<FeedbackTerm> {
    let asked = &read[..read.len().min(ASKED)];
    let best = asked.first().map_or(0.0, |read| read.score);
    let mut worth = vec![0.0; matcher.term_count()];
    let mut counts = TermCounter::new(matcher);
    for passage in asked.iter().filter(|passage| passage.score > 0.0) {
        let say = (passage.score / best).powi(FALL);
        let length = usual.passage_length_factor(passage);
        counts.for_each_term(passage, |number, count| {
            worth[number] += say * saturate(count / length)
        });
    }
    let mut numbers: Vec<TermNumber> = (0..).take(worth.len()).collect();
    numbers.retain(|number| worth[*number as usize] > 0.0);
    let spelled = matcher.term_texts();
    let most_first = |one: &TermNumber, other: &TermNumber| {
        let (one, other) = (*one as usize, *other as usize);
        worth[other].total_cmp(&worth[one]).then_with(|| spelled[one].cmp(spelled[other]))
    };
    if numbers.len() > NAMED {
        numbers.select_nth_unstable_by(NAMED, most_first);
        numbers.truncate(NAMED);
    }
    let named = |number: TermNumber| {
        let (term, worth) = (spelled[number as usize].to_owned(), worth[number as usize]);
        FeedbackTerm { number, term, worth }
    };
    numbers.into_iter().map(named).collect()
}

/// Adds the score of those terms to each candidate. `known` has the number of passages that contain
/// each term, and `asked` is the number of words in the query.
pub(super) fn add_feedback(
    (read, matcher): (&mut [RankedCandidate], &TermMatcher),
    named: Vec<FeedbackTerm>,
    (known, all): (&HashMap<String, i64>, i64),
    (asked, usual): (f64, &AverageLengths),
) {
    let telling = |named: FeedbackTerm| {
        let passages = known.get(&named.term).copied().unwrap_or_default();
        let rarity = rarity_weight(passages, all);
        let tells = passages > 1 && passages <= all / COMMON;
        tells.then_some((FeedbackTerm { worth: named.worth * rarity, ..named }, rarity))
    };
    let mut telling: Vec<_> = named.into_iter().filter_map(telling).collect();
    telling.sort_by(|(one, _), (other, _)| {
        other.worth.total_cmp(&one.worth).then_with(|| one.term.cmp(&other.term))
    });
    telling.truncate(WORDS);
    let together: f64 = telling.iter().map(|(named, _)| named.worth).sum();
    let share = SHARE * asked / together;
    let mut weights = vec![0.0; matcher.term_count()];
    for (named, rarity) in telling {
        weights[named.number as usize] = share * named.worth * rarity;
    }
    let mut counts = TermCounter::new(matcher);
    for passage in read.iter_mut() {
        let length = usual.passage_length_factor(passage);
        let mut worth = 0.0;
        counts.for_each_term(passage, |number, count| {
            worth += weights[number] * saturate(count / length);
        });
        passage.score += worth;
    }
    sort_by_score(read);
}

/// A counter of the terms in a passage, reused for all passages.
struct TermCounter(Vec<f64>);

impl TermCounter {
    fn new(matcher: &TermMatcher) -> Self {
        Self(vec![0.0; matcher.term_count()])
    }

    /// Calls `found` once for each term of a passage, in the order of first occurrence, with the
    /// number of occurrences.
    fn for_each_term(&mut self, passage: &RankedCandidate, mut found: impl FnMut(usize, f64)) {
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
