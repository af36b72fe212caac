//! Front matter of a Markdown text, between lines of `---` (YAML) or `+++` (TOML).
//!
//! Only the title is read, by its line. The front matter itself becomes a passage.

use crate::lines;

/// The maximum length of front matter, in bytes.
const LONGEST: usize = 1 << 14;

/// The front matter of a text.
#[derive(Debug)]
pub(super) struct FrontMatter {
    /// The offset after it.
    pub(super) end: usize,
    /// The title, if it states one.
    pub(super) title: Option<String>,
}

/// Returns the front matter of a text, if it has any.
pub(super) fn parse(text: &str) -> Option<FrontMatter> {
    let near = text.floor_char_boundary(LONGEST);
    let mut lines = lines::lines(text, 0..near);
    let (sign, assign) = match lines.next()?.text.trim_end().trim_start_matches('\u{feff}') {
        "---" => ("---", ':'),
        "+++" => ("+++", '='),
        _ => return None,
    };
    let mut title = None;
    for line in lines {
        let words = line.text.trim_end();
        if words == sign || (sign == "---" && words == "...") {
            return Some(FrontMatter { end: line.end(), title });
        }
        title = title.or_else(|| value(words, assign));
    }
    None
}

fn value(line: &str, assign: char) -> Option<String> {
    let (key, value) = line.split_once(assign)?;
    let value = value.trim();
    let is_quoted =
        value.len() > 1 && (value.starts_with(['"', '\'']) && value.ends_with(['"', '\'']));
    let value = if is_quoted { &value[1..value.len() - 1] } else { value };
    (key.trim_end().eq_ignore_ascii_case("title") && !value.trim().is_empty())
        .then(|| value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn the_title_is_found_in_both_notations() {
        let yaml = parse("---\ntitle: \"A: b\"\ntags: [x]\n---\n# H").expect("front matter");
        assert_eq!(yaml.title.as_deref(), Some("A: b"));
        assert_eq!(yaml.end, 31);
        let toml = parse("+++\r\ntitle = 'T'\r\n+++\r\n").expect("front matter");
        assert_eq!(toml.title.as_deref(), Some("T"));
    }

    #[test]
    fn a_line_alone_is_none() {
        for text in ["---\n\ntext", "--- \ntitle: x", "text\n---\n", "", "----\n---\n"] {
            assert!(parse(text).is_none(), "{text}");
        }
    }
}
