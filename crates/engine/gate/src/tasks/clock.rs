//! The time of day as tasks write it: ISO 8601, UTC.

use std::time::{SystemTime, UNIX_EPOCH};

pub(super) fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    written(since.as_secs())
}

fn written(seconds: u64) -> String {
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The civil date of a day since 1970-01-01, counted in years that begin in March: the leap day is
/// then the last of its year.
fn date(day: u64) -> (u64, u64, u64) {
    const FOUR_CENTURIES: u64 = 146_097;
    const FROM_YEAR_ZERO: u64 = 719_468;
    let day = day + FROM_YEAR_ZERO;
    let (era, day) = (day / FOUR_CENTURIES, day % FOUR_CENTURIES);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let (year, month) = (era * 400 + year, if month < 10 { month + 3 } else { month - 9 });
    (if month <= 2 { year + 1 } else { year }, month, date)
}

#[cfg(test)]
mod tests {
    use super::written;

    #[test]
    fn days_are_told_as_the_calendar_has_them() {
        assert_eq!(written(0), "1970-01-01T00:00:00Z");
        assert_eq!(written(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(written(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(written(1_794_789_316), "2026-11-16T00:35:16Z");
        assert_eq!(written(4_107_542_400), "2100-03-01T00:00:00Z");
    }
}
