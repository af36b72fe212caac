//! What is remembered of one server: counts, and how long calls took lately and before.

use std::collections::VecDeque;

use crate::histogram::Histogram;
use crate::report::Counts;

const HOUR: u64 = 3_600_000;
/// What counts as lately: so many hours, counted from the hour of the last call.
const LATELY: u64 = 24;

/// One server so far.
#[derive(Debug, Default)]
pub(crate) struct Server {
    pub(crate) counts: Counts,
    pub(crate) latency: Histogram,
    pub(crate) drifts: u64,
    recent: VecDeque<(u64, Histogram)>,
    past: Histogram,
}

impl Server {
    /// A call took so long. Calls come in the order of time, or nearly: an earlier one counts with
    /// the oldest hour that is still remembered apart.
    pub(crate) fn took(&mut self, ms: u64, micros: u64) {
        self.latency.add(micros);
        let hour = ms / HOUR;
        if self.recent.back().is_none_or(|(last, _)| *last < hour) {
            self.recent.push_back((hour, Histogram::default()));
            self.forget(hour);
        }
        if let Some((_, histogram)) = self.recent.back_mut() {
            histogram.add(micros);
        }
    }

    fn forget(&mut self, now: u64) {
        while self.recent.front().is_some_and(|(hour, _)| hour + LATELY <= now) {
            if let Some((_, histogram)) = self.recent.pop_front() {
                self.past.merge(&histogram);
            }
        }
    }

    /// How long calls took in the last 24 hours with calls, and before.
    pub(crate) fn lately_and_before(&self) -> (Histogram, &Histogram) {
        let mut lately = Histogram::default();
        self.recent.iter().for_each(|(_, histogram)| lately.merge(histogram));
        (lately, &self.past)
    }
}
