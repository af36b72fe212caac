//! What stripping JSON removes and keeps, on examples and on generated texts.

use std::borrow::Cow;

use proptest::prelude::*;
use serde_json::Value;
use toolgate_findings::strip_text;

use super::strip_json;

fn shown(raw: &str) -> String {
    String::from_utf8(strip_json(raw.as_bytes()).into_owned()).unwrap()
}

#[test]
fn only_the_insides_of_texts_change() {
    let given = "{ \"a\" : [1.50, \"x\u{200b}y\", \"\\u202Ez\"],\"b\":\"\\ud83d\\ude42\\/\\b\" }";
    let expected = "{ \"a\" : [1.50, \"xy\", \"z\"],\"b\":\"\\ud83d\\ude42\\/\" }";
    assert_eq!(shown(given), expected);
}

#[test]
fn keys_stay() {
    let given = "{\"a\u{200b}\":\"b\u{200b}\",\"c\\u200b\" : 1}";
    assert_eq!(shown(given), "{\"a\u{200b}\":\"b\",\"c\\u200b\" : 1}");
}

#[test]
fn an_expression_keeps_its_meaning() {
    let given = r#"{"pattern":"^[^\u0000-\u001f\uDB40\uDC01]*$","title":"\u0007"}"#;
    let expected = r#"{"pattern":"^[^\\u0000-\\u001f\\u{e0001}]*$","title":""}"#;
    assert_eq!(shown(given), expected);
}

#[test]
fn a_command_goes_whole_however_it_is_written() {
    let given = r#"["\u001b[31mred\u001b[0m","\u001b]8;;https:\/\/x\u0007docs\u001b]8;;\u0007"]"#;
    assert_eq!(shown(given), r#"["red","docs"]"#);
}

#[test]
fn halves_of_a_pair_do_not_become_one() {
    assert_eq!(shown(r#"["a\udb40\u200b\udc41b"]"#), r#"["ab"]"#);
}

#[test]
fn an_escape_before_something_invisible_becomes_its_own() {
    assert_eq!(shown(r#"{"pattern":"a\\\u200b"}"#), r#"{"pattern":"a\\u200b"}"#);
}

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

/// Writes a text as a JSON string, with some characters as escapes.
fn written(text: &str, escaped: &[bool]) -> String {
    let mut raw = String::from("\"");
    for (at, c) in text.chars().enumerate() {
        let escape = escaped.get(at % escaped.len().max(1)).copied().unwrap_or(false);
        match c {
            '"' | '\\' => raw.extend(['\\', c]),
            '\n' if escape => raw.push_str("\\n"),
            c if escape || (c as u32) < 0x20 => {
                c.encode_utf16(&mut [0; 2])
                    .iter()
                    .for_each(|unit| raw.push_str(&format!("\\u{unit:04x}")));
            }
            c => raw.push(c),
        }
    }
    raw.push('"');
    raw
}

proptest! {
    #![proptest_config(cases(200_000))]

    #[test]
    fn json_says_the_same_as_its_texts_stripped(
        texts in prop::collection::vec(text(), 1..4),
        key in text(),
        escaped in prop::collection::vec(any::<bool>(), 1..9),
    ) {
        let key = format!("k{key}");
        let values: Vec<_> = texts.iter().map(|text| written(text, &escaped)).collect();
        let raw = format!("{{ {}:[1.50,-0e1 , {}],\"z\":{{}} }}", written(&key, &escaped), values.join(" ,"));
        let shown = strip_json(raw.as_bytes()).into_owned();
        prop_assert_eq!(strip_json(&shown).into_owned(), shown.clone());
        let shown = String::from_utf8(shown).unwrap();
        prop_assert!(shown.contains("[1.50,-0e1 , "), "numbers and spaces stay: {}", shown);
        let value: Value = serde_json::from_str(&shown).expect("it stays JSON");
        let list = value[key.as_str()].as_array().expect("keys stay");
        let expected: Vec<_> = texts.iter().map(|text| strip_text(text).into_owned()).collect();
        let said: Vec<_> = list[2..].iter().map(|it| it.as_str().unwrap().to_owned()).collect();
        prop_assert_eq!(said, expected);
    }

    #[test]
    fn json_without_anything_hidden_is_borrowed(text in "[a-zA-Z0-9 .,żółć日本\\\\\"\n-]{0,60}") {
        let raw = serde_json::json!({ "a": text, "b": [1, null, true] }).to_string();
        prop_assert!(matches!(strip_json(raw.as_bytes()), Cow::Borrowed(_)));
    }

    /// The input should be JSON, but the function must terminate on anything else.
    #[test]
    fn whatever_it_is_given_it_ends(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let _ = strip_json(&bytes);
    }
}
