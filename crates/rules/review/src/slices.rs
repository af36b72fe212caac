//! Time in slices, few enough to be looked at: they grow coarser as the period grows longer.

use std::collections::BTreeMap;

use crate::histogram::Histogram;
use crate::report::Counts;

/// How long a slice may be, in milliseconds: what people count in.
const LENGTHS: [u64; 9] = [
    60_000,
    5 * 60_000,
    15 * 60_000,
    3_600_000,
    6 * 3_600_000,
    86_400_000,
    7 * 86_400_000,
    28 * 86_400_000,
    364 * 86_400_000,
];

/// At most so many from the first to the last.
const MOST: u64 = 96;

/// What happened in one slice.
#[derive(Debug, Clone, Default)]
pub(crate) struct Happenings {
    pub(crate) counts: Counts,
    pub(crate) latency: Histogram,
}

/// All slices in which something happened, by number.
#[derive(Debug, Default)]
pub(crate) struct Slices {
    /// Which of the lengths.
    length: usize,
    slices: BTreeMap<u64, Happenings>,
}

impl Slices {
    /// The slice of a point in time.
    pub(crate) fn at(&mut self, ms: u64) -> &mut Happenings {
        while !self.fits(ms) {
            self.coarsen();
        }
        self.slices.entry(ms / self.step()).or_default()
    }

    /// How long a slice is, in milliseconds.
    pub(crate) fn step(&self) -> u64 {
        LENGTHS[self.length]
    }

    /// Every slice from the first to the last, also those in which nothing happened.
    pub(crate) fn all(mut self) -> Vec<(u64, Happenings)> {
        let step = self.step();
        let bounds =
            self.slices.keys().next().copied().zip(self.slices.keys().next_back().copied());
        let Some((first, last)) = bounds else { return Vec::new() };
        let mut slice = |number| (number * step, self.slices.remove(&number).unwrap_or_default());
        (first..=last).map(&mut slice).collect()
    }

    fn fits(&self, ms: u64) -> bool {
        let number = ms / self.step();
        let first = self.slices.keys().next().map_or(number, |first| number.min(*first));
        let last = self.slices.keys().next_back().map_or(number, |last| number.max(*last));
        last - first < MOST || self.length + 1 == LENGTHS.len()
    }

    fn coarsen(&mut self) {
        let fine = self.step();
        self.length += 1;
        let coarse = self.step();
        for (number, happened) in std::mem::take(&mut self.slices) {
            let into = self.slices.entry(number * fine / coarse).or_default();
            into.counts.add(&happened.counts);
            into.latency.merge(&happened.latency);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_period_has_few_slices_and_nothing_is_lost() {
        let mut slices = Slices::default();
        let (day, days) = (86_400_000, 80);
        for at in 0..days {
            slices.at(at * day).counts.calls += 1;
        }
        assert_eq!(slices.step(), day);
        let all = slices.all();
        assert_eq!(all.len(), 80);
        assert_eq!(all.iter().map(|(_, it)| it.counts.calls).sum::<u64>(), days);
    }

    #[test]
    fn quiet_slices_are_slices_too() {
        let mut slices = Slices::default();
        slices.at(0).counts.calls = 1;
        slices.at(180_000).counts.calls = 2;
        let calls: Vec<_> = slices.all().iter().map(|(_, it)| it.counts.calls).collect();
        assert_eq!(calls, [1, 0, 0, 2]);
    }
}
