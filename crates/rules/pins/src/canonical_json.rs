//! Parses and writes JSON for digests and comparisons. It keeps the whole meaning and drops the
//! spelling.
//!
//! A parser with double-precision numbers would round `9007199254740993` and refuse `1e400`, and a
//! parser with Unicode strings would refuse a lone surrogate. Real servers send both, so this crate
//! has its own parser. It refuses ambiguous JSON, such as an object with a repeated key.

use toolgate_wire::canonical::{self, JsonNumber, JsonString};

/// The maximum nesting, the same as in the wire crate. The parser recurses once per level.
const MAX_DEPTH: usize = 128;

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

impl CanonicalJson {
    /// Parses one value. Returns `None` if the bytes are not JSON, repeat a key, or are nested too
    /// deeply.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        std::str::from_utf8(bytes).ok()?;
        let mut reader = CanonicalJsonParser { bytes, at: 0 };
        reader.space();
        let value = reader.value(MAX_DEPTH)?;
        reader.space();
        (reader.at == bytes.len()).then_some(value)
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

/// A recursive-descent parser over JSON bytes.
struct CanonicalJsonParser<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl CanonicalJsonParser<'_> {
    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        let there = self.at < self.bytes.len() && self.peek() == byte;
        self.at += usize::from(there);
        there.then_some(())
    }

    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Option<CanonicalJson> {
        match self.peek() {
            b'{' => self.object(depth.checked_sub(1)?),
            b'[' => self.list(depth.checked_sub(1)?),
            b'"' => self.string().map(CanonicalJson::Text),
            b'-' | b'0'..=b'9' => self.number().map(CanonicalJson::Number),
            b't' => self.word(b"true", CanonicalJson::Flag(true)),
            b'f' => self.word(b"false", CanonicalJson::Flag(false)),
            b'n' => self.word(b"null", CanonicalJson::Null),
            _ => None,
        }
    }

    fn object(&mut self, depth: usize) -> Option<CanonicalJson> {
        let mut members = Vec::new();
        self.at += 1;
        self.space();
        if self.eat(b'}').is_some() {
            return Some(CanonicalJson::Object(members));
        }
        loop {
            let key = self.string()?;
            self.space();
            self.eat(b':')?;
            self.space();
            members.push((key, self.value(depth)?));
            if self.closes(b'}')? {
                break;
            }
        }
        members.sort_by(|(one, _), (other, _)| one.cmp(other));
        let repeated = members.windows(2).any(|pair| matches!(pair, [(a, _), (b, _)] if a == b));
        (!repeated).then_some(CanonicalJson::Object(members))
    }

    fn list(&mut self, depth: usize) -> Option<CanonicalJson> {
        let mut elements = Vec::new();
        self.at += 1;
        self.space();
        if self.eat(b']').is_some() {
            return Some(CanonicalJson::List(elements));
        }
        loop {
            elements.push(self.value(depth)?);
            if self.closes(b']')? {
                return Some(CanonicalJson::List(elements));
            }
        }
    }

    /// After a member or element, returns true if the container ends and false if a comma follows.
    fn closes(&mut self, close: u8) -> Option<bool> {
        self.space();
        if self.eat(b',').is_some() {
            self.space();
            return Some(false);
        }
        self.eat(close).map(|()| true)
    }

    fn word(&mut self, word: &[u8], value: CanonicalJson) -> Option<CanonicalJson> {
        let there = self.bytes.get(self.at..)?.starts_with(word);
        self.at += word.len();
        there.then_some(value)
    }

    fn string(&mut self) -> Option<JsonString> {
        let start = self.at;
        self.eat(b'"')?;
        loop {
            let rest = self.bytes.get(self.at..)?;
            let plain = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
            self.at += plain + 1;
            match rest.get(plain) {
                Some(b'"') => return JsonString::decode(self.bytes.get(start..self.at)?),
                _ => self.at += 1,
            }
        }
    }

    fn number(&mut self) -> Option<JsonNumber> {
        let start = self.at;
        let _ = self.eat(b'-');
        if self.eat(b'0').is_none() {
            self.digits()?;
        }
        if self.eat(b'.').is_some() {
            self.digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.at += 1;
            }
            self.digits()?;
        }
        let spelling = std::str::from_utf8(self.bytes.get(start..self.at)?).ok()?;
        Some(JsonNumber::parse(spelling))
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }
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
