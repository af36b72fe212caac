//! Text that nobody vouches for, made safe to look at.

use std::fmt::Write as _;

use toolgate_host::is_invisible;

/// One line: every control and invisible character becomes `⟦U+XXXX⟧`.
pub fn visible(text: &str) -> String {
    shown(text, |_| false)
}

/// Several lines: line ends and tabs stay.
pub fn visible_lines(text: &str) -> String {
    shown(text, |c| matches!(c, '\n' | '\t'))
}

fn shown(text: &str, kept: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_invisible(c) && !kept(c) {
            // Writing to a String cannot fail.
            let _ = write!(shown, "⟦U+{:04X}⟧", c as u32);
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_or_hide_is_shown() {
        assert_eq!(visible("a\u{1b}[31mb\u{202e}c\n"), "a⟦U+001B⟧[31mb⟦U+202E⟧c⟦U+000A⟧");
        assert_eq!(visible_lines("a\tb\n\r"), "a\tb\n⟦U+000D⟧");
        assert_eq!(visible("Zażółć 日本"), "Zażółć 日本");
    }
}
