//! What a record holds is canonical JSON, and no secret.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::Value;
use toolgate_model::Mask;

use super::{counted, decided, tool};
use crate::{JournalEvent, JournalRecord, body};

/// Values of the kinds arguments have. Numbers are doubles, because others are written as text.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        (any::<i32>(), -20..6).prop_map(|(digits, power)| {
            serde_json::from_str(&format!("{digits}e{power}")).unwrap()
        }),
        "\\PC{0,12}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::btree_map("\\PC{0,6}|[a-z\u{e000}\u{10000}]{0,4}", inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// RFC 8785, written the slow way.
fn canonical(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(members) => {
            let sorted: BTreeMap<Vec<u16>, _> =
                members.iter().map(|(key, it)| (key.encode_utf16().collect(), (key, it))).collect();
            let members: Vec<_> = sorted
                .values()
                .map(|(key, it)| {
                    format!("{}:{}", canonical(&Value::from(key.as_str())), canonical(it))
                })
                .collect();
            format!("{{{}}}", members.join(","))
        }
        Value::Number(number) => {
            let double = number.as_f64().unwrap();
            let whole = double.fract() == 0.0 && double.abs() < 1e15;
            if whole { format!("{}", double as i64) } else { exponent(number, double) }
        }
        other => other.to_string(),
    }
}

/// What ECMAScript writes for doubles that are not small whole numbers, from the digits that
/// another library finds.
fn exponent(number: &serde_json::Number, double: f64) -> String {
    let digits: String = format!("{double:e}");
    let power: i32 = digits.split('e').nth(1).unwrap().parse().unwrap();
    match power {
        -7..21 if (1e-6..1e21).contains(&double.abs()) => format!("{double}"),
        _ => {
            let mantissa = digits.split('e').next().unwrap();
            assert_eq!(number.as_f64(), Some(double));
            format!("{mantissa}e{power:+}")
        }
    }
}

fn written(record: &JournalRecord<'_>, mask: &Mask) -> String {
    let mut out = Vec::new();
    body::write(record, mask, &mut out);
    out.push(b'}');
    String::from_utf8(out).unwrap()
}

fn of_arguments(arguments: &[u8], mask: &Mask) -> String {
    let about = tool();
    written(&decided(&about, arguments, 1), mask)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(counted(10_000)))]

    #[test]
    fn a_record_is_canonical_json_whatever_it_holds(
        arguments in value(), detail in value(), caller in any::<String>(), note in any::<String>(),
    ) {
        let arguments = arguments.to_string();
        let about = tool();
        let first = decided(&about, arguments.as_bytes(), 7);
        let noted = JournalEvent::Noted { kind: &note, detail: &detail.to_string() };
        let text = JournalEvent::Noted { kind: "x", detail: &note };
        for event in [first.event, noted, text] {
            let text = written(&JournalRecord { event, caller: &caller, ..first }, &Mask::default());
            let read: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(canonical(&read), text.clone());
            prop_assert!(!text.contains('\n'));
        }
    }

    #[test]
    fn no_bytes_make_it_panic_or_break_the_line(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        for arguments in [bytes.clone(), [b"{".as_slice(), &bytes, b"}"].concat()] {
            let text = of_arguments(&arguments, &Mask::default());
            prop_assert!(serde_json::from_str::<Value>(&text).is_ok(), "{}", text);
        }
    }

    #[test]
    fn a_known_value_is_found_wherever_it_stands(
        secret in "[a-zA-Z0-9\"\\\\/é ]{6,20}", around in value(), before in "\\PC{0,8}", after in "\\PC{0,8}",
    ) {
        prop_assume!(secret.trim() == secret && !around.to_string().contains(&secret));
        let planted = format!("{before}{secret}{after}");
        let arguments = serde_json::json!({
            "a": around, "b": planted, "c": [{ planted.clone(): 1 }], "d": { "e": planted },
        });
        let mask = Mask::new([secret.clone()]);
        let about = tool();
        let raw = arguments.to_string();
        let first = decided(&about, raw.as_bytes(), 1);
        let noted = JournalEvent::Noted { kind: "drift", detail: &raw };
        let done = JournalEvent::Done {
            outcome: crate::JournalOutcome::Error, detail: &planted, micros: 0, bytes: 0,
        };
        for event in [first.event, noted, done] {
            let text = written(&JournalRecord { event, client: &planted, ..first }, &mask);
            let read: Value = serde_json::from_str(&text).unwrap();
            prop_assert!(!says(&read, &secret), "{secret:?} in {text}");
        }
    }

    #[test]
    fn what_stands_under_a_secret_name_is_hidden(
        name in "[a-z]{0,4}[-_]?(token|password|secret|api_key|Authorization)", around in value(),
    ) {
        // `no-token` and its like are switches, not names of secrets.
        prop_assume!(toolgate_model::is_secret_like(&name));
        let arguments = serde_json::json!({
            "x": [{ name.clone(): "canary-1" }],
            name.clone(): { "deep": ["canary-1", around] },
            "text": format!("{name}=canary-1 and {name}: 'canary-1'"),
        });
        let text = of_arguments(arguments.to_string().as_bytes(), &Mask::default());
        prop_assert!(!text.contains("canary-1"), "{}", text);
    }

    #[test]
    fn the_beginning_of_what_is_too_long_shows_no_secret(
        at in 0..3000_usize, filler in "[a-z ]{1,9}",
    ) {
        let secret = "canary-canary-canary-canary-canary";
        let mut long = filler.repeat(20_000 / filler.len() + 1);
        long.insert_str(at.min(long.len()), secret);
        let arguments = serde_json::json!({ "text": long }).to_string();
        let text = of_arguments(arguments.as_bytes(), &Mask::new([secret.to_owned()]));
        let read: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&read["event"]["oversize"]["bytes"], arguments.len());
        prop_assert!(!text.contains("canary"), "{}", text);
        prop_assert!(text.len() < 2500);
    }
}

/// Whether some text of a value holds this.
fn says(value: &Value, what: &str) -> bool {
    match value {
        Value::String(text) => text.contains(what),
        Value::Array(items) => items.iter().any(|it| says(it, what)),
        Value::Object(members) => {
            members.iter().any(|(key, it)| key.contains(what) || says(it, what))
        }
        _ => false,
    }
}

#[test]
fn a_name_cannot_begin_a_line_of_its_own() {
    let mut about = tool();
    about.name = "x\n{\"call\":1}\u{2028}\r".into();
    let text = written(&decided(&about, b"{}", 1), &Mask::default());
    assert_eq!(text.lines().count(), 1);
    assert!(serde_json::from_str::<Value>(&text).unwrap()["about"]["name"] == *about.name);
}

#[test]
fn deep_values_do_not_exhaust_the_stack() {
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(8000), "]".repeat(8000));
    let text = of_arguments(deep.as_bytes(), &Mask::default());
    assert!(text.contains("***"), "{text}");
}
