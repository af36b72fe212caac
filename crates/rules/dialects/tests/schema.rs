//! The schema of our own file says what the reader says: the same fields at each level, the files
//! it takes and the mistakes it finds.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

mod common;

use std::collections::BTreeSet;

use jsonschema::Validator;
use serde_json::Value;
use toolgate_dialects::{Dialect, ForeignFiles, ParsedFile, SCHEMA};
use toolgate_model::{
    ApprovalChannel, ApprovalMode, ContextNamingStyle, ContextOfferMode, DiagnosticSeverity,
    ExposureMode, NamingStyle, PolicyMode, Posture, PrefixMode,
};

fn validator() -> Validator {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    jsonschema::draft202012::meta::validate(&schema).unwrap_or_else(|error| panic!("{error}"));
    jsonschema::draft202012::new(&schema).unwrap()
}

fn read(text: &str) -> ParsedFile {
    Dialect::Toolgate.read(text, &common::place(Dialect::Toolgate))
}

fn has_errors(reading: &ParsedFile) -> bool {
    reading.diagnostics.iter().any(|found| found.severity == DiagnosticSeverity::Error)
}

fn document(text: &str) -> Value {
    toml_edit::de::from_str(text.trim_start_matches('\u{feff}')).unwrap()
}

#[test]
fn what_the_reader_takes_is_valid() {
    let validator = validator();
    let mut taken = 0;
    for fixture in common::of(Dialect::Toolgate) {
        let reading = fixture.read();
        // The schema has no warnings: an unknown field is either known or refused.
        let is_unknown = |it: &toolgate_model::Diagnostic| it.message.contains("unknown field");
        if has_errors(&reading) || reading.diagnostics.iter().any(is_unknown) {
            continue;
        }
        let errors: Vec<_> = validator
            .iter_errors(&document(&fixture.text))
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", fixture.name);
        taken += 1;
    }
    assert!(taken >= 5, "only {taken} files were taken");
}

/// Each entry and each setting of the file of mistakes, alone.
#[test]
fn what_the_reader_refuses_is_not() {
    let validator = validator();
    let fixtures = common::of(Dialect::Toolgate);
    let mistakes = fixtures.iter().find(|it| it.name == "odd-mistakes.toml").unwrap();
    let Value::Object(document) = document(&mistakes.text) else { panic!() };
    let mut alone: Vec<Value> = Vec::new();
    for (key, value) in &document {
        match (key.as_str(), value) {
            ("servers", Value::Object(servers)) => alone.extend(
                servers.iter().map(|(name, it)| serde_json::json!({ "servers": { name: it } })),
            ),
            ("profiles" | "clients", Value::Object(named)) => alone
                .extend(named.iter().map(|(name, it)| serde_json::json!({ key: { name: it } }))),
            _ => alone.push(serde_json::json!({ key: value })),
        }
    }
    let mut refused = 0;
    for one in alone {
        let text = toml_edit::ser::to_string(&one).unwrap();
        let reading = read(&text);
        let is_unknown = |it: &str| it.contains("unknown field");
        let wrong = has_errors(&reading)
            || reading.diagnostics.iter().any(|found| is_unknown(&found.message));
        assert_eq!(validator.is_valid(&one), !wrong, "{text}\n{:#?}", reading.diagnostics);
        refused += usize::from(wrong);
    }
    assert!(refused > 20, "only {refused} were refused");
}

/// A field nobody knows, far from any that somebody does: the complaint lists those.
const UNKNOWN: &str = "zzzzzzzzzzzzzzzzzzzz = 1";

