//! Characters that are invisible or change how their neighbours look.
//!
//! The same table serves to reject names and to escape text for display. It checks characters one
//! by one and does not detect look-alike letters of different scripts.

use std::fmt::Write as _;

/// Returns true for a control, bidirectional, zero-width, variation or tag character.
///
/// Line ends and tabs are control characters, too; code that shows several lines must exempt them.
pub fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00AD}' // soft hyphen
            | '\u{034F}' // combining grapheme joiner
            | '\u{061C}' // Arabic letter mark
            | '\u{115F}'..='\u{1160}' // Hangul fillers
            | '\u{17B4}'..='\u{17B5}' // Khmer inherent vowels
            | '\u{180B}'..='\u{180F}' // Mongolian variation selectors and vowel separator
            | '\u{200B}'..='\u{200F}' // zero-width characters and direction marks
            | '\u{2028}'..='\u{202E}' // separators, embeddings and overrides
            | '\u{2060}'..='\u{206F}' // invisible operators and isolates
            | '\u{3164}' // Hangul filler
            | '\u{FE00}'..='\u{FE0F}' // variation selectors
            | '\u{FEFF}' // byte order mark
            | '\u{FFA0}' // half-width Hangul filler
            | '\u{FFF9}'..='\u{FFFB}' // interlinear annotations
            | '\u{1D173}'..='\u{1D17A}' // musical formatting
            | '\u{E0000}'..='\u{E0FFF}') // tags and further variation selectors
}

/// Escapes control and invisible characters in several lines as `⟦U+XXXX⟧`. Line ends and tabs
/// stay.
pub fn escape_invisible_lines(text: &str) -> String {
    escape_except(text, |c| matches!(c, '\n' | '\t'))
}

/// Escapes control and invisible characters in one line as `⟦U+XXXX⟧`.
pub fn escape_invisible(text: &str) -> String {
    escape_except(text, |_| false)
}

fn escape_except(text: &str, kept: impl Fn(char) -> bool) -> String {
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
    fn what_hides_or_turns_text_is_found() {
        for c in ['\0', '\u{1b}', '\n', '\u{85}', '\u{ad}', '\u{200b}', '\u{202e}', '\u{2066}'] {
            assert!(is_invisible(c), "{c:?}");
        }
        for c in ['\u{61c}', '\u{3164}', '\u{fe0f}', '\u{feff}', '\u{e0041}', '\u{e01ef}'] {
            assert!(is_invisible(c), "{c:?}");
        }
    }

    #[test]
    fn what_people_write_is_not() {
        for text in ["Zażółć gęślą jaźń", "日本語 한국어", "العربية", "a b-c_d/é", "🙂⟦⟧"]
        {
            assert!(!text.chars().any(is_invisible), "{text}");
        }
    }
}
