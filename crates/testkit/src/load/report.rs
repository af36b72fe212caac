//! The report of a run, computed from all latencies.
//!
//! A run has a few hundred thousand calls at most, so exact percentiles need only four bytes per
//! call and no histogram.

use std::time::Duration;

use serde::Serialize;

/// The outcome of one run.
#[derive(Clone, Debug, Serialize)]
pub struct LoadReport {
    /// Iterations that were answered correctly.
    pub calls: u64,
    /// Iterations that were not.
    pub errors: u64,
    /// How long the measured part took.
    pub seconds: f64,
    /// Correct iterations per second.
    pub calls_per_s: f64,
    /// The median latency in microseconds.
    pub p50_us: f64,
    /// The 99th percentile in microseconds.
    pub p99_us: f64,
    /// What the first failed iteration said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_error: Option<String>,
}

/// The results of one worker.
#[derive(Debug, Default)]
pub(super) struct WorkerStats {
    nanos: Vec<u32>,
    errors: u64,
    first_error: Option<String>,
}

impl WorkerStats {
    pub(super) fn record(&mut self, took: Duration, outcome: Result<(), String>) {
        match outcome {
            Ok(()) => self.nanos.push(u32::try_from(took.as_nanos()).unwrap_or(u32::MAX)),
            Err(error) => {
                self.errors += 1;
                self.first_error.get_or_insert(error);
            }
        }
    }

    pub(super) fn add(&mut self, other: WorkerStats) {
        self.nanos.extend(other.nanos);
        self.errors += other.errors;
        self.first_error = self.first_error.take().or(other.first_error);
    }

    pub(super) fn report(mut self, took: Duration) -> LoadReport {
        self.nanos.sort_unstable();
        let seconds = took.as_secs_f64();
        LoadReport {
            calls: self.nanos.len() as u64,
            errors: self.errors,
            seconds,
            calls_per_s: if seconds > 0.0 { self.nanos.len() as f64 / seconds } else { 0.0 },
            p50_us: percentile(&self.nanos, 50),
            p99_us: percentile(&self.nanos, 99),
            first_error: self.first_error,
        }
    }
}

/// The nearest-rank percentile in microseconds.
fn percentile(sorted: &[u32], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).map_or(0.0, |nanos| f64::from(*nanos) / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_exact() {
        let sorted: Vec<u32> = (1..=200).map(|number| number * 1000).collect();
        assert_eq!(percentile(&sorted, 50), 100.0);
        assert_eq!(percentile(&sorted, 99), 198.0);
        assert_eq!(percentile(&[], 50), 0.0);
    }

    #[test]
    fn an_error_is_not_a_call() {
        let mut tally = WorkerStats::default();
        tally.record(Duration::from_micros(5), Ok(()));
        tally.record(Duration::from_micros(5), Err("wrong".into()));
        let report = tally.report(Duration::from_secs(1));
        assert_eq!((report.calls, report.errors), (1, 1));
        assert_eq!(report.first_error.as_deref(), Some("wrong"));
    }
}
