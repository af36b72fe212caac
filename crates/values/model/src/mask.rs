//! Removes known secret values from text: errors, logs and the standard error output of servers.
//!
//! The mask applies once variables are expanded and the values are known. Before that,
//! [`crate::redact_args`] and [`crate::redact_url`] hide secrets by rule.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::redaction::HIDDEN;

/// The length below which a value is hidden only where it stands alone. Inside words it would hide
/// ordinary text.
const SHORTEST: usize = 4;
/// The length below which pieces of base64 and lines of a value are indistinguishable from ordinary
/// text.
const SHORTEST_PIECE: usize = 8;

/// A set of known secret values to remove from texts.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Mask {
    /// The number of values.
    count: usize,
    /// The values in every encoded form, sorted.
    forms: Vec<String>,
    /// Values too short to look for inside words.
    short: Vec<String>,
    /// A filter with a bit for the first bytes of each form, so that a text without a match needs
    /// only one check per byte.
    prefix_filter: Vec<u64>,
}

/// The characters that a URL escapes: all but the unreserved ones of RFC 3986.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The number of address bits of [`Mask::prefix_filter`].
const BITS: u32 = 12;

impl Mask {
    /// Creates a mask for these values and their common encodings: escaped, percent-encoded,
    /// hexadecimal, base64.
    pub fn new(values: impl IntoIterator<Item = String>) -> Self {
        // A value of nothing but asterisks cannot be hidden by asterisks.
        let is_hideable = |text: &String| text.contains(|c: char| c != '*');
        let values = sorted(values.into_iter().filter(is_hideable));
        let (long, short): (Vec<_>, Vec<_>) =
            values.into_iter().partition(|value| value.len() >= SHORTEST);
        let forms = long.iter().flat_map(|value| encoded_forms(value));
        let forms = sorted(forms.filter(|form| form.len() >= SHORTEST && is_hideable(form)));
        // A blank would match everywhere.
        let short: Vec<_> = short.into_iter().filter(|it| !it.trim().is_empty()).collect();
        Self::with_forms(long.len() + short.len(), forms, short)
    }

    fn with_forms(count: usize, forms: Vec<String>, short: Vec<String>) -> Self {
        let words = if forms.is_empty() { 0 } else { 1 << (BITS - 6) };
        let mut prefix_filter = vec![0; words];
        for form in forms.iter().filter_map(|form| form.as_bytes().first_chunk()) {
            let (word, bit) = filter_bit(*form);
            prefix_filter[word] |= bit;
        }
        Self { count, forms, short, prefix_filter }
    }

    /// Calls `found` with the range of every match. Walks the text once, however many forms there
    /// are.
    fn find(&self, text: &[u8], mut found: impl FnMut(usize, usize)) {
        if self.forms.is_empty() {
            return;
        }
        for (at, four) in text.windows(SHORTEST).enumerate() {
            let Some(four) = four.first_chunk() else { continue };
            let (word, bit) = filter_bit(*four);
            if self.prefix_filter[word] & bit == 0 {
                continue;
            }
            let from = self.forms.partition_point(|form| form.as_bytes() < four.as_slice());
            let alike = self.forms[from..].iter().take_while(|it| it.as_bytes().starts_with(four));
            let forms = alike.filter(|form| text[at..].starts_with(form.as_bytes()));
            forms.for_each(|form| found(at, at + form.len()));
        }
    }

    /// Returns a mask that hides the values of both.
    #[must_use]
    pub fn merge(&self, other: &Self) -> Self {
        let both = |one: &[String], other: &[String]| sorted(one.iter().chain(other).cloned());
        let (forms, short) = (both(&self.forms, &other.forms), both(&self.short, &other.short));
        Self::with_forms(self.count.max(other.count), forms, short)
    }

    /// Returns true if there is nothing to hide.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the text with every known value hidden.
    pub fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut masked = Cow::Borrowed(text);
        // Hiding may create a new match, so the result is checked again. Each round removes
        // characters and adds only asterisks, so the loop ends.
        while let Some(next) = self.mask_once(&masked) {
            masked = Cow::Owned(next);
        }
        masked
    }

    /// Hides every known value in `text` itself.
    pub fn apply_in_place(&self, text: &mut String) {
        if let Cow::Owned(masked) = self.apply(text) {
            *text = masked;
        }
    }

    /// Hides the current matches. Returns `None` if there are none.
    fn mask_once(&self, text: &str) -> Option<String> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        self.find(text.as_bytes(), |start, end| found.push((start, end)));
        // Also search the decoded text, because any character may be escaped.
        for decoded in
            [UnescapedText::from_percent_encoded(text), UnescapedText::from_unicode_escapes(text)]
                .into_iter()
                .flatten()
        {
            self.find(&decoded.bytes, |start, end| {
                found.push(decoded.source_range(text, start, end))
            });
        }
        let short = self.short.iter().flat_map(|value| text.match_indices(value.as_str()));
        let short = short.map(|(start, hit)| (start, start + hit.len()));
        found.extend(short.filter(|(start, end)| stands_alone(text, *start, *end)));
        if found.is_empty() {
            return None;
        }
        found.sort_unstable();
        let mut masked = String::with_capacity(text.len());
        let (mut shown, mut open) = (0, false);
        for (start, end) in found {
            // Overlapping values are hidden as one, otherwise the rest of the second would be
            // visible.
            if start >= shown && !(open && start == shown) {
                masked.push_str(&text[shown..start]);
                masked.push_str(HIDDEN);
            }
            shown = shown.max(end);
            open = true;
        }
        masked.push_str(&text[shown..]);
        Some(masked)
    }
}

