//! Known secret values, taken out of any text: of errors, logs and what a server writes to its
//! standard error.
//!
//! This is for after variables were expanded, when the values are known. What is shown of a server
//! before that goes by rule, in [`crate::shown_args`] and [`crate::shown_url`].

use std::borrow::Cow;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use crate::shown::HIDDEN;

/// Shorter values are hidden where they stand alone only: inside of words they would hide ordinary
/// ones.
const SHORTEST: usize = 4;
/// Shorter pieces of base64, and shorter lines of a value, are not told from ordinary text.
const SHORTEST_PIECE: usize = 8;

/// Known secret values, to be taken out of texts.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Mask {
    /// How many values there are.
    count: usize,
    /// The values in every form they are looked for.
    forms: Vec<String>,
    /// Values too short to be looked for inside of words.
    short: Vec<String>,
    /// A bit for the first letters of each form, so that a text in which none begins is told with
    /// one look at each of its letters.
    first: Vec<u64>,
}

/// How many bits [`Mask::first`] has.
const BITS: u32 = 12;

impl Mask {
    /// A mask for these values, as they are and as others may write them: escaped, encoded for a
    /// URL, in hexadecimal, in base64.
    pub fn new(values: impl IntoIterator<Item = String>) -> Self {
        // What consists of nothing but the mark cannot be hidden by it.
        let mut values: Vec<_> =
            values.into_iter().filter(|it| it.contains(|c: char| c != '*')).collect();
        values.sort();
        values.dedup();
        let (long, short): (Vec<_>, Vec<_>) =
            values.into_iter().partition(|value| value.len() >= SHORTEST);
        let mut forms: Vec<_> = long.iter().flat_map(|value| forms(value)).collect();
        forms.retain(|form| form.len() >= SHORTEST && form.contains(|c: char| c != '*'));
        forms.sort();
        forms.dedup();
        // A blank stands alone everywhere.
        let short: Vec<_> = short.into_iter().filter(|it| !it.trim().is_empty()).collect();
        let mut first = vec![0; 1 << (BITS - 6)];
        for form in forms.iter().filter_map(|form| form.as_bytes().first_chunk()) {
            let (word, bit) = place(*form);
            first[word] |= bit;
        }
        Self { count: long.len() + short.len(), forms, short, first }
    }

    /// Adds every place where a form of some value stands. One walk over the text, however many
    /// forms there are.
    fn find(&self, text: &[u8], mut found: impl FnMut(usize, usize)) {
        if self.forms.is_empty() {
            return;
        }
        for (at, four) in text.windows(SHORTEST).enumerate() {
            let Some(four) = four.first_chunk() else { continue };
            let (word, bit) = place(*four);
            if self.first[word] & bit == 0 {
                continue;
            }
            let from = self.forms.partition_point(|form| form.as_bytes() < four.as_slice());
            let alike = self.forms[from..].iter().take_while(|it| it.as_bytes().starts_with(four));
            let forms = alike.filter(|form| text[at..].starts_with(form.as_bytes()));
            forms.for_each(|form| found(at, at + form.len()));
        }
    }

    /// A mask for what both hide.
    #[must_use]
    pub fn joined(&self, other: &Self) -> Self {
        let both = |one: &[String], other: &[String]| {
            let mut both: Vec<_> = one.iter().chain(other).cloned().collect();
            both.sort();
            both.dedup();
            both
        };
        let (forms, short) = (both(&self.forms, &other.forms), both(&self.short, &other.short));
        let first = match (self.first.is_empty(), other.first.is_empty()) {
            (true, _) => other.first.clone(),
            (_, true) => self.first.clone(),
            _ => self.first.iter().zip(&other.first).map(|(one, other)| one | other).collect(),
        };
        Self { count: self.count.max(other.count), forms, short, first }
    }

