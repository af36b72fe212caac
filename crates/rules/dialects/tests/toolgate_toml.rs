//! Our own dialect: what it says, and what it complains about.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

use std::path::Path;
use std::time::Duration;

use toolgate_dialects::{Dialect, FileRef, FileSettings, ParsedFile};
use toolgate_model::{
    ConfigScope, DiagnosticSeverity, ExposureMode, HttpSpec, NamingStyle, PoolScope, PrefixMode,
    Profile, RESULT_LIMIT, Secret, ServerTimeouts, StdioSpec, TransportSpec,
};

fn project(text: &str) -> ParsedFile {
    Dialect::Toolgate.read(text, &FileRef::new("/project/toolgate.toml", ConfigScope::Project))
}

fn user(text: &str) -> ParsedFile {
    Dialect::Toolgate.read(text, &FileRef::new("/home/config.toml", ConfigScope::User))
}

fn stdio(reading: &ParsedFile, index: usize) -> &StdioSpec {
    match &reading.servers[index].spec.transport {
        TransportSpec::Stdio(stdio) => stdio,
        other => panic!("{other:?}"),
    }
}

/// The only complaint about a text: its place, and what it says with its hint.
fn complaint(text: &str) -> (DiagnosticSeverity, (u32, u32), String) {
    let reading = project(text);
    assert_eq!(reading.diagnostics.len(), 1, "{:#?}", reading.diagnostics);
    let found = &reading.diagnostics[0];
    let said = format!("{} | {}", found.message, found.hint.as_deref().unwrap_or_default());
    (found.severity, (found.origin.line, found.origin.column), said)
}

#[test]
fn a_whole_file_is_understood() {
    let reading = user(
        r#"
roots = ["~/projects/app"]
prefix = "on-collision"

[servers.filesystem]
command = "npx"
args = ["-y", "server"]
env = { LOG_LEVEL = "info" }
env_inherit = ["AWS_*"]
cwd = "work/./here"
timeouts = { start = "5s", call = "500ms", max = "2h" }
pool = "per-caller"
description = "files"

[servers.github]
url = "https://api.example.com/mcp/"
headers = { Authorization = "Bearer ${env:GITHUB_TOKEN}" }
enabled = false

[servers.old]
url = "https://old.example.com/sse"
type = "sse"
"#,
    );
    assert_eq!(reading.diagnostics, []);
    assert_eq!(reading.settings.prefix, Some(PrefixMode::OnCollision));
    assert_eq!(reading.settings.roots.as_deref(), Some(&["~/projects/app".into()][..]));

    let files = &reading.servers[0];
    assert_eq!((files.origin.line, files.origin.column), (5, 10));
    assert_eq!(files.spec.pool, PoolScope::PerCaller);
    let expected = StdioSpec {
        command: "npx".into(),
        args: vec!["-y".into(), "server".into()],
        cwd: Some("/home/work/here".into()),
        env: [("LOG_LEVEL".to_owned(), Secret::new("info".to_owned()))].into(),
        env_inherit: vec!["AWS_*".into()],
        ..StdioSpec::default()
    };
    assert_eq!(stdio(&reading, 0), &expected);
    let timeouts = ServerTimeouts {
        start: Some(Duration::from_secs(5)),
        call: Some(Duration::from_millis(500)),
        max: Some(Duration::from_secs(7200)),
    };
    assert_eq!(files.spec.timeouts, timeouts);

    let github = &reading.servers[1].spec;
    assert!(!github.enabled);
    let TransportSpec::Http(HttpSpec { url, headers, .. }) = &github.transport else { panic!() };
    assert_eq!(url, "https://api.example.com/mcp/");
    assert_eq!(headers["Authorization"].expose(), "Bearer ${env:GITHUB_TOKEN}");
    assert_eq!(reading.servers[2].spec.transport.as_str(), "sse");
}

#[test]
fn an_empty_file_says_nothing() {
    assert_eq!(project(""), ParsedFile::default());
    assert_eq!(project("\u{feff}# only a comment\r\n"), ParsedFile::default());
}