#[test]
fn the_reader_asks_for_the_fields_the_schema_has() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let server = "/properties/servers/additionalProperties";
    let below = |key: &str| format!("{server}/properties/{key}");
    let rules = ["allow", "ask", "deny"].into_iter().flat_map(|list| {
        let rule = "/$defs/rule/anyOf/1".to_owned();
        let condition = format!("{rule}/properties/when/items");
        let text = format!("[[policy.{list}]]\nabout = 'mcp:a/b'\n");
        let deeper = format!("{text}[[policy.{list}.when]]\nat = '/x'\n{UNKNOWN}\n");
        [(rule, format!("{text}{UNKNOWN}\n")), (condition, deeper)]
    });
    let levels = [
        (String::new(), format!("{UNKNOWN}\n")),
        ("/properties/inputs/items".into(), format!("[[inputs]]\nid = 'x'\n{UNKNOWN}\n")),
        ("/properties/launch".into(), format!("[launch]\n{UNKNOWN}\n")),
        ("/properties/policy".into(), format!("[policy]\n{UNKNOWN}\n")),
        ("/properties/pins".into(), format!("[pins]\n{UNKNOWN}\n")),
        ("/properties/timeouts".into(), format!("[timeouts]\n{UNKNOWN}\n")),
        ("/properties/context".into(), format!("[context]\n{UNKNOWN}\n")),
        ("/properties/approvals".into(), format!("[approvals]\n{UNKNOWN}\n")),
        (
            "/properties/approvals/properties/clients/additionalProperties".into(),
            format!("[approvals.clients.x]\n{UNKNOWN}\n"),
        ),
        ("/properties/profiles/additionalProperties".into(), format!("[profiles.x]\n{UNKNOWN}\n")),
        ("/properties/clients/additionalProperties".into(), format!("[clients.x]\n{UNKNOWN}\n")),
        (server.into(), format!("[servers.a]\ncommand = 'x'\n{UNKNOWN}\n")),
        (server.into(), format!("[servers.a]\nurl = 'https://x'\n{UNKNOWN}\n")),
        (below("timeouts"), format!("[servers.a]\ncommand = 'x'\ntimeouts.{UNKNOWN}\n")),
        (below("auth"), format!("[servers.a]\nurl = 'https://x'\nauth.{UNKNOWN}\n")),
        (below("manifest"), format!("[servers.a]\ncommand = 'x'\nmanifest.{UNKNOWN}\n")),
        (below("sampling/anyOf/1"), format!("[servers.a]\ncommand = 'x'\nsampling.{UNKNOWN}\n")),
        (below("sandbox"), format!("[servers.a]\ncommand = 'x'\nsandbox.{UNKNOWN}\n")),
        (
            below("tools/additionalProperties"),
            format!("[servers.a]\ncommand = 'x'\ntools.t.{UNKNOWN}\n"),
        ),
    ];
    let mut seen = BTreeSet::new();
    for (pointer, text) in levels.into_iter().chain(rules) {
        let asked = asked_for(text);
        let properties = schema.pointer(&format!("{pointer}/properties")).unwrap();
        let described: BTreeSet<String> = properties.as_object().unwrap().keys().cloned().collect();
        assert_eq!(asked, described, "{pointer}");
        seen.insert(pointer);
    }
    // No table of the schema is left out above.
    let mut tables = BTreeSet::new();
    collect(&schema, "", &mut tables);
    assert_eq!(seen, tables);
}

/// The fields the table with the unknown one has, and those it could have: a hint names some of
/// these, and others once they are there.
fn asked_for(mut text: String) -> BTreeSet<String> {
    let line = text.lines().find(|line| line.ends_with(UNKNOWN)).unwrap().to_owned();
    let table = &text[text.rfind("\n[").unwrap_or_default()..];
    let mut asked: BTreeSet<String> = ["command", "url", "id", "about", "at"]
        .into_iter()
        .filter(|key| !line.contains('.') && table.contains(&format!("\n{key} = ")))
        .map(str::to_owned)
        .collect();
    loop {
        let reading = read(&text);
        let unknown = format!("unknown field `{}`", UNKNOWN.split(' ').next().unwrap());
        let found = reading.diagnostics.iter().find(|it| it.message.contains(&unknown));
        let hint = found.and_then(|it| it.hint.as_deref());
        let Some(known) = hint.and_then(|hint| hint.strip_prefix("known fields: ")) else {
            panic!("{text}\n{:#?}", reading.diagnostics)
        };
        let names: Vec<_> = known.split(", ").filter(|name| *name != "…").collect();
        asked.extend(names.iter().map(|name| (*name).to_owned()));
        if names.len() == known.split(", ").count() {
            return asked;
        }
        for name in names {
            text.push_str(&line.replace(UNKNOWN, &format!("{name} = false\n")));
        }
    }
}