/// Returns the texts in order, each once.
fn sorted(texts: impl Iterator<Item = String>) -> Vec<String> {
    texts.collect::<BTreeSet<_>>().into_iter().collect()
}

/// A text with one kind of escapes decoded.
struct UnescapedText {
    bytes: Vec<u8>,
    /// The source offset of each byte, and the length of the source.
    source_offsets: Vec<usize>,
}

impl UnescapedText {
    /// Decodes `%41`. Returns `None` if there is nothing to decode.
    fn from_percent_encoded(text: &str) -> Option<Self> {
        Self::decode_escapes(text, b'%', |rest| Some((vec![parse_hex(rest, 1, 2)? as u8], 3)))
    }

    /// Decodes `\u0041`. Returns `None` if there is nothing to decode. Half a surrogate pair is
    /// left as it is.
    fn from_unicode_escapes(text: &str) -> Option<Self> {
        let unit = |rest: &[u8], at: usize| {
            let marked = rest.get(at) == Some(&b'\\') && rest.get(at + 1) == Some(&b'u');
            marked.then(|| parse_hex(rest, at + 2, 4)).flatten()
        };
        Self::decode_escapes(text, b'\\', |rest| {
            let (first, second) = (unit(rest, 0)?, unit(rest, 6));
            let (c, length) = match (char::from_u32(first), second) {
                (Some(c), _) => (c, 6),
                (None, Some(second)) => {
                    let pair = [first as u16, second as u16];
                    (char::decode_utf16(pair).next()?.ok()?, 12)
                }
                (None, None) => return None,
            };
            Some((c.to_string().into_bytes(), length))
        })
    }

    /// Replaces each escape that starts with `mark` and can be decoded. `decode` returns the
    /// decoded bytes and the length of the escape.
    fn decode_escapes(
        text: &str,
        mark: u8,
        decode: impl Fn(&[u8]) -> Option<(Vec<u8>, usize)>,
    ) -> Option<Self> {
        let source = text.as_bytes();
        if !source.contains(&mark) {
            return None;
        }
        let mut decoded = Self { bytes: Vec::new(), source_offsets: Vec::new() };
        let mut at = 0;
        while let Some(byte) = source.get(at) {
            let escape = (*byte == mark).then(|| decode(&source[at..])).flatten();
            let (bytes, length) = escape.unwrap_or_else(|| (vec![*byte], 1));
            decoded.source_offsets.resize(decoded.source_offsets.len() + bytes.len(), at);
            decoded.bytes.extend(bytes);
            at += length;
        }
        decoded.source_offsets.push(source.len());
        (decoded.bytes.len() < source.len()).then_some(decoded)
    }

    /// Returns the range of the source text that these bytes come from.
    fn source_range(&self, text: &str, start: usize, end: usize) -> (usize, usize) {
        let (mut from, mut to) = (self.source_offsets[start], self.source_offsets[end]);
        // A range of decoded bytes may end inside a character.
        while !text.is_char_boundary(from) {
            from -= 1;
        }
        while !text.is_char_boundary(to) {
            to += 1;
        }
        (from, to)
    }
}

/// Parses a number of `digits` hexadecimal digits.
fn parse_hex(text: &[u8], at: usize, digits: usize) -> Option<u32> {
    let digits = text.get(at..at + digits)?;
    digits.iter().try_fold(0, |number, byte| Some(number * 16 + (*byte as char).to_digit(16)?))
}

/// Returns the position of the filter bit for these bytes.
fn filter_bit(four: [u8; SHORTEST]) -> (usize, u64) {
    let hash = u32::from_le_bytes(four).wrapping_mul(0x9e37_79b1) >> (32 - BITS);
    ((hash >> 6) as usize, 1 << (hash & 63))
}

