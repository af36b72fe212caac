//! Definitions that are generated, changed at every place, and spelled in every way.

use serde_json::{Map, Value, json};

use crate::generate::{Dice, schemas};

/// Texts with everything in them that a careless reader trips over.
const TEXTS: &[&str] = &[
    "",
    "a",
    "read a file",
    "Zażółć 日本\u{1F600}",
    "line\nline\ttab \"quoted\" \\ / \u{7f}\u{1f}\0",
    "\u{200b}hid\u{202e}den\u{e0041}",
    "<IMPORTANT>do this first</IMPORTANT>",
    "\u{e000}\u{fffd}",
];

/// A definition of a tool with all a server may say.
pub fn definition(dice: &mut Dice) -> Value {
    let size = dice.below(12);
    let mut map = Map::new();
    map.insert("name".into(), json!(format!("tool_{}", dice.below(9))));
    map.insert("inputSchema".into(), schemas::input(dice, size));
    let optional = ["title", "description", "outputSchema", "annotations", "icons", "_meta"];
    for key in optional.into_iter().chain(["execution", "x-other", "", "\u{1F600}", "\u{e000}"]) {
        if dice.percent(60) {
            map.insert(key.into(), value_of(key, dice));
        }
    }
    Value::Object(map)
}

fn value_of(key: &str, dice: &mut Dice) -> Value {
    match key {
        "title" | "description" => json!(dice.pick(TEXTS)),
        "outputSchema" => schemas::input(dice, 3),
        "annotations" => json!({
            "title": dice.pick(TEXTS), "readOnlyHint": dice.percent(50),
            "destructiveHint": dice.percent(50), "openWorldHint": dice.percent(50),
        }),
        "icons" => json!([{ "src": "https://example.com/i.png", "sizes": ["48x48"] }]),
        _ => anything(dice, 3),
    }
}

/// Any value.
pub fn anything(dice: &mut Dice, depth: usize) -> Value {
    match dice.below(if depth == 0 { 5 } else { 7 }) {
        0 => Value::Null,
        1 => json!(dice.percent(50)),
        2 => json!(i64::try_from(dice.below(4000)).unwrap() - 2000),
        3 => json!(f64::from(u32::try_from(dice.below(100_000)).unwrap()) / 64.0 - 700.0),
        4 => json!(dice.pick(TEXTS)),
        5 => (0..dice.below(4)).map(|_| anything(dice, depth - 1)).collect(),
        _ => {
            let key = |dice: &mut Dice| format!("{}{}", dice.pick(TEXTS), dice.below(5));
            let members: Map<String, Value> =
                (0..dice.below(4)).map(|_| (key(dice), anything(dice, depth - 1))).collect();
            Value::Object(members)
        }
    }
}

/// Every place in a value, as the way to it.
pub fn places(value: &Value) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    let below: Vec<(String, &Value)> = match value {
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(i, v)| (i.to_string(), v)).collect(),
        _ => Vec::new(),
    };
    for (key, value) in below {
        for mut place in places(value) {
            place.insert(0, key.clone());
            all.push(place);
        }
    }
    all
}

/// The value at a place.
pub fn at<'a>(value: &'a mut Value, place: &[String]) -> &'a mut Value {
    place.iter().fold(value, |value, key| match value {
        Value::Array(list) => &mut list[key.parse::<usize>().unwrap()],
        value => value.get_mut(key.as_str()).unwrap(),
    })
}

