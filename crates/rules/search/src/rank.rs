//! Scores documents by the needs they meet, and keeps the best.
//!
//! For each need, a document scores by its best matching term and the rarity of that term. The
//! score is reduced if the document meets few of the needs. It is raised a little by what its
//! server meets as a whole, because a request for one tool often mentions what related tools do.

use std::sync::Arc;

use toolgate_model::CapabilityId;

use crate::index::{CapabilityIndex, IndexEntry};
use crate::intent::ReadWriteIntent;
use crate::query::{CapabilityQuery, NeedTerm, QueryNeed};
use crate::{CapabilityHit, explain, weights};

/// Returns the best documents that `sees` accepts, at most `limit`.
pub(crate) fn best_hits(
    index: &CapabilityIndex,
    query: &CapabilityQuery,
    limit: usize,
    sees: &dyn Fn(&CapabilityId) -> bool,
) -> Vec<CapabilityHit> {
    let mut candidates = CapabilityScores::of(index, &query.needs).candidates(index, query.intent);
    candidates.sort_unstable_by(|(one_score, one), (other_score, other)| {
        other_score.total_cmp(one_score).then_with(|| one.document.id.cmp(&other.document.id))
    });
    let seen = candidates.into_iter().filter(|(_, indexed)| sees(&indexed.document.id));
    let hit = |(score, indexed): (f32, &IndexEntry)| CapabilityHit {
        id: indexed.document.id.clone(),
        score,
        matches: explain::explain_matches(index, indexed, &query.needs),
    };
    seen.take(limit).map(hit).collect()
}

/// The scores of documents and servers, by number.
struct CapabilityScores {
    sums: Vec<f32>,
    /// The share of `total` that each document covers.
    covered: Vec<f32>,
    /// The coverage of a document that meets every need as well as the best does.
    total: f32,
    server_scores: Vec<f32>,
}

/// The scores of documents for one need.
struct NeedScores {
    scores: Vec<f32>,
    /// The documents with a score above zero.
    documents: Vec<u32>,
}

impl CapabilityScores {
    fn of(index: &CapabilityIndex, needs: &[QueryNeed]) -> Self {
        let documents = index.documents.len();
        let mut scores = Self {
            sums: vec![0.0; documents],
            covered: vec![0.0; documents],
            total: 0.0,
            server_scores: vec![0.0; index.sizes.len()],
        };
        let mut met = NeedScores { scores: vec![0.0; documents], documents: Vec::new() };
        for need in needs {
            need.terms.iter().for_each(|way| met.apply_term(index, way));
            scores.add_server_scores(index, need, &met);
            scores.add(need, &met);
            met.clear();
        }
        scores
    }

    /// Adds the scores of a need.
    fn add(&mut self, need: &QueryNeed, met: &NeedScores) {
        let most = met.documents.iter().map(|&at| met.scores[at as usize]).fold(0.0, f32::max);
        self.total += need.importance * most;
        for &at in &met.documents {
            let at = at as usize;
            self.sums[at] += need.importance * met.scores[at];
            // Half the best score counts as fully met.
            self.covered[at] += need.importance * most.min(2.0 * met.scores[at]);
        }
    }

    /// Adds to each server the score of its best document, scaled by how many of its documents meet
    /// the need.
    fn add_server_scores(&mut self, index: &CapabilityIndex, need: &QueryNeed, met: &NeedScores) {
        let mut servers = vec![(0.0_f32, 0_u32); index.sizes.len()];
        for &at in &met.documents {
            let (most, count) = &mut servers[index.owners[at as usize] as usize];
            *most = most.max(met.scores[at as usize]);
            *count += 1;
        }
        for (number, (most, count)) in servers.into_iter().enumerate() {
            if count > 0 {
                let share = count as f32 / index.sizes[number] as f32;
                self.server_scores[number] += need.importance * most * share.sqrt();
            }
        }
    }

    fn candidates<'a>(
        &self,
        index: &'a CapabilityIndex,
        wanted: ReadWriteIntent,
    ) -> Vec<(f32, &'a IndexEntry)> {
        let all = index.documents.iter().enumerate();
        let candidate = |(number, indexed): (usize, &'a Option<Arc<IndexEntry>>)| {
            let sum = self.sums[number];
            if sum == 0.0 {
                return None;
            }
            let covered = self.covered[number] / self.total.max(f32::MIN_POSITIVE);
            let lift = weights::LIFT * self.server_scores[index.owners[number] as usize];
            let score = sum * (1.0 - weights::COVERAGE + weights::COVERAGE * covered) + lift;
            let indexed = indexed.as_deref()?;
            let fits = if wanted.opposes(indexed.intent) { weights::OPPOSED } else { 1.0 };
            Some((score * fits, indexed))
        };
        all.filter_map(candidate).collect()
    }
}

impl NeedScores {
    /// Raises the scores of the documents that contain this term.
    fn apply_term(&mut self, index: &CapabilityIndex, way: &NeedTerm) {
        let postings = index.postings.get(way.key);
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

/// Returns the rarity of a term: the fewer documents contain it, the higher.
fn rarity(all: usize, holding: usize) -> f32 {
    let (all, holding) = (all as f32, holding as f32);
    (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln()
}
