//! The canonical form of JSON: the one place that says when two texts are the same value.
//!
//! The form is RFC 8785: no spaces, members in the order of the UTF-16 units of their keys, and
//! every string escaped in one way. It differs in two points, because digests bind what a server
//! receives. A number that is no double keeps its exact value ([`Number`]), or every number keeps
//! its spelling ([`Numbers::AsSpelled`]). Half a surrogate pair is kept as the three bytes that
//! UTF-8 would give it ([`Text`]), so that it equals nothing else.
//!
//! A stored digest starts with a label that names a version. Whoever changes this form changes
//! those labels.

mod number;
mod text;

use crate::scan;

pub use number::Number;
pub use text::{Text, compare, write_text};

/// How numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// `1`, `1.0` and `1e0` differ. For what is passed on as it is spelled: readers may differ.
    AsSpelled,
    /// `1`, `1.0` and `1e0` are the same.
    ByValue,
}

/// Writes a value that the wire accepted, in canonical form.
pub fn write(value: &[u8], numbers: Numbers, out: &mut Vec<u8>) {
    match value.first() {
        Some(b'{') => write_object(value, &[], numbers, out),
        Some(b'[') => {
            let elements = scan::elements(value);
            write_list(b"[]", elements, out, |at, out| write(at.of(value), numbers, out));
        }
        Some(b'"') => match Text::decode(value) {
            Some(text) => text.write(out),
            None => out.extend_from_slice(value),
        },
        Some(b'-' | b'0'..=b'9') if numbers == Numbers::ByValue => {
            Number::read(&String::from_utf8_lossy(value)).write(out);
        }
        _ => out.extend_from_slice(value),
    }
}

/// Writes an object without the members whose keys are in `left_out`.
pub fn write_object(object: &[u8], left_out: &[&str], numbers: Numbers, out: &mut Vec<u8>) {
    let mut members: Vec<_> = scan::places(object)
        .filter_map(|member| Some((Text::decode(member.key.of(object))?, member.value)))
        .filter(|(key, _)| !left_out.iter().any(|name| *key == **name))
        .collect();
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    write_list(b"{}", members, out, |(key, at), out| {
        key.write(out);
        out.push(b':');
        write(at.of(object), numbers, out);
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

    fn canonical(text: &str, numbers: Numbers) -> Vec<u8> {
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
        assert_eq!(canonical(given, Numbers::ByValue), expected.as_bytes());
        let spelled = expected.replace("1.5", "1.50").replace("\"x\":0", "\"x\":-0");
        assert_eq!(canonical(given, Numbers::AsSpelled), spelled.as_bytes());
    }

    #[test]
    fn strings_are_escaped_only_where_they_must_be() {
        let given = r#"["\u0041\/\u00e9\ud83d\ude00","\u0000\u001F\u007f\b\t\n\f\r\"\\","\u2028"]"#;
        let expected =
            "[\"A/é\u{1F600}\",\"\\u0000\\u001f\u{7f}\\b\\t\\n\\f\\r\\\"\\\\\",\"\u{2028}\"]";
        assert_eq!(canonical(given, Numbers::AsSpelled), expected.as_bytes());
    }

    #[test]
    fn half_a_surrogate_pair_equals_nothing_else() {
        let values = [r#""\ud83d""#, r#""\ude00""#, r#""\ude00\ud83d""#, "\"\u{fffd}\"", "\"\""];
        let keys = values.map(|value| format!("{{{value}:1}}"));
        let all: Vec<_> = values.into_iter().map(str::to_owned).chain(keys).collect();
        for (index, one) in all.iter().enumerate() {
            for other in &all[index + 1..] {
                let [a, b] = [one, other].map(|text| canonical(text, Numbers::AsSpelled));
                assert_ne!(a, b, "{one} {other}");
            }
        }
        let spelled = [r#""\uD83D""#, r#""\ud83d""#];
        let [upper, lower] = spelled.map(|text| canonical(text, Numbers::AsSpelled));
        assert_eq!(upper, lower);
    }
}