    /// Whether there is nothing to hide.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The text with every known value hidden.
    pub fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut masked = Cow::Borrowed(text);
        // What was hidden may leave a value behind that was none before, so it is looked at again.
        // Each round takes characters away and adds marks only, so there is a last one.
        while let Some(next) = self.once(&masked) {
            masked = Cow::Owned(next);
        }
        masked
    }

    /// The same for a text that is ours to change.
    pub fn hide_in(&self, text: &mut String) {
        if let Cow::Owned(masked) = self.apply(text) {
            *text = masked;
        }
    }

    /// Hides what is found now; `None` if nothing is.
    fn once(&self, text: &str) -> Option<String> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        self.find(text.as_bytes(), |start, end| found.push((start, end)));
        // As whoever reads it decodes it, since any of its characters may be escaped.
        for decoded in [Decoded::percent(text), Decoded::unicode(text)].into_iter().flatten() {
            self.find(&decoded.bytes, |start, end| found.push(decoded.source(text, start, end)));
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
            // Values that overlap are hidden as one: else the rest of the second would be seen.
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

/// A text without one kind of escapes.
struct Decoded {
    bytes: Vec<u8>,
    /// Where each byte came from, and where the text ends.
    places: Vec<usize>,
}

impl Decoded {
    /// With `%41` decoded; `None` if there is nothing to decode.
    fn percent(text: &str) -> Option<Self> {
        Self::of(text, b'%', |rest| Some((vec![number(rest, 1, 2)? as u8], 3)))
    }

    /// With `\u0041` decoded; `None` if there is nothing to decode. Half a pair stands for nothing.
    fn unicode(text: &str) -> Option<Self> {
        let unit = |rest: &[u8], at: usize| {
            let marked = rest.get(at) == Some(&b'\\') && rest.get(at + 1) == Some(&b'u');
            marked.then(|| number(rest, at + 2, 4)).flatten()
        };
        Self::of(text, b'\\', |rest| {
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

    /// Replaces whatever begins with `mark` and can be decoded: what it means, and how long it is.
    fn of(
        text: &str,
        mark: u8,
        decode: impl Fn(&[u8]) -> Option<(Vec<u8>, usize)>,
    ) -> Option<Self> {
        let source = text.as_bytes();
        if !source.contains(&mark) {
            return None;
        }
        let mut decoded = Self { bytes: Vec::new(), places: Vec::new() };
        let mut at = 0;
        while let Some(byte) = source.get(at) {
            let escape = (*byte == mark).then(|| decode(&source[at..])).flatten();
            let (bytes, length) = escape.unwrap_or_else(|| (vec![*byte], 1));
            decoded.places.resize(decoded.places.len() + bytes.len(), at);
            decoded.bytes.extend(bytes);
            at += length;
        }
        decoded.places.push(source.len());
        (decoded.bytes.len() < source.len()).then_some(decoded)
    }

    /// Where in the text these bytes stand.
    fn source(&self, text: &str, start: usize, end: usize) -> (usize, usize) {
        let (mut from, mut to) = (self.places[start], self.places[end]);
        // Bytes that are no text by themselves may end amid a character.
        while !text.is_char_boundary(from) {
            from -= 1;
        }
        while !text.is_char_boundary(to) {
            to += 1;
        }
        (from, to)
    }
}

/// The number that so many hexadecimal digits say.
fn number(text: &[u8], at: usize, digits: usize) -> Option<u32> {
    let digits = text.get(at..at + digits)?;
    digits.iter().try_fold(0, |number, byte| Some(number * 16 + (*byte as char).to_digit(16)?))
}

/// Where the bit of these letters is.
fn place(four: [u8; SHORTEST]) -> (usize, u64) {
    let hash = u32::from_le_bytes(four).wrapping_mul(0x9e37_79b1) >> (32 - BITS);
    ((hash >> 6) as usize, 1 << (hash & 63))
}

/// Whether what stands there is no part of a word.
fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let is_word = |c: char| c == '_' || c.is_alphanumeric();
    let before = text[..start].chars().next_back().is_some_and(is_word);
    let after = text[end..].chars().next().is_some_and(is_word);
    !before && !after
}

/// The forms in which a value may be met.
fn forms(value: &str) -> Vec<String> {
    let mut forms = vec![value.to_owned(), value.trim().to_owned()];
    let escaped = format!("{value:?}");
    forms.push(escaped.trim_matches('"').to_owned());
    if let Ok(json) = serde_json::to_string(value) {
        let json = json[1..json.len() - 1].to_owned();
        forms.extend([json.replace('/', "\\/"), ascii(&json), json]);
    }
    let encoded = percent_encoded(value);
    forms.extend([encoded.to_lowercase(), encoded.replace("%20", "+"), encoded]);
    forms.extend(percent_decoded(value));
    let lines = value.lines().map(str::trim).filter(|line| line.len() >= SHORTEST_PIECE);
    forms.extend(lines.map(str::to_owned));
    forms.extend((0..3).flat_map(|offset| in_base64(value, offset)));
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    forms.extend([hex.to_uppercase(), hex]);
    forms
}

/// JSON whose characters beyond ASCII are escaped, as some write it.
fn ascii(json: &str) -> String {
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

fn percent_encoded(value: &str) -> String {
    let mut encoded = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                encoded.push(byte as char);
            }
            _ => {
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
    }
    encoded
}

/// What a value taken from a URL means.
fn percent_decoded(value: &str) -> Option<String> {
    if !value.contains('%') {
        return None;
    }
    let digit = |byte: Option<&u8>| byte.and_then(|byte| (*byte as char).to_digit(16));
    let bytes = value.as_bytes();
    let (mut decoded, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        match (byte, digit(bytes.get(at + 1)), digit(bytes.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8(decoded).ok()
}

/// What base64 makes of a value that begins so many bytes into a group: the characters that do not
/// depend on what stands before and after it. `Basic` credentials are met like that.
fn in_base64(value: &str, offset: usize) -> Vec<String> {
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
        // What cannot be decoded is as it is.
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

    /// Values and the texts they stand in, from few letters, so that they meet and overlap.
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
            // An escape that begins before the value takes its first characters for its own.
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
            for form in [value.clone(), serde_json::to_string(&value).unwrap(), percent_encoded(&value)] {
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
            let shown = crate::shown_args(&args);
            prop_assert_eq!(shown.len(), args.len());
            prop_assert!(!shown.concat().contains("canary"), "{:?}", shown);
            let glued = [format!("{flag}=canary"), format!("https://u:canary@h/?{flag}=canary")];
            prop_assert!(!crate::shown_args(&glued).concat().contains("canary"));
            for arg in &args {
                crate::shown_url(arg);
            }
        }
    }
}
