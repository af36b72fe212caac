//! Divides a period into a limited number of slices. Slices grow with the period.

use std::collections::BTreeMap;

use super::server_stats::UsageStats;

/// The possible lengths of a slice, in milliseconds.
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

/// The maximum number of slices.
const MOST: u64 = 96;

/// All slices with records, by number.
#[derive(Debug, Default)]
pub(crate) struct TimeSlices {
    /// The index of the current length in [`LENGTHS`].
    length: usize,
    slices: BTreeMap<u64, UsageStats>,
}

impl TimeSlices {
    /// Returns the slice of a point in time.
    pub(crate) fn slice_at(&mut self, ms: u64) -> &mut UsageStats {
        while !self.fits(ms) {
            self.coarsen();
        }
        self.slices.entry(ms / self.step()).or_default()
    }

    /// Returns the length of a slice, in milliseconds.
    pub(crate) fn step(&self) -> u64 {
        LENGTHS[self.length]
    }

    /// Returns every slice from the first to the last, including empty ones.
    pub(crate) fn all(mut self) -> Vec<(u64, UsageStats)> {
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
            self.slices.entry(number * fine / coarse).or_default().merge(&happened);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_period_has_few_slices_and_nothing_is_lost() {
        let mut slices = TimeSlices::default();
        let (day, days) = (86_400_000, 80);
        for at in 0..days {
            slices.slice_at(at * day).counts.calls += 1;
        }
        assert_eq!(slices.step(), day);
        let all = slices.all();
        assert_eq!(all.len(), 80);
        assert_eq!(all.iter().map(|(_, it)| it.counts.calls).sum::<u64>(), days);
    }

    #[test]
    fn quiet_slices_are_slices_too() {
        let mut slices = TimeSlices::default();
        slices.slice_at(0).counts.calls = 1;
        slices.slice_at(180_000).counts.calls = 2;
        let calls: Vec<_> = slices.all().iter().map(|(_, it)| it.counts.calls).collect();
        assert_eq!(calls, [1, 0, 0, 2]);
    }
}
