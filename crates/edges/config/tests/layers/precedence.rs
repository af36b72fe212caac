//! The same name in many files.

use toolgate_config::Environment;
use toolgate_config::{
    ConfigDocument, ConfigSources, Dialect, Home, StartStatus, known_files, load,
};
use toolgate_model::{ConfigScope, DiagnosticSeverity};

use crate::world::{USER, World, declaring, entry, names, stdio};

const CLAUDE: &str = "~/.claude.json";

/// Declares the server `a` in a file; its command says which.
fn declare(world: &World, file: &str, dialect: Dialect) {
    world.file(file, &declaring(dialect, "a", file, &[]));
}

/// Declares it in Claude Code's entries for the repository.
fn declare_local(world: &World) {
    let project = world.repository().display().to_string();
    let text = format!(
        r#"{{"projects": {{{project:?}: {{"mcpServers": {{"a": {{"command": "local"}}}}}}}},
            "mcpServers": {{"a": {{"command": "user"}}}}}}"#
    );
    world.file(CLAUDE, &text);
}

#[test]
fn of_every_two_files_the_nearer_wins() {
    let order = [
        ("toolgate.toml", Dialect::Toolgate),
        (".nyzhi/config.toml", Dialect::Nyzhi),
        (".mcp.json", Dialect::McpJson),
        (".agents/mcp.json", Dialect::CoreAgent),
        (".gemini/settings.json", Dialect::Gemini),
        (".codex/config.toml", Dialect::Codex),
        (".vscode/mcp.json", Dialect::VsCode),
        (USER, Dialect::Toolgate),
        (CLAUDE, Dialect::ClaudeCode),
        ("~/.codex/config.toml", Dialect::Codex),
        ("~/.config/goose/config.yaml", Dialect::Goose),
        ("/etc/toolgate/config.toml", Dialect::Toolgate),
        ("/etc/claude-code/managed-mcp.json", Dialect::McpJson),
        ("/etc/gemini-cli/settings.json", Dialect::Gemini),
    ];
    for (index, near) in order.iter().enumerate() {
        for far in &order[index + 1..] {
            let world = World::new();
            declare(&world, near.0, near.1);
            declare(&world, far.0, far.1);
            let plan = world.plan();
            let a = entry(&plan, "a");
            assert_eq!(stdio(&a.spec).command, near.0, "against {}", far.0);
            assert_eq!((a.dialect, a.shadows.len()), (near.1, 1), "{near:?} {far:?}");
            assert_eq!(a.shadows[0].dialect, far.1);
            assert_eq!(stdio(&a.shadows[0].spec).command, far.0);
            let place = world.path(far.0).display().to_string();
            assert!(a.shadows[0].to_string().starts_with(&place), "{}", a.shadows[0]);
        }
    }
}

/// Every file that is known, the nearest taken away again and again.
#[test]
fn every_known_file_is_read_and_wins_over_those_after_it() {
    let world = World::new();
    let mut files = known_files(&world.sources());
    // It holds no servers.
    files.retain(|file| !file.path().ends_with(".agents/config.json"));
    assert!(files.len() > 45, "{}", files.len());
    for file in &files {
        let path = file.path().to_str().unwrap().to_owned();
        std::fs::create_dir_all(file.path().parent().unwrap()).unwrap();
        std::fs::write(file.path(), declaring(file.dialect, "a", &path, &[])).unwrap();
    }
    assert_eq!(world.plan().files.len(), files.len());
    while !files.is_empty() {
        let shared = |it: &ConfigDocument| {
            it.dialect == Dialect::McpJson && it.at.scope == ConfigScope::Project
        };
        let nyzhi = files.iter().position(|file| file.dialect == Dialect::Nyzhi);
        // Nyzhi's own file wins over a project's `.mcp.json`, wherever it lies.
        let first = nyzhi.filter(|_| shared(&files[0])).unwrap_or(0);
        let file = files.remove(first);
        let plan = world.plan();
        let a = entry(&plan, "a");
        assert_eq!(stdio(&a.spec).command, file.path().to_str().unwrap());
        assert_eq!((a.origin.scope, a.dialect), (file.at.scope, file.dialect));
        assert_eq!(a.shadows.len(), files.len());
        std::fs::remove_file(file.path()).unwrap();
    }
    assert_eq!(names(&world.plan()), [""; 0]);
}

#[test]
fn claude_codes_entries_of_a_project_stand_between_ours_and_the_shared_file() {
    let world = World::new();
    declare_local(&world);
    declare(&world, ".mcp.json", Dialect::McpJson);
    declare(&world, ".nyzhi/config.toml", Dialect::Nyzhi);
    let plan = load(&world.sources(), &|_, _| false, &Environment::new(|_| None)).unwrap();
    let a = entry(&plan, "a");
    assert_eq!(stdio(&a.spec).command, "local");
    assert_eq!(stdio(&a.spec).cwd, Some(world.repository()), "it runs in its project");
    // It lies in the user's own file, so it is his word.
    assert_eq!((a.origin.scope, &a.start_status), (ConfigScope::User, &StartStatus::Ready));
    assert_eq!(a.shadows.len(), 3);
    declare(&world, "toolgate.toml", Dialect::Toolgate);
    assert_eq!(stdio(&entry(&world.plan(), "a").spec).command, "toolgate.toml");
}

