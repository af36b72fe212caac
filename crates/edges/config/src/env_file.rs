//! Parses env files: one `NAME=value` per line.
//!
//! Comments begin with `#`, and `export` before a name is ignored. Values may be quoted: single
//! quotes keep the text as it is, double quotes allow escapes like `\n`, and both allow line
//! breaks. Nothing is expanded, and errors never show a value.

use std::collections::BTreeMap;

/// Returns the variables of an env file; a later value replaces an earlier one. An error names the
/// line and the problem.
pub(crate) fn parse(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut found = BTreeMap::new();
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    while !rest.is_empty() {
        if rest.starts_with('#') {
            rest = next_line(rest);
            continue;
        }
        let line = text[..text.len() - rest.len()].matches('\n').count() + 1;
        let (name, value, after) =
            parse_variable(rest).map_err(|why| format!("line {line} {why}"))?;
        found.insert(name.to_owned(), value);
        rest = after;
    }
    Ok(found)
}

/// Parses the variable at the start of a text, and returns the remaining text.
fn parse_variable(text: &str) -> Result<(&str, String, &str), &'static str> {
    let line = text.lines().next().unwrap_or_default();
    let end = line.find('=').ok_or("has no `=`")?;
    let name = line[..end].trim();
    let name = name.strip_prefix("export ").map_or(name, str::trim_start);
    if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err("has no valid variable name");
    }
    let rest = text[end + 1..].trim_start_matches([' ', '\t']);
    let (value, after) = match rest.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let (value, after) = quoted(rest, quote).ok_or("has an unclosed quote")?;
            let tail = after.lines().next().unwrap_or_default().trim();
            if !tail.is_empty() && !tail.starts_with('#') {
                return Err("has text after the closing quote");
            }
            (value, next_line(after))
        }
        _ => (plain(rest.lines().next().unwrap_or_default()).to_owned(), next_line(rest)),
    };
    match value.contains('\0') {
        true => Err("contains a NUL character"),
        false => Ok((name, value, after)),
    }
}

fn next_line(text: &str) -> &str {
    text.split_once('\n').map_or("", |(_, rest)| rest).trim_start()
}

/// Returns an unquoted value without its comment, which must follow whitespace.
fn plain(value: &str) -> &str {
    let comment = value.find(" #").or_else(|| value.find("\t#"));
    let value = &value[..comment.unwrap_or(value.len())];
    if value.starts_with('#') { "" } else { value.trim() }
}

/// Returns a quoted value and the remaining text.
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