/// Returns true if the range is not part of a word.
fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let is_word = |c: char| c == '_' || c.is_alphanumeric();
    let before = text[..start].chars().next_back().is_some_and(is_word);
    let after = text[end..].chars().next().is_some_and(is_word);
    !before && !after
}

/// Returns the forms in which a value may occur.
fn encoded_forms(value: &str) -> Vec<String> {
    let mut forms = vec![value.to_owned(), value.trim().to_owned()];
    let escaped = format!("{value:?}");
    forms.push(escaped.trim_matches('"').to_owned());
    if let Ok(json) = serde_json::to_string(value) {
        let json = json[1..json.len() - 1].to_owned();
        forms.extend([json.replace('/', "\\/"), escape_non_ascii(&json), json]);
    }
    let encoded = utf8_percent_encode(value, ESCAPED).to_string();
    forms.extend([encoded.to_lowercase(), encoded.replace("%20", "+"), encoded]);
    // The value may be taken from a URL.
    let decoded = UnescapedText::from_percent_encoded(value);
    forms.extend(decoded.and_then(|decoded| String::from_utf8(decoded.bytes).ok()));
    let lines = value.lines().map(str::trim).filter(|line| line.len() >= SHORTEST_PIECE);
    forms.extend(lines.map(str::to_owned));
    forms.extend((0..3).flat_map(|offset| base64_forms(value, offset)));
    let hex = toolgate_wire::hex::encode(value.as_bytes());
    forms.extend([hex.to_uppercase(), hex]);
    forms
}

/// Escapes characters beyond ASCII in JSON, as some encoders do.
fn escape_non_ascii(json: &str) -> String {
    let mut ascii = String::with_capacity(json.len());
    for c in json.chars() {
        match c.is_ascii() {
            true => ascii.push(c),
            false => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(ascii, "\\u{unit:04x}");
                }
            }
        }
    }
    ascii
}

/// Returns the base64 form of a value that starts `offset` bytes into a group: only the characters
/// that do not depend on the bytes before and after it. This matches `Basic` credentials.
fn base64_forms(value: &str, offset: usize) -> Vec<String> {
    let bytes = [&[0; 2][..offset.min(2)], value.as_bytes()].concat();
    let skip = (offset * 8).div_ceil(6);
    let whole = bytes.len() * 8 / 6;
    let engines = [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD];
    let pieces =
        engines.map(|engine| engine.encode(&bytes).get(skip..whole).unwrap_or_default().to_owned());
    pieces.into_iter().filter(|piece| piece.len() >= SHORTEST_PIECE).collect()
}

