//! A compact histogram of durations.
//!
//! Each power of two has sixteen steps, so a percentile is at most one sixteenth too large.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::json;

/// The number of steps per power of two. Values that differ only in lower bits share a step.
const STEPS: u64 = 16;

/// A histogram of durations, in microseconds. In reports it stands for its percentiles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Histogram {
    counts: BTreeMap<u16, u64>,
    pub(crate) count: u64,
    largest: u64,
}

impl Histogram {
    pub(crate) fn add(&mut self, value: u64) {
        *self.counts.entry(step(value)).or_default() += 1;
        self.count += 1;
        self.largest = self.largest.max(value);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (step, count) in &other.counts {
            *self.counts.entry(*step).or_default() += count;
        }
        self.count += other.count;
        self.largest = self.largest.max(other.largest);
    }

    /// Returns a percentile, or none if the histogram is empty.
    pub(crate) fn percentile(&self, percent: u64) -> Option<u64> {
        let rank = (self.count * percent).div_ceil(100).max(1);
        let mut so_far = 0;
        for (step, count) in &self.counts {
            so_far += count;
            if so_far >= rank {
                return Some(last_of(*step).min(self.largest));
            }
        }
        None
    }
}

impl Serialize for Histogram {
    /// Writes the percentiles and the maximum, or null without durations.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let [p50, p95, p99] = [50, 95, 99].map(|percent| self.percentile(percent));
        let percentiles = json!({ "p50": p50, "p95": p95, "p99": p99, "max": self.largest });
        (self.count > 0).then_some(percentiles).serialize(serializer)
    }
}

/// Returns the step of a value.
fn step(value: u64) -> u16 {
    if value < STEPS {
        return value as u16;
    }
    let doubling = u64::from(value.ilog2());
    let within = (value >> (doubling - 4)) & (STEPS - 1);
    // 64 doublings of 16 steps fit.
    ((doubling - 3) * STEPS + within) as u16
}

/// Returns the largest value of a step.
fn last_of(step: u16) -> u64 {
    let step = u64::from(step);
    if step < STEPS {
        return step;
    }
    let (doubling, within) = (step / STEPS + 3, step % STEPS);
    let width = 1_u64 << (doubling - 4);
    (STEPS + within).wrapping_mul(width).wrapping_add(width - 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_took_no_time() {
        assert_eq!(Histogram::default().percentile(50), None);
    }

    proptest! {
        #[test]
        fn a_percentile_is_at_most_a_sixteenth_too_large(
            mut values in prop::collection::vec(any::<u64>().prop_map(|v| v >> (v % 64)), 1..200),
            percent in 1..=100_u64,
        ) {
            let mut histogram = Histogram::default();
            values.iter().for_each(|value| histogram.add(*value));
            values.sort_unstable();
            let rank = (values.len() as u64 * percent).div_ceil(100).max(1) as usize;
            let (exact, read) = (values[rank - 1], histogram.percentile(percent).unwrap());
            prop_assert!(read >= exact && read - exact <= exact / 16, "{exact} {read}");
        }

        #[test]
        fn merged_is_as_if_counted_at_once(
            one in prop::collection::vec(any::<u64>(), 0..50),
            other in prop::collection::vec(any::<u64>(), 0..50),
        ) {
            let of = |values: &[u64]| {
                let mut histogram = Histogram::default();
                values.iter().for_each(|value| histogram.add(*value));
                histogram
            };
            let mut merged = of(&one);
            merged.merge(&of(&other));
            prop_assert_eq!(merged, of(&[one, other].concat()));
        }
    }
}
