//! Parses durations: an integer and a unit.

use std::time::Duration;

/// The maximum duration. Longer ones could overflow when added to a clock.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);

/// Parses `500ms`, `30s`, `10m` or `2h`. An error says what is wrong.
pub fn parse(text: &str) -> Result<Duration, &'static str> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| "it does not begin with a whole number")?;
    let millis = match unit.trim_start() {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "" => return Err("it has no unit"),
        _ => return Err("its unit is none of ms, s, m, h"),
    };
    check_range(number.saturating_mul(millis))
}

/// Returns true if the text is a duration of zero, such as `0s`.
pub(crate) fn is_zero(text: &str) -> bool {
    let text = text.trim();
    let unit = text.trim_start_matches('0');
    unit.len() < text.len() && ["ms", "s", "m", "h"].contains(&unit.trim_start())
}

/// Returns a duration in milliseconds, if it is within the limits.
pub(crate) fn check_range(millis: u64) -> Result<Duration, &'static str> {
    match Duration::from_millis(millis) {
        Duration::ZERO => Err("it is zero"),
        duration if duration > LONGEST => Err("it is over seven days"),
        duration => Ok(duration),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_read() {
        for (text, millis) in
            [("500ms", 500), ("30s", 30_000), ("10 m", 600_000), ("2h", 7_200_000)]
        {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn no_time_at_all_is_told_from_none() {
        for (text, zero) in [("0s", true), (" 00 ms ", true), ("0", false), ("s", false)] {
            assert_eq!(is_zero(text), zero, "{text}");
        }
        assert!(!is_zero("10s") && !is_zero("0d") && !is_zero(""));
    }

    #[test]
    fn what_is_no_duration_says_why() {
        for text in ["", "s", "30", "-1s", "1.5s", "5d", "0s", "99999999999999999999s", "200h"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