/// The places of all tables with fields of their own.
fn collect(schema: &Value, at: &str, into: &mut BTreeSet<String>) {
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        into.insert(at.to_owned());
        for (key, value) in properties {
            collect(value, &format!("{at}/properties/{key}"), into);
        }
    }
    for (name, value) in schema.get("$defs").and_then(Value::as_object).into_iter().flatten() {
        collect(value, &format!("{at}/$defs/{name}"), into);
    }
    for key in ["additionalProperties", "items"] {
        if let Some(value) = schema.get(key) {
            collect(value, &format!("{at}/{key}"), into);
        }
    }
    let choices = schema.get("anyOf").and_then(Value::as_array);
    for (index, value) in choices.into_iter().flatten().enumerate() {
        collect(value, &format!("{at}/anyOf/{index}"), into);
    }
}

#[test]
fn every_field_is_described() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let mut tables = BTreeSet::new();
    collect(&schema, "", &mut tables);
    for table in tables {
        let properties = schema.pointer(&format!("{table}/properties")).unwrap();
        for (key, field) in properties.as_object().unwrap() {
            let said = field.get("description").and_then(Value::as_str).unwrap_or_default();
            assert!(said.ends_with('.'), "{table}/{key}: {said:?}");
        }
    }
}

/// The words of the schema are those that the reader accepts.
#[test]
fn the_schema_has_the_words_of_the_reader() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let server = "/properties/servers/additionalProperties/properties";
    let profile = "/properties/profiles/additionalProperties/properties";
    let approvals = "/properties/approvals/properties";
    let naming = NamingStyle::ALL.map(NamingStyle::as_str).to_vec();
    let prefix = PrefixMode::ALL.map(PrefixMode::as_str).to_vec();
    let approval = ApprovalMode::ALL.map(ApprovalMode::as_str).to_vec();
    let via = ApprovalChannel::ALL.map(ApprovalChannel::as_str).to_vec();
    let fields = [
        ("/properties/naming".to_owned(), naming.clone()),
        ("/properties/prefix".to_owned(), prefix.clone()),
        ("/properties/foreign".to_owned(), ForeignFiles::ALL.map(ForeignFiles::as_str).to_vec()),
        (
            "/properties/launch/properties/posture".to_owned(),
            Posture::ALL.map(Posture::as_str).to_vec(),
        ),
        (
            "/properties/policy/properties/mode".to_owned(),
            PolicyMode::WORDS.map(|(word, _)| word).to_vec(),
        ),
        (
            "/properties/context/properties/offer".to_owned(),
            ContextOfferMode::ALL.map(ContextOfferMode::as_str).to_vec(),
        ),
        (
            "/properties/context/properties/names".to_owned(),
            ContextNamingStyle::ALL.map(ContextNamingStyle::as_str).to_vec(),
        ),
        (format!("{approvals}/via"), via.clone()),
        (format!("{approvals}/clients/additionalProperties/properties/via"), via),
        (format!("{profile}/naming"), naming),
        (format!("{profile}/prefix"), prefix),
        (format!("{profile}/expose"), ExposureMode::ALL.map(ExposureMode::as_str).to_vec()),
        (format!("{server}/approval"), approval.clone()),
        (format!("{server}/tools/additionalProperties/properties/approval"), approval),
    ];
    for (pointer, words) in fields {
        let described = schema.pointer(&format!("{pointer}/enum"));
        assert_eq!(described, Some(&serde_json::json!(words)), "{pointer}");
    }
}
