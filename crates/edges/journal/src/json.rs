//! Writes JSON values into a buffer, in the canonical form of RFC 8785 (JCS).

use std::io::Write as _;

use toolgate_wire::canonical::JsonNumber;
pub(crate) use toolgate_wire::canonical::{compare_keys, write_string};

/// The maximum digits of an integer that is copied. Every such integer is exactly a double.
const SAFE_DIGITS: usize = 15;

/// Writes the members of an object. The caller adds them in canonical order.
pub(crate) struct ObjectWriter<'o> {
    out: &'o mut Vec<u8>,
    is_empty: bool,
}

impl<'o> ObjectWriter<'o> {
    /// Begins an object.
    pub(crate) fn begin(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, is_empty: true }
    }

    /// Writes a key. The caller writes its value.
    pub(crate) fn key(&mut self, key: &str) -> &mut Vec<u8> {
        if !std::mem::take(&mut self.is_empty) {
            self.out.push(b',');
        }
        write_string(key, self.out);
        self.out.push(b':');
        self.out
    }

    /// Writes a text.
    pub(crate) fn text(&mut self, key: &str, value: &str) {
        write_string(value, self.key(key));
    }

    /// Writes an integer.
    pub(crate) fn integer(&mut self, key: &str, value: u64) {
        _ = write!(self.key(key), "{value}"); // writing to memory does not fail
    }

    /// Ends the object.
    pub(crate) fn end(self) {
        self.out.push(b'}');
    }
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
    }
}
