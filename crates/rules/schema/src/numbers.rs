//! Parses JSON with numbers that exceed the range of a double.
//!
//! `1e400` is valid JSON, and such values are forwarded unchanged. For validation, such a number
//! becomes the largest finite number of the same sign.

use std::borrow::Cow;

use serde_json::{Error, Value};

const LARGEST: &[u8] = b"1.7976931348623157e308";

/// Parses a JSON text. Numbers out of range become the largest finite number.
pub(crate) fn read(text: &[u8]) -> Result<Value, Error> {
    serde_json::from_slice(text).or_else(|error| match bounded(text) {
        Cow::Borrowed(_) => Err(error),
        Cow::Owned(bounded) => serde_json::from_slice(&bounded),
    })
}

fn bounded(text: &[u8]) -> Cow<'_, [u8]> {
    let mut bounded = Vec::new();
    let (mut at, mut kept) = (0, 0);
    while let Some(byte) = text.get(at) {
        let end = at + token(&text[at..]);
        if matches!(byte, b'0'..=b'9' | b'-') && is_beyond(&text[at..end]) {
            let sign = usize::from(*byte == b'-');
            bounded.extend_from_slice(&text[kept..at + sign]);
            bounded.extend_from_slice(LARGEST);
            kept = end;
        }
        at = end;
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    bounded.extend_from_slice(&text[kept..]);
    Cow::Owned(bounded)
}

/// Returns the length of the string or number at the start of a text; 1 for everything else.
fn token(text: &[u8]) -> usize {
    let rest = &text[1..];
    match text[0] {
        b'"' => {
            let mut escaped = false;
            let end = rest.iter().position(|byte| {
                let ends = *byte == b'"' && !escaped;
                escaped = *byte == b'\\' && !escaped;
                ends
            });
            end.map_or(text.len(), |end| end + 2)
        }
        b'0'..=b'9' | b'-' => {
            let in_number =
                |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
            1 + rest.iter().position(|byte| !in_number(byte)).unwrap_or(rest.len())
        }
        _ => 1,
    }
}

fn is_beyond(number: &[u8]) -> bool {
    let number = std::str::from_utf8(number).ok().and_then(|text| text.parse::<f64>().ok());
    number.is_some_and(f64::is_infinite)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beyond_all_bounds_become_the_largest() {
        let text = br#"{"a":[1e400,-1E+999,5],"b\"1e400":"1e400 \\","c":{"d":1e400}}"#;
        let value = read(text).unwrap();
        assert_eq!(value["a"][0], f64::MAX);
        assert_eq!(value["a"][1], f64::MIN);
        assert_eq!(value["a"][2], 5);
        assert_eq!(value["b\"1e400"], "1e400 \\");
        assert_eq!(value["c"]["d"], f64::MAX);
    }

    #[test]
    fn what_is_no_json_stays_none() {
        for text in [&b"{"[..], b"[1e400", b"\"", b"1e400e", b"--1"] {
            assert!(read(text).is_err(), "{text:?}");
        }
    }
}
