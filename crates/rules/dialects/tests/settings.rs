//! What a file says beside its servers: it is written where it is read, and what a dialect has no
//! words for is told.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

mod common;

use toolgate_dialects::{
    Dialect, FileSettings, InputSpec, LocatedValue, ParsedFile, Permissions, PolicyMode,
    RuleTranslation,
};
use toolgate_model::{
    ArgumentCondition, ConfigValue, Effect, ExpectedArgumentValue, RuleSpec, Secret,
};

fn read(dialect: Dialect, text: &str) -> ParsedFile {
    dialect.read(text, &common::place(dialect))
}

/// The settings of the fixture with every field.
fn every_field(dialect: Dialect) -> FileSettings {
    let fixtures = common::of(dialect);
    let fixture = fixtures.iter().find(|it| it.name.starts_with("every-field")).unwrap();
    fixture.read().settings
}

/// The fields that are lost when these settings are written.
fn lost(dialect: Dialect, settings: &FileSettings) -> Vec<String> {
    let written = dialect.write(&[], settings, &common::place(dialect)).unwrap();
    written.losses.into_iter().map(|loss| loss.field).collect()
}

#[test]
fn permissions_are_written_where_they_are_read() {
    let rule = |about: &str| vec![RuleSpec::from(about.to_owned())];
    let permissions = Permissions {
        mode: Some(LocatedValue { value: PolicyMode::Full, at: (0, 0) }),
        allow: rule("mcp:a:b"),
        ask: rule("mcp:a:c"),
        deny: rule("mcp:a:d"),
        ..Permissions::default()
    };
    for dialect in [Dialect::Zed, Dialect::Nyzhi, Dialect::CoreAgent, Dialect::ClaudeCode] {
        let settings = FileSettings { permissions: permissions.clone(), ..FileSettings::default() };
        let written = dialect.write(&[], &settings, &common::place(dialect)).unwrap();
        assert_eq!(written.losses, []);
        let again = common::said(&read(dialect, &written.text).settings);
        assert_eq!(again, settings, "{}", written.text);
    }
    let foreign = Permissions { allow: rule("mcp__a__b"), ..Permissions::default() };
    let settings = FileSettings { permissions: foreign, ..FileSettings::default() };
    let losses = Dialect::Zed.write(&[], &settings, &common::place(Dialect::Zed)).unwrap().losses;
    assert_eq!(losses.len(), 1, "{losses:?}");
    let losses = Dialect::VsCode.write(&[], &settings, &common::place(Dialect::VsCode)).unwrap();
    assert_eq!(losses.losses.len(), 1, "{losses:?}");
}

/// A rule with conditions is another rule without them, so whoever cannot say them says nothing.
#[test]
fn a_condition_that_a_dialect_cannot_say_is_told() {
    let when = vec![ArgumentCondition {
        pointer: "/n".into(),
        expected: ExpectedArgumentValue::Value(ConfigValue::Integer(3)),
    }];
    let rule = RuleSpec { when, ..RuleSpec::from("mcp:a:b".to_owned()) };
    let permissions = Permissions { deny: vec![rule], ..Permissions::default() };
    let settings = FileSettings { permissions, ..FileSettings::default() };
    for dialect in [Dialect::Zed, Dialect::Nyzhi, Dialect::CoreAgent, Dialect::ClaudeCode] {
        assert_eq!(lost(dialect, &settings), ["permissions.deny"], "{dialect}");
        let written = dialect.write(&[], &settings, &common::place(dialect)).unwrap();
        assert!(!written.text.contains("mcp:a:b"), "{}", written.text);
    }
    assert_eq!(lost(Dialect::Toolgate, &settings), [""; 0]);
}

/// What the rules of a text mean in our words.
fn meanings(dialect: Dialect, text: &str) -> Vec<(Effect, RuleTranslation)> {
    let said = read(dialect, text).settings.permissions;
    let lists =
        [(Effect::Allow, &said.allow), (Effect::Ask, &said.ask), (Effect::Deny, &said.deny)];
    let rules =
        lists.into_iter().flat_map(|(effect, rules)| rules.iter().map(move |it| (effect, it)));
    rules.map(|(effect, rule)| (effect, dialect.translate_rule(effect, rule, &said))).collect()
}

fn rule(effect: Effect, about: &str) -> (Effect, RuleTranslation) {
    (effect, RuleTranslation::Rule(about.to_owned()))
}

#[test]
fn nyzhi_allows_in_its_limited_mode_alone() {
    let text = |mode: &str| {
        format!(
            "[agent.trust]\nmode = '{mode}'\nallow_tools = ['mcp__fs__read', 'bash']\ndeny_tools = ['*']\n"
        )
    };
    let deny = rule(Effect::Deny, "mcp:*/*");
    let bash = (Effect::Allow, RuleTranslation::HostTool);
    let limited = meanings(Dialect::Nyzhi, &text("limited"));
    assert_eq!(limited, [rule(Effect::Allow, "mcp__fs__read"), bash.clone(), deny.clone()]);
    for mode in ["off", "full", "autoedit"] {
        let found = meanings(Dialect::Nyzhi, &text(mode));
        assert!(
            matches!(found[0], (Effect::Allow, RuleTranslation::Ignored(_))),
            "{mode}: {found:?}"
        );
        assert_eq!(found[1..], [bash.clone(), deny.clone()]);
    }
}