#[test]
fn claude_codes_entries_of_other_projects_do_not_count() {
    let world = World::new();
    let text = r#"{"projects": {"/elsewhere": {"mcpServers": {"b": {"command": "b"}}}}}"#;
    world.file(CLAUDE, text);
    let plan = world.plan();
    assert_eq!((names(&plan).len(), plan.diagnostics.len()), (0, 0));
    // Who names the file is told why nothing of it is used.
    let plan = world.named(&world.path(CLAUDE), &Environment::new(|_| None));
    assert_eq!(plan.entries.len(), 0);
    assert!(plan.diagnostics[0].to_string().contains("/elsewhere"), "{:?}", plan.diagnostics);
}

#[test]
fn nyzhis_files_win_over_the_shared_one_and_over_nothing_else() {
    let world = World::new();
    declare(&world, ".mcp.json", Dialect::McpJson);
    declare(&world, "~/.config/nyzhi/config.toml", Dialect::Nyzhi);
    let plan = load(&world.sources(), &|_, _| false, &Environment::new(|_| None)).unwrap();
    let a = entry(&plan, "a");
    assert_eq!((a.dialect, &a.start_status), (Dialect::Nyzhi, &StartStatus::Ready));
    assert_eq!(a.shadows[0].dialect, Dialect::McpJson);
    declare(&world, "toolgate.toml", Dialect::Toolgate);
    assert_eq!(entry(&world.plan(), "a").dialect, Dialect::Toolgate);

    let world = World::new();
    declare(&world, ".gemini/settings.json", Dialect::Gemini);
    declare(&world, "~/.config/nyzhi/config.toml", Dialect::Nyzhi);
    assert_eq!(entry(&world.plan(), "a").dialect, Dialect::Gemini);
}

#[test]
fn a_nearer_folder_wins_over_everything_in_a_farther_one() {
    let world = World::new();
    declare(&world, "toolgate.toml", Dialect::Toolgate);
    declare(&world, "sub/.cursor/mcp.json", Dialect::Cursor);
    let sources =
        ConfigSources { project_dir: Some(world.repository().join("sub")), ..world.sources() };
    let plan = load(&sources, &|_, _| true, &Environment::new(|_| None)).unwrap();
    let a = entry(&plan, "a");
    assert_eq!(stdio(&a.spec).command, "sub/.cursor/mcp.json");
    assert_eq!(stdio(&a.spec).cwd, Some(world.repository().join("sub")), "not .cursor");
}

#[test]
fn the_users_files_of_other_hosts_are_his_word_and_a_projects_only_propose() {
    let world = World::new();
    world.file("~/.codex/config.toml", "[mcp_servers.mine]\ncommand = 'x'\n");
    world.file(".codex/config.toml", "[mcp_servers.theirs]\ncommand = 'y'\n");
    let plan = load(&world.sources(), &|_, _| false, &Environment::new(|_| None)).unwrap();
    assert_eq!(entry(&plan, "mine").start_status, StartStatus::Ready);
    assert_eq!(entry(&plan, "theirs").start_status, StartStatus::NeedsConsent);
}

#[test]
fn a_search_that_reaches_the_users_folder_takes_his_files_for_his() {
    let world = World::new();
    std::fs::remove_dir(world.repository().join(".git")).unwrap();
    world.file("~/.codex/config.toml", "[mcp_servers.mine]\ncommand = 'x'\n");
    let plan = load(&world.sources(), &|_, _| false, &Environment::new(|_| None)).unwrap();
    let mine = entry(&plan, "mine");
    assert_eq!((mine.origin.scope, mine.shadows.len()), (ConfigScope::User, 0));
    assert_eq!(mine.start_status, StartStatus::Ready);
}

#[test]
fn the_user_says_whose_files_are_read_and_a_project_does_not() {
    let world = World::new();
    world.file(".mcp.json", &declaring(Dialect::McpJson, "p", "p", &[]));
    world.file(CLAUDE, &declaring(Dialect::ClaudeCode, "u", "u", &[]));
    world.file("/etc/gemini-cli/settings.json", &declaring(Dialect::Gemini, "s", "s", &[]));
    world.file("toolgate.toml", "foreign = 'none'\n");
    let plan = world.plan();
    assert_eq!(names(&plan), ["p", "u", "s"]);
    assert!(plan.diagnostics[0].message.contains("`foreign` has no effect"));
    for (said, read) in [("all", &["p", "u", "s"][..]), ("project", &["p"]), ("none", &[])] {
        world.file(USER, &format!("foreign = '{said}'\n"));
        assert_eq!(names(&world.plan()), read, "{said}");
    }
    world.file("/etc/toolgate/config.toml", "foreign = 'all'\n");
    assert_eq!(names(&world.plan()), [""; 0], "the user is nearer than the system");
    world.file(USER, "");
    world.file("/etc/toolgate/config.toml", "foreign = 'project'\n");
    assert_eq!(names(&world.plan()), ["p"]);
}

