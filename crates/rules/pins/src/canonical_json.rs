//! Parses and writes JSON for digests and comparisons. It keeps the whole meaning and drops the
//! spelling.
//!
//! A parser with double-precision numbers would round `9007199254740993` and refuse `1e400`, and a
//! parser with Unicode strings would refuse a lone surrogate. Real servers send both, so this type
//! keeps both as they are. It refuses ambiguous JSON, such as an object with a repeated key.

use toolgate_wire::canonical::{self, JsonNumber, JsonString};
use toolgate_wire::scan;

/// A JSON value in canonical form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum CanonicalJson {
    Null,
    Flag(bool),
    Number(JsonNumber),
    Text(JsonString),
    List(Vec<CanonicalJson>),
    /// Members in the order of their keys, without repeated keys.
    Object(Vec<(JsonString, CanonicalJson)>),
}

/// An object without members.
pub(crate) static NOTHING: CanonicalJson = CanonicalJson::Object(Vec::new());
/// The schema that accepts everything.
pub(crate) static OPEN: CanonicalJson = CanonicalJson::Flag(true);

impl CanonicalJson {
    /// Parses one value. Returns `None` if the bytes are not JSON, repeat a key, or are nested too
    /// deeply.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        if scan::is_valid(bytes) { Self::build(bytes.trim_ascii()) } else { None }
    }

    /// Builds a value from JSON that the scanner accepted.
    fn build(value: &[u8]) -> Option<Self> {
        Some(match value.first()? {
            b'{' => Self::Object(build_members(value)?),
            b'[' => {
                let elements = scan::elements(value).map(|at| Self::build(at.slice(value)));
                Self::List(elements.collect::<Option<_>>()?)
            }
            b'"' => Self::Text(JsonString::decode(value)?),
            b't' => Self::Flag(true),
            b'f' => Self::Flag(false),
            b'n' => Self::Null,
            _ => Self::Number(JsonNumber::parse(std::str::from_utf8(value).ok()?)),
        })
    }

    /// Writes the value in canonical form.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"null"),
            Self::Flag(true) => out.extend_from_slice(b"true"),
            Self::Flag(false) => out.extend_from_slice(b"false"),
            Self::Number(number) => number.write(out),
            Self::Text(text) => text.write(out),
            Self::List(elements) => canonical::write_list(b"[]", elements, out, Self::write),
            Self::Object(members) => {
                canonical::write_list(b"{}", members, out, |(key, value), out| {
                    key.write(out);
                    out.push(b':');
                    value.write(out);
                });
            }
        }
    }

    /// Returns the value of a member, if this is an object that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        let at = |(name, _): &&(JsonString, Self)| *name == *key;
        self.members().iter().find(at).map(|(_, value)| value)
    }

    /// Returns the members of an object; empty for other values.
    pub(crate) fn members(&self) -> &[(JsonString, Self)] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    /// Returns the elements of an array; empty for other values.
    pub(crate) fn elements(&self) -> &[Self] {
        match self {
            Self::List(elements) => elements,
            _ => &[],
        }
    }

    /// Returns the string, if this is one.
    pub(crate) fn text(&self) -> Option<&JsonString> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Builds the members of an object, sorted by key. Returns `None` if a key repeats.
fn build_members(object: &[u8]) -> Option<Vec<(JsonString, CanonicalJson)>> {
    let members = scan::member_spans(object).map(|member| {
        let key = JsonString::decode(member.key.slice(object))?;
        Some((key, CanonicalJson::build(member.value.slice(object))?))
    });
    let mut members: Vec<_> = members.collect::<Option<_>>()?;
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    let repeated = members.windows(2).any(|pair| matches!(pair, [(a, _), (b, _)] if a == b));
    (!repeated).then_some(members)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use toolgate_wire::canonical::NumberFormat;

    use super::*;

    fn canonical(text: &str) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        CanonicalJson::read(text.as_bytes())?.write(&mut out);
        Some(out)
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
        assert!(CanonicalJson::read(b"\"\xff\"").is_none());
    }

    fn values() -> impl Strategy<Value = String> {
        let strings = prop::collection::vec(
            prop::sample::select(
                &["a", "é", "\\ud83d", "\\ude00", "\\n", "\u{1F600}", "\\u0041", "\\/"][..],
            ),
            0..4,
        );
        let string = strings.prop_map(|parts| format!("\"{}\"", parts.concat()));
        let number = "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,4})?([eE][+-]?[0-9]{1,3})?";
        let leaf =
            prop_oneof![string.clone(), number, Just("true".to_owned()), Just("null".to_owned())];
        leaf.prop_recursive(4, 32, 5, move |inner| {
            let members = prop::collection::vec((string.clone(), inner.clone()), 0..4);
            prop_oneof![
                prop::collection::vec(inner, 0..4)
                    .prop_map(|all| format!("[ {} ]", all.join(" , "))),
                members.prop_map(|all| {
                    let all: Vec<_> =
                        all.iter().map(|(key, value)| format!("{key} :{value}")).collect();
                    format!("{{{}}}", all.join(","))
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_read_is_written_as_the_wire_writes_it(text in values()) {
            let mut expected = Vec::new();
            canonical::write(text.as_bytes(), NumberFormat::ByValue, &mut expected);
            // Objects with repeated keys are refused.
            if let Some(written) = canonical(&text) {
                prop_assert_eq!(written, expected);
            }
        }
    }
}
