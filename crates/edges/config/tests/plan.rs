//! Real files in real folders, and the plan they add up to.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use toolgate_config::{
    ConfigError, ConfigSources, Environment, Home, Plan, PlanEntry, PrefixMode, StartStatus, load,
};
use toolgate_model::{ConfigScope, DiagnosticSeverity, ServerName, StdioSpec, TransportSpec};

/// A user with a home folder, and a repository in it.
struct World {
    folder: TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(world.repository().join(".git")).unwrap();
        world
    }

    fn user_dir(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("user")
    }

    fn repository(&self) -> PathBuf {
        self.user_dir().join("code/app")
    }

    fn home(&self) -> Home {
        let user = self.user_dir().to_str().unwrap().to_owned();
        let dir = self.user_dir().join("toolgate");
        Home::find(Some(dir), &move |name| (name == "HOME").then(|| user.clone())).unwrap()
    }

    fn user_config(&self, text: &str) -> &Self {
        write(&self.home().config_file(), text);
        self
    }

    fn project(&self, file: &str, text: &str) -> &Self {
        write(&self.repository().join(file), text);
        self
    }

    fn sources(&self) -> ConfigSources {
        ConfigSources { project_dir: Some(self.repository()), ..ConfigSources::new(self.home()) }
    }

    fn plan(&self) -> Plan {
        load(&self.sources(), &|_, _| false, &Environment::new(|_| None)).unwrap()
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn entry<'a>(plan: &'a Plan, name: &str) -> &'a PlanEntry {
    plan.entry(&ServerName::new(name).unwrap()).unwrap()
}

fn stdio(entry: &PlanEntry) -> &StdioSpec {
    match &entry.spec.transport {
        TransportSpec::Stdio(stdio) => stdio,
        other => panic!("{other:?}"),
    }
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.entries.iter().map(|entry| entry.spec.name.as_str()).collect()
}

#[test]
fn no_file_is_no_servers_and_no_complaint() {
    let plan = World::new().plan();
    assert_eq!((plan.entries.len(), plan.diagnostics.len()), (0, 0));
}

