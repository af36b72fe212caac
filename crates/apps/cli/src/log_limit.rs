//! How many log lines of one kind are written, so that no server fills a disk with what is said
//! about it.
//!
//! Lines are of one kind if they come from one place in the code and are about one server. Errors
//! are our own and always written. What is left out is counted, and told with the next line of its
//! kind.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::callsite::Identifier;

/// Lines of one kind within a window.
const OF_KIND: u32 = 200;
/// Lines of all kinds within a window.
const IN_ALL: u32 = 10_000;
/// So many of each kind are written, whatever there is of the others.
const RESERVED: u32 = 20;
const WINDOW: Duration = Duration::from_secs(600);
/// Kinds that are counted apart; further ones are counted by their place alone.
const MOST_KINDS: usize = 4096;

/// What a line is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LineKind {
    place: Identifier,
    server: String,
}

impl LineKind {
    /// The kind of a line that comes from this place.
    pub fn of(place: Identifier, line: &str) -> Self {
        // The last one: fields stand behind what may be quoted of a server.
        let server = line.rsplit_once(" server=").map_or("", |(_, rest)| rest);
        let server = server.split_whitespace().next().unwrap_or_default().to_owned();
        Self { place, server }
    }
}

/// How many lines were written in this window.
#[derive(Debug, Default)]
pub struct LogLimit(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    since: Option<Instant>,
    all: u32,
    kinds: HashMap<LineKind, Count>,
}

#[derive(Debug, Default)]
struct Count {
    written: u32,
    left_out: u64,
}

impl LogLimit {
    /// Whether a line is written; if so, how many of its kind were left out before it.
    pub fn admit(&self, mut kind: LineKind, now: Instant) -> Option<u64> {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.since.is_none_or(|since| now.saturating_duration_since(since) >= WINDOW) {
            (counted.since, counted.all) = (Some(now), 0);
            // Only what is still to be told outlives its window.
            counted.kinds.retain(|_, count| count.left_out > 0);
            counted.kinds.values_mut().for_each(|count| count.written = 0);
        }
        let full = counted.all >= IN_ALL;
        if counted.kinds.len() >= MOST_KINDS && !counted.kinds.contains_key(&kind) {
            kind.server.clear();
        }
        let count = counted.kinds.entry(kind).or_default();
        if count.written >= OF_KIND || full && count.written >= RESERVED {
            count.left_out += 1;
            return None;
        }
        count.written += 1;
        let left_out = std::mem::take(&mut count.left_out);
        counted.all += 1;
        Some(left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Place;

    impl tracing::Callsite for Place {
        fn set_interest(&self, _: tracing::subscriber::Interest) {}

        fn metadata(&self) -> &tracing::Metadata<'_> {
            unreachable!("nobody asks a place in a test")
        }
    }

    fn about(server: &str) -> LineKind {
        LineKind { place: tracing::callsite::Identifier(&Place), server: server.to_owned() }
    }

    #[test]
    fn a_flood_about_one_server_is_counted_and_others_are_heard() {
        let (limit, now) = (LogLimit::default(), Instant::now());
        let written = |server: &str, lines: u32| {
            (0..lines).filter(|_| limit.admit(about(server), now).is_some()).count()
        };
        assert_eq!(written("loud", 1000), OF_KIND as usize);
        assert_eq!(written("calm", 5), 5);
        let many = (0..100).map(|number| written(&format!("s{number}"), 1000)).sum::<usize>();
        assert!(many < (IN_ALL + 100 * RESERVED) as usize, "{many}");
        assert_eq!(written("late", 100), RESERVED as usize);
        assert_eq!(limit.admit(about("loud"), now + WINDOW), Some(1000 - u64::from(OF_KIND)));
    }
}
