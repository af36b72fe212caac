//! The canonical form of JSON, which defines when two texts are the same value.
//!
//! The form is RFC 8785: no spaces, members sorted by the UTF-16 code units of their keys, and one
//! way to escape every string. It differs in two points, because digests cover what a server
//! receives. A number that is not a double keeps its exact value ([`JsonNumber`]), or every number
//! keeps its spelling ([`NumberFormat::AsSpelled`]). Half a surrogate pair is kept as the three
//! bytes that UTF-8 would give it ([`JsonString`]), so that it equals nothing else.
//!
//! Stored digests start with a label that names a version. A change to this form requires new
//! labels.

mod number;
mod text;

use crate::scan;

pub use number::JsonNumber;
pub use text::{JsonString, compare_keys, write_string};

/// How the canonical form writes numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberFormat {
    /// `1`, `1.0` and `1e0` differ. For values that are forwarded as spelled, because readers may
    /// treat them differently.
    AsSpelled,
    /// `1`, `1.0` and `1e0` are the same.
    ByValue,
}

/// Writes a value that the scanner accepted, in canonical form.
pub fn write(value: &[u8], numbers: NumberFormat, out: &mut Vec<u8>) {
    match value.first() {
        Some(b'{') => write_object(value, &[], numbers, out),
        Some(b'[') => {
            let elements = scan::elements(value);
            write_list(b"[]", elements, out, |at, out| write(at.slice(value), numbers, out));
        }
        Some(b'"') => match JsonString::decode(value) {
            Some(text) => text.write(out),
            None => out.extend_from_slice(value),
        },
        Some(b'-' | b'0'..=b'9') if numbers == NumberFormat::ByValue => {
            JsonNumber::parse(&String::from_utf8_lossy(value)).write(out);
        }
        _ => out.extend_from_slice(value),
    }
}

/// Writes an object without the members whose keys are in `left_out`.
pub fn write_object(object: &[u8], left_out: &[&str], numbers: NumberFormat, out: &mut Vec<u8>) {
    let mut members: Vec<_> = scan::member_spans(object)
        .filter_map(|member| Some((JsonString::decode(member.key.slice(object))?, member.value)))
        .filter(|(key, _)| !left_out.iter().any(|name| *key == **name))
        .collect();
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    write_list(b"{}", members, out, |(key, at), out| {
        key.write(out);
        out.push(b':');
        write(at.slice(object), numbers, out);
    });
}

/// Writes items between brackets, with commas between them.
pub fn write_list<T>(
    brackets: &[u8; 2],
    items: impl IntoIterator<Item = T>,
    out: &mut Vec<u8>,
    write_item: impl Fn(T, &mut Vec<u8>),
) {
    out.push(brackets[0]);
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_item(item, out);
    }
    out.push(brackets[1]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str, numbers: NumberFormat) -> Vec<u8> {
        let mut out = Vec::new();
        write(text.as_bytes(), numbers, &mut out);
        out
    }

    #[test]
    fn members_are_sorted_by_code_units_and_nothing_is_spaced() {
        let given = "{ \"\u{e000}\": 1, \"\u{1F600}\": 2, \"é\":3, \"b\" : [ true , null ], \
                     \"a\":{\"y\":1.50,\"x\":-0}, \"\": \"\" }";
        let expected = "{\"\":\"\",\"a\":{\"x\":0,\"y\":1.5},\"b\":[true,null],\"é\":3,\
                        \"\u{1F600}\":2,\"\u{e000}\":1}";
        assert_eq!(canonical(given, NumberFormat::ByValue), expected.as_bytes());
        let spelled = expected.replace("1.5", "1.50").replace("\"x\":0", "\"x\":-0");
        assert_eq!(canonical(given, NumberFormat::AsSpelled), spelled.as_bytes());
    }

    #[test]
    fn strings_are_escaped_only_where_they_must_be() {
        let given = r#"["\u0041\/\u00e9\ud83d\ude00","\u0000\u001F\u007f\b\t\n\f\r\"\\","\u2028"]"#;
        let expected =
            "[\"A/é\u{1F600}\",\"\\u0000\\u001f\u{7f}\\b\\t\\n\\f\\r\\\"\\\\\",\"\u{2028}\"]";
        assert_eq!(canonical(given, NumberFormat::AsSpelled), expected.as_bytes());
    }

    #[test]
    fn half_a_surrogate_pair_equals_nothing_else() {
        let values = [r#""\ud83d""#, r#""\ude00""#, r#""\ude00\ud83d""#, "\"\u{fffd}\"", "\"\""];
        let keys = values.map(|value| format!("{{{value}:1}}"));
        let all: Vec<_> = values.into_iter().map(str::to_owned).chain(keys).collect();
        for (index, one) in all.iter().enumerate() {
            for other in &all[index + 1..] {
                let [a, b] = [one, other].map(|text| canonical(text, NumberFormat::AsSpelled));
                assert_ne!(a, b, "{one} {other}");
            }
        }
        let spelled = [r#""\uD83D""#, r#""\ud83d""#];
        let [upper, lower] = spelled.map(|text| canonical(text, NumberFormat::AsSpelled));
        assert_eq!(upper, lower);
    }
}