#[test]
fn nearer_wins_and_ours_wins_over_foreign() {
    let world = World::new();
    world
        .user_config("[servers.a]\ncommand = 'user'\n[servers.u]\ncommand = 'user-only'\n")
        .project("toolgate.toml", "[servers.a]\ncommand = 'root-ours'\n")
        .project(".mcp.json", r#"{"mcpServers": {"a": {"command": "root-json"}}}"#)
        .project("sub/.mcp.json", r#"{"mcpServers": {"a": {"command": "sub-json"}}}"#)
        .project("sub/toolgate.toml", "[servers.b]\ncommand = 'sub-ours'\n");
    let sources =
        ConfigSources { project_dir: Some(world.repository().join("sub")), ..world.sources() };
    let plan = load(&sources, &|_, _| false, &Environment::new(|_| None)).unwrap();
    assert_eq!(plan.diagnostics, []);
    assert_eq!(names(&plan), ["b", "a", "u"]);

    let a = entry(&plan, "a");
    assert_eq!(stdio(a).command, "sub-json");
    let losers: Vec<_> = a.shadows.iter().map(ToString::to_string).collect();
    assert_eq!(losers.len(), 3);
    assert!(losers[0].ends_with("app/toolgate.toml:1:10"), "{losers:?}");
    assert!(losers[1].ends_with("app/.mcp.json:1:17"), "{losers:?}");
    assert!(losers[2].ends_with("toolgate/config.toml:1:10"), "{losers:?}");
    assert_eq!(a.shadows[2].origin.scope, ConfigScope::User);
}

#[test]
fn the_search_ends_at_the_repository() {
    let world = World::new();
    write(&world.user_dir().join("code/toolgate.toml"), "[servers.above]\ncommand = 'x'\n");
    assert_eq!(names(&world.plan()), [""; 0]);
    fs::remove_dir(world.repository().join(".git")).unwrap();
    assert_eq!(names(&world.plan()), ["above"]);
}

#[test]
fn outside_home_and_repository_only_the_folder_itself_counts() {
    let world = World::new();
    let outside = world.user_dir().parent().unwrap().join("tmp/deep");
    write(&outside.parent().unwrap().join("toolgate.toml"), "[servers.planted]\ncommand = 'x'\n");
    write(&outside.join("toolgate.toml"), "[servers.here]\ncommand = 'x'\n");
    let sources = ConfigSources { project_dir: Some(outside), ..world.sources() };
    assert_eq!(
        names(&load(&sources, &|_, _| false, &Environment::new(|_| None)).unwrap()),
        ["here"]
    );
}

#[test]
fn what_a_project_proposes_waits_for_consent_to_exactly_that() {
    let world = World::new();
    let text = "[servers.a]\ncommand = 'x'\n[servers.h]\nurl = 'https://x/mcp'\n";
    world.user_config("[servers.mine]\ncommand = 'y'\n").project("toolgate.toml", text);
    let plan = world.plan();
    assert_eq!(entry(&plan, "a").start_status, StartStatus::NeedsConsent);
    assert_eq!(entry(&plan, "h").start_status, StartStatus::NeedsConsent);
    assert_eq!(entry(&plan, "mine").start_status, StartStatus::Ready);

    let given = [entry(&plan, "a").identity(), entry(&plan, "h").identity()];
    let consents = |_: &ServerName, digest: &_| given.contains(digest);
    let plan = load(&world.sources(), &consents, &Environment::new(|_| None)).unwrap();
    assert!(plan.entries.iter().all(|entry| entry.start_status == StartStatus::Ready));

    world.project("toolgate.toml", &text.replace("'x'", "'z'").replace("//x", "//z"));
    let plan = load(&world.sources(), &consents, &Environment::new(|_| None)).unwrap();
    assert_eq!(entry(&plan, "a").start_status, StartStatus::NeedsConsent);
    assert_eq!(entry(&plan, "h").start_status, StartStatus::NeedsConsent);
}

#[test]
fn the_consent_text_shows_everything_but_values() {
    let world = World::new();
    let text =
        "[servers.a]\ncommand = 'x'\nargs = ['one two', \"t\\u001bx\"]\nenv = { KEY = 's3cret' }\n";
    world.project("toolgate.toml", text);
    let plan = world.plan();
    let shown = entry(&plan, "a").consent_text();
    for part in ["\"x\"", "\"one two\"", "\\u{1b}", "code/app", "\"KEY\""] {
        assert!(shown.contains(part), "{shown}");
    }
    assert!(!shown.contains("s3cret") && !shown.contains('\u{1b}'), "{shown}");
}

#[test]
fn a_named_file_is_read_alone_and_is_consent() {
    let world = World::new();
    world.user_config("[servers.user]\ncommand = 'x'\n");
    world.project("toolgate.toml", "[servers.project]\ncommand = 'x'\n");
    let named = world.folder.path().join("servers");
    write(&named, r#"{"mcpServers": {"named": {"command": "x", "cwd": "sub"}}}"#);
    let sources = ConfigSources { config: Some(named.clone()), ..world.sources() };
    let plan = load(&sources, &|_, _| false, &Environment::new(|_| None)).unwrap();
    assert_eq!(names(&plan), ["named"]);
    let named_entry = entry(&plan, "named");
    assert_eq!(
        (&named_entry.start_status, named_entry.origin.scope),
        (&StartStatus::Ready, ConfigScope::User)
    );
    assert_eq!(stdio(named_entry).cwd, Some(world.folder.path().join("sub")));

    let missing = ConfigSources { config: Some("/nowhere/x.toml".into()), ..world.sources() };
    let error = load(&missing, &|_, _| false, &Environment::new(|_| None)).unwrap_err();
    assert!(matches!(error, ConfigError::Read { .. }), "{error}");
}

#[test]
fn one_server_under_two_names_is_kept_once() {
    let world = World::new();
    world.user_config("[servers.a]\ncommand = 'x'\nargs = ['y']\n[servers.h]\nurl = 'https://x'\n");
    let json =
        r#"{"mcpServers": {"b": {"command": "x", "args": ["y"]}, "i": {"url": "https://x"}}}"#;
    world.project(".mcp.json", json);
    let plan = world.plan();
    // The project's entries are nearer, but only the user's may start.
    assert_eq!(names(&plan), ["a", "h"]);
    assert_eq!(plan.diagnostics.len(), 2);
    let said = plan.diagnostics[0].to_string();
    assert!(said.contains("server \"b\" is the same as \"a\""), "{said}");
    assert!(said.contains("config.toml:1:10"), "{said}");
}

#[test]
fn accounts_folders_and_switched_off_entries_are_servers_of_their_own() {
    let world = World::new();
    let entries = ["env = { T = '1' }", "env = { T = '2' }", "cwd = '/a'", "cwd = '/b'"];
    let mut text = String::new();
    for (index, fields) in entries.iter().enumerate() {
        text += &format!("[servers.s{index}]\ncommand = 'x'\n{fields}\n");
    }
    text += "[servers.off]\ncommand = 'x'\nenv = { T = '1' }\nenabled = false\n";
    let plan = world.user_config(&text).plan();
    assert_eq!(names(&plan), ["s0", "s1", "s2", "s3", "off"]);
    assert_eq!(entry(&plan, "off").start_status, StartStatus::Disabled);
}

#[test]
fn an_entry_that_leads_back_to_us_is_skipped_with_a_note() {
    let world = World::new();
    world.user_config(
        "[servers.loop]\ncommand = '/opt/toolgate'\nargs = ['serve', '--stdio']\n\
         [servers.self]\nurl = 'http://localhost:7420/mcp'\n\
         [servers.sample]\ncommand = 'toolgate'\nargs = ['sample-server']\n",
    );
    let own_endpoints = vec!["http://127.0.0.1:7420/mcp".to_owned()];
    let sources = ConfigSources { own_endpoints, ..world.sources() };
    let plan = load(&sources, &|_, _| false, &Environment::new(|_| None)).unwrap();
    assert_eq!(names(&plan), ["sample"]);
    assert_eq!(plan.diagnostics.len(), 2);
    assert!(plan.diagnostics.iter().all(|found| found.severity == DiagnosticSeverity::Note));
}

#[test]
fn an_unset_variable_blocks_only_its_server_and_is_named() {
    let world = World::new();
    world.user_config(
        "[servers.a]\nurl = 'https://x'\nheaders = { Authorization = 'Bearer ${env:TOKEN}' }\n\
         [servers.b]\ncommand = 'x'\nargs = ['${env:MODE:-fast}']\nenv = { T = '${env:TOKEN}' }\n\
         [servers.c]\ncommand = 'x'\n",
    );
    let plan = world.plan();
    let StartStatus::Blocked(block) = &entry(&plan, "a").start_status else { panic!() };
    let reason = &block.reason;
    for part in ["\"a\"", "headers.Authorization", "TOKEN"] {
        assert!(reason.contains(part), "{reason}");
    }
    assert!(matches!(entry(&plan, "b").start_status, StartStatus::Blocked(_)));
    assert_eq!(entry(&plan, "c").start_status, StartStatus::Ready);

    let env = Environment::new(|name| (name == "TOKEN").then(|| "s3cret".to_owned()));
    let plan = load(&world.sources(), &|_, _| false, &env).unwrap();
    let b = entry(&plan, "b");
    assert_eq!(b.start_status, StartStatus::Ready);
    // The plan itself keeps what was written; only a resolved entry holds values.
    assert_eq!(stdio(b).env["T"].expose(), "${env:TOKEN}");
    let TransportSpec::Stdio(resolved) = b.resolve(&env).unwrap().spec.transport else { panic!() };
    assert_eq!(resolved.args, ["fast"]);
    assert_eq!(resolved.env["T"].expose(), "s3cret");
}

#[test]
fn a_variable_cannot_smuggle_a_header_or_leave_a_credential_empty() {
    let world = World::new();
    let json = r#"{"mcpServers": {
        "a": {"url": "https://x", "headers": {"H": "${LINES}"}},
        "b": {"url": "https://y", "headers": {"H": "Bearer ${NONE:-}"}}}}"#;
    let named = world.folder.path().join("x.json");
    write(&named, json);
    let env = Environment::new(|name| (name == "LINES").then(|| "s3cret\r\nX: y".to_owned()));
    let sources = ConfigSources { config: Some(named), ..world.sources() };
    let plan = load(&sources, &|_, _| false, &env).unwrap();
    for name in ["a", "b"] {
        let StartStatus::Blocked(block) = &entry(&plan, name).start_status else {
            panic!("{name}")
        };
        let reason = block.to_string();
        assert!(!reason.contains("s3cret"), "{reason}");
    }
}

#[test]
fn settings_come_from_the_nearest_file_that_may_say_them() {
    let world = World::new();
    world
        .user_config("roots = ['~/code', '/srv/../data']\nprefix = 'never'\n")
        .project("toolgate.toml", "prefix = 'on-collision'\n");
    let plan = world.plan();
    assert_eq!(plan.settings.prefix, PrefixMode::Never);
    assert_eq!(plan.settings.roots, [world.user_dir().join("code"), "/data".into()]);
}

#[cfg(unix)]
#[test]
fn a_project_can_only_name_roots_inside_itself() {
    let world = World::new();
    fs::create_dir(world.repository().join("src")).unwrap();
    std::os::unix::fs::symlink("/", world.repository().join("link")).unwrap();
    world.project("toolgate.toml", "roots = ['.', 'src', '..', '/', '~', 'link', 'link/etc']\n");
    let plan = world.plan();
    assert_eq!(plan.settings.roots, [world.repository(), world.repository().join("src")]);
    assert_eq!(plan.diagnostics.len(), 5);
}

#[test]
fn a_file_that_cannot_be_read_hides_no_other() {
    let world = World::new();
    world.user_config("[servers.mine]\ncommand = 'x'\n");
    fs::create_dir(world.repository().join("toolgate.toml")).unwrap();
    fs::write(world.repository().join(".mcp.json"), [0xff, 0xfe]).unwrap();
    let plan = world.plan();
    assert_eq!(names(&plan), ["mine"]);
    assert_eq!(plan.diagnostics.len(), 2);
    assert!(plan.diagnostics.iter().all(|found| found.severity == DiagnosticSeverity::Error));
}

#[test]
fn a_file_without_end_is_not_read_to_its_end() {
    let world = World::new();
    let path = world.repository().join("toolgate.toml");
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    let plan = world.plan();
    assert!(plan.diagnostics[0].message.contains("larger than"), "{:?}", plan.diagnostics);
}
