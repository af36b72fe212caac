//! The one way a value is written: RFC 8785, and what that form cannot say in a way of its own.
//!
//! Two texts are written the same exactly if every careful reader takes them for the same value.

use crate::tree::{Json, Text};

/// Writes a value.
pub(crate) fn write(value: &Json, out: &mut Vec<u8>) {
    match value {
        Json::Null => out.extend_from_slice(b"null"),
        Json::Flag(true) => out.extend_from_slice(b"true"),
        Json::Flag(false) => out.extend_from_slice(b"false"),
        Json::Number(number) => number.write(out),
        Json::Text(text) => string(text, out),
        Json::List(elements) => {
            let all = elements.iter();
            joined(all, (b'[', b']'), out, write);
        }
        Json::Object(members) => {
            joined(members.iter(), (b'{', b'}'), out, |(key, value), out| {
                string(key, out);
                out.push(b':');
                write(value, out);
            });
        }
    }
}

fn joined<T>(
    all: impl Iterator<Item = T>,
    (open, close): (u8, u8),
    out: &mut Vec<u8>,
    each: impl Fn(T, &mut Vec<u8>),
) {
    out.push(open);
    for (index, one) in all.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        each(one, out);
    }
    out.push(close);
}

fn string(text: &Text, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    for byte in &text.0 {
        let short = match byte {
            b'"' | b'\\' => *byte,
            0x08 => b'b',
            0x09 => b't',
            0x0A => b'n',
            0x0C => b'f',
            0x0D => b'r',
            0..=0x1F => {
                let (high, low) = (usize::from(byte >> 4), usize::from(byte & 15));
                out.extend_from_slice(b"\\u00");
                out.extend_from_slice(&[DIGITS[high], DIGITS[low]]);
                continue;
            }
            _ => {
                out.push(*byte);
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', short]);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> Option<String> {
        let mut out = Vec::new();
        write(&Json::read(text.as_bytes())?, &mut out);
        Some(String::from_utf8(out).unwrap())
    }

    #[test]
    fn members_are_sorted_by_code_units_and_nothing_is_spaced() {
        let given = "{ \"\u{e000}\": 1, \"\u{1F600}\": 2, \"é\":3, \"b\" : [ true , null ], \
                     \"a\":{\"y\":1.50,\"x\":-0}, \"\": \"\" }";
        let expected = "{\"\":\"\",\"a\":{\"x\":0,\"y\":1.5},\"b\":[true,null],\"é\":3,\
                        \"\u{1F600}\":2,\"\u{e000}\":1}";
        assert_eq!(canonical(given).as_deref(), Some(expected));
    }

    #[test]
    fn texts_are_escaped_only_where_they_must_be() {
        let given = r#"["\u0041\/\u00e9\ud83d\ude00","\u0000\u001F\u007f\b\t\n\f\r\"\\","\u2028"]"#;
        let expected =
            "[\"A/é\u{1F600}\",\"\\u0000\\u001f\u{7f}\\b\\t\\n\\f\\r\\\"\\\\\",\"\u{2028}\"]";
        assert_eq!(canonical(given).as_deref(), Some(expected));
    }

    #[test]
    fn half_a_pair_is_told_apart_from_everything_else() {
        let forms = [r#""\ud83d""#, r#""\ude00""#, r#""\ude00\ud83d""#, "\"\u{fffd}\"", "\"\""];
        let written = forms.map(|form| {
            let mut out = Vec::new();
            write(&Json::read(form.as_bytes()).unwrap(), &mut out);
            out
        });
        for (i, one) in written.iter().enumerate() {
            assert!(written[i + 1..].iter().all(|other| other != one), "{}", forms[i]);
        }
    }

    #[test]
    fn what_has_no_one_meaning_is_not_read() {
        let deep = "[".repeat(129) + &"]".repeat(129);
        let wrong = [
            "",
            " ",
            "{",
            "[1,]",
            "{\"a\":1,}",
            "01",
            "1.",
            "+1",
            "'a'",
            "\"\n\"",
            "\"\\x\"",
            "nul",
            "{\"a\":1,\"a\":1}",
            "{\"a\":1,\"\\u0061\":2}",
            "[{\"b\":{\"x\":1,\"x\":1}}]",
            "1 2",
            "\"\\u12\"",
            "\"\\ud83d\\u\"",
            "-",
            "1e",
            &deep,
        ];
        for text in wrong {
            assert_eq!(canonical(text), None, "{text}");
        }
        assert!(canonical(&("[".repeat(128) + &"]".repeat(128))).is_some());
        assert!(Json::read(b"\"\xff\"").is_none());
    }
}
