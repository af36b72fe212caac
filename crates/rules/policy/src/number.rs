//! Compares JSON numbers regardless of spelling: `1`, `1.0`, `10e-1`.

use toolgate_wire::canonical::JsonNumber;

/// Returns true if both are exactly the same number. A number with an exponent out of range equals
/// nothing.
pub(crate) fn is_same_number(one: &str, other: &str) -> bool {
    let exact = |text: &str| {
        // The words `inf` and `nan` are doubles too.
        let is_number = text.contains(|c: char| c.is_ascii_digit()) && parse_double(text).is_some();
        let number = JsonNumber::parse(text.strip_prefix('+').unwrap_or(text));
        Some(number).filter(|it| is_number && matches!(it, JsonNumber::Exact { .. }))
    };
    exact(one).is_some_and(|one| exact(other) == Some(one))
}

/// Returns true if both are the same as doubles.
pub(crate) fn is_same_double(one: &str, other: &str) -> bool {
    parse_double(one).is_some_and(|one| parse_double(other).is_some_and(|other| one == other))
}

/// Parses a number as a double.
pub(crate) fn parse_double(text: &str) -> Option<f64> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_does_not_matter_and_value_does() {
        for (one, other) in [("1", "1.0"), ("1", "10e-1"), ("0", "-0.0"), ("1200", "1.2E3")] {
            assert!(is_same_number(one, other) && is_same_double(one, other), "{one} {other}");
        }
        for (one, other) in [("1", "-1"), ("1", "10"), ("1", "1e99999999999999999999"), ("", "0")] {
            assert!(!is_same_number(one, other), "{one} {other}");
        }
        assert!(!is_same_number("9007199254740993", "9007199254740992"));
        assert!(is_same_double("9007199254740993", "9007199254740992"));
    }
}
