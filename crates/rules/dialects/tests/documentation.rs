//! `docs/reference/configuration.md` says what the reader and the schema say: the same fields, and which of
//! them have no effect yet; every example in the documents is one the reader takes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;
use toolgate_dialects::{Dialect, FileSettings, SCHEMA};

/// The mark of a field that has no effect yet.
const NOT_YET: &str = "**–**";

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The part of a page below a heading, up to the next one.
fn section<'p>(page: &'p str, heading: &str) -> &'p str {
    let (_, rest) = page.split_once(&format!("\n{heading}\n")).unwrap_or_else(|| {
        panic!("no {heading:?} in the page");
    });
    let end = ["\n## ", "\n### "].iter().filter_map(|next| rest.find(next)).min();
    &rest[..end.unwrap_or(rest.len())]
}

/// The fields in the first column of a section's table, and whether they carry the mark.
fn documented(page: &str, heading: &str) -> BTreeMap<String, bool> {
    let rows = section(page, heading).lines().filter(|line| line.starts_with("| `"));
    let mut fields = BTreeMap::new();
    for cell in rows.filter_map(|row| row.split('|').nth(1)) {
        let words = cell.split('`').skip(1).step_by(2);
        fields.extend(words.map(|word| (word.to_owned(), cell.contains(NOT_YET))));
    }
    fields
}

/// The fields of a table of the schema that hold no table of fields themselves, by their paths.
fn fields(table: &Value, before: &str, into: &mut BTreeSet<String>) {
    for (key, field) in table["properties"].as_object().unwrap() {
        let path = format!("{before}{key}");
        let element = match key.as_str() {
            "clients" => "CLIENT",
            "extra" => "DIALECT",
            _ => "NAME",
        };
        if path == "servers" {
            into.insert(path);
        } else if field.get("properties").is_some() {
            // A table as a whole may have a line of its own.
            fields(field, &format!("{path}."), into);
        } else if field["additionalProperties"].get("properties").is_some() {
            fields(&field["additionalProperties"], &format!("{path}.{element}."), into);
        } else if let Some(table) = field["anyOf"].get(1) {
            fields(table, &format!("{path}."), into);
            into.insert(path);
        } else if field["items"].get("properties").is_some() {
            fields(&field["items"], &format!("{path}."), into);
        } else if path == "extra" {
            into.insert(format!("{path}.{element}"));
        } else {
            into.insert(path);
        }
    }
}

fn described(pointer: &str) -> BTreeSet<String> {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let mut found = BTreeSet::new();
    fields(schema.pointer(pointer).unwrap(), "", &mut found);
    found
}

/// Tables and lists that have a line of their own beside those of their fields.
const WHOLE: [&str; 2] = ["auth", "inputs"];

#[test]
fn the_page_has_the_fields_of_the_schema() {
    let page = page("docs/reference/configuration.md");
    for (heading, pointer) in
        [("### Of the file", ""), ("### Of a server", "/properties/servers/additionalProperties")]
    {
        let listed = documented(&page, heading).into_keys();
        let listed: BTreeSet<_> = listed.filter(|field| !WHOLE.contains(&&**field)).collect();
        assert_eq!(listed, described(pointer), "{heading}");
    }
}

#[test]
fn fields_without_effect_are_marked_and_no_others() {
    let mut without = BTreeSet::new();
    for fixture in common::of(Dialect::Toolgate) {
        for found in fixture.read().diagnostics {
            if let Some(before) = found.message.strip_suffix("` has no effect yet") {
                without.extend(before.rsplit('`').next().map(str::to_owned));
            }
        }
    }
    let page = page("docs/reference/configuration.md");
    let mut marked = BTreeSet::new();
    for heading in ["### Of the file", "### Of a server"] {
        for (field, is_marked) in documented(&page, heading) {
            let parts: Vec<_> = field.split('.').collect();
            // What is said of one tool has names that servers have, too.
            let decides = if parts[0] == "tools" { parts[parts.len() - 1] } else { parts[0] };
            assert_eq!(is_marked, without.contains(decides), "{field}");
            marked.extend(is_marked.then(|| decides.to_owned()));
        }
    }
    assert_eq!(marked, without);
}

#[test]
fn every_dialect_is_in_the_table_with_its_variables() {
    let page = page("docs/reference/configuration.md");
    for heading in ["## Dialects", "## Variables"] {
        let text = section(&page, heading);
        let rows: String = text.lines().filter(|line| line.starts_with("| `")).collect();
        for dialect in
            Dialect::ALL.iter().filter(|it| heading == "## Dialects" || !it.is_toolgate())
        {
            assert!(rows.contains(&format!("`{dialect}`")), "{heading}: {dialect}");
        }
    }
}

#[test]
fn every_example_is_taken_without_a_word() {
    let mut read = 0;
    for name in ["README.md", "docs/reference/configuration.md"] {
        for block in page(name).split("```toml\n").skip(1) {
            let text = block.split("```").next().unwrap();
            let reading = Dialect::Toolgate.read(text, &common::place(Dialect::Toolgate));
            assert_eq!(reading.diagnostics, [], "{name}");
            let said = !reading.servers.is_empty()
                || !reading.overrides.is_empty()
                || reading.settings != FileSettings::default();
            assert!(said, "{name}: {text}");
            read += 1;
        }
    }
    assert!(read >= 2, "only {read} examples");
}
