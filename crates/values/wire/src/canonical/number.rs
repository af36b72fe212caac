//! Exact decimal numbers, written as in RFC 8785.
//!
//! RFC 8785 covers doubles only. A number that is not a double is written with a capital `E`, which
//! that form never uses, so that two numbers are written the same exactly if they are equal.

use std::cmp::Ordering;

/// The number of digits up to which every decimal is a distinct double.
const SAFE_DIGITS: usize = 15;
/// The powers of ten for which that holds.
const SAFE_POWERS: std::ops::RangeInclusive<i64> = -290..=290;

/// A JSON number with its exact value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum JsonNumber {
    /// `digits` times ten to the power of `power`, without zeros at either end. `digits` is empty
    /// for zero.
    Exact {
        /// True if the number is negative.
        negative: bool,
        /// The significant digits.
        digits: String,
        /// The power of ten.
        power: i64,
    },
    /// A number whose exponent does not fit `i64`, as spelled.
    HugeExponent(String),
}

impl JsonNumber {
    /// Parses a number in JSON spelling.
    pub fn parse(spelling: &str) -> Self {
        let (negative, rest) = match spelling.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, spelling),
        };
        let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let digits = all.trim_matches('0');
        if digits.is_empty() {
            return Self::Exact { negative: false, digits: String::new(), power: 0 };
        }
        let zeros_behind = all.len() - all.trim_end_matches('0').len();
        let shift = |count: usize| i64::try_from(count).ok();
        let power = exponent.parse::<i64>().ok().and_then(|exponent| {
            exponent.checked_sub(shift(fraction.len())?)?.checked_add(shift(zeros_behind)?)
        });
        match power {
            Some(power) => Self::Exact { negative, digits: digits.to_owned(), power },
            None => Self::HugeExponent(spelling.to_owned()),
        }
    }

    /// Returns true if the number is a double, so that [`write`](Self::write) follows RFC 8785.
    pub fn is_double(&self) -> bool {
        matches!(self, Self::Exact { digits, power, .. } if is_double(digits, *power))
    }

    /// Writes the number; equal numbers are always written the same.
    pub fn write(&self, out: &mut Vec<u8>) {
        let (negative, digits, power) = match self {
            Self::Exact { negative, digits, power } => (*negative, digits, *power),
            Self::HugeExponent(spelling) => {
                // The spelling `1E…` could be another number's form; `E1e…` cannot.
                out.push(b'E');
                out.extend_from_slice(spelling.as_bytes());
                return;
            }
        };
        if negative {
            out.push(b'-');
        }
        let text = match is_double(digits, power) {
            true => format_ecmascript(digits, power),
            false => format!("{digits}E{power}"),
        };
        out.extend_from_slice(text.as_bytes());
    }

    /// Compares two numbers. Returns `None` if the order is unknown.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        let (Self::Exact { .. }, Self::Exact { .. }) = (self, other) else {
            return (self == other).then_some(Ordering::Equal);
        };
        let (one, two) = (self.sign(), other.sign());
        Some(match one.cmp(&two) {
            Ordering::Equal if one < 0 => other.magnitude().cmp(&self.magnitude()),
            Ordering::Equal => self.magnitude().cmp(&other.magnitude()),
            differs => differs,
        })
    }

    fn sign(&self) -> i8 {
        match self {
            Self::Exact { digits, .. } if digits.is_empty() => 0,
            Self::Exact { negative: true, .. } => -1,
            _ => 1,
        }
    }

    /// Returns the position of the first digit, then the digits: a key that orders magnitudes.
    fn magnitude(&self) -> (i128, &str) {
        match self {
            Self::Exact { digits, power, .. } => {
                (i128::from(*power) + i128::try_from(digits.len()).unwrap_or(i128::MAX), digits)
            }
            Self::HugeExponent(spelling) => (i128::MAX, spelling),
        }
    }
}

