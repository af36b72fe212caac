//! The `--since` option, and counting the journal from that time on.

use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use toolgate_host::parse_duration;
use toolgate_host::review::{self, UsageCollector, parse_rfc3339};

use crate::cli_context::CliContext;
use crate::exit::CliError;
use crate::out;

/// A time argument, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeArg(pub u64);

impl FromStr for TimeArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let ago = |age: Duration| now.saturating_sub(age);
        let at = match parse_age(text) {
            Some(age) => u64::try_from(ago(age).as_millis()).ok(),
            None => parse_rfc3339(text),
        };
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

/// Counts the journal of this home. Prints a note for each part that cannot be read.
pub async fn count_journal(
    context: &CliContext,
    since: Option<TimeArg>,
) -> Result<UsageCollector, CliError> {
    let home = context.home.clone();
    let since = since.map_or(0, |TimeArg(ms)| ms);
    let counting = tokio::task::spawn_blocking(move || review::count_journal(&home, since));
    let counted = counting
        .await
        .map_err(|error| CliError::failed(format!("cannot count the journal: {error}")))?;
    let tally = counted.map_err(|error| CliError::failed(crate::exit::error_chain(&error)))?;
    for error in &tally.unread {
        let why = out::escape_invisible_lines(&crate::exit::error_chain(error));
        out::note(&format!("{} skipped part of the journal: {why}", out::cyan("note:")));
    }
    Ok(tally.collector)
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
