//! Scores documents by the needs they meet, and keeps the best.
//!
//! A document gets for each need what its best way of meeting it brings, by how rare that is in
//! the catalog; less if it meets few of the needs; and a little of what its server meets as a
//! whole, because a request for one of its tools often speaks of what the others do too.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

use toolgate_model::CapabilityId;

use crate::index::{Index, Indexed};
use crate::manner::Manner;
use crate::query::{Need, Query, Way};
use crate::{Hit, explain, weights};

/// The best documents that `sees` admits, at most `limit`.
pub(crate) fn best(
    index: &Index,
    query: &Query,
    limit: usize,
    sees: &dyn Fn(&CapabilityId) -> bool,
) -> Vec<Hit> {
    let mut candidates = Scores::of(index, &query.needs).candidates(index, query.manner);
    let mut hits = Vec::new();
    while hits.len() < limit
        && let Some(Candidate { score, indexed }) = candidates.pop()
    {
        let id = &indexed.document.id;
        if sees(id) {
            hits.push(Hit {
                id: id.clone(),
                score,
                why: explain::why(index, indexed, &query.needs),
            });
        }
    }
    hits
}

/// What documents and servers scored, by their numbers.
struct Scores {
    sums: Vec<f32>,
    /// Of `total`, what each document covers.
    covered: Vec<f32>,
    /// What a document would have that meets every need as well as any does.
    total: f32,
    lifts: Vec<f32>,
}

/// What the documents bring to one need.
struct Met {
    scores: Vec<f32>,
    /// The documents whose score is above zero.
    documents: Vec<u32>,
}

impl Scores {
    fn of(index: &Index, needs: &[Need]) -> Self {
        let documents = index.documents().len();
        let mut scores = Self {
            sums: vec![0.0; documents],
            covered: vec![0.0; documents],
            total: 0.0,
            lifts: vec![0.0; index.sizes().len()],
        };
        let mut met = Met { scores: vec![0.0; documents], documents: Vec::new() };
        for need in needs {
            need.ways.iter().for_each(|way| met.by(index, way));
            scores.lift(index, need, &met);
            scores.add(need, &met);
            met.clear();
        }
        scores
    }

    /// Adds what a need brought.
    fn add(&mut self, need: &Need, met: &Met) {
        let most = met.documents.iter().map(|&at| met.scores[at as usize]).fold(0.0, f32::max);
        self.total += need.importance * most;
        for &at in &met.documents {
            let at = at as usize;
            self.sums[at] += need.importance * met.scores[at];
            // Half as well as the best is met.
            self.covered[at] += need.importance * most.min(2.0 * met.scores[at]);
        }
    }

    /// Adds to each server its best document's score, by how many of its documents meet the need.
    fn lift(&mut self, index: &Index, need: &Need, met: &Met) {
        let mut servers = vec![(0.0_f32, 0_u32); index.sizes().len()];
        for &at in &met.documents {
            let (most, count) = &mut servers[index.owners()[at as usize] as usize];
            *most = most.max(met.scores[at as usize]);
            *count += 1;
        }
        for (number, (most, count)) in servers.into_iter().enumerate() {
            if count > 0 {
                let share = count as f32 / index.sizes()[number] as f32;
                self.lifts[number] += need.importance * most * share.sqrt();
            }
        }
    }

    fn candidates<'a>(&self, index: &'a Index, wanted: Manner) -> BinaryHeap<Candidate<'a>> {
        let all = index.documents().iter().enumerate();
        let candidate = |(number, indexed): (usize, &'a Option<Arc<Indexed>>)| {
            let sum = self.sums[number];
            if sum == 0.0 {
                return None;
            }
            let covered = self.covered[number] / self.total.max(f32::MIN_POSITIVE);
            let lift = weights::LIFT * self.lifts[index.owners()[number] as usize];
            let score = sum * (1.0 - weights::COVERAGE + weights::COVERAGE * covered) + lift;
            let indexed = indexed.as_deref()?;
            let fits = if wanted.opposes(indexed.manner) { weights::OPPOSED } else { 1.0 };
            Some(Candidate { score: score * fits, indexed })
        };
        all.filter_map(candidate).collect::<Vec<_>>().into()
    }
}

impl Met {
    /// Raises the documents that hold this way's term to what it brings.
    fn by(&mut self, index: &Index, way: &Way) {
        let postings = index.postings().of(way.key);
        let worth = way.weight * rarity(index.len(), postings.len());
        for posting in postings {
            let score = &mut self.scores[posting.document as usize];
            if *score == 0.0 {
                self.documents.push(posting.document);
            }
            *score = score.max(worth * posting.weight);
        }
    }

    fn clear(&mut self) {
        for at in self.documents.drain(..) {
            self.scores[at as usize] = 0.0;
        }
    }
}

/// How much a term tells: the fewer documents hold it, the more.
fn rarity(all: usize, holding: usize) -> f32 {
    let (all, holding) = (all as f32, holding as f32);
    (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln()
}

struct Candidate<'a> {
    score: f32,
    indexed: &'a Indexed,
}

/// The higher score is greater; of equal ones the earlier identity.
impl Ord for Candidate<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let ids = || other.indexed.document.id.cmp(&self.indexed.document.id);
        self.score.total_cmp(&other.score).then_with(ids)
    }
}

impl PartialOrd for Candidate<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate<'_> {}
