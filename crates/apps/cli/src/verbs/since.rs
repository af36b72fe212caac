//! From when on the journal is counted, and the counting itself.

use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use toolgate_host::parse_duration;
use toolgate_host::review::{self, Collector, parse_rfc3339};

use crate::context::Context;
use crate::exit::Failure;
use crate::out;

/// A point in time, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Since(pub u64);

impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let ago = |age: Duration| now.saturating_sub(age);
        let at = match age(text) {
            Some(age) => u64::try_from(ago(age).as_millis()).ok(),
            None => parse_rfc3339(text),
        };
        at.map(Self).ok_or_else(|| {
            format!("`{text}` is neither an age (7d, 12h, 30m) nor a time (2026-11-16T10:00)")
        })
    }
}

/// An age, in days too.
pub fn age(text: &str) -> Option<Duration> {
    match text.strip_suffix('d') {
        Some(days) => Some(Duration::from_secs(days.parse::<u64>().ok()?.checked_mul(86_400)?)),
        None => parse_duration(text).ok(),
    }
}

/// Counts the journal of this home; what cannot be read of it is told.
pub async fn counted(context: &Context, since: Option<Since>) -> Result<Collector, Failure> {
    let home = context.home.clone();
    let since = since.map_or(0, |Since(ms)| ms);
    let counting = tokio::task::spawn_blocking(move || review::counted(&home, since));
    let counted = counting.await.map_err(|error| Failure::failed(format!("count: {error}")))?;
    let tally = counted.map_err(|error| Failure::failed(crate::exit::chain(&error)))?;
    for error in &tally.unread {
        let told = out::visible_lines(&crate::exit::chain(error));
        out::note(&format!("{} passed over: failed to {told}", out::cyan("note:")));
    }
    Ok(tally.collector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_times_are_read() {
        assert_eq!("2026-11-16".parse(), Ok(Since(1_794_787_200_000)));
        let week: Since = "7d".parse().unwrap();
        let day: Since = "24h".parse().unwrap();
        assert_eq!((day.0 - week.0) / 60_000, 6 * 24 * 60);
        assert!(
            "yesterday".parse::<Since>().is_err() && "99999999999999999d".parse::<Since>().is_err()
        );
    }
}
