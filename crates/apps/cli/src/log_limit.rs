//! Rate limit of log lines, so that no server can fill a disk with lines about it.
//!
//! Lines are of one kind if they come from the same place in the code and concern the same server.
//! Errors are not limited. Suppressed lines are counted, and the next line of their kind reports
//! the count.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::callsite::Identifier;

/// The most lines of one kind within a window.
const MAX_PER_KIND: u32 = 200;
/// The most lines of all kinds within a window.
const MAX_TOTAL: u32 = 10_000;
/// The number of lines of each kind that are written even if the total is used up.
const MIN_PER_KIND: u32 = 20;
const WINDOW: Duration = Duration::from_secs(600);
/// The most kinds that are counted separately. Further lines are counted by their place in the code
/// only.
const MAX_KINDS: usize = 4096;

/// The kind of a log line: its place in the code and the server it concerns.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RepeatedLogKey {
    place: Identifier,
    server: String,
}

impl RepeatedLogKey {
    /// Returns the kind of a line logged at this place.
    pub fn of(place: Identifier, line: &str) -> Self {
        // The last match counts: fields follow the message, which may quote a server.
        let server = line.rsplit_once(" server=").map_or("", |(_, rest)| rest);
        let server = server.split_whitespace().next().unwrap_or_default().to_owned();
        Self { place, server }
    }
}

/// The rate limit of log lines.
#[derive(Debug, Default)]
pub struct LogLimit(Mutex<LogWindow>);

/// The lines counted since the current window began.
#[derive(Debug, Default)]
struct LogWindow {
    since: Option<Instant>,
    total: u32,
    kinds: HashMap<RepeatedLogKey, LogLineCount>,
}

/// The written and suppressed lines of one kind.
#[derive(Debug, Default)]
struct LogLineCount {
    written: u32,
    left_out: u64,
}

impl LogLimit {
    /// Counts a line. Returns `None` if it must be suppressed, otherwise the number of lines of its
    /// kind that were suppressed before it.
    pub fn admit(&self, mut kind: RepeatedLogKey, now: Instant) -> Option<u64> {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.since.is_none_or(|since| now.saturating_duration_since(since) >= WINDOW) {
            (counted.since, counted.total) = (Some(now), 0);
            // Only counts that are still to be reported outlive their window.
            counted.kinds.retain(|_, count| count.left_out > 0);
            counted.kinds.values_mut().for_each(|count| count.written = 0);
        }
        let full = counted.total >= MAX_TOTAL;
        if counted.kinds.len() >= MAX_KINDS && !counted.kinds.contains_key(&kind) {
            kind.server.clear();
        }
        let count = counted.kinds.entry(kind).or_default();
        if count.written >= MAX_PER_KIND || full && count.written >= MIN_PER_KIND {
            count.left_out += 1;
            return None;
        }
        count.written += 1;
        let left_out = std::mem::take(&mut count.left_out);
        counted.total += 1;
        Some(left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A callsite that stands for a place in the code.
    struct Place;

    impl tracing::Callsite for Place {
        fn set_interest(&self, _: tracing::subscriber::Interest) {}

        fn metadata(&self) -> &tracing::Metadata<'_> {
            unreachable!("the limit does not read metadata")
        }
    }

    fn about(server: &str) -> RepeatedLogKey {
        RepeatedLogKey { place: tracing::callsite::Identifier(&Place), server: server.to_owned() }
    }

    #[test]
    fn a_flood_about_one_server_is_counted_and_others_are_heard() {
        let (limit, now) = (LogLimit::default(), Instant::now());
        let written = |server: &str, lines: u32| {
            (0..lines).filter(|_| limit.admit(about(server), now).is_some()).count()
        };
        assert_eq!(written("loud", 1000), MAX_PER_KIND as usize);
        assert_eq!(written("calm", 5), 5);
        let many = (0..100).map(|number| written(&format!("s{number}"), 1000)).sum::<usize>();
        assert!(many < (MAX_TOTAL + 100 * MIN_PER_KIND) as usize, "{many}");
        assert_eq!(written("late", 100), MIN_PER_KIND as usize);
        assert_eq!(limit.admit(about("loud"), now + WINDOW), Some(1000 - u64::from(MAX_PER_KIND)));
    }
}
