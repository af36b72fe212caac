//! Escapes untrusted text for HTML and Markdown and makes invisible characters visible.

use std::fmt::Write as _;

use toolgate_model::is_invisible;

/// Escapes text for HTML.
pub(crate) fn escape_html(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => put(&mut safe, c),
        }
    }
    safe
}

/// Escapes text for a table cell or a line of Markdown.
pub(crate) fn escape_markdown(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '(' | ')' | '|' | '~' | '!' | '#' => {
                safe.push('\\');
                safe.push(c);
            }
            // Some renderers turn bare addresses into links.
            ':' | '@' => _ = write!(safe, "&#{};", c as u32),
            c => put(&mut safe, c),
        }
    }
    safe
}

/// Adds a character. Markdown renderers pass HTML through too.
fn put(safe: &mut String, c: char) {
    match c {
        '&' => safe.push_str("&amp;"),
        '<' => safe.push_str("&lt;"),
        '>' => safe.push_str("&gt;"),
        c if is_invisible(c) => _ = write!(safe, "⟦U+{:04X}⟧", c as u32),
        c => safe.push(c),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_is_more_than_text() {
        assert_eq!(escape_html("<img src=x onerror='a'>"), "&lt;img src=x onerror=&#39;a&#39;&gt;");
        assert_eq!(escape_html("a\u{202e}b\n"), "a⟦U+202E⟧b⟦U+000A⟧");
        assert_eq!(escape_markdown("[a](b)|\u{200b}"), "\\[a\\]\\(b\\)\\|⟦U+200B⟧");
    }

    proptest! {
        #[test]
        fn no_text_breaks_out(text in any::<String>()) {
            let page = escape_html(&text);
            prop_assert!(!page.contains(['<', '>', '"', '\'']) && !page.chars().any(is_invisible));
            let line = escape_markdown(&text);
            prop_assert!(!line.contains(['<', '>', '\n']) && !line.chars().any(is_invisible));
        }
    }
}
