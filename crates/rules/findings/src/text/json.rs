//! The same for every text of a JSON value, by cutting out bytes: nothing else is written anew.
//!
//! Numbers, white space, the order and spelling of everything else stay as they came. Keys stay
//! too: a model that repeats one must repeat the server's. The value of `pattern`, which is an
//! expression and would mean something else without them, has its invisible characters written as
//! `\u` escapes instead.

use std::borrow::Cow;

use super::{Cut, is_hidden, suspect, walk};

/// The JSON without what nobody would see in its texts; borrowed if there is nothing of that. It
/// must have been accepted as JSON before.
pub fn strip_json(raw: &[u8]) -> Cow<'_, [u8]> {
    if suspect::find(raw, 0, true).is_none() {
        return Cow::Borrowed(raw);
    }
    let mut cut = Cut::new(raw, "\\n");
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
            if suspect::find(body, 0, true).is_some() {
                let expression = key == b"pattern";
                clean(&mut cut, Units { raw, at: from, end: to }, expression);
            }
            key = b"";
        }
    }
    cut.finish().map_or(Cow::Borrowed(raw), Cow::Owned)
}

fn clean(cut: &mut Cut<'_>, units: Units<'_>, expression: bool) {
    match expression {
        false => walk(units, |fate, from, to| cut.take(fate, from, to)),
        true => spell(cut, units),
    }
}

/// Writes what is invisible in an expression as escapes of the expression.
fn spell(cut: &mut Cut<'_>, units: Units<'_>) {
    let mut escaped = false;
    for (c, from, to) in units {
        if is_hidden(c) {
            // A backslash before it is the escape's own.
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

/// Whether the string that ends before `at` is the key of a member.
fn is_key(raw: &[u8], at: usize) -> bool {
    let rest = raw.get(at..).unwrap_or_default();
    rest.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':')
}

/// Where the string whose body begins at `at` ends.
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

/// The characters of a JSON string, each with the place where it is written.
#[derive(Clone)]
struct Units<'a> {
    raw: &'a [u8],
    at: usize,
    end: usize,
}

impl Iterator for Units<'_> {
    type Item = (char, usize, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.raw.get(self.at..self.end).filter(|rest| !rest.is_empty())?;
        let (c, len) = match rest {
            [b'\\', b'u', ..] => suspect::unicode(rest),
            [b'\\', b'b', ..] => (Some('\u{8}'), 2),
            [b'\\', b'f', ..] => (Some('\u{c}'), 2),
            [b'\\', b'n', ..] => (Some('\n'), 2),
            [b'\\', b'r', ..] => (Some('\r'), 2),
            [b'\\', b't', ..] => (Some('\t'), 2),
            [b'\\', other, ..] => (Some(char::from(*other)), 2),
            _ => character(rest),
        };
        let from = self.at;
        self.at = (from + len.max(1)).min(self.end);
        // Half a pair is no character, and goes: two of them could become one.
        Some((c.unwrap_or('\0'), from, self.at))
    }
}

fn character(rest: &[u8]) -> (Option<char>, usize) {
    let len = match rest.first() {
        Some(0xF0..) => 4,
        Some(0xE0..) => 3,
        Some(0xC0..) => 2,
        _ => 1,
    };
    let text = rest.get(..len).and_then(|bytes| str::from_utf8(bytes).ok());
    (text.and_then(|text| text.chars().next()), len)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(raw: &str) -> String {
        String::from_utf8(strip_json(raw.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn only_the_insides_of_texts_change() {
        let given =
            "{ \"a\" : [1.50, \"x\u{200b}y\", \"\\u202Ez\"],\"b\":\"\\ud83d\\ude42\\/\\b\" }";
        let expected = "{ \"a\" : [1.50, \"xy\", \"z\"],\"b\":\"\\ud83d\\ude42\\/\" }";
        assert_eq!(shown(given), expected);
    }

    #[test]
    fn keys_stay() {
        let given = "{\"a\u{200b}\":\"b\u{200b}\",\"c\\u200b\" : 1}";
        assert_eq!(shown(given), "{\"a\u{200b}\":\"b\",\"c\\u200b\" : 1}");
    }

    #[test]
    fn an_expression_keeps_its_meaning() {
        let given = r#"{"pattern":"^[^\u0000-\u001f\uDB40\uDC01]*$","title":"\u0007"}"#;
        let expected = r#"{"pattern":"^[^\\u0000-\\u001f\\u{e0001}]*$","title":""}"#;
        assert_eq!(shown(given), expected);
    }

    #[test]
    fn a_command_goes_whole_however_it_is_written() {
        let given =
            r#"["\u001b[31mred\u001b[0m","\u001b]8;;https:\/\/x\u0007docs\u001b]8;;\u0007"]"#;
        assert_eq!(shown(given), r#"["red","docs"]"#);
    }

    #[test]
    fn halves_of_a_pair_do_not_become_one() {
        assert_eq!(shown(r#"["a\udb40\u200b\udc41b"]"#), r#"["ab"]"#);
    }

    #[test]
    fn an_escape_before_something_invisible_becomes_its_own() {
        assert_eq!(shown(r#"{"pattern":"a\\\u200b"}"#), r#"{"pattern":"a\\u200b"}"#);
    }
}