#[test]
fn the_folder_of_a_projects_file_is_where_its_servers_run() {
    let text = "[servers.a]\ncommand = 'x'\n[servers.b]\ncommand = 'x'\ncwd = '/abs'\n\
                [servers.c]\ncommand = 'x'\ncwd = '~/there'\n";
    let reading = project(text);
    let folders = [Path::new("/project"), Path::new("/abs"), Path::new("~/there")];
    for (index, folder) in folders.into_iter().enumerate() {
        assert_eq!(stdio(&reading, index).cwd.as_deref(), Some(folder));
    }
    assert_eq!(stdio(&user(text), 0).cwd, None);
}

#[test]
fn one_bad_entry_hides_no_other() {
    let reading = project(
        r#"
prefix = "sometimes"
[servers]
number = 7
"" = { command = "x" }
both = { command = "x", url = "https://x" }
neither = {}
types = { command = ["x"], args = "y", enabled = "yes", env = { A = 1 } }
scheme = { url = "ftp://x" }
header = { url = "https://x", headers = { "a b" = "c" } }
slow = { command = "x", timeouts = { call = 30 } }
good = { command = "x" }
"#,
    );
    let names: Vec<_> = reading.servers.iter().map(|it| it.spec.name.as_str()).collect();
    assert_eq!(names, ["good"]);
    let mut lines: Vec<_> = reading.diagnostics.iter().map(|found| found.origin.line).collect();
    lines.dedup();
    assert_eq!(lines, (2..=2).chain(4..=11).collect::<Vec<_>>());
    assert!(reading.diagnostics.iter().all(|found| found.severity == DiagnosticSeverity::Error));
    assert!(reading.diagnostics.iter().all(|found| found.hint.is_some()));
}

#[test]
fn a_syntax_error_is_one_complaint_with_its_place() {
    let (severity, place, said) = complaint("[servers.a]\ncommand = \n");
    assert_eq!(severity, DiagnosticSeverity::Error);
    assert_eq!(place.0, 2);
    assert!(said.contains("cannot read the file"), "{said}");
}

#[test]
fn an_unknown_field_is_named_with_the_one_that_was_meant() {
    let (severity, place, said) = complaint("[servers.a]\ncommand = 'x'\nenabeld = false\n");
    assert_eq!((severity, place), (DiagnosticSeverity::Warning, (3, 1)));
    assert!(said.contains("`enabeld`") && said.contains("did you mean `enabled`?"), "{said}");
    let (_, _, said) = complaint("[server.a]\ncommand = 'x'\n");
    assert!(said.contains("did you mean `servers`?"), "{said}");
}

#[test]
fn a_field_of_a_later_version_is_said_to_do_nothing() {
    for (field, column) in [
        ("required = true", 1),
        ("sandbox = { enabled = true }", 1),
        ("manifest = { digest = 'x' }", 1),
        ("allowed_commands = ['x']", 1),
        ("client_consent = 'approved'", 1),
    ] {
        let (severity, place, said) = complaint(&format!("[servers.a]\ncommand = 'x'\n{field}\n"));
        assert_eq!((severity, place), (DiagnosticSeverity::Warning, (3, column)), "{said}");
        assert!(said.contains("has no effect yet"), "{said}");
    }
    for field in ["auth = { scopes = ['x'] }", "headers_helper = 'x'"] {
        let text = format!("[servers.a]\nurl = 'https://x'\n{field}\n");
        let (severity, place, said) = complaint(&text);
        assert_eq!((severity, place), (DiagnosticSeverity::Warning, (3, 1)), "{said}");
        assert!(said.contains("has no effect yet"), "{said}");
    }
}

#[test]
fn a_command_line_in_command_gets_a_hint() {
    let (severity, _, said) = complaint("[servers.a]\ncommand = 'npx -y --token abc'\n");
    assert_eq!(severity, DiagnosticSeverity::Warning);
    assert!(said.contains("\"npx\"") && said.contains("`args`"), "{said}");
    assert!(!said.contains("abc"), "{said}");
}

