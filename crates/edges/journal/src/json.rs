//! Writes JSON values into a buffer, in the canonical form of RFC 8785 (JCS).

use toolgate_wire::canonical::JsonNumber;
pub(crate) use toolgate_wire::canonical::{compare_keys, write_string};

/// The maximum digits of an integer that is copied. Every such integer is exactly a double.
const SAFE_DIGITS: usize = 15;

/// Writes bytes in hexadecimal.
pub(crate) fn write_hex(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 15)]);
    }
}

/// Writes an integer.
pub(crate) fn write_integer(value: u64, out: &mut Vec<u8>) {
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

/// Writes a number from its JSON text. A number that is not exactly a double is written as a
/// string, because readers would see another value. Text that is not a number is also written as a
/// string.
pub(crate) fn write_number(spelling: &str, out: &mut Vec<u8>) {
    let digits = spelling.strip_prefix('-').unwrap_or(spelling);
    let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_spelled_right = digits == "0" || !digits.starts_with('0');
    if is_whole && is_spelled_right && digits.len() <= SAFE_DIGITS {
        let text = if digits == "0" { digits } else { spelling };
        return out.extend_from_slice(text.as_bytes());
    }
    let is_number =
        digits.starts_with(|c: char| c.is_ascii_digit()) && spelling.parse::<f64>().is_ok();
    match is_number.then(|| JsonNumber::parse(spelling)).filter(JsonNumber::is_double) {
        Some(number) => number.write(out),
        None => write_string(spelling, out),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number_of(spelling: &str) -> String {
        let mut out = Vec::new();
        write_number(spelling, &mut out);
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
            ("333333333.33333329", "\"333333333.33333329\""),
            ("0.30000000000000004", "0.30000000000000004"),
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
            write_string(&text, &mut out);
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
            write_integer(value, &mut out);
            prop_assert_eq!(String::from_utf8(out).unwrap(), value.to_string());
        }
    }
}
