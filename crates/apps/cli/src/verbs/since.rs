//! The `--since` option, and counting the journal from that time on.

use std::str::FromStr;
use std::time::{Duration, SystemTime};

use toolgate_host::audit::read_since;
use toolgate_host::parse_duration;
use toolgate_model::time::{parse_rfc3339, to_millis};

use crate::blocking::run_blocking;
use crate::cli_context::CliContext;
use crate::exit::{Result, error_chain};
use crate::out;
use crate::review::UsageCollector;

/// A time argument, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeArg(pub u64);

impl FromStr for TimeArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let ago = |age: Duration| SystemTime::now().checked_sub(age).map_or(0, to_millis);
        let at = parse_age(text).map(ago).or_else(|| parse_rfc3339(text));
        at.map(Self).ok_or_else(|| {
            format!("`{text}` is neither an age (7d, 12h, 30m) nor a time (2026-11-16T10:00)")
        })
    }
}

/// Parses a duration that may also be in days, such as `7d`.
pub fn parse_age(text: &str) -> Option<Duration> {
    match text.strip_suffix('d') {
        Some(days) => Some(Duration::from_secs(days.parse::<u64>().ok()?.checked_mul(86_400)?)),
        None => parse_duration(text).ok(),
    }
}

/// The maximum number of read errors to report.
const REPORTED_ERRORS: usize = 20;

/// Counts the journal of this home. Prints a note for each part that cannot be read.
pub async fn count_journal(context: &CliContext, since: Option<TimeArg>) -> Result<UsageCollector> {
    let folder = context.home.state_dir().join("journal");
    let since = since.map_or(0, |TimeArg(ms)| ms);
    let (collector, unread) = run_blocking(move || {
        let mut collector = UsageCollector::default();
        let mut unread = Vec::new();
        for entry in read_since(&folder, since)? {
            match entry {
                Ok(entry) => collector.add_entry(&entry),
                Err(error) => unread.push(error),
            }
            unread.truncate(REPORTED_ERRORS);
        }
        Ok((collector, unread))
    })
    .await?;
    for error in &unread {
        out::remark(&format!("skipped part of the journal: {}", error_chain(error)));
    }
    Ok(collector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_times_are_read() {
        assert_eq!("2026-11-16".parse(), Ok(TimeArg(1_794_787_200_000)));
        let week: TimeArg = "7d".parse().unwrap();
        let day: TimeArg = "24h".parse().unwrap();
        assert_eq!((day.0 - week.0) / 60_000, 6 * 24 * 60);
        assert!(
            "yesterday".parse::<TimeArg>().is_err()
                && "99999999999999999d".parse::<TimeArg>().is_err()
        );
    }
}