impl std::fmt::Debug for Mask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mask({} values)", self.count)
    }
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::*;

    use super::*;

    fn mask(values: &[&str]) -> Mask {
        Mask::new(values.iter().map(ToString::to_string))
    }

    #[test]
    fn known_values_are_taken_out_whole() {
        let mask = mask(&["canary", "canary-bird", "bird-song"]);
        assert_eq!(mask.apply("a canary-bird, a canary"), "a ***, a ***");
        assert_eq!(mask.apply("canary-bird-song!"), "***!", "none of an overlap is left");
        assert_eq!(mask.apply("nothing"), "nothing");
        assert_eq!(format!("{mask:?}"), "Mask(3 values)");
    }

    #[test]
    fn a_short_value_is_hidden_where_it_stands_alone() {
        assert_eq!(mask(&["on", " ", ""]).apply("on: only on=one"), "***: only ***=one");
    }

    #[test]
    fn a_value_is_found_in_the_forms_others_write_it_in() {
        let value = "ca\"n/ry \u{e9} key";
        let mask = mask(&[value]);
        let texts = [
            serde_json::to_string(value).unwrap(),
            format!("{value:?}"),
            "ca\\\"n\\/ry \u{e9} key".to_owned(),
            "ca\\\"n/ry \\u00e9 key".to_owned(),
            "ca%22n%2Fry%20%C3%A9%20key".to_owned(),
            "ca%22n%2fry%20%c3%a9%20key".to_owned(),
            "ca%22n%2Fry+%C3%A9+key".to_owned(),
        ];
        for text in texts {
            assert!(mask.apply(&text).trim_matches('"') == "***", "{text}: {}", mask.apply(&text));
        }
        assert_eq!(super::tests::mask(&["ca%40nary"]).apply("ca@nary"), "***");
    }

    #[test]
    fn a_value_is_found_however_many_of_its_characters_are_escaped() {
        let value = "canary/\u{e9}\u{1f426}";
        let mask = mask(&[value]);
        let each = |write: &dyn Fn(u8) -> String| value.bytes().map(write).collect::<String>();
        let units =
            |write: &dyn Fn(u16) -> String| value.encode_utf16().map(write).collect::<String>();
        let texts = [
            each(&|byte| format!("{byte:02x}")),
            each(&|byte| format!("{byte:02X}")),
            each(&|byte| format!("%{byte:02x}")),
            each(&|byte| format!("%{byte:02X}")),
            units(&|unit| format!("\\u{unit:04x}")),
            units(&|unit| format!("\\u{unit:04X}")),
            "c%61nary/%C3%a9\u{1f426}".to_owned(),
            "c\\u0061nary\\/\u{e9}\\ud83d\\uDC26".to_owned(),
        ];
        for text in texts {
            assert_eq!(mask.apply(&format!("a {text} b")), "a *** b", "{text}");
        }
        // Invalid escapes are left as they are.
        for text in ["100% \\u12 \\ud83d %zz %", "\\ud83d\\u0041 %C3\u{e9}"] {
            assert_eq!(mask.apply(text), text);
        }
    }

    #[test]
    fn a_value_is_found_in_basic_credentials() {
        for user in ["a", "ab", "abc", "abcd"] {
            let sent = STANDARD.encode(format!("{user}:canary-secret"));
            let masked = mask(&["canary-secret"]).apply(&sent).into_owned();
            assert!(masked.contains("***") && masked.len() < 14, "{user}: {masked}");
        }
    }

    #[test]
    fn each_line_of_a_value_is_hidden() {
        let key = "-----BEGIN KEY-----\nline-one-of-it\nline-two-of-it\n";
        assert_eq!(mask(&[key]).apply("at line-two-of-it"), "at ***");
    }

    /// Values from few letters, so that they overlap.
    fn values() -> impl Strategy<Value = Vec<String>> {
        proptest::collection::vec("[ab*%\\\\\" \u{e9}]{0,8}", 0..6)
    }

    proptest! {
        #[test]
        fn a_known_value_never_appears(values in values(), text in "[ab*%\\\\\" \u{e9}]{0,60}") {
            let masked = Mask::new(values.clone());
            let masked = masked.apply(&text);
            for value in values.iter().filter(|it| it.contains(|c: char| c != '*')) {
                let long = value.len() >= SHORTEST;
                prop_assert!(!long || !masked.contains(value.as_str()), "{value:?} in {masked:?}");
            }
        }

        #[test]
        fn an_escaped_value_is_gone_and_nothing_panics(
            value in "\\PC{4,12}", before in "[%\\\\u0-9a-f\u{e9}]{0,12}", after in "[%\\\\u0-9a-f\u{e9}]{0,12}",
        ) {
            prop_assume!(value.contains(|c: char| c != '*'));
            let mask = Mask::new([value.clone()]);
            let percent: String = value.bytes().map(|byte| format!("%{byte:02x}")).collect();
            let units: String = value.encode_utf16().map(|it| format!("\\u{it:04X}")).collect();
            let hex: String = value.bytes().map(|byte| format!("{byte:02X}")).collect();
            // An escape that starts before the value would consume its first characters.
            let before = before.trim_end_matches(|c: char| c.is_ascii()).to_owned();
            for form in [percent, units, hex] {
                let masked = mask.apply(&format!("{before}{form}{after}")).into_owned();
                prop_assert!(!masked.contains(&form), "{form:?} in {masked:?}");
            }
        }

        #[test]
        fn a_value_put_into_any_text_is_gone(
            value in "\\PC{4,30}", before in "\\PC{0,20}", after in "\\PC{0,20}",
        ) {
            prop_assume!(value.contains(|c: char| c != '*'));
            let mask = Mask::new([value.clone()]);
            for form in [value.clone(), serde_json::to_string(&value).unwrap(), utf8_percent_encode(&value, ESCAPED).to_string()] {
                let text = format!("{before}{form}{after}");
                let masked = mask.apply(&text).into_owned();
                prop_assert!(!masked.contains(&form), "{form:?} in {masked:?}");
            }
        }

        #[test]
        fn rules_never_panic_and_hide_what_follows_a_flag(
            mut args in proptest::collection::vec("\\PC{0,30}", 0..5),
            flag in proptest::sample::select(vec!["--token", "--api-key", "--password", "-H"]),
            after in "\\PC{0,30}",
        ) {
            prop_assume!(!args.concat().contains("canary") && !after.contains("canary"));
            args.extend([flag.to_owned(), "X: canary".to_owned(), after]);
            let shown = crate::redact_args(&args);
            prop_assert_eq!(shown.len(), args.len());
            prop_assert!(!shown.concat().contains("canary"), "{:?}", shown);
            let glued = [format!("{flag}=canary"), format!("https://u:canary@h/?{flag}=canary")];
            prop_assert!(!crate::redact_args(&glued).concat().contains("canary"));
            for arg in &args {
                crate::redact_url(arg);
            }
        }
    }
}
