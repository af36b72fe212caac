//! Which of the ranked candidates are given, and in which order.

use std::collections::HashMap;

use super::rank::Read;
use crate::context::Hit;
use crate::sqlite::now;

/// What a further passage of the same document counts, and each one after it again: several are
/// given if they are good, but no document fills the page.
const FURTHER: f64 = 0.7;

/// What a document that was changed right now has over one that was never.
const NEWER: f64 = 0.01;

/// After how long half of that is left, in milliseconds.
const OLD: f64 = 30.0 * 24.0 * 60.0 * 60.0 * 1000.0;

/// The best hits, best first, of candidates in the order of their scores.
pub(super) fn best(read: Vec<Read>, limit: usize) -> Vec<Hit> {
    let (now, mut given) = (now(), HashMap::<i64, i32>::new());
    let hits = read.into_iter().map(|read| {
        let before = given.entry(read.candidate.document).or_default();
        let mut hit = read.candidate.hit;
        hit.score = read.score * FURTHER.powi(*before) * (1.0 + NEWER * newness(hit.modified, now));
        *before += 1;
        hit
    });
    let mut hits: Vec<Hit> = hits.collect();
    hits.sort_by(|one, other| {
        other.score.total_cmp(&one.score).then_with(|| one.passage.cmp(&other.passage))
    });
    hits.truncate(limit);
    hits
}

/// From 1 for now to 0 for long ago.
fn newness(modified: i64, now: i64) -> f64 {
    let age = now.saturating_sub(modified).max(0) as f64;
    OLD / (OLD + age)
}
