//! The judge of adapted schemas: what providers document is accepted, and one forbidden word
//! anywhere is refused.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

mod generate;

use generate::{Dice, schemas};
use serde_json::{Value, json};
use toolgate_schema::{ModelProvider, adapt};
use toolgate_testkit::provider_schemas;

/// A mistake: what is put into a schema, and the type of schema it is put into.
type Mistake = (&'static str, Value, &'static [&'static str]);

const ANY: &[&str] = &[];

fn mistakes(provider: ModelProvider) -> Vec<Mistake> {
    let google: Vec<Mistake> = vec![
        ("$schema", json!("https://json-schema.org/draft/2020-12/schema"), ANY),
        ("$ref", json!("#"), ANY),
        ("additionalProperties", json!(false), ANY),
        ("const", json!("a"), ANY),
        ("oneOf", json!([{ "type": "string" }]), ANY),
        ("allOf", json!([{ "type": "string" }]), ANY),
        ("not", json!({ "type": "string" }), ANY),
        ("if", json!({ "type": "string" }), ANY),
        ("patternProperties", json!({}), ANY),
        ("exclusiveMinimum", json!(1), ANY),
        ("multipleOf", json!(2), ANY),
        ("uniqueItems", json!(true), ANY),
        ("prefixItems", json!([]), ANY),
        ("examples", json!([]), ANY),
        ("type", json!(["string", "null"]), ANY),
        ("type", json!("any"), ANY),
        ("enum", json!([1, 2]), ANY),
        ("enum", json!([""]), &["string"]),
        ("enum", json!(["1"]), &["integer", "number"]),
        ("format", json!("uri"), ANY),
        ("required", json!(["nobody"]), &["object"]),
        ("items", json!([{ "type": "string" }]), &["array"]),
        ("anyOf", json!([]), ANY),
        ("minItems", json!("1"), ANY),
    ];
    let strict: Vec<Mistake> = vec![
        ("additionalProperties", json!(true), &["object"]),
        ("additionalProperties", json!({ "type": "string" }), &["object"]),
        ("required", json!([]), &["object with members"]),
        ("allOf", json!([{ "type": "string" }]), ANY),
        ("oneOf", json!([{ "type": "string" }]), ANY),
        ("not", json!({}), ANY),
        ("if", json!({}), ANY),
        ("dependentRequired", json!({}), ANY),
        ("patternProperties", json!({}), ANY),
        ("default", json!(1), ANY),
        ("minLength", json!(1), ANY),
        ("uniqueItems", json!(true), ANY),
        ("format", json!("path"), ANY),
        ("pattern", json!("(?!a)b"), ANY),
        ("$ref", json!("#"), ANY),
        ("$schema", json!("https://json-schema.org/draft/2020-12/schema"), ANY),
        ("nullable", json!(true), ANY),
        ("type", json!("text"), ANY),
    ];
    let anywhere: Vec<Mistake> = vec![
        ("type", json!("text"), ANY),
        ("$ref", json!("#/nowhere"), ANY),
        ("$ref", json!("https://example.com/x"), ANY),
        ("required", json!("name"), ANY),
        ("properties", json!([]), ANY),
        ("anyOf", json!([]), ANY),
        ("minLength", json!(-1), ANY),
    ];
    let mut roots: Vec<Mistake> = vec![
        ("anyOf", json!([{}]), &["root"]),
        ("oneOf", json!([{}]), &["root"]),
        ("allOf", json!([{}]), &["root"]),
        ("type", json!("string"), &["root"]),
        ("type", json!(["object", "null"]), &["root"]),
    ];
    match provider {
        ModelProvider::Gemini => google,
        ModelProvider::Vertex => {
            let beside: Vec<Mistake> = vec![
                ("description", json!("words"), &["anyOf"]),
                ("nullable", json!(true), &["anyOf"]),
                ("default", json!(1), &["anyOf"]),
            ];
            google.into_iter().chain(beside).collect()
        }
        ModelProvider::OpenAiStrict => strict.into_iter().chain(roots).collect(),
        ModelProvider::OpenAi => {
            roots.push(("enum", json!([{}]), &["root"]));
            roots.push(("not", json!({ "type": "null" }), &["root"]));
            roots.push(("properties", Value::Null, &["root"]));
            roots.push(("items", Value::Null, &["array"]));
            anywhere.into_iter().chain(roots).collect()
        }
        ModelProvider::Anthropic => {
            roots.push(("properties", json!({ "filter[id]": {} }), &["root"]));
            roots.push(("properties", json!({ "": {} }), &["root"]));
            anywhere.into_iter().chain(roots).collect()
        }
    }
}

/// The pointers of all schemas in an adapted schema.
fn places(schema: &Value, path: &str, found: &mut Vec<String>) {
    if !schema.is_object() {
        return;
    }
    found.push(path.to_owned());
    let escaped = |key: &String| key.replace('~', "~0").replace('/', "~1");
    for keyword in ["properties", "$defs"] {
        for (key, inner) in schema[keyword].as_object().into_iter().flatten() {
            places(inner, &format!("{path}/{keyword}/{}", escaped(key)), found);
        }
    }
    places(&schema["items"], &format!("{path}/items"), found);
    for (index, inner) in schema["anyOf"].as_array().into_iter().flatten().enumerate() {
        places(inner, &format!("{path}/anyOf/{index}"), found);
    }
}

fn is_for(schema: &Value, path: &str, of: &[&str]) -> bool {
    of.is_empty()
        || of.iter().any(|kind| match *kind {
            "root" => path.is_empty(),
            "anyOf" => schema.get("anyOf").is_some(),
            "object with members" => {
                schema["type"] == "object" && schema["properties"] != json!({})
            }
            name => schema["type"] == name,
        })
}

fn check_accepted(provider: ModelProvider, schema: &Value) -> Result<(), Vec<String>> {
    provider_schemas::check_accepted(&format!("{provider:?}"), schema)
}

#[test]
fn one_forbidden_word_anywhere_is_refused() {
    let mut made = 0;
    for seed in 0..400 {
        let mut dice = Dice::new(seed);
        let schema = schemas::input(&mut dice, 20);
        for provider in ModelProvider::ALL {
            let adapted = adapt(&schema, provider);
            if provider == ModelProvider::OpenAiStrict && !adapted.strict {
                continue;
            }
            check_accepted(provider, &adapted.schema).expect("accepted as it was made");
            let mut found = Vec::new();
            places(&adapted.schema, "", &mut found);
            let place = dice.pick(&found).clone();
            let all = mistakes(provider);
            let (word, value, of) = dice.pick(&all);
            let mut wrong = adapted.schema.clone();
            let at = wrong.pointer_mut(&place).expect("a place");
            if !is_for(at, &place, of) || at.get("$ref").is_some() {
                continue;
            }
            let map = at.as_object_mut().expect("a schema");
            if map.get(*word) == Some(value) {
                continue;
            }
            if value.is_null() {
                map.remove(*word);
            } else {
                map.insert((*word).to_owned(), value.clone());
            }
            made += 1;
            assert!(
                check_accepted(provider, &wrong).is_err(),
                "{provider:?} takes {word} at {place:?}: {wrong}"
            );
        }
    }
    println!("{made} mistakes found");
    assert!(made > 500, "{made}");
}

#[test]
fn what_the_providers_document_is_accepted() {
    let gemini = json!({
        "type": "object",
        "properties": {
            "city": { "type": "string", "description": "where", "nullable": true },
            "unit": { "type": "STRING", "enum": ["C", "F"] },
            "days": { "type": "array", "items": { "type": "integer", "minimum": 1 }, "maxItems": 7 },
            "either": { "anyOf": [{ "type": "string" }, { "type": "number" }] },
        },
        "required": ["city"],
    });
    check_accepted(ModelProvider::Gemini, &gemini).expect("Gemini");
    check_accepted(ModelProvider::Vertex, &gemini).expect("Vertex");
    check_accepted(
        ModelProvider::OpenAiStrict,
        &json!({
            "type": "object",
            "properties": {
                "city": { "type": "string" },
                "unit": { "type": ["string", "null"], "enum": ["C", "F", null] },
                "next": { "anyOf": [{ "$ref": "#" }, { "type": "null" }] },
                "node": { "$ref": "#/$defs/node" },
            },
            "required": ["city", "unit", "next", "node"],
            "additionalProperties": false,
            "$defs": { "node": { "type": "object", "properties": {}, "required": [],
                "additionalProperties": false } },
        }),
    )
    .expect("OpenAI strict");
    let lenient = json!({
        "type": "object",
        "properties": { "a": { "oneOf": [{ "type": "string" }, { "$ref": "#/$defs/x" }] } },
        "$defs": { "x": { "type": "object", "additionalProperties": { "type": "string" } } },
        "additionalProperties": false,
    });
    check_accepted(ModelProvider::OpenAi, &lenient).expect("OpenAI");
    check_accepted(ModelProvider::Anthropic, &lenient).expect("Anthropic");
}
