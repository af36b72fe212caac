//! JSON as RFC 8785 (JCS) has it, written straight into a buffer: nothing is built.

/// The longest whole number that is copied: every one of so many digits is a double of its own.
const SAFE_DIGITS: usize = 15;

/// Writes a string with its quotes.
pub(super) fn string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut written = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if byte >= b' ' && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&bytes[written..at]);
        written = at + 1;
        let short = match byte {
            b'"' | b'\\' => byte,
            0x08 => b'b',
            b'\t' => b't',
            b'\n' => b'n',
            0x0c => b'f',
            b'\r' => b'r',
            _ => {
                out.extend_from_slice(b"\\u00");
                hex(&[byte], out);
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', short]);
    }
    out.extend_from_slice(&bytes[written..]);
    out.push(b'"');
}

/// Writes bytes in hexadecimal.
pub(super) fn hex(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 15)]);
    }
}

/// Writes a whole number.
pub(super) fn whole(value: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut left = value;
    loop {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Writes a number that somebody else spelled. One that a double cannot say is written as a string,
/// because whoever reads it as a double would see another; so is what is no number at all.
pub(super) fn number(spelling: &str, out: &mut Vec<u8>) {
    let digits = spelling.strip_prefix('-').unwrap_or(spelling);
    let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_spelled_right = digits == "0" || !digits.starts_with('0');
    if is_whole && is_spelled_right && digits.len() <= SAFE_DIGITS {
        let text = if digits == "0" { digits } else { spelling };
        return out.extend_from_slice(text.as_bytes());
    }
    let starts = digits.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
    match spelling.parse::<f64>() {
        Ok(double) if double.is_finite() && starts => match laid_out(double) {
            other if is_whole && other != spelling => string(spelling, out),
            written => out.extend_from_slice(written.as_bytes()),
        },
        _ => string(spelling, out),
    }
}

/// A double as ECMAScript writes it: the shortest digits that mean it, with an exponent only where
/// it is far from one.
fn laid_out(double: f64) -> String {
    if double == 0.0 {
        return "0".to_owned();
    }
    let shortest = format!("{double:e}");
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let sign = if double < 0.0 { "-" } else { "" };
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let (count, point) = (digits.len(), exponent + 1);
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or_default());
    let before = usize::try_from(point).unwrap_or_default();
    match point {
        1..=21 if before >= count => format!("{sign}{digits}{}", "0".repeat(before - count)),
        1..=21 => format!("{sign}{}.{}", &digits[..before], &digits[before..]),
        -5..=0 => format!("{sign}0.{}{digits}", zeros(-point)),
        _ => {
            let dot = if count > 1 { "." } else { "" };
            format!("{sign}{}{dot}{}e{exponent:+}", &digits[..1], &digits[1..])
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number_of(spelling: &str) -> String {
        let mut out = Vec::new();
        number(spelling, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_are_written_as_the_standard_says() {
        for (given, written) in [
            ("0", "0"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("1.0", "1"),
            ("1E2", "100"),
            ("123456789012345", "123456789012345"),
            ("-5", "-5"),
            ("1e21", "1e+21"),
            ("1e20", "100000000000000000000"),
            ("0.000001", "0.000001"),
            ("0.0000001", "1e-7"),
            ("4.50", "4.5"),
            ("2e-3", "0.002"),
            ("333333333.33333329", "333333333.3333333"),
            ("1e-27", "1e-27"),
            ("-1.5e300", "-1.5e+300"),
            ("12345678901234567890", "\"12345678901234567890\""),
            ("1e999", "\"1e999\""),
            ("nul", "\"nul\""),
            ("", "\"\""),
            ("inf", "\"inf\""),
        ] {
            assert_eq!(number_of(given), written, "{given}");
        }
    }

    proptest! {
        #[test]
        fn a_string_is_read_as_it_was_given(text in any::<String>()) {
            let mut out = Vec::new();
            string(&text, &mut out);
            prop_assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
            prop_assert!(!out.contains(&b'\n'));
        }

        #[test]
        fn a_double_is_read_as_it_was_given(double in any::<f64>()) {
            prop_assume!(double.is_finite());
            let written = number_of(&format!("{double:e}"));
            prop_assert_eq!(written.parse::<f64>().unwrap(), double);
            prop_assert_eq!(number_of(&written), written.clone());
        }

        #[test]
        fn a_whole_number_is_written(value in any::<u64>()) {
            let mut out = Vec::new();
            whole(value, &mut out);
            prop_assert_eq!(String::from_utf8(out).unwrap(), value.to_string());
        }
    }
}