#[test]
fn rules_of_core_agent_are_held_against_names_and_arguments() {
    let text = r#"{ "permissions": {
        "allow": ["mcp:fs_read_file", "mcp:fs_*", "bash:git *", "mcp:fs_write *", "mcp:fs_x {\"a*"],
        "deny": ["*drop*", "mcp:fs_rm {\"path\":\"/*"]
    } }"#;
    let found = meanings(Dialect::CoreAgent, text);
    let expected = [
        rule(Effect::Allow, "mcp:fs_read_file"),
        rule(Effect::Allow, "mcp:fs_*"),
        (Effect::Allow, RuleTranslation::HostTool),
        rule(Effect::Allow, "mcp:fs_write"),
    ];
    assert_eq!(found[..4], expected);
    assert!(matches!(found[4].1, RuleTranslation::Ignored(_)), "{found:?}");
    assert_eq!(found[5..], [rule(Effect::Deny, "mcp:*drop*"), rule(Effect::Deny, "mcp:fs_rm")]);
}

#[test]
fn modes_of_core_agent_are_as_it_documents_them() {
    let said = |mode: &str| {
        let text = format!(r#"{{ "permissions": {{ "mode": "{mode}" }} }}"#);
        let said = read(Dialect::CoreAgent, &text).settings.permissions;
        (
            said.mode.map(|it| it.value),
            said.deny.into_iter().map(|it| it.subject).collect::<Vec<_>>(),
        )
    };
    assert_eq!(said("ask"), (Some(PolicyMode::Ask), vec![]));
    assert_eq!(said("allow"), (Some(PolicyMode::Limited), vec![]));
    assert_eq!(said("yolo"), (Some(PolicyMode::Full), vec![]));
    assert_eq!(said("acceptEdits"), (Some(PolicyMode::Ask), vec![]));
    assert_eq!(said("plan"), (None, vec!["mcp:*".to_owned()]));
    // A slip of the pen opens nothing.
    assert_eq!(said("yolol"), (Some(PolicyMode::Ask), vec![]));
}

#[test]
fn rules_of_zed_and_claude_code_name_tools_in_their_own_way() {
    let zed = r#"{ "agent": { "tool_permissions": { "default": "deny", "tools": {
        "mcp:git:log": { "default": "allow" },
        "mcp:git:push": { "default": "allow", "always_deny": [{ "pattern": "force" }] },
        "terminal": { "default": "allow" }
    } } } }"#;
    let expected = [
        rule(Effect::Allow, "mcp:git/log"),
        rule(Effect::Ask, "mcp:git/push"),
        rule(Effect::Deny, "mcp:*/*"),
    ];
    assert_eq!(meanings(Dialect::Zed, zed), expected);
    let claude = r#"{ "permissions": {
        "defaultMode": "bypassPermissions",
        "allow": ["mcp__git__log", "mcp__files", "Bash(ls:*)"],
        "ask": ["mcp__git__*"], "deny": ["mcp__git__push(force)"]
    } }"#;
    let expected = [
        rule(Effect::Allow, "mcp__git__log"),
        rule(Effect::Allow, "mcp:files/*"),
        (Effect::Allow, RuleTranslation::HostTool),
        rule(Effect::Ask, "mcp:git/*"),
        rule(Effect::Deny, "mcp__git__push"),
    ];
    assert_eq!(meanings(Dialect::ClaudeCode, claude), expected);
    let mode = read(Dialect::ClaudeCode, claude).settings.permissions.mode;
    assert_eq!(mode, Some(LocatedValue { value: PolicyMode::Full, at: (2, 9) }));
}

/// What only one host understands goes back to it, and is told as lost wherever else it goes.
#[test]
fn what_means_something_to_one_host_only_is_kept_for_it() {
    for from in [Dialect::CoreAgent, Dialect::VsCode] {
        let said = every_field(from);
        let alone = FileSettings { extras: said.extras.clone(), ..FileSettings::default() };
        assert_eq!(alone.extras.keys().collect::<Vec<_>>(), [from.as_str()]);
        for to in Dialect::ALL.into_iter().filter(|to| *to != from && !to.is_toolgate()) {
            assert_eq!(lost(to, &alone), [format!("extra.{from}")], "{to}");
        }
        for to in [from, Dialect::Toolgate] {
            let written = to.write(&[], &said, &common::place(to)).unwrap();
            assert_eq!(written.losses, [], "{to}");
            let again = read(to, &written.text).settings;
            assert_eq!(common::said(&again), common::said(&said), "{}", written.text);
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
    let input = |id: &str| InputSpec { id: id.into(), ..InputSpec::default() };
    assert_eq!(reading.settings.inputs, [input("key"), input("region")]);
    let kept = reading.settings.extras.get("vscode").map(Secret::expose).unwrap();
    let Some(ConfigValue::Table(inputs)) = kept.get("inputs") else { panic!("{kept:?}") };
    assert_eq!(inputs.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["key", "region"]);
    assert!(
        reading
            .diagnostics
            .iter()
            .any(|it| it.message.contains("has two inputs with the id \"key\""))
    );
}
