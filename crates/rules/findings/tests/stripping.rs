//! Property tests of stripping, on generated texts. They state independently of the crate which
//! characters may remain, and where.

use std::borrow::Cow;

use proptest::prelude::*;
use toolgate_findings::{hidden_chars, strip_text};
use toolgate_model::is_invisible;

/// Returns the number of cases: all with `TOOLGATE_SOAK`, a tenth otherwise.
fn cases(all: u32) -> ProptestConfig {
    let soak = std::env::var_os("TOOLGATE_SOAK").is_some();
    ProptestConfig::with_cases(if soak { all } else { all / 10 })
}

/// Generates the characters of the threat list and characters that interact with them.
fn character() -> impl Strategy<Value = char> {
    let range = |from: u32, to: u32| (from..=to).prop_filter_map("no character", char::from_u32);
    prop_oneof![
        4 => range(0x20, 0x7E),
        2 => range(0x00, 0x1F),
        1 => range(0x7F, 0x9F),
        2 => Just('\u{1b}'),
        1 => prop::sample::select(vec!['[', ']', 'm', '8', ';', '\\', '\u{7}', '\u{9c}', '"']),
        1 => range(0xE0000, 0xE007F),
        1 => range(0x200B, 0x200F),
        1 => range(0x2028, 0x202E),
        1 => range(0x2060, 0x206F),
        1 => Just('\u{FEFF}'),
        1 => range(0xFE00, 0xFE0F),
        1 => range(0xE0100, 0xE01EF),
        1 => prop::sample::select(vec!['👩', '❤', '🏴', '1', '#', 'ا', 'ی', 'क', '्', '葛', 'ᠠ']),
        1 => any::<char>(),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(character(), 0..40).prop_map(|chars| chars.into_iter().collect())
}

/// Returns true if an invisible character may remain: only these may, each only after a character
/// that is neither Latin nor one of them.
fn may_be_left(c: char, before: Option<char>) -> bool {
    let joiner = matches!(c, '\u{200C}' | '\u{200D}');
    let selector = matches!(c, '\u{FE00}'..='\u{FE02}' | '\u{FE0E}' | '\u{FE0F}'
        | '\u{180B}'..='\u{180F}' | '\u{E0100}'..='\u{E011F}');
    let flag = matches!(c, '\u{E0061}'..='\u{E007A}' | '\u{E007F}');
    let Some(before) = before else { return false };
    let keycap = before.is_ascii_digit() || matches!(before, '#' | '*');
    let seen = !is_invisible(before) && (!before.is_ascii() || keycap);
    let of_flag = before == '\u{1F3F4}' || matches!(before, '\u{E0061}'..='\u{E007A}');
    (joiner && (seen || before == '\u{FE0F}')) || (selector && seen) || (flag && of_flag)
}

proptest! {
    #![proptest_config(cases(200_000))]

    #[test]
    fn nothing_hidden_is_left_and_nothing_more_happens_the_second_time(text in text()) {
        let once = strip_text(&text).into_owned();
        prop_assert_eq!(strip_text(&once).into_owned(), once.clone());
        prop_assert!(matches!(strip_text(&once), Cow::Borrowed(_)));
        prop_assert!(hidden_chars(&once).is_empty());
        let mut before = None;
        for c in once.chars() {
            let allowed = !is_invisible(c) || matches!(c, '\n' | '\r' | '\t');
            prop_assert!(allowed || may_be_left(c, before), "{:?} in {:?}", c, once);
            before = Some(c);
        }
    }

    #[test]
    fn text_without_anything_hidden_is_borrowed(text in "[a-zA-Z0-9 .,żółćĄ日本語\n\t\r-]{0,60}") {
        prop_assert!(matches!(strip_text(&text), Cow::Borrowed(_)));
    }
}
