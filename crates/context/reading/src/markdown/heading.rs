//! Markdown headings and their plain text.

use crate::html::entities;

/// The maximum length of a heading, in bytes.
const LONGEST: usize = 512;

/// Returns the level and words of a line such as `## Words ##`.
pub(super) fn atx(line: &str) -> Option<(usize, &str)> {
    let shifted = line.trim_start_matches(' ');
    if line.len() - shifted.len() > 3 {
        return None;
    }
    let level = shifted.bytes().take_while(|byte| *byte == b'#').take(7).count();
    let words = &shifted[level..];
    let is_heading =
        (1..=6).contains(&level) && (words.is_empty() || words.starts_with([' ', '\t']));
    is_heading.then(|| (level, strip_closing_hashes(words.trim())))
}

/// Removes the closing signs.
fn strip_closing_hashes(words: &str) -> &str {
    let open = words.trim_end_matches('#');
    if open.is_empty() || open.ends_with([' ', '\t']) { open.trim_end() } else { words }
}

/// Returns the level that a line of `===` or `---` gives to the previous line.
pub(super) fn underline(line: &str) -> Option<usize> {
    let signs = line.trim_end().trim_start_matches(' ');
    let sign = *signs.as_bytes().first()?;
    let is_line = line.len() - line.trim_start_matches(' ').len() <= 3
        && signs.bytes().all(|byte| byte == sign);
    match sign {
        b'=' if is_line => Some(1),
        b'-' if is_line => Some(2),
        _ => None,
    }
}

/// Returns true if a line can be underlined, because it is a paragraph.
pub(super) fn can_be_heading(line: &str) -> bool {
    let shifted = line.trim_start_matches(' ');
    let is_item = ["- ", "* ", "+ ", ">", "|", "    "].iter().any(|sign| shifted.starts_with(sign));
    !is_item && line.len() - shifted.len() <= 3 && line.len() <= LONGEST
}

/// Returns the words of a heading without emphasis, links, tags and escapes.
pub(super) fn plain_text(words: &str) -> String {
    let words = &words[..words.floor_char_boundary(LONGEST)];
    let words = without_attributes(words);
    let mut plain = String::with_capacity(words.len());
    let mut rest = words;
    while let Some(c) = rest.chars().next() {
        let next = &rest[c.len_utf8()..];
        rest = match c {
            '\\' if next.starts_with(|c: char| c.is_ascii_punctuation()) => {
                plain.push_str(&next[..1]);
                &next[1..]
            }
            '*' | '`' | '[' => next,
            '_' if !is_inside(&plain, next) => next,
            '!' if next.starts_with('[') => next,
            '<' => skip_tag(next).unwrap_or_else(|| {
                plain.push(c);
                next
            }),
            ']' => skip_link_target(next),
            '&' => entities::decode(rest, &mut plain),
            _ => {
                plain.push(c);
                next
            }
        };
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Removes a trailing `{#name}`, which some dialects allow.
fn without_attributes(words: &str) -> &str {
    let is_set = words.ends_with('}');
    words.rfind(" {").filter(|_| is_set).map_or(words, |at| &words[..at])
}

fn is_inside(before: &str, next: &str) -> bool {
    before.ends_with(char::is_alphanumeric) && next.starts_with(char::is_alphanumeric)
}

/// Returns the text after a tag.
fn skip_tag(rest: &str) -> Option<&str> {
    let is_tag = rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '!');
    rest.find('>').filter(|_| is_tag).map(|end| &rest[end + 1..])
}

/// Returns the text after the target of a link.
fn skip_link_target(rest: &str) -> &str {
    let end = match rest.chars().next() {
        Some('(') => rest.find(')'),
        Some('[') => rest.find(']'),
        _ => None,
    };
    end.map_or(rest, |end| &rest[end + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_has_a_level_and_words() {
        assert_eq!(atx("# One"), Some((1, "One")));
        assert_eq!(atx("   ### Three ###  "), Some((3, "Three")));
        assert_eq!(atx("## C#"), Some((2, "C#")));
        assert_eq!(atx("#"), Some((1, "")));
        for line in ["#tag", "    # code", "####### seven", "text # x", ""] {
            assert_eq!(atx(line), None, "{line}");
        }
    }

    #[test]
    fn markup_is_not_what_a_heading_says() {
        for (words, says) in [
            ("**Bold** and _it_ `code_here`", "Bold and it code_here"),
            ("[Link](http://x.example/a) now", "Link now"),
            ("![alt](x.png) Name {#anchor}", "alt Name"),
            ("A &amp; B <a id=x></a> C", "A & B C"),
            (r"1\. First \*star\*", "1. First *star*"),
            ("a < b", "a < b"),
            ("[ref][1] snake_case_name", "ref snake_case_name"),
        ] {
            assert_eq!(plain_text(words), says);
        }
    }

    #[test]
    fn lines_underline() {
        assert_eq!(underline("==="), Some(1));
        assert_eq!(underline("-  "), Some(2));
        assert_eq!(underline("- - -"), None);
        assert_eq!(underline("=-="), None);
    }
}
