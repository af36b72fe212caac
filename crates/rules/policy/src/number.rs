//! Compares JSON numbers regardless of spelling: `1`, `1.0`, `10e-1`.

/// An exact decimal: its digits without zeros at either end, and the power of ten.
#[derive(PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    power: i64,
}

/// Returns true if both are exactly the same number. A number with an exponent out of range equals
/// nothing.
pub(crate) fn is_same_number(one: &str, other: &str) -> bool {
    match (parse_decimal(one), parse_decimal(other)) {
        (Some(one), Some(other)) => one == other,
        _ => false,
    }
}

/// Returns true if both are the same as doubles.
pub(crate) fn is_same_double(one: &str, other: &str) -> bool {
    parse_double(one).is_some_and(|one| parse_double(other).is_some_and(|other| one == other))
}

/// Parses a number as a double.
pub(crate) fn parse_double(text: &str) -> Option<f64> {
    text.parse().ok()
}

fn parse_decimal(text: &str) -> Option<Decimal> {
    let rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = all.trim_matches('0');
    if digits.is_empty() {
        return Some(Decimal { negative: false, digits: String::new(), power: 0 });
    }
    let behind = i64::try_from(all.len() - all.trim_end_matches('0').len()).ok()?;
    let fraction = i64::try_from(fraction.len()).ok()?;
    let power = exponent.parse::<i64>().ok()?.checked_sub(fraction)?.checked_add(behind)?;
    Some(Decimal { negative: text.starts_with('-'), digits: digits.to_owned(), power })
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