/// Returns true if exactly these digits spell a double.
fn is_double(digits: &str, power: i64) -> bool {
    if digits.len() <= SAFE_DIGITS && SAFE_POWERS.contains(&power) {
        return true;
    }
    let Ok(double) = format!("{digits}e{power}").parse::<f64>() else { return false };
    if !double.is_finite() {
        return false;
    }
    let shortest = JsonNumber::parse(&format!("{double:e}"));
    matches!(shortest, JsonNumber::Exact { digits: d, power: p, .. } if d == digits && p == power)
}

/// Formats digits as ECMAScript does.
fn format_ecmascript(digits: &str, power: i64) -> String {
    let count = i64::try_from(digits.len()).unwrap_or(i64::MAX);
    let point = power + count; // digits before the decimal point
    let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or_default());
    match point {
        _ if digits.is_empty() => "0".to_owned(),
        point if (count..=21).contains(&point) => format!("{digits}{}", zeros(point - count)),
        1..=21 => {
            let (whole, fraction) = digits.split_at(usize::try_from(point).unwrap_or_default());
            format!("{whole}.{fraction}")
        }
        -5..=0 => format!("0.{}{digits}", zeros(-point)),
        _ => {
            let (first, rest) = digits.split_at(1);
            let dot = if rest.is_empty() { "" } else { "." };
            format!("{first}{dot}{rest}e{:+}", point - 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(spelling: &str) -> String {
        let mut out = Vec::new();
        JsonNumber::parse(spelling).write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn doubles_are_written_as_ecmascript_does() {
        let vectors = [
            ("0", "0"),
            ("-0", "0"),
            ("-0.0e7", "0"),
            ("1", "1"),
            ("1.0", "1"),
            ("10e-1", "1"),
            ("-12.50", "-12.5"),
            ("1e20", "100000000000000000000"),
            ("1e21", "1e+21"),
            ("12e20", "1.2e+21"),
            ("0.000001", "0.000001"),
            ("0.0000001", "1e-7"),
            ("0.00000123", "0.00000123"),
            ("333333333.3333333", "333333333.3333333"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
            ("5e-324", "5e-324"),
            ("9007199254740992", "9007199254740992"),
        ];
        for (spelled, expected) in vectors {
            assert_eq!(written(spelled), expected, "{spelled}");
        }
    }

    #[test]
    fn what_is_no_double_is_told_apart_all_the_same() {
        let all = [
            "9007199254740992",
            "9007199254740993",
            "9007199254740994",
            "0.1",
            "0.10000000000000000555",
            "1e308",
            "1e309",
            "1e400",
            "-1e400",
            "1e-400",
            "0",
            "2e-400",
            "1e99999999999999999999",
            "1e99999999999999999998",
            "-1e99999999999999999999",
            "1e-99999999999999999999",
        ];
        for (i, one) in all.iter().enumerate() {
            for other in &all[i + 1..] {
                assert_ne!(written(one), written(other), "{one} {other}");
            }
        }
        assert_eq!(written("1e400"), written("10.00E+399"));
        assert_eq!(written("9007199254740993"), written("9007199254740.9930e3"));
        assert_eq!(written("0e99999999999999999999"), "0");
        assert_eq!(written("123456789012345678900"), "1234567890123456789E2");
    }

    #[test]
    fn numbers_are_ordered_as_numbers() {
        let rising = ["-1e400", "-10", "-9.5", "-0.1", "0", "1e-400", "0.1", "0.11", "9", "10"];
        for (i, one) in rising.iter().enumerate() {
            for (j, other) in rising.iter().enumerate() {
                let compared = JsonNumber::parse(one).compare(&JsonNumber::parse(other));
                assert_eq!(compared, Some(i.cmp(&j)), "{one} {other}");
            }
        }
        let beyond = JsonNumber::parse("1e99999999999999999999");
        assert_eq!(beyond.compare(&JsonNumber::parse("1")), None);
        assert_eq!(beyond.compare(&beyond.clone()), Some(Ordering::Equal));
    }
}
