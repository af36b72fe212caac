//! Removes invisible characters from every string value of a JSON text by cutting out bytes.
//!
//! Everything else stays byte for byte, including numbers, white space and order. Keys stay too,
//! because a model must repeat the server's exact key. In the value of `pattern`, invisible
//! characters become `\u` escapes, because removing them would change the regular expression.

use std::borrow::Cow;

use toolgate_findings::text::{
    StrippedText, classify_chars, decode_char, decode_escape, find_invisible, is_hidden,
};

/// Returns the JSON without invisible characters in its strings; borrowed if there are none. The
/// input must be valid JSON.
pub(crate) fn strip_json(raw: &[u8]) -> Cow<'_, [u8]> {
    if find_invisible(raw, 0, true).is_none() {
        return Cow::Borrowed(raw);
    }
    let mut cut = StrippedText::new(raw, "\\n");
    let mut at = 0;
    let mut key: &[u8] = b"";
    while let Some(open) = memchr::memchr(b'"', raw.get(at..).unwrap_or_default()) {
        let from = at + open + 1;
        let to = string_end(raw, from);
        let body = raw.get(from..to).unwrap_or_default();
        at = to + 1;
        if is_key(raw, at) {
            key = body;
        } else {
            if find_invisible(body, 0, true).is_some() {
                let expression = key == b"pattern";
                clean(&mut cut, JsonStringChars { raw, at: from, end: to }, expression);
            }
            key = b"";
        }
    }
    cut.finish().map_or(Cow::Borrowed(raw), Cow::Owned)
}

fn clean(cut: &mut StrippedText<'_>, units: JsonStringChars<'_>, expression: bool) {
    match expression {
        false => classify_chars(units, |fate, from, to| cut.take(fate, from, to)),
        true => escape_pattern(cut, units),
    }
}

/// Replaces invisible characters in a regular expression by its own escapes.
fn escape_pattern(cut: &mut StrippedText<'_>, units: JsonStringChars<'_>) {
    let mut escaped = false;
    for (c, from, to) in units {
        if is_hidden(c) {
            // A backslash before the character becomes part of the escape.
            let backslash = if escaped { "" } else { "\\\\" };
            let number = c as u32;
            let written = match number {
                0..=0xFFFF => format!("{backslash}u{number:04x}"),
                _ => format!("{backslash}u{{{number:x}}}"),
            };
            cut.put(from, to, written.as_bytes());
        }
        escaped = c == '\\' && !escaped;
    }
}

/// Returns true if the string that ends before `at` is the key of a member.
fn is_key(raw: &[u8], at: usize) -> bool {
    let rest = raw.get(at..).unwrap_or_default();
    rest.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':')
}

/// Returns the end of the string whose body begins at `at`.
fn string_end(raw: &[u8], mut at: usize) -> usize {
    loop {
        let rest = raw.get(at..).unwrap_or_default();
        match memchr::memchr2(b'"', b'\\', rest) {
            Some(found) if rest.get(found) == Some(&b'\\') => at += found + 2,
            Some(found) => return at + found,
            None => return raw.len(),
        }
    }
}

/// An iterator over the characters of a JSON string with the byte range of each.
#[derive(Clone)]
struct JsonStringChars<'a> {
    raw: &'a [u8],
    at: usize,
    end: usize,
}

impl Iterator for JsonStringChars<'_> {
    type Item = (char, usize, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.raw.get(self.at..self.end).filter(|rest| !rest.is_empty())?;
        let (c, len) = match rest {
            [b'\\', b'u', ..] => decode_escape(rest),
            [b'\\', b'b', ..] => (Some('\u{8}'), 2),
            [b'\\', b'f', ..] => (Some('\u{c}'), 2),
            [b'\\', b'n', ..] => (Some('\n'), 2),
            [b'\\', b'r', ..] => (Some('\r'), 2),
            [b'\\', b't', ..] => (Some('\t'), 2),
            [b'\\', other, ..] => (Some(char::from(*other)), 2),
            _ => decode_char(rest),
        };
        let from = self.at;
        self.at = (from + len.max(1)).min(self.end);
        // A lone surrogate is removed: two of them could otherwise become a pair.
        Some((c.unwrap_or('\0'), from, self.at))
    }
}

#[cfg(test)]
mod tests;
