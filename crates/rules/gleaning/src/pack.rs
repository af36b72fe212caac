//! The best passages for a task within a budget.
//!
//! Greedy: each time the passage that adds most to what is taken already and still fits. What says
//! again what a better one says is left out, whatever the budget. Passages are never cut.

use crate::words::Stems;
use crate::{Leaf, question};

/// From here on a passage says again what another says: the part of its words the other has.
const AGAIN: f64 = 0.85;

/// How much being like what is taken already counts against a passage.
const LIKE: f64 = 0.35;

/// Of so many passages the best are looked at; they come ranked.
const MOST: usize = 400;

/// The passages to hand over for a task, best first, by their index: together they cost no more
/// than `budget`, counted by `tokens`, and none says again what a better one says.
pub fn pack(
    task: &str,
    leaves: &[Leaf<'_>],
    budget: usize,
    tokens: &dyn Fn(&str) -> usize,
) -> Vec<usize> {
    let question = question::read(task);
    let best =
        leaves.iter().map(|leaf| leaf.score).filter(|score| score.is_finite()).fold(0.0, f64::max);
    let mut rest: Vec<Sheet<'_>> = leaves
        .iter()
        .enumerate()
        .take(MOST)
        .filter(|(_, leaf)| !leaf.text.trim().is_empty())
        .map(|(place, leaf)| Sheet::of(place, leaf, best, &question, tokens))
        .collect();
    rest.sort_by(|one, other| other.worth.total_cmp(&one.worth).then(one.place.cmp(&other.place)));
    let mut left = budget;
    let mut taken: Vec<Sheet<'_>> = Vec::new();
    let mut met = vec![false; question.terms.len()];
    loop {
        rest.retain(|sheet| sheet.cost <= left && sheet.like < AGAIN);
        let next = rest.iter().enumerate().max_by(|(one_at, one), (other_at, other)| {
            one.gain(&met).total_cmp(&other.gain(&met)).then(other_at.cmp(one_at))
        });
        let Some((at, _)) = next else { break };
        let sheet = rest.remove(at);
        left -= sheet.cost;
        for other in &mut rest {
            other.like = other.like.max(sheet.covers(other));
        }
        for (met, has) in met.iter_mut().zip(&sheet.meets) {
            *met |= *has;
        }
        taken.push(sheet);
    }
    taken.into_iter().map(|sheet| sheet.place).collect()
}

/// A passage that may be taken.
struct Sheet<'a> {
    place: usize,
    text: &'a str,
    cost: usize,
    worth: f64,
    /// How much of it the taken ones say already.
    like: f64,
    /// Which words of the task it has.
    meets: Vec<bool>,
    stems: Stems,
}

impl<'a> Sheet<'a> {
    fn of(
        place: usize,
        leaf: &Leaf<'a>,
        best: f64,
        task: &question::Question,
        tokens: &dyn Fn(&str) -> usize,
    ) -> Self {
        let stems = Stems::of(leaf.text);
        let mut around = Stems::of(leaf.heading);
        around.add(leaf.title);
        let meets: Vec<bool> = task
            .terms
            .iter()
            .map(|term| stems.have(&term.stem) || around.have(&term.stem))
            .collect();
        let share = meets.iter().filter(|met| **met).count() as f64 / meets.len().max(1) as f64;
        let score = if best > 0.0 && leaf.score.is_finite() {
            (leaf.score / best).clamp(0.0, 1.0)
        } else {
            0.5
        };
        let worth = 0.7 * score + 0.3 * share;
        Self { place, text: leaf.text, cost: tokens(leaf.text), worth, like: 0.0, meets, stems }
    }

    /// What it adds: its worth, more for words of the task nobody has yet, less for what is said
    /// already.
    fn gain(&self, met: &[bool]) -> f64 {
        let fresh = self.meets.iter().zip(met).filter(|(has, met)| **has && !**met).count();
        let fresh = fresh as f64 / self.meets.len().max(1) as f64;
        self.worth + 0.25 * fresh - LIKE * self.like
    }

    /// The part of another's words it has.
    fn covers(&self, other: &Self) -> f64 {
        if other.text == self.text {
            return 1.0;
        }
        other.stems.shared(&self.stems) as f64 / other.stems.len().max(1) as f64
    }
}
