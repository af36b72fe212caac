//! A definition is usable exactly if its schema compiles, however that was found out.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

mod generate;

use generate::{Dice, schemas};
use serde_json::{Value, json};
use toolgate_schema::{ArgumentValidator, check_definition};

/// Values that fit some keywords and not others.
fn odd(dice: &mut Dice) -> Value {
    let odd = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1.5),
        json!(3),
        json!("object"),
        json!("text"),
        json!([]),
        json!(["a", "a"]),
        json!(["string", "null"]),
        json!([{}]),
        json!({}),
        json!({ "a": 1 }),
        json!({ "type": "strin" }),
    ];
    dice.pick(&odd).clone()
}

/// Puts something odd at some place.
fn damaged(value: &mut Value, dice: &mut Dice) {
    let inside: Vec<&mut Value> = match value {
        Value::Object(members) => members.values_mut().collect(),
        Value::Array(items) => items.iter_mut().collect(),
        _ => Vec::new(),
    };
    let count = inside.len();
    match inside.into_iter().nth(dice.below(count + 1)) {
        Some(inner) if dice.percent(80) => damaged(inner, dice),
        Some(inner) => *inner = odd(dice),
        None => *value = odd(dice),
    }
}

/// An ordinary schema of a tool.
fn ordinary(dice: &mut Dice, depth: usize) -> Value {
    let words = [
        ("description", json!("what it is")),
        ("title", json!("It")),
        ("default", json!(7)),
        ("minimum", json!(0)),
        ("maximum", json!(2.5)),
        ("minLength", json!(1)),
        ("maxItems", json!(9)),
        ("uniqueItems", json!(true)),
        ("enum", json!(["a", "b"])),
        ("format", json!("uri")),
        ("examples", json!([1])),
        ("exclusiveMinimum", json!(0)),
        ("required", json!(["a"])),
        ("type", json!("string")),
        ("type", json!(["integer", "null"])),
        ("const", json!(null)),
    ];
    let mut schema = json!({});
    for _ in 0..dice.below(4) {
        let (word, value) = dice.pick(&words).clone();
        schema[word] = value;
    }
    if depth > 0 {
        for word in ["items", "additionalProperties", "not"] {
            if dice.percent(20) {
                schema[word] = ordinary(dice, depth - 1);
            }
        }
        if dice.percent(30) {
            schema["anyOf"] = json!([ordinary(dice, depth - 1), ordinary(dice, depth - 1)]);
        }
        if dice.percent(60) {
            schema["properties"] =
                json!({ "a": ordinary(dice, depth - 1), "b": ordinary(dice, depth - 1) });
        }
    }
    schema
}

#[test]
fn what_is_found_plain_compiles() {
    let mut dice = Dice::new(6);
    let mut usable = [0, 0];
    for turn in 0..4_000 {
        let mut schema = match turn % 3 {
            0 => schemas::input(&mut dice, 3),
            _ => ordinary(&mut dice, 3),
        };
        if turn % 2 == 1 {
            damaged(&mut schema, &mut dice);
        }
        if dice.percent(20) && schema.is_object() {
            schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        }
        let definition = json!({ "name": "t", "inputSchema": schema }).to_string().into_bytes();
        let (checked, made) = (check_definition(&definition), ArgumentValidator::of(&definition));
        assert_eq!(
            checked.as_ref().err().map(ToString::to_string),
            made.as_ref().err().map(ToString::to_string),
            "{schema}"
        );
        usable[usize::from(made.is_ok())] += 1;
    }
    assert!(usable.iter().all(|count| *count > 300), "{usable:?}");
}
