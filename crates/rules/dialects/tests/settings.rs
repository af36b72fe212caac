//! What a file says beside its servers: it is written where it is read, and what a dialect has no
//! words for is told.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

mod common;

use toolgate_dialects::{Dialect, Input, Mode, Permissions, Reading, Settings};
use toolgate_model::{Data, Secret};

fn read(dialect: Dialect, text: &str) -> Reading {
    dialect.read(text, &common::place(dialect))
}

/// The settings of the fixture with every field.
fn every_field(dialect: Dialect) -> Settings {
    let fixtures = common::of(dialect);
    let fixture = fixtures.iter().find(|it| it.name.starts_with("every-field")).unwrap();
    fixture.read().settings
}

/// The fields that are lost when these settings are written.
fn lost(dialect: Dialect, settings: &Settings) -> Vec<String> {
    let written = dialect.write(&[], settings, &common::place(dialect)).unwrap();
    written.losses.into_iter().map(|loss| loss.field).collect()
}

#[test]
fn permissions_are_written_where_they_are_read() {
    let permissions = Permissions {
        mode: Some(Mode::Full),
        allow: vec!["mcp:a:b".into()],
        ask: vec!["mcp:a:c".into()],
        deny: vec!["mcp:a:d".into()],
    };
    for dialect in [Dialect::Zed, Dialect::Nyzhi] {
        let settings = Settings { permissions: permissions.clone(), ..Settings::default() };
        let written = dialect.write(&[], &settings, &common::place(dialect)).unwrap();
        assert_eq!(written.losses, []);
        assert_eq!(read(dialect, &written.text).settings, settings, "{}", written.text);
    }
    let foreign = Permissions { allow: vec!["mcp__a__b".into()], ..Permissions::default() };
    let settings = Settings { permissions: foreign, ..Settings::default() };
    let losses = Dialect::Zed.write(&[], &settings, &common::place(Dialect::Zed)).unwrap().losses;
    assert_eq!(losses.len(), 1, "{losses:?}");
    let losses = Dialect::VsCode.write(&[], &settings, &common::place(Dialect::VsCode)).unwrap();
    assert_eq!(losses.losses.len(), 1, "{losses:?}");
}

/// What only one host understands goes back to it, and is told as lost wherever else it goes.
#[test]
fn what_means_something_to_one_host_only_is_kept_for_it() {
    for from in [Dialect::CoreAgent, Dialect::VsCode] {
        let said = every_field(from);
        let alone = Settings { extras: said.extras.clone(), ..Settings::default() };
        assert_eq!(alone.extras.keys().collect::<Vec<_>>(), [from.as_str()]);
        for to in Dialect::ALL.into_iter().filter(|to| *to != from && !to.is_ours()) {
            assert_eq!(lost(to, &alone), [format!("extra.{from}")], "{to}");
        }
        for to in [from, Dialect::Toolgate] {
            let written = to.write(&[], &said, &common::place(to)).unwrap();
            assert_eq!(written.losses, [], "{to}");
            assert_eq!(read(to, &written.text).settings, said, "{}", written.text);
        }
    }
}

/// Our file can say of another host what that host has no place for.
#[test]
fn what_a_host_has_no_place_for_is_told() {
    let ours = "[extra.core-agent]\nagentic_wrap = true\ncolour = 1\n\
                [extra.vscode]\ncolour = 1\ninputs = { key = { default = 'x' } }\n";
    let settings = read(Dialect::Toolgate, ours).settings;
    let expected = ["extra.vscode", "extra.core-agent.colour"];
    assert_eq!(lost(Dialect::CoreAgent, &settings), expected);
    let expected = ["extra.core-agent", "extra.vscode.colour", "extra.vscode.inputs.key"];
    assert_eq!(lost(Dialect::VsCode, &settings), expected);
}

/// TOML has no null: an argument that is null cannot be kept on the way through ours.
#[test]
fn a_null_among_what_is_kept_is_told() {
    let text = r#"{ "inputs": [
        { "id": "key", "type": "command", "command": "pick", "args": { "a": null, "b": 1 } }
    ] }"#;
    let settings = read(Dialect::VsCode, text).settings;
    assert_eq!(lost(Dialect::VsCode, &settings), [""; 0]);
    assert_eq!(lost(Dialect::Toolgate, &settings), ["extra.vscode.inputs.key.args.a"]);
}

#[test]
fn an_input_is_asked_for_once_wherever_it_stands() {
    let text = r#"{
        "inputs": [{ "id": "key", "type": "promptString", "default": "x" }],
        "mcp": { "inputs": [
            { "id": "key", "type": "promptString" },
            { "id": "region", "type": "pickString", "options": ["eu"] }
        ] }
    }"#;
    let reading = read(Dialect::VsCode, text);
    let input = |id: &str| Input { id: id.into(), ..Input::default() };
    assert_eq!(reading.settings.inputs, [input("key"), input("region")]);
    let kept = reading.settings.extras.get("vscode").map(Secret::expose).unwrap();
    let Some(Data::Table(inputs)) = kept.get("inputs") else { panic!("{kept:?}") };
    assert_eq!(inputs.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["key", "region"]);
    assert!(reading.diagnostics.iter().any(|it| it.message.contains("asks for \"key\" twice")));
}