#[test]
fn a_projects_file_cannot_take_over_the_users_environment() {
    let text = "[servers.a]\ncommand = 'x'\nenv_inherit = ['*']\n";
    let (severity, _, said) = complaint(text);
    assert_eq!(severity, DiagnosticSeverity::Warning);
    assert!(said.contains("cannot contain patterns in a project's file"), "{said}");
    let named = project("[servers.a]\ncommand = 'x'\nenv_inherit = ['AWS_REGION']\n");
    assert_eq!(named.diagnostics, []);
    assert_eq!(stdio(&named, 0).env_inherit, ["AWS_REGION"]);
    assert!(stdio(&project(text), 0).env_inherit.is_empty());
    assert_eq!(stdio(&user(text), 0).env_inherit, ["*"]);
}

#[test]
fn what_belongs_to_the_other_transport_is_said_to_do_nothing() {
    let (severity, _, said) = complaint("[servers.a]\nurl = 'https://x'\nargs = ['y']\n");
    assert_eq!(severity, DiagnosticSeverity::Warning);
    assert!(said.contains("`args` has no effect beside `url`"), "{said}");
}

#[test]
fn places_count_characters() {
    let (_, place, _) = complaint("[servers]\n\"zażółć\" = 1\n");
    assert_eq!(place, (2, 12));
}

#[test]
fn what_hides_tools_has_its_effect_and_needs_no_remark() {
    let reading = user(
        "[servers.a]\ncommand = 'x'\ninclude = ['r*']\nexclude = ['rm']\nonly_listed = true\n\
         tools.read = {}\ntools.rest = { enabled = false }\ntools.rm = {}\ndescription = 'y'\n",
    );
    assert_eq!(reading.diagnostics, []);
    let selection = &reading.servers[0].spec.selection;
    assert_eq!(
        ["read", "rest", "rm", "run"].map(|it| selection.is_visible(it)),
        [true, false, false, false]
    );
}

#[test]
fn a_projects_file_cannot_vouch_for_its_servers() {
    let text = "[servers.a]\ncommand = 'x'\ntrust = true\ncompile = true\n";
    let reading = project(text);
    let said: Vec<_> = reading.diagnostics.iter().map(|found| found.message.as_str()).collect();
    let told = said.iter().filter(|it| it.contains("has no effect in a project's file"));
    assert_eq!(told.count(), 2, "{said:?}");
    let vouched = |reading: &ParsedFile| {
        let spec = &reading.servers[0].spec;
        (spec.trust, spec.compile)
    };
    assert_eq!(vouched(&reading), (false, false));
    assert_eq!(vouched(&user(text)), (true, true));
}

#[test]
fn an_entry_without_command_or_url_amends_another_files_server() {
    let reading = project("[servers.a]\nenabled = false\n[servers]\nb.enabled = true\n");
    assert_eq!(reading.diagnostics, []);
    let found: Vec<_> = reading.overrides.iter().map(|it| (it.name.as_str(), it.enabled)).collect();
    assert_eq!(found, [("a", Some(false)), ("b", Some(true))]);

    let reading = user("[servers.a]\nenv_inherit = ['AWS_*']\n");
    assert_eq!(reading.diagnostics, []);
    let found = &reading.overrides[0];
    assert_eq!((found.enabled, &found.env_inherit[..]), (None, &["AWS_*".to_owned()][..]));

    let text = "[servers.a]\nenabled = false\nargs = ['x']\n";
    let (severity, place, said) = complaint(text);
    assert_eq!((severity, place), (DiagnosticSeverity::Error, (3, 1)));
    assert!(said.contains("cannot set `args`") && said.contains("`command` or `url`"), "{said}");
    assert_eq!(project(text).overrides, []);
}

