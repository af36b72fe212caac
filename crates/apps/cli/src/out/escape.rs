//! Escapes untrusted text for display, with the functions of the host library.

pub use toolgate_host::content::{escape_invisible, escape_invisible_lines};

/// Escapes all control and invisible characters except colour codes. Lines after the first are
/// indented by `indent`, so that none looks like the beginning of another message.
pub fn escape_for_terminal(text: &str, indent: &str) -> String {
    if !text.strip_suffix('\n').unwrap_or(text).chars().any(toolgate_model::is_invisible) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (taken, behind) = rest.split_at(colour_code_len(rest).unwrap_or(c.len_utf8()));
        rest = behind;
        match c {
            '\u{1b}' if taken.len() > 1 => shown.push_str(taken),
            '\n' if !rest.is_empty() => shown.push_str(&format!("\n{indent}")),
            '\n' | '\t' => shown.push(c),
            _ => shown.push_str(&escape_invisible(taken)),
        }
    }
    shown
}

/// Returns the length of the colour code at the beginning of a text, if there is one.
fn colour_code_len(text: &str) -> Option<usize> {
    let codes = text.strip_prefix("\u{1b}[")?;
    let end = codes.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    codes.get(end..)?.starts_with('m').then_some("\u{1b}[".len() + end + 1)
}

/// Returns equivalent JSON with all invisible characters escaped.
pub fn escape_json(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '\n' || !toolgate_model::is_invisible(c) {
            shown.push(c);
            continue;
        }
        let units = c.encode_utf16(&mut [0; 2]).to_vec();
        units.iter().for_each(|unit| shown.push_str(&format!("\\u{unit:04x}")));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_or_hide_is_shown() {
        assert_eq!(escape_invisible("a\u{1b}[31mb\u{202e}c\n"), "a⟦U+001B⟧[31mb⟦U+202E⟧c⟦U+000A⟧");
        assert_eq!(escape_invisible_lines("a\tb\n\r"), "a\tb\n⟦U+000D⟧");
        assert_eq!(escape_invisible("Zażółć 日本"), "Zażółć 日本");
    }

    #[test]
    fn only_colours_are_obeyed() {
        for (text, shown) in [
            ("\u{1b}[31;1mred\u{1b}[0m\n", "\u{1b}[31;1mred\u{1b}[0m\n"),
            ("\u{1b}[2Jx", "⟦U+001B⟧[2Jx"),
            ("\u{1b}]0;t\u{7}", "⟦U+001B⟧]0;t⟦U+0007⟧"),
            ("\u{1b}", "⟦U+001B⟧"),
            ("a\nINFO b\n", "a\n  INFO b\n"),
            ("a\r\u{e0041}\u{9b}1m", "a⟦U+000D⟧⟦U+E0041⟧⟦U+009B⟧1m"),
        ] {
            assert_eq!(escape_for_terminal(text, "  "), shown);
        }
    }

    #[test]
    fn json_for_a_terminal_says_the_same() {
        let value = serde_json::json!({ "a": "x\u{202e}\u{e0041}\u{200b}é\n" });
        let text = serde_json::to_string_pretty(&value).unwrap();
        let shown = escape_json(&text);
        assert!(!shown.chars().any(|c| c != '\n' && toolgate_model::is_invisible(c)), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }
}
