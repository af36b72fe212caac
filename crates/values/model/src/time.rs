//! Times as milliseconds since 1970, the format of the journal and the state, and as RFC 3339 text.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::SignedDuration;
use jiff::civil::DateTime;

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
/// The last millisecond of the year 9999. Later times cannot be formatted.
const LAST: u64 = 253_402_300_799_999;

/// Returns a time as milliseconds since 1970. An earlier time becomes 0.
pub fn to_millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).map_or(LAST, |ms| ms.min(LAST))
}

/// Returns the time of milliseconds since 1970.
pub fn from_millis(ms: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(ms.min(LAST))
}

/// Formats milliseconds since 1970 as RFC 3339 in UTC with milliseconds, always 24 characters, such
/// as `2026-11-16T10:02:53.123Z`.
pub fn rfc3339(ms: u64) -> String {
    let since = SignedDuration::from_millis(ms.min(LAST).cast_signed());
    format!("{:.3}Z", EPOCH.saturating_add(since))
}

/// Formats a system time as RFC 3339. A time before 1970 becomes 1970-01-01.
pub fn rfc3339_from_time(time: SystemTime) -> String {
    rfc3339(to_millis(time))
}

/// Parses a time in UTC as milliseconds since 1970. It may be shortened, down to the day
/// (`2026-11-16`).
pub fn parse_rfc3339(text: &str) -> Option<u64> {
    let time: DateTime = text.strip_suffix('Z').unwrap_or(text).parse().ok()?;
    u64::try_from(time.duration_since(EPOCH).as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_points_are_written_and_read() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_794_823_373_123, "2026-11-16T10:02:53.123Z"),
            (LAST, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(rfc3339(ms), text);
            assert_eq!(parse_rfc3339(text), Some(ms));
        }
    }

    #[test]
    fn a_time_of_the_clock_is_written_alike() {
        let at = UNIX_EPOCH + Duration::from_millis(1_794_823_373_123);
        assert_eq!(rfc3339_from_time(at), "2026-11-16T10:02:53.123Z");
        assert_eq!(
            rfc3339_from_time(UNIX_EPOCH - Duration::from_secs(1)),
            "1970-01-01T00:00:00.000Z"
        );
    }

    #[test]
    fn what_is_left_out_is_the_beginning() {
        let day = parse_rfc3339("2026-11-16").unwrap();
        assert_eq!(rfc3339(day), "2026-11-16T00:00:00.000Z");
        assert_eq!(parse_rfc3339("2026-11-16T10:02"), parse_rfc3339("2026-11-16 10:02:00.000Z"));
        for wrong in
            ["", "2026", "2026-02-30", "2026-13-01", "1969-12-31", "2026-11-16T25:00", "2026-11-1x"]
        {
            assert_eq!(parse_rfc3339(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(ms in 0..=LAST) {
            prop_assert_eq!(parse_rfc3339(&rfc3339(ms)), Some(ms));
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,30}") {
            let _ = parse_rfc3339(&text);
        }
    }
}