#[test]
fn a_variable_of_another_host_is_noticed_and_its_default_not_shown() {
    let (severity, place, said) =
        complaint("[servers.a]\ncommand = 'x'\nenv = { T = 'Bearer ${TOKEN:-canary}' }\n");
    assert_eq!((severity, place), (DiagnosticSeverity::Warning, (3, 13)));
    assert!(said.contains("`env.T` contains ${TOKEN}"), "{said}");
    assert!(said.contains("did you mean ${env:TOKEN}?") && !said.contains("canary"), "{said}");
    let fine =
        "[servers.a]\ncommand = 'x'\nargs = ['$${TOKEN}', '${env:T}']\ndescription = '${X}'\n";
    assert_eq!(project(fine).diagnostics, []);
}

#[test]
fn a_profile_says_what_a_caller_sees() {
    let reading = user(
        r#"
naming = "llxprt"

[profiles.writer]
tags = ["mcp.git"]
include = ["files/read_*"]
exclude = ["git/push"]
naming = "toolgate"
prefix = "never"
expose = "auto"
budget = 500
results = 9

[profiles.reader]
results = true

[clients."claude code"]
profile = "reader"
"#,
    );
    assert_eq!(reading.diagnostics, []);
    let FileSettings { naming, profiles, clients, invalid_profiles: unread, .. } = reading.settings;
    assert_eq!((naming, unread.len()), (Some(NamingStyle::Llxprt), 0));
    let writer = &profiles["writer"];
    assert_eq!((writer.origin.scope, writer.origin.line), (ConfigScope::User, 4));
    let list = |text: &str| vec![text.to_owned()];
    let expected = Profile {
        tags: Some(list("mcp.git")),
        include: list("files/read_*"),
        exclude: list("git/push"),
        naming: Some(NamingStyle::Toolgate),
        prefix: Some(PrefixMode::Never),
        expose: Some(ExposureMode::Auto),
        budget: Some(500),
        result_limit: Some(9),
    };
    assert_eq!(writer.profile, expected);
    let expected = Profile { result_limit: Some(RESULT_LIMIT), ..Profile::default() };
    assert_eq!(profiles["reader"].profile, expected);
    let client = &clients["claude code"];
    assert_eq!((client.profile.as_str(), client.origin.line), ("reader", 17));
}

/// A profile with a mistake is known as such, so that nobody sees more than was meant.
#[test]
fn a_profile_with_a_mistake_is_none_and_is_known() {
    for (text, column, said) in [
        ("naming = 'calude'", 10, "did you mean \"claude\"?"),
        ("naming = 'zed'", 10, "use one of \"toolgate\", \"claude\""),
        ("expose = 'serch'", 10, "did you mean \"search\"?"),
        ("exclude = 'git'", 11, "must be a list of strings"),
        ("budget = 0", 10, "at least 1"),
        ("tagz = []", 1, "did you mean `tags`?"),
        ("results = 5000000000", 11, "out of range"),
    ] {
        let text = format!("[profiles.good]\n[profiles.x]\n{text}\n");
        let (severity, place, complained) = complaint(&text);
        assert_eq!((severity, place), (DiagnosticSeverity::Error, (3, column)), "{complained}");
        assert!(complained.contains(said), "{complained}");
        let settings = project(&text).settings;
        assert_eq!(settings.profiles.into_keys().collect::<Vec<_>>(), ["good"]);
        assert_eq!(settings.invalid_profiles["x"].line, 2);
    }
    let (severity, _, said) = complaint("[profiles.'a/b']");
    assert!(severity == DiagnosticSeverity::Error && said.contains("part of a URL"), "{said}");
    let (severity, place, said) = complaint("[profiles.x]\nnaming = 'codex'\nprefix = 'never'");
    assert_eq!((severity, place), (DiagnosticSeverity::Warning, (3, 1)), "{said}");
    assert!(said.contains("has no effect with naming"), "{said}");
    let (severity, _, said) = complaint("[clients.x]");
    assert!(severity == DiagnosticSeverity::Error && said.contains("has no `profile`"), "{said}");
}