#[test]
fn a_home_without_a_user_reads_no_files_of_other_hosts_but_the_projects() {
    let world = World::new();
    declare(&world, CLAUDE, Dialect::ClaudeCode);
    world.file(".mcp.json", &declaring(Dialect::McpJson, "p", "p", &[]));
    let home = Home::at(world.root().join("alone"));
    let sources =
        ConfigSources { project_dir: Some(world.repository()), ..ConfigSources::new(home) };
    let plan = load(&sources, &|_, _| true, &Environment::new(|_| None)).unwrap();
    assert_eq!(names(&plan), ["p"]);
}

#[test]
fn the_plan_says_what_was_read() {
    let world = World::new();
    let second = r#"{"mcp": {"servers": {"o": {"type": "local", "command": ["y"]}}}}"#;
    world.file(".mcp.json", "{}").file("opencode.json", second);
    world.file(USER, "[servers.a]\ncommand = 'x'\n[servers.b]\ncommand = 3\n");
    let plan = world.plan();
    let read: Vec<_> = plan.files.iter().map(|it| (it.dialect, it.scope, it.servers)).collect();
    assert_eq!(
        read,
        [
            (Dialect::McpJson, ConfigScope::Project, 0),
            (Dialect::OpenCodeV2, ConfigScope::Project, 1),
            (Dialect::Toolgate, ConfigScope::User, 1)
        ]
    );
    let known = known_files(&world.sources());
    let exists: Vec<_> =
        known.iter().map(ConfigDocument::path).filter(|path| path.exists()).collect();
    assert_eq!(exists, plan.files.iter().map(|it| &*it.path).collect::<Vec<_>>());
}

#[test]
fn findings_come_by_file_and_line() {
    let world = World::new();
    world.file("toolgate.toml", "nonsense = 1\n[servers.a]\ncommand = 3\n[servers.b]\nx = 1\n");
    world.file(".mcp.json", "{");
    let plan = world.plan();
    let places: Vec<_> =
        plan.diagnostics.iter().map(|it| (it.origin.file.clone(), it.origin.line)).collect();
    let mut sorted = places.clone();
    sorted.sort();
    assert_eq!(places, sorted);
    assert!(places.len() >= 4, "{places:?}");
}

#[test]
fn a_file_that_seems_to_be_another_hosts_is_remarked_on() {
    let world = World::new();
    world.file(".vscode/mcp.json", r#"{"context_servers": {"a": {"command": "x"}}}"#);
    let plan = world.plan();
    let said: Vec<_> = plan.diagnostics.iter().map(|it| it.message.as_str()).collect();
    assert!(said.iter().any(|it| it.contains("vscode") && it.contains("zed")), "{said:?}");
}

#[test]
fn a_project_cannot_ask_to_be_trusted() {
    let world = World::new();
    world
        .file(".gemini/settings.json", r#"{"mcpServers": {"p": {"command": "x", "trust": true}}}"#);
    world.file(
        "~/.gemini/settings.json",
        r#"{"mcpServers": {"u": {"command": "y", "trust": true}}}"#,
    );
    let plan = world.plan();
    assert!(!entry(&plan, "p").spec.trust && entry(&plan, "u").spec.trust);
    let said = plan.diagnostics.iter().find(|it| it.message.contains("`trust` has no effect"));
    assert_eq!(said.unwrap().severity, DiagnosticSeverity::Warning);
}

#[test]
fn what_a_dialect_forbids_is_blocked_with_its_reason() {
    let world = World::new();
    world.file(
        "secondbrain.yaml",
        "mcp_servers:\n  - name: s\n    transport: stdio\n    command: x\n    enabled: true\n",
    );
    let plan = world.plan();
    assert!(matches!(entry(&plan, "s").start_status, StartStatus::Blocked(_)), "{plan:#?}");
}

#[test]
fn the_bare_map_that_hosts_may_share_is_read() {
    let world = World::new();
    world.file(".agents/mcp/servers.json", r#"{"a": {"command": "x"}}"#);
    world.file("~/.agents/mcp/servers.json", r#"{"b": {"command": "y"}}"#);
    let plan = world.plan();
    assert_eq!(names(&plan), ["a", "b"]);
    assert_eq!(plan.entries.iter().map(|it| it.dialect).collect::<Vec<_>>(), [Dialect::McpJson; 2]);
}
