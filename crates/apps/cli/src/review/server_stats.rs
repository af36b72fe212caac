//! Statistics of calls, and of one server with its recent and past latency.

use std::collections::VecDeque;

use serde::Serialize;

use super::histogram::Histogram;
use super::report::CallCounts;

const HOUR: u64 = 3_600_000;
/// The number of hours that count as recent, up to the hour of the last call.
const LATELY: u64 = 24;

/// Counts of calls and decisions, and the durations of calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct UsageStats {
    pub(crate) counts: CallCounts,
    pub(crate) latency: Histogram,
}

impl UsageStats {
    /// Adds counts, and the duration of a call if it is known.
    pub(crate) fn add(&mut self, counts: &CallCounts, micros: Option<u64>) {
        self.counts.add(counts);
        if let Some(micros) = micros {
            self.latency.add(micros);
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.counts.add(&other.counts);
        self.latency.merge(&other.latency);
    }
}

/// The statistics of one server so far.
#[derive(Debug, Default)]
pub(crate) struct ServerStats {
    pub(crate) usage: UsageStats,
    pub(crate) drifts: u64,
    recent: VecDeque<(u64, Histogram)>,
    past: Histogram,
}

impl ServerStats {
    /// Adds counts. Calls should come in order of time; a call that is out of order counts for the
    /// latest hour.
    pub(crate) fn add(&mut self, ms: u64, counts: &CallCounts, micros: Option<u64>) {
        self.usage.add(counts, micros);
        let Some(micros) = micros else { return };
        let hour = ms / HOUR;
        if self.recent.back().is_none_or(|(last, _)| *last < hour) {
            self.recent.push_back((hour, Histogram::default()));
            while let Some((_, old)) = self.recent.pop_front_if(|(old, _)| *old + LATELY <= hour) {
                self.past.merge(&old);
            }
        }
        if let Some((_, histogram)) = self.recent.back_mut() {
            histogram.add(micros);
        }
    }

    /// Returns the latency of the recent hours and of the time before.
    pub(crate) fn recent_and_past_latency(&self) -> (Histogram, &Histogram) {
        let mut lately = Histogram::default();
        self.recent.iter().for_each(|(_, histogram)| lately.merge(histogram));
        (lately, &self.past)
    }
}
