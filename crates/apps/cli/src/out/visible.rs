//! Text that nobody vouches for, made safe to look at: the library's way, which every face shares.

pub use toolgate_host::content::{visible, visible_lines};

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
