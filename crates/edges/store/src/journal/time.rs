//! Times in the journal: RFC 3339 in UTC with milliseconds, always 24 characters.

use std::time::{SystemTime, UNIX_EPOCH};

const DAY: u64 = 86_400_000;
/// The last millisecond of the year 9999. Later times cannot be formatted.
const LAST: u64 = 253_402_300_799_999;

/// Returns the milliseconds since 1970, by the system clock.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(LAST).min(LAST)
}

/// Formats a time as bytes, such as `2026-11-16T10:02:53.123Z`.
pub(crate) fn rfc3339_bytes(ms: u64) -> [u8; 24] {
    let ms = ms.min(LAST);
    let (year, month, day) = date_from_days(ms / DAY);
    let of_day = ms % DAY;
    let mut text = *b"0000-00-00T00:00:00.000Z";
    let mut put = |at: usize, width: usize, mut value: u64| {
        for place in (at..at + width).rev() {
            text[place] = b'0' + (value % 10) as u8;
            value /= 10;
        }
    };
    put(0, 4, year);
    put(5, 2, month);
    put(8, 2, day);
    put(11, 2, of_day / 3_600_000);
    put(14, 2, of_day / 60_000 % 60);
    put(17, 2, of_day / 1000 % 60);
    put(20, 3, of_day % 1000);
    text
}

/// Formats milliseconds since 1970 as RFC 3339.
pub fn rfc3339(ms: u64) -> String {
    String::from_utf8_lossy(&rfc3339_bytes(ms)).into_owned()
}

/// Formats a system time as RFC 3339. A time before 1970 becomes 1970-01-01.
pub fn rfc3339_from_time(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    rfc3339(u64::try_from(since.as_millis()).unwrap_or(LAST))
}

/// Parses a time in UTC. It may be shortened, down to the day (`2026-11-16`).
pub fn parse_rfc3339(text: &str) -> Option<u64> {
    const WHOLE: &str = "0000-01-01T00:00:00.000Z";
    let text = text.strip_suffix('Z').unwrap_or(text);
    let fits = [10, 13, 16, 19, 21, 22, 23].contains(&text.len()) && text.is_ascii();
    let whole = fits.then(|| format!("{text}{}", &WHOLE[text.len()..]))?;
    let shape = whole.bytes().zip(WHOLE.bytes()).all(|(is, like)| match like {
        b'0' | b'1' => is.is_ascii_digit(),
        b'T' => is == b'T' || is == b't' || is == b' ',
        _ => is == like,
    });
    let number = |from: usize, to: usize| whole.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let clock = hour < 24 && minute < 60 && second < 60;
    let days = days_from_date(year, month, day).filter(|_| shape && clock)?;
    Some(days * DAY + hour * 3_600_000 + minute * 60_000 + second * 1000 + number(20, 23)?)
}

/// Returns the date `days` days after 1970-01-01. The computation uses eras of 400 years that begin
/// in March, so that the leap day is the last day of a year.
fn date_from_days(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let of_year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * of_year + of_year / 4 - of_year / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (of_year + era * 400 + u64::from(month <= 2), month, day)
}

/// Returns the days from 1970-01-01 to a date, or `None` if the date is invalid or earlier.
fn days_from_date(year: u64, month: u64, day: u64) -> Option<u64> {
    let shifted_year = if month <= 2 { year.checked_sub(1)? } else { year };
    let shifted_month = if month > 2 { month.checked_sub(3)? } else { month + 9 };
    let of_year = (153 * shifted_month + 2) / 5 + day.checked_sub(1)?;
    let (era, of_era) = (shifted_year / 400, shifted_year % 400);
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    let days = days.checked_sub(719_468)?;
    (date_from_days(days) == (year, month, day)).then_some(days)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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
