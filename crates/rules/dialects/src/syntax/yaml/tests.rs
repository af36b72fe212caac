//! Tests of YAML parsing.

use proptest::prelude::*;
use toolgate_model::ConfigValue;

use super::*;

fn data(text: &str) -> ConfigValue {
    ConfigValue::Table(
        parse(text).unwrap().iter().map(|it| (it.key.clone(), it.node.data())).collect(),
    )
}

fn value(text: &str) -> ConfigValue {
    data(&format!("k: {text}\n")).get("k").unwrap().clone()
}

fn error(text: &str) -> (usize, String) {
    let SyntaxError { at, message } = parse(text).unwrap_err();
    (text[..at].matches('\n').count() + 1, message)
}

#[test]
fn plain_scalars_mean_what_the_core_schema_says() {
    for (text, meant) in [
        ("", ConfigValue::Null),
        ("~", ConfigValue::Null),
        ("True", ConfigValue::Bool(true)),
        ("yes", ConfigValue::text("yes")),
        ("-12", ConfigValue::Integer(-12)),
        ("+7", ConfigValue::Integer(7)),
        ("0x1F", ConfigValue::Integer(31)),
        ("0o17", ConfigValue::Integer(15)),
        ("1.50", ConfigValue::Decimal("1.50".into())),
        (".5", ConfigValue::Decimal("0.5".into())),
        ("1e3", ConfigValue::Decimal("1e3".into())),
        ("99999999999999999999", ConfigValue::Decimal("99999999999999999999".into())),
        (".inf", ConfigValue::text(".inf")),
        ("1.2.3", ConfigValue::text("1.2.3")),
        ("12:30", ConfigValue::text("12:30")),
        ("'5'", ConfigValue::text("5")),
        ("\"true\"", ConfigValue::text("true")),
        ("!!str 5", ConfigValue::text("5")),
        ("!other 5", ConfigValue::Integer(5)),
        (
            "[a, {b: 1}]",
            ConfigValue::List(vec![
                ConfigValue::text("a"),
                ConfigValue::Table(vec![("b".into(), ConfigValue::Integer(1))]),
            ]),
        ),
    ] {
        assert_eq!(value(text), meant, "{text}");
    }
}

#[test]
fn nothing_said_is_no_members() {
    for text in ["", "\n", "# only a remark\n", "---\n", "--- # x\n...\n", "~\n", "{}\n"] {
        assert_eq!(parse(text).unwrap(), [], "{text:?}");
    }
}

#[test]
fn keys_keep_order_and_repetition_and_are_texts() {
    let members = parse("b: 1\na: 2\nb: 3\n1: x\ntrue: y\nnull: z\n").unwrap();
    let keys: Vec<_> = members.iter().map(|member| member.key.as_str()).collect();
    assert_eq!(keys, ["b", "a", "b", "1", "true", "null"]);
}

#[test]
fn places_are_bytes_whatever_the_line_ends_and_letters() {
    let text = "é: ü\r\nlist:\r\n  - 日本 x\r\n  - \"q\u{1f600}\"\r\nlast: end";
    let members = parse(text).unwrap();
    assert!(text[members[1].at..].starts_with("list:"));
    let TreeValue::List(items) = &members[1].node.value else { panic!() };
    assert!(text[items[0].at..].starts_with("日本"));
    assert!(text[items[1].at..].starts_with("\"q"));
    assert!(text[members[2].node.at..].starts_with("end"));
}

#[test]
fn aliases_stand_for_their_anchors_and_merges_take_fields_over() {
    let text = "base: &b {x: 1, y: 2}\nfirst:\n  y: 3\n  <<: *b\nsame: *b\nmany:\n  <<: [*b, {z: 4, x: 9}]\n";
    let found = data(text);
    let pair = |key: &str, number| (key.to_owned(), ConfigValue::Integer(number));
    assert_eq!(found.get("first"), Some(&ConfigValue::Table(vec![pair("y", 3), pair("x", 1)])));
    assert_eq!(found.get("same"), found.get("base"));
    let many = ConfigValue::Table(vec![pair("x", 1), pair("y", 2), pair("z", 4)]);
    assert_eq!(found.get("many"), Some(&many));
}

#[test]
fn what_cannot_be_read_is_said_with_its_line() {
    for (text, line, message) in [
        ("a: 1\n---\nb: 2\n", 2, "a second document begins here"),
        ("a:\n\tb: 1\n", 2, "tabs"),
        ("a: [1, 2\nb: 3\n", 2, ""),
        ("x: 1\n- y\n", 2, ""),
        ("- a\n- b\n", 1, "expected a table, found a list"),
        ("just text\n", 1, "expected a table, found a string"),
        ("x: &a\n  y: *a\n", 2, "inside the value that it refers to"),
        ("x: 1\ny: *nobody\n", 2, "unknown anchor"),
        ("x: 1\n<<: 3\n", 2, "takes a table, found"),
        ("x: 1\n[1, 2]: 3\n", 2, "a key is a list"),
    ] {
        let (found, why) = error(text);
        assert_eq!(found, line, "{text:?}: {why}");
        assert!(why.contains(message), "{text:?}: {why}");
    }
}

#[test]
fn a_text_that_unfolds_without_end_is_refused() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..30 {
        let before = format!("*a{}", level - 1);
        bomb += &format!("a{level}: &a{level} [{}]\n", vec![before; 10].join(", "));
    }
    let (line, why) = error(&bomb);
    assert!(why.contains("aliases expand to more than") && line > 2, "{line} {why}");

    let deep = format!("a: {}{}\n", "[".repeat(100), "]".repeat(100));
    assert!(error(&deep).1.contains("deep"), "{:?}", error(&deep));
    let mut chain = String::from("a0: &a0 [x]\n");
    for level in 1..100 {
        chain += &format!("a{level}: &a{level} [*a{}]\n", level - 1);
    }
    assert!(error(&chain).1.contains("deep"));
    let nested: String = (0..5000).map(|depth| format!("{}k:\n", " ".repeat(depth))).collect();
    assert!(error(&nested).1.contains("deep"));
}

proptest! {
    #[test]
    fn any_text_can_be_written_so_that_it_is_read_again(text in "\\PC{0,12}|[ -~\n\t\r\u{85}\u{feff}]{0,12}|[0-9a-fxo.:+_-]{1,6}") {
        for flow in [false, true] {
            let written = scalar::render_text(&text, flow);
            let document = if flow { format!("k: [{written}, {{a: {written}}}]\n") } else { format!("k: {written}\n") };
            let found = data(&document);
            let read = match found.get("k") {
                Some(ConfigValue::List(items)) => {
                    prop_assert_eq!(items[1].get("a"), Some(&items[0]), "{}", document);
                    items[0].clone()
                }
                other => other.unwrap().clone(),
            };
            prop_assert_eq!(&read, &ConfigValue::text(&*text), "{}", document);
            let key = data(&format!("{written}: 1\n"));
            prop_assert_eq!(key.get(&text), Some(&ConfigValue::Integer(1)), "{}", written);
        }
    }
}
