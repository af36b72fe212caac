//! What is said about schemas that changed, held against what the validator of the gate takes.

use serde_json::{Map, Value, json};
use toolgate_model::CapabilityKind::Tool;
use toolgate_pins::compare_definitions;
use toolgate_schema::ArgumentValidator;

use crate::definitions::{at, places};
use crate::generate::objects::Objects;
use crate::generate::{Dice, schemas};
use crate::times;

/// Keywords with values that fit them, to be put where a schema stands.
fn keyword(dice: &mut Dice) -> (&'static str, Value) {
    let few = dice.below(4);
    let all = [
        ("type", json!("string")),
        ("type", json!(["integer", "object"])),
        ("type", json!(["number", "string", "null"])),
        ("minimum", json!(few)),
        ("maximum", json!(few)),
        ("exclusiveMaximum", json!(few)),
        ("minLength", json!(few)),
        ("maxLength", json!(few)),
        ("minItems", json!(few)),
        ("maxItems", json!(few)),
        ("minProperties", json!(few)),
        ("maxProperties", json!(few)),
        ("pattern", json!("^[a-z]*$")),
        ("enum", json!(["a", "b", 1, null])),
        ("enum", json!(["a", "c", 1.0, {}])),
        ("const", json!("a")),
        ("uniqueItems", json!(dice.percent(50))),
        ("required", json!(["a"])),
        ("required", json!(["b", "a"])),
        ("properties", json!({ "a": { "type": "string" }, "b": true })),
        ("properties", json!({ "a": {}, "c": { "minimum": few } })),
        ("patternProperties", json!({ "^a": { "type": "integer" } })),
        ("additionalProperties", json!(dice.percent(50))),
        ("additionalProperties", json!({ "type": "string" })),
        ("propertyNames", json!({ "maxLength": few })),
        ("items", json!({ "type": "string" })),
        ("items", json!(dice.percent(50))),
        ("prefixItems", json!([{ "type": "string" }, {}])),
        ("contains", json!({ "type": "string" })),
        ("minContains", json!(few)),
        ("anyOf", json!([{ "type": "string" }, { "minimum": few }])),
        ("anyOf", json!([{ "type": "string" }])),
        ("allOf", json!([{ "maxLength": few }, { "type": ["string", "object"] }])),
        ("oneOf", json!([{ "type": "string" }, { "maxLength": few }])),
        ("not", json!({ "type": "string" })),
        ("not", json!({ "type": ["string", "null"], "maxLength": few })),
        ("if", json!({ "type": "string" })),
        ("then", json!({ "maxLength": few })),
        ("else", json!({ "type": "object" })),
        ("multipleOf", json!(few + 1)),
        ("description", json!("words")),
        ("default", json!("a")),
        ("unevaluatedProperties", json!(false)),
        ("dependentRequired", json!({ "a": ["b"] })),
    ];
    dice.pick(&all).clone()
}

fn change(schema: &mut Value, dice: &mut Dice) {
    let all = places(schema);
    let place = dice.pick(&all).clone();
    match at(schema, &place) {
        Value::Object(map) if !map.is_empty() && dice.percent(30) => {
            let key = map.keys().nth(dice.below(map.len())).unwrap().clone();
            map.remove(&key);
        }
        Value::Object(map) => {
            let (key, value) = keyword(dice);
            map.insert(key.into(), value);
        }
        Value::Array(list) if !list.is_empty() => {
            let index = dice.below(list.len());
            match dice.percent(50) {
                true => drop(list.remove(index)),
                false => list.push(json!("b")),
            }
        }
        Value::Bool(it) => *it = !*it,
        Value::Number(it) => *it = dice.below(5).into(),
        _ => {}
    }
}

fn small(dice: &mut Dice) -> Value {
    let mut schema = json!({ "type": "object", "properties": { "a": {}, "b": {} } });
    for _ in 0..dice.below(8) {
        change(&mut schema, dice);
    }
    schema
}

fn tool(schema: &Value) -> String {
    json!({ "name": "t", "inputSchema": schema }).to_string()
}