/// Every way to change a value at one place: another value, nothing, another name, something more.
pub fn mutations(value: &Value, place: &[String], dice: &mut Dice) -> Vec<Value> {
    let mut all = vec![changed(value, place, |it| *it = another(it, dice))];
    all.push(changed(value, place, |it| match it {
        Value::Object(map) => {
            let key = (0..).map(|n| format!("added{n}")).find(|key| !map.contains_key(key));
            map.insert(key.unwrap(), Value::Null);
        }
        Value::Array(list) => list.insert(dice.below(list.len() + 1), json!("added")),
        Value::String(text) => text.push('\u{200b}'),
        Value::Number(_) => *it = json!(9_007_199_254_740_993_i64),
        Value::Bool(it) => *it = !*it,
        Value::Null => *it = json!([]),
    }));
    if let Some((last, parent)) = place.split_last() {
        all.push(changed(value, parent, |it| match it {
            Value::Object(map) => drop(map.remove(last)),
            Value::Array(list) => drop(list.remove(last.parse().unwrap())),
            _ => unreachable!(),
        }));
        all.push(changed(value, parent, |it| match it {
            Value::Object(map) => {
                let moved = map.remove(last).unwrap();
                map.insert(format!("{last}\u{ad}"), moved);
            }
            Value::Array(list) => list.push(Value::Null),
            _ => unreachable!(),
        }));
    }
    all
}

fn changed(value: &Value, place: &[String], change: impl FnOnce(&mut Value)) -> Value {
    let mut other = value.clone();
    change(at(&mut other, place));
    other
}

fn another(value: &Value, dice: &mut Dice) -> Value {
    loop {
        let other = anything(dice, 2);
        if other != *value && other.as_f64() != value.as_f64().or(Some(f64::NAN)) {
            return other;
        }
    }
}

/// Writes a value in one of the many ways that mean the same.
pub fn spelled(value: &Value, dice: &mut Dice, out: &mut String) {
    space(dice, out);
    match value {
        Value::Object(map) => {
            let mut members: Vec<_> = map.iter().collect();
            for i in (1..members.len()).rev() {
                members.swap(i, dice.below(i + 1));
            }
            out.push('{');
            for (index, (key, value)) in members.into_iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                space(dice, out);
                text(key, dice, out);
                space(dice, out);
                out.push(':');
                spelled(value, dice, out);
            }
            out.push('}');
        }
        Value::Array(list) => {
            out.push('[');
            for (index, value) in list.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                spelled(value, dice, out);
            }
            out.push(']');
        }
        Value::String(it) => text(it, dice, out),
        Value::Number(it) => number(&it.to_string(), dice, out),
        other => out.push_str(&other.to_string()),
    }
    space(dice, out);
}

fn space(dice: &mut Dice, out: &mut String) {
    for _ in 0..dice.below(3) {
        out.push(*dice.pick(&[' ', '\n', '\t', '\r']));
    }
}

fn text(text: &str, dice: &mut Dice, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        let must = c < ' ' || c == '"' || c == '\\';
        match c {
            '\n' if dice.percent(50) => out.push_str("\\n"),
            '/' if dice.percent(50) => out.push_str("\\/"),
            c if must || dice.percent(20) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let hex = format!("\\u{unit:04x}");
                    out.push_str(&if dice.percent(50) {
                        hex.to_uppercase().replace("\\U", "\\u")
                    } else {
                        hex
                    });
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

fn number(number: &str, dice: &mut Dice, out: &mut String) {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let exponent: i64 = exponent.parse().unwrap();
    let dotted = if mantissa.contains('.') { mantissa.to_owned() } else { format!("{mantissa}.0") };
    match dice.below(4) {
        0 => out.push_str(number),
        1 => out.push_str(&format!("{dotted}000e{exponent}")),
        2 => out.push_str(&format!("{dotted}E{exponent:+}")),
        _ => {
            let (whole, fraction) = dotted.split_once('.').unwrap();
            let shifted = exponent - i64::try_from(fraction.len()).unwrap();
            let sign = if whole.starts_with('-') { "-" } else { "" };
            let digits = format!("{}{fraction}", whole.trim_start_matches('-'));
            let digits = digits.trim_start_matches('0');
            let digits = if digits.is_empty() { "0" } else { digits };
            out.push_str(&format!("{sign}{digits}e{shifted}"));
        }
    }
}
