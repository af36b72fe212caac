//! Times relative to now, for people. JSON output has the exact time.

use std::time::SystemTime;

use toolgate_model::time::{from_millis, parse_rfc3339};

/// The units of a relative time, with their seconds.
const UNITS: [(&str, u64); 4] = [("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)];

/// Returns a time relative to now, such as `in 9 min` or `3 h ago`. A text that is not a time is
/// returned unchanged.
pub fn relative_time(time: &str) -> String {
    let now = SystemTime::now();
    parse_rfc3339(time).map_or_else(|| time.to_owned(), |time| relative(from_millis(time), now))
}

/// Returns a time with its distance from now, such as `2026-11-16T10:00:00Z (3 h ago)`.
pub fn exact_time(time: &str) -> String {
    format!("{time} ({})", relative_time(time))
}

fn relative(time: SystemTime, now: SystemTime) -> String {
    let distance = time.duration_since(now).unwrap_or_else(|past| past.duration());
    let seconds = distance.as_secs();
    let unit = UNITS.into_iter().find(|(_, size)| seconds >= *size);
    match unit.map(|(name, size)| format!("{} {name}", seconds / size)) {
        None => "now".to_owned(),
        Some(distance) if time > now => format!("in {distance}"),
        Some(distance) => format!("{distance} ago"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_time_is_told_by_its_distance_in_the_largest_unit() {
        let now = SystemTime::now();
        for (seconds, expected) in [(0, "now"), (570, "in 9 min"), (59, "in 59 s")] {
            assert_eq!(relative(now + Duration::from_secs(seconds), now), expected);
        }
        for (seconds, expected) in [(3 * 3600 + 1, "3 h ago"), (49 * 3600, "2 d ago")] {
            assert_eq!(relative(now - Duration::from_secs(seconds), now), expected);
        }
        assert_eq!(relative_time("soon"), "soon");
    }
}
