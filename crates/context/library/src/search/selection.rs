//! Selects and sorts the hits from the ranked candidates.

use std::collections::HashMap;

use super::rank::RankedCandidate;
use crate::PassageHit;
use toolgate_store::now_millis;

/// The factor for each further passage of the same document. A document may have several good
/// passages, but must not fill the page.
const FURTHER: f64 = 0.7;

/// The maximum bonus of a recently modified document.
const NEWER: f64 = 0.01;

/// The age in milliseconds at which half of the bonus is left.
const OLD: f64 = 30.0 * 24.0 * 60.0 * 60.0 * 1000.0;

/// Returns the best hits, best first. The candidates are sorted by score.
pub(super) fn select_best(read: Vec<RankedCandidate>, limit: usize) -> Vec<PassageHit> {
    let (now, mut given) = (now_millis(), HashMap::<i64, i32>::new());
    let hits = read.into_iter().map(|read| {
        let before = given.entry(read.candidate.document).or_default();
        let mut hit = read.candidate.hit;
        hit.score = read.score * FURTHER.powi(*before) * (1.0 + NEWER * newness(hit.modified, now));
        *before += 1;
        hit
    });
    let mut hits: Vec<PassageHit> = hits.collect();
    hits.sort_by(|one, other| {
        other.score.total_cmp(&one.score).then_with(|| one.passage.cmp(&other.passage))
    });
    hits.truncate(limit);
    hits
}

/// Returns a value from 1 for now to 0 for long ago.
fn newness(modified: i64, now: i64) -> f64 {
    let age = now.saturating_sub(modified).max(0) as f64;
    OLD / (OLD + age)
}
