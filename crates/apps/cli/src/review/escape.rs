//! Escapes untrusted text for HTML and Markdown and makes invisible characters visible.

use std::fmt::Write as _;

use crate::out::escape_invisible;

/// Escapes text for HTML.
pub(crate) fn escape_html(text: &str) -> String {
    escape_tags(text).replace('"', "&quot;").replace('\'', "&#39;")
}

/// Escapes text for a table cell or a line of Markdown.
pub(crate) fn escape_markdown(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            // Some renderers turn bare addresses into links.
            ':' | '@' => _ = write!(safe, "&#{};", c as u32),
            c if "\\`*_[]()|~!#".contains(c) => safe.extend(['\\', c]),
            // Markdown renderers pass HTML through too.
            c => safe.push_str(&escape_tags(c.encode_utf8(&mut [0; 4]))),
        }
    }
    safe
}

fn escape_tags(text: &str) -> String {
    escape_invisible(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use toolgate_model::is_invisible;

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
