//! Selects the best passages for a task within a budget.
//!
//! The selection is greedy: it repeatedly takes the passage that adds most and still fits. A
//! passage that repeats a better one is left out, whatever the budget. Passages are never cut.

use crate::words::StemSet;
use crate::{SourcePassage, question};

/// The share of a passage's words in a better one from which it is a repetition.
const AGAIN: f64 = 0.85;

/// The penalty for similarity to passages already taken.
const LIKE: f64 = 0.35;

/// The maximum number of candidates. They come in order of rank.
const MOST: usize = 400;

/// Returns the indices of the passages to use for a task, best first. Together they cost at most
/// `budget`, as counted by `tokens`, and none repeats a better one.
pub fn pack(
    task: &str,
    passages: &[SourcePassage<'_>],
    budget: usize,
    tokens: &dyn Fn(&str) -> usize,
) -> Vec<usize> {
    let question = question::read(task);
    let best = passages
        .iter()
        .map(|passage| passage.score)
        .filter(|score| score.is_finite())
        .fold(0.0, f64::max);
    let mut rest: Vec<PackCandidate<'_>> = passages
        .iter()
        .enumerate()
        .take(MOST)
        .filter(|(_, passage)| !passage.text.trim().is_empty())
        .map(|(place, passage)| PackCandidate::of(place, passage, best, &question, tokens))
        .collect();
    rest.sort_by(|one, other| {
        other.relevance.total_cmp(&one.relevance).then(one.place.cmp(&other.place))
    });
    let mut left = budget;
    let mut taken: Vec<PackCandidate<'_>> = Vec::new();
    let mut met = vec![false; question.terms.len()];
    loop {
        rest.retain(|sheet| sheet.cost <= left && sheet.overlap < AGAIN);
        let next = rest.iter().enumerate().max_by(|(one_at, one), (other_at, other)| {
            one.gain(&met).total_cmp(&other.gain(&met)).then(other_at.cmp(one_at))
        });
        let Some((at, _)) = next else { break };
        let sheet = rest.remove(at);
        left -= sheet.cost;
        for other in &mut rest {
            other.overlap = other.overlap.max(sheet.covers(other));
        }
        for (met, has) in met.iter_mut().zip(&sheet.covered_terms) {
            *met |= *has;
        }
        taken.push(sheet);
    }
    taken.into_iter().map(|sheet| sheet.place).collect()
}

/// A passage that can be selected.
struct PackCandidate<'a> {
    place: usize,
    text: &'a str,
    cost: usize,
    relevance: f64,
    /// The share of it that selected passages already contain.
    overlap: f64,
    /// Which terms of the task it contains.
    covered_terms: Vec<bool>,
    stems: StemSet,
}

impl<'a> PackCandidate<'a> {
    fn of(
        place: usize,
        passage: &SourcePassage<'a>,
        best: f64,
        task: &question::ParsedQuestion,
        tokens: &dyn Fn(&str) -> usize,
    ) -> Self {
        let stems = StemSet::of(passage.text);
        let mut around = StemSet::of(passage.heading);
        around.add(passage.title);
        let meets: Vec<bool> = task
            .terms
            .iter()
            .map(|term| stems.contains(&term.stem) || around.contains(&term.stem))
            .collect();
        let share = meets.iter().filter(|met| **met).count() as f64 / meets.len().max(1) as f64;
        let score = if best > 0.0 && passage.score.is_finite() {
            (passage.score / best).clamp(0.0, 1.0)
        } else {
            0.5
        };
        let worth = 0.7 * score + 0.3 * share;
        Self {
            place,
            text: passage.text,
            cost: tokens(passage.text),
            relevance: worth,
            overlap: 0.0,
            covered_terms: meets,
            stems,
        }
    }

    /// Returns the gain of taking it: its score, plus a bonus for new terms of the task, minus a
    /// penalty for repetition.
    fn gain(&self, met: &[bool]) -> f64 {
        let fresh = self.covered_terms.iter().zip(met).filter(|(has, met)| **has && !**met).count();
        let fresh = fresh as f64 / self.covered_terms.len().max(1) as f64;
        self.relevance + 0.25 * fresh - LIKE * self.overlap
    }

    /// Returns the share of the other's words that this one contains.
    fn covers(&self, other: &Self) -> f64 {
        if other.text == self.text {
            return 1.0;
        }
        other.stems.shared(&self.stems) as f64 / other.stems.len().max(1) as f64
    }
}
