//! Character classes that joiners and variation selectors may follow.
//!
//! They are ranges rather than Unicode properties. They also contain unassigned characters and rare
//! symbols, but no letter of a script that is written without joiners.

/// Returns true if the character is part of emoji or can be displayed as one.
pub(super) fn is_pictograph(c: char) -> bool {
    matches!(c,
        '\u{A9}' | '\u{AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21FF}' // arrows
        | '\u{2300}'..='\u{23FF}' // technical
        | '\u{2460}'..='\u{24FF}' // enclosed letters and digits
        | '\u{25A0}'..='\u{27BF}' // shapes, symbols, dingbats
        | '\u{2900}'..='\u{297F}' | '\u{2B00}'..='\u{2BFF}' // more arrows
        | '\u{3030}' | '\u{303D}' | '\u{3297}' | '\u{3299}'
        | '\u{1F000}'..='\u{1FAFF}')
}

/// Returns true if the character becomes a keycap with a selector after it.
pub(super) fn is_keycap(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '#' | '*')
}

/// Returns true for ideographs, whose variants are chosen by selectors.
pub(super) fn is_ideograph(c: char) -> bool {
    matches!(c,
        '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{323AF}')
}

/// Returns true for mathematical operators, some of which have variants.
pub(super) fn is_operator(c: char) -> bool {
    matches!(c, '\u{2200}'..='\u{22FF}' | '\u{2A00}'..='\u{2AFF}')
}

/// Returns true for Mongolian letters, whose form is chosen by selectors.
pub(super) fn is_mongolian(c: char) -> bool {
    matches!(c, '\u{1820}'..='\u{18AA}')
}

/// Returns true if the script of the character uses invisible joiners and non-joiners: Arabic and
/// related scripts, the scripts of India, Myanmar, Cambodia, Java, …
pub(super) fn is_joining(c: char) -> bool {
    matches!(c,
        '\u{0620}'..='\u{06FF}' | '\u{0700}'..='\u{08FF}'
        | '\u{0900}'..='\u{0DFF}' | '\u{0F00}'..='\u{109F}'
        | '\u{1780}'..='\u{17B3}' | '\u{17B6}'..='\u{17FF}'
        | '\u{1820}'..='\u{18AA}' | '\u{1A20}'..='\u{1BFF}'
        | '\u{A840}'..='\u{A9FF}' | '\u{AA00}'..='\u{AADF}' | '\u{ABC0}'..='\u{ABFF}'
        | '\u{FB50}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}'
        | '\u{10A00}'..='\u{10A5F}' | '\u{11000}'..='\u{11FFF}')
}

/// The flags that are written with tags: England, Scotland and Wales. There are no others.
pub(super) const FLAGS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];
