//! Characters that cannot be seen, or that change how their neighbours are seen.
//!
//! One table for names that are refused and for text that is shown to people. It judges characters
//! one by one: letters of different scripts that look alike are not its business.

use std::fmt::Write as _;

/// Whether a character is a control, bidirectional, zero-width, variation or tag character.
///
/// Line ends and tabs are control characters too: whoever shows several lines lets them through.
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

/// Several lines for a person: control and invisible characters become `⟦U+XXXX⟧`, line ends and
/// tabs stay.
pub fn visible_lines(text: &str) -> String {
    shown(text, |c| matches!(c, '\n' | '\t'))
}

/// The same for one line.
pub fn visible(text: &str) -> String {
    shown(text, |_| false)
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
