//! Files of variables: `NAME=value` per line, as many programs write them.
//!
//! Comments begin with `#`, `export` before a name is ignored, and values may stand in quotes: in
//! single ones as they are, in double ones with `\n` and its like, over several lines if need be.
//! Nothing is expanded, and no error shows a value.

use std::collections::BTreeMap;

/// The variables a text sets; the last of two with one name counts. Fails with what is wrong and in
/// which line.
pub(crate) fn parse(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut found = BTreeMap::new();
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    while !rest.is_empty() {
        if rest.starts_with('#') {
            rest = next_line(rest);
            continue;
        }
        let line = text[..text.len() - rest.len()].matches('\n').count() + 1;
        let (name, value, after) = one(rest).map_err(|why| format!("line {line} {why}"))?;
        found.insert(name.to_owned(), value);
        rest = after;
    }
    Ok(found)
}

/// The variable a text begins with, and what follows it.
fn one(text: &str) -> Result<(&str, String, &str), &'static str> {
    let line = text.lines().next().unwrap_or_default();
    let end = line.find('=').ok_or("sets nothing")?;
    let name = line[..end].trim();
    let name = name.strip_prefix("export ").map_or(name, str::trim_start);
    if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err("has no usable name");
    }
    let rest = text[end + 1..].trim_start_matches([' ', '\t']);
    let (value, after) = match rest.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let (value, after) = quoted(rest, quote).ok_or("has a quote that is never closed")?;
            let tail = after.lines().next().unwrap_or_default().trim();
            if !tail.is_empty() && !tail.starts_with('#') {
                return Err("has something behind its quotes");
            }
            (value, next_line(after))
        }
        _ => (plain(rest.lines().next().unwrap_or_default()).to_owned(), next_line(rest)),
    };
    match value.contains('\0') {
        true => Err("has a NUL character"),
        false => Ok((name, value, after)),
    }
}

fn next_line(text: &str) -> &str {
    text.split_once('\n').map_or("", |(_, rest)| rest).trim_start()
}

/// A value without quotes: up to a comment, which needs a blank before it.
fn plain(value: &str) -> &str {
    let comment = value.find(" #").or_else(|| value.find("\t#"));
    let value = &value[..comment.unwrap_or(value.len())];
    if value.starts_with('#') { "" } else { value.trim() }
}

/// A value in quotes, and what follows it.
fn quoted(text: &str, quote: char) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices().skip(1);
    while let Some((index, c)) = characters.next() {
        match c {
            c if c == quote => return Some((value, &text[index + c.len_utf8()..])),
            '\\' if quote == '"' => match characters.next()?.1 {
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                't' => value.push('\t'),
                c @ ('"' | '\\' | '$') => value.push(c),
                other => value.extend(['\\', other]),
            },
            c => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_values_in_and_without_quotes() {
        let text = "\u{feff}# a comment\nA=1\r\n export B = two words # said\n\nC='x # $Y \\n'\n\
                    D=\"a\\n\\\"b\\\"\\$\" # end\nE=\nF=\"one\ntwo\"\nA=last#1\nG=a=b";
        let found = parse(text).unwrap();
        let expected = [
            ("A", "last#1"),
            ("B", "two words"),
            ("C", "x # $Y \\n"),
            ("D", "a\n\"b\"$"),
            ("E", ""),
            ("F", "one\ntwo"),
            ("G", "a=b"),
        ];
        let found: Vec<_> = found.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_wrong_is_told_by_its_line_and_without_its_value() {
        for (text, line) in [
            ("A=1\ncanary", "line 2"),
            ("=canary", "line 1"),
            ("A B=canary", "line 1"),
            ("\n\nA=\"canary", "line 3"),
            ("A='x' canary", "line 1"),
            ("A=canary\0", "line 1"),
        ] {
            let said = parse(text).unwrap_err();
            assert!(said.contains(line) && !said.contains("canary"), "{said}");
        }
    }
}
