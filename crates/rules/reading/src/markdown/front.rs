//! What stands before a Markdown text about it, between lines of `---` (YAML) or `+++` (TOML).
//!
//! Only the title is taken from it, by its line; the whole is kept as a passage.

use crate::lines;

/// It is over within so many bytes, or there is none.
const LONGEST: usize = 1 << 14;

/// What stands before a text.
#[derive(Debug)]
pub(super) struct Front {
    /// Where it ends.
    pub(super) end: usize,
    /// What it calls the text.
    pub(super) title: Option<String>,
}

/// The front matter of a text, if it has any.
pub(super) fn of(text: &str) -> Option<Front> {
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
            return Some(Front { end: line.end(), title });
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
    use super::of;

    #[test]
    fn the_title_is_found_in_both_notations() {
        let yaml = of("---\ntitle: \"A: b\"\ntags: [x]\n---\n# H").expect("front matter");
        assert_eq!(yaml.title.as_deref(), Some("A: b"));
        assert_eq!(yaml.end, 31);
        let toml = of("+++\r\ntitle = 'T'\r\n+++\r\n").expect("front matter");
        assert_eq!(toml.title.as_deref(), Some("T"));
    }

    #[test]
    fn a_line_alone_is_none() {
        for text in ["---\n\ntext", "--- \ntitle: x", "text\n---\n", "", "----\n---\n"] {
            assert!(of(text).is_none(), "{text}");
        }
    }
}
