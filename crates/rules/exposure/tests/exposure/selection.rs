//! A server's own declaration: what it hides, what it renames, and what it names for nothing.

use toolgate_model::{CapabilityId, CapabilityKind, DeclaredTool, Profile, ToolSelection};

use crate::world::{Server, hidden, listed, row, see, see_built_in, texts, why};

#[test]
fn every_rule_of_a_server_is_told_with_its_place() {
    let off = DeclaredTool { enabled: false, ..DeclaredTool::default() };
    let selection = ToolSelection {
        include: texts(&["read_*", "write", "exact"]),
        exclude: texts(&["read_secret"]),
        tools: [("write".to_owned(), off)].into(),
        ..ToolSelection::default()
    };
    let tools = ["read_file", "read_secret", "write", "exact", "other"];
    let seen = see_built_in(&[Server::new("files", &tools).selecting(selection)], "default");
    let of = |tool| why(&seen, "files", tool);
    assert_eq!(of("read_file"), listed(r#"include "read_*" of server files (servers.toml:7)"#));
    assert_eq!(of("exact"), listed(r#"include "exact" of server files (servers.toml:7)"#));
    assert_eq!(
        of("read_secret"),
        hidden(r#"exclude "read_secret" of server files (servers.toml:7)"#)
    );
    assert_eq!(of("write"), hidden("tools.write.enabled = false (servers.toml:7)"));
    assert_eq!(of("other"), hidden("not in include of server files (servers.toml:7)"));
    assert_eq!(seen.findings, [] as [&str; 0]);
}

#[test]
fn what_a_list_does_not_name_is_hidden_and_what_it_names_for_nothing_is_told() {
    let selection = ToolSelection {
        listed_only: true,
        tools: texts(&["read", "raed"])
            .into_iter()
            .map(|it| (it, DeclaredTool::default()))
            .collect(),
        ..ToolSelection::default()
    };
    let server = Server::new("files", &["read", "write"]).selecting(selection);
    let seen = see_built_in(&[server], "default");
    assert_eq!(
        why(&seen, "files", "read"),
        listed("listed in tools of server files (servers.toml:7)")
    );
    assert_eq!(
        why(&seen, "files", "write"),
        hidden("not listed in tools of server files, which shows no others (servers.toml:7)")
    );
    let told = r#"servers.files lists tool "raed", which the server does not offer"#;
    assert_eq!(why(&seen, "files", "raed"), hidden(&format!("{told} (servers.toml:7)")));
    assert_eq!(seen.findings, [told]);
    assert_eq!(seen.entries.len(), 3);
}

#[test]
fn an_include_without_wildcards_that_fits_nothing_is_told() {
    let include = texts(&["raed", "wr*", "run(git *)"]);
    let selection = ToolSelection { include, ..ToolSelection::default() };
    let seen =
        see_built_in(&[Server::new("files", &["read", "run"]).selecting(selection)], "default");
    let told = r#"servers.files lists tool "raed", which the server does not offer"#;
    assert_eq!(seen.findings, [told]);
    assert!(why(&seen, "files", "run").1.starts_with(r#"include "run(git *)""#));
}

#[test]
fn an_alias_is_the_name_and_tool_tags_replace_the_servers() {
    let entry = DeclaredTool {
        alias: Some("list_dir".into()),
        tags: Some(texts(&["mcp.files.read"])),
        ..DeclaredTool::default()
    };
    let selection = ToolSelection {
        tools: [("list_directory".to_owned(), entry)].into(),
        ..ToolSelection::default()
    };
    let server = Server::new("files", &["list_directory", "write"])
        .tagged(&["mcp.files"])
        .selecting(selection);
    let profile = Profile { tags: Some(texts(&["mcp.files.read"])), ..Profile::default() };
    let seen = see(&[server], profile);
    let listed = row(&seen, "files", "list_directory");
    assert_eq!(listed.exposed.as_deref(), Some("files__list_dir"));
    assert_eq!(listed.tags, ["mcp.files.read"]);
    assert_eq!(
        why(&seen, "files", "write"),
        hidden("tags mcp.files: profile research imports mcp.files.read (profiles.toml:3)")
    );
}

#[test]
fn prompts_and_resources_are_not_chosen_by_rules_for_tools() {
    let selection = ToolSelection { include: texts(&["none"]), ..ToolSelection::default() };
    let server = Server::new("files", &["read"])
        .with(CapabilityKind::Prompt, &["read"])
        .with(CapabilityKind::Resource, &["file:///a"])
        .selecting(selection);
    let seen = see_built_in(&[server], "default");
    let visible: Vec<_> =
        seen.entries.iter().filter(|row| row.exposed.is_some()).map(|row| row.id.kind).collect();
    assert_eq!(visible, [CapabilityKind::Resource, CapabilityKind::Prompt]);
}

#[test]
fn what_cannot_be_used_is_left_out_alone() {
    let server = Server::new("files", &["read", "broken", "x\u{202e}y"]);
    let seen = see_built_in(&[server], "default");
    let rule = "its schema cannot be used: it is broken";
    assert_eq!(why(&seen, "files", "broken"), hidden(&format!("{rule} (servers.toml:7)")));
    assert!(seen.findings.contains(&format!("tool files/broken is left out: {rule}")));
    let quarantined = "its name holds the invisible character U+202E (servers.toml:7)";
    assert_eq!(why(&seen, "files", "x\u{202e}y"), hidden(quarantined));
    assert_eq!(row(&seen, "files", "read").exposed.as_deref(), Some("files__read"));
}

#[test]
fn what_is_offered_twice_has_one_row() {
    let seen = see_built_in(&[Server::new("files", &["read", "read"])], "default");
    assert_eq!(seen.entries.len(), 1);
    assert_eq!(seen.findings, ["tool files/read is offered twice; the first definition is used"]);
}

#[test]
fn names_that_meet_are_told_with_both() {
    let seen = see_built_in(&[Server::new("files", &["a.b", "a/b"])], "default");
    let [finding] = &seen.findings[..] else { panic!("{:?}", seen.findings) };
    assert!(finding.contains("files/a.b") && finding.contains("files/a/b"), "{finding}");
    let id: &CapabilityId = &seen.entries[0].id;
    assert_eq!(seen.names.name_of(id), seen.entries[0].exposed.as_deref());
}