fn value(dice: &mut Dice, depth: usize) -> Value {
    let scalars =
        [json!("a"), json!("b"), json!("zzzz"), json!(1), json!(2.5), json!(null), json!(true)];
    match dice.below(if depth == 0 { 6 } else { 9 }) {
        0..6 => dice.pick(&scalars).clone(),
        6 => (0..dice.below(4)).map(|_| value(dice, depth - 1)).collect(),
        _ => object(dice, depth - 1),
    }
}

fn object(dice: &mut Dice, depth: usize) -> Value {
    let mut map = Map::new();
    for key in ["a", "b", "c", "ab"] {
        if dice.percent(50) {
            map.insert(key.into(), value(dice, depth));
        }
    }
    Value::Object(map)
}

/// What is claimed of all changes together: that the new one takes at least, or at most, as much.
fn claim(before: &str, now: &str) -> Option<&'static str> {
    let codes: Vec<_> = compare_definitions(Tool, before.as_bytes(), now.as_bytes())
        .into_iter()
        .map(|it| it.code)
        .collect();
    let all =
        |word: &str| codes.iter().all(|code| code.ends_with(word) || code.ends_with("reworded"));
    match (all("widened"), all("narrowed")) {
        (true, true) => Some("same"),
        (true, _) => Some("widened"),
        (_, true) => Some("narrowed"),
        _ => None,
    }
}

#[derive(Debug, Default)]
struct Counts {
    pairs: u64,
    same: u64,
    widened: u64,
    narrowed: u64,
    undecided: u64,
    fitting: u64,
    telling: u64,
}

fn hold(before: &Value, now: &Value, dice: &mut Dice, counts: &mut Counts) {
    let (before_raw, now_raw) = (tool(before), tool(now));
    let made =
        (ArgumentValidator::of(before_raw.as_bytes()), ArgumentValidator::of(now_raw.as_bytes()));
    let (Ok(old), Ok(new)) = made else { return };
    counts.pairs += 1;
    let claim = claim(&before_raw, &now_raw);
    match claim {
        Some("same") => counts.same += 1,
        Some("widened") => counts.widened += 1,
        Some(_) => counts.narrowed += 1,
        None => counts.undecided += 1,
    }
    let (mut fits_before, mut fits_now) = (Objects::of(before), Objects::of(now));
    for round in 0..24 {
        let instance = match round % 4 {
            0 => fits_before.next(dice),
            1 => fits_now.next(dice),
            _ => object(dice, 2),
        };
        let raw = instance.to_string();
        let took = old.check(raw.as_bytes()).is_ok();
        let takes = new.check(raw.as_bytes()).is_ok();
        counts.fitting += u64::from(took || takes);
        counts.telling += u64::from(claim.is_some() && took != takes);
        let held = match claim {
            Some("same") => took == takes,
            Some("widened") => !took || takes,
            Some(_) => !takes || took,
            None => true,
        };
        assert!(held, "{claim:?} {took} {takes}\n{before}\n{now}\n{raw}");
    }
}

#[test]
fn what_is_said_of_a_schema_holds_for_what_it_takes() {
    let mut counts = Counts::default();
    for seed in 0..times(100_000) {
        let mut dice = Dice::new(seed);
        let before = match seed % 3 {
            0 => {
                let size = dice.below(10);
                schemas::input(&mut dice, size)
            }
            _ => small(&mut dice),
        };
        let mut now = before.clone();
        for _ in 0..=dice.below(2) {
            change(&mut now, &mut dice);
        }
        hold(&before, &now, &mut dice, &mut counts);
    }
    println!("{counts:?}");
    assert!(counts.pairs * 2 > times(100_000), "too many unusable schemas: {counts:?}");
    let decided = counts.widened + counts.narrowed;
    assert!(decided * 4 > counts.pairs, "too little is decided: {counts:?}");
    assert!(counts.telling > counts.pairs / 2, "too few instances tell anything: {counts:?}");
}
