//! The dialects of coding agents and editors: what they say beside their entries, what their fields
//! mean in ours, and that a server written in one of them is read again or reported.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

mod common;

use std::time::Duration;

use proptest::prelude::*;
use toolgate_dialects::{Dialect, FileSettings, ParsedFile};
use toolgate_model::{
    ApprovalMode, AuthProvider, AuthSpec, DeclaredTool, HttpSpec, HttpTransportKind, OAuthSpec,
    PoolScope, SafetySpec, SandboxSpec, Secret, ServerName, ServerSpec, ServerTimeouts, StdioSpec,
    ToolSelection, TransportSpec,
};

const HOSTS: [Dialect; 8] = [
    Dialect::Codex,
    Dialect::Gemini,
    Dialect::Llxprt,
    Dialect::Nyzhi,
    Dialect::VsCode,
    Dialect::Zed,
    Dialect::OpenCode,
    Dialect::OpenCodeV2,
];

fn read(dialect: Dialect, text: &str) -> ParsedFile {
    dialect.read(text, &common::place(dialect))
}

fn name(text: &str) -> ServerName {
    ServerName::new(text).unwrap()
}

/// The fields an entry has when this server is written, and the fields that are lost.
fn written(dialect: Dialect, spec: &ServerSpec) -> (String, Vec<String>) {
    let at = common::place(dialect);
    let written = dialect.write(std::slice::from_ref(spec), &FileSettings::default(), &at).unwrap();
    (written.text, written.losses.into_iter().map(|loss| loss.field).collect())
}

fn endpoint(headers: &[(&str, &str)]) -> ServerSpec {
    let secret =
        |(name, value): &(&str, &str)| ((*name).to_owned(), Secret::new((*value).to_owned()));
    let http = HttpSpec {
        url: "https://mcp.example.com".into(),
        headers: headers.iter().map(secret).collect(),
        ..HttpSpec::default()
    };
    ServerSpec::new(name("x"), TransportSpec::Http(http))
}

#[test]
fn codex_names_variables_where_it_can_and_loses_the_others() {
    let spec = endpoint(&[
        ("Authorization", "Bearer ${env:TOKEN}"),
        ("X-Key", "${env:KEY}"),
        ("X-Literal", "$${env:KEY}"),
        ("X-Mixed", "a ${env:KEY}"),
        ("X-Stored", "${secret:key}"),
    ]);
    let (text, losses) = written(Dialect::Codex, &spec);
    assert_eq!(losses, ["headers.X-Mixed", "headers.X-Stored"]);
    for line in ["bearer_token_env_var = \"TOKEN\"", "X-Key = \"KEY\"", "\"${env:KEY}\""] {
        assert!(text.contains(line), "{line} in {text}");
    }
    // A bearer token in any other header is no bearer token.
    let (text, losses) = written(Dialect::Codex, &endpoint(&[("X-Auth", "Bearer ${env:TOKEN}")]));
    assert_eq!(losses, ["headers.X-Auth"], "{text}");
}

#[test]
fn codex_takes_names_of_variables_and_no_patterns() {
    let stdio = StdioSpec {
        command: "server".into(),
        env_inherit: vec!["TOKEN".into(), "AWS_*".into()],
        ..StdioSpec::default()
    };
    let spec = ServerSpec::new(name("x"), TransportSpec::Stdio(stdio));
    let (text, losses) = written(Dialect::Codex, &spec);
    assert!(text.contains("env_vars = [\"TOKEN\"]"), "{text}");
    assert_eq!(losses, ["env_inherit"]);
}

#[test]
fn gemini_switches_by_its_lists() {
    let text =
        "{\n  // mine\n  \"mcpServers\": {\n    \"x\": { \"command\": \"server\" }\n  }\n}\n";
    let is_on = |text: &str| read(Dialect::Gemini, text).servers[0].spec.enabled;
    let off = Dialect::Gemini.set_enabled(text, &name("x"), false).unwrap().unwrap();
    assert!(off.starts_with("{\n  // mine\n  \"mcpServers\""), "{off}");
    assert!(!is_on(&off), "{off}");
    let on = Dialect::Gemini.set_enabled(&off, &name("x"), true).unwrap().unwrap();
    assert!(is_on(&on), "{on}");
    // Where only some are allowed, a server that is set is one of them from then on.
    let text = r#"{ "mcp": { "allowed": ["y"] }, "mcpServers": {} }"#;
    let spec = endpoint(&[]);
    let set = Dialect::Gemini.set(text, &spec, &common::place(Dialect::Gemini)).unwrap().text;
    assert!(is_on(&set), "{set}");
    // Setting a server that is off already leaves the lists alone.
    let spec = ServerSpec { enabled: false, ..spec };
    let set = Dialect::Gemini.set(text, &spec, &common::place(Dialect::Gemini)).unwrap().text;
    assert!(!is_on(&set) && !set.contains("excluded"), "{set}");
}

#[test]
fn opencode_changes_only_what_it_has_fields_for() {
    let timeouts =
        ServerTimeouts { call: Some(Duration::from_secs(5)), ..ServerTimeouts::default() };
    let spec = ServerSpec { timeouts, ..endpoint(&[]) };
    assert_eq!(written(Dialect::OpenCode, &spec).1, ["timeouts"]);
    assert_eq!(written(Dialect::OpenCodeV2, &spec).1, [""; 0]);
    let timeouts =
        ServerTimeouts { max: Some(Duration::from_secs(5)), ..ServerTimeouts::default() };
    let spec = ServerSpec { timeouts, ..spec };
    assert_eq!(written(Dialect::OpenCodeV2, &spec).1, ["timeouts"]);
}

/// A document of opencode's first version.
const FIRST: &str = r#"{
  "mcp": {
    "git": { "type": "local", "command": ["git-mcp"], "enabled": false, "timeout": 2000 },
    "remote": { "type": "remote", "url": "https://mcp.example.com", "oauth": { "clientId": "id" } }
  }
}
"#;
/// One of its second, with an entry of the first left beside the others.
const SECOND: &str = r#"{
  "mcp": {
    "left over": { "type": "local", "command": ["server"], "enabled": false },
    "timeout": { "startup": 1000 },
    "servers": {
      "git": { "type": "local", "command": ["git-mcp"], "disabled": true, "timeout": { "request": 1000 } },
      "broken": 5,
      "switched": { "disabled": false }
    }
  }
}
"#;

#[test]
fn either_reader_of_opencode_reads_both_versions() {
    for (text, servers, amendments, problems) in
        [(FIRST, vec!["git", "remote"], 0, 0), (SECOND, vec!["git", "left over"], 1, 1)]
    {
        let readings = [Dialect::OpenCode, Dialect::OpenCodeV2].map(|it| read(it, text));
        assert_eq!(readings[0], readings[1]);
        let names = readings[0].servers.iter().map(|it| it.spec.name.to_string());
        assert_eq!(names.collect::<Vec<_>>(), servers);
        assert_eq!(readings[0].overrides.len(), amendments);
        assert_eq!(readings[0].diagnostics.len(), problems, "{:?}", readings[0].diagnostics);
        assert!(!readings[0].servers[0].spec.enabled);
    }
    // What is there already is changed where it stands.
    for (text, server) in [(FIRST, "git"), (SECOND, "git"), (SECOND, "left over")] {
        for dialect in [Dialect::OpenCode, Dialect::OpenCodeV2] {
            let removed = dialect.remove(text, &name(server)).unwrap().unwrap();
            assert!(!removed.contains(&format!("{server:?}")), "{removed}");
            let count = read(dialect, text).servers.len();
            assert_eq!(read(dialect, &removed).servers.len(), count - 1, "{removed}");
        }
    }
}

#[test]
fn vscode_changes_servers_where_they_stand() {
    for fixture in common::of(Dialect::VsCode).iter().filter(|it| it.text.contains("\"mcp\"")) {
        let at = common::place(Dialect::VsCode);
        let set = Dialect::VsCode.set(&fixture.text, &endpoint(&[]), &at).unwrap().text;
        assert_eq!(set.matches("\"servers\"").count(), 1, "{set}");
        assert_eq!(read(Dialect::VsCode, &set).servers.len(), 2, "{set}");
        let removed = Dialect::VsCode.remove(&set, &name("x")).unwrap().unwrap();
        assert_eq!(removed, fixture.text);
    }
}

/// The usual value most of the time: a dialect says only some of what can be said, and a server it
/// can say in full must be found among the others.
fn rarely<T: Default + Clone + std::fmt::Debug>(
    other: impl Strategy<Value = T>,
) -> impl Strategy<Value = T> {
    prop::option::weighted(0.2, other).prop_map(Option::unwrap_or_default)
}

/// Texts that are variables in one grammar or another, or look like them.
fn text() -> impl Strategy<Value = String> {
    let texts = [
        "plain",
        "two words",
        "${env:X}",
        "${env:X:-y}",
        "Bearer ${env:T}",
        "${secret:k}",
        "${project}/sub",
        "${home}",
        "${file:/k}",
        "$${env:X}",
        "$X",
        "{env:X}",
        "$${",
        "é$",
    ];
    prop::sample::select(texts.to_vec()).prop_map(|text: &str| text.to_owned())
}

fn pairs() -> impl Strategy<Value = Vec<(String, Secret<String>)>> {
    let key = prop::sample::select(vec!["Authorization", "KEY", "x-mode"]);
    let pair = (key, text()).prop_map(|(key, value)| (key.to_owned(), Secret::new(value)));
    prop::collection::vec(pair, 0..3)
}

fn names() -> impl Strategy<Value = Vec<String>> {
    let name = prop::sample::select(vec!["read", "write", "run(git)", "list_*", "*"]);
    prop::collection::btree_set(name, 0..3)
        .prop_map(|names| names.into_iter().map(str::to_owned).collect())
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(text(), 0..3)
}

fn stdio() -> impl Strategy<Value = TransportSpec> {
    let command = prop::sample::select(vec!["server", "/opt/server", "${env:SERVER}"]);
    let cwd =
        prop::option::of(prop::sample::select(vec!["/srv", "/projects/app", "${project}/sub"]));
    let inherit =
        prop::sample::select(vec![vec![], vec!["TOKEN".to_owned()], vec!["A*".to_owned()]]);
    let env_file = rarely(Just(Some("/srv/.env".into())));
    (command, texts(), pairs(), cwd, rarely(inherit), env_file).prop_map(
        |(command, args, env, cwd, env_inherit, env_file)| {
            TransportSpec::Stdio(StdioSpec {
                command: command.to_owned(),
                args,
                env: env.into_iter().collect(),
                cwd: cwd.map(Into::into),
                env_file,
                env_inherit,
                ..StdioSpec::default()
            })
        },
    )
}

fn auth() -> impl Strategy<Value = AuthSpec> {
    let account = AuthProvider::ServiceAccount { audience: "a".into(), account: "b".into() };
    let provider = prop::sample::select(vec![
        AuthProvider::Discovered,
        AuthProvider::Off,
        AuthProvider::OAuth,
        AuthProvider::GoogleCredentials,
        AuthProvider::Foreign("chatgpt".into()),
        AuthProvider::Foreign("other".into()),
        account,
    ]);
    let maybe = || rarely(text().prop_map(Some));
    let port = prop::option::of(1..u16::MAX);
    let scopes = prop::collection::vec(prop::sample::select(vec!["a", "b:c"]), 0..3);
    (provider, maybe(), maybe(), maybe(), port, scopes).prop_map(
        |(provider, client_id, client_secret, issuer, callback_port, scopes)| AuthSpec {
            provider,
            oauth: OAuthSpec {
                client_id,
                client_secret: client_secret.map(Secret::new),
                issuer,
                callback_port,
                scopes: scopes.into_iter().map(str::to_owned).collect(),
                ..OAuthSpec::default()
            },
        },
    )
}

fn http() -> impl Strategy<Value = TransportSpec> {
    let url = prop::sample::select(vec!["https://mcp.example.com", "${env:URL}"]);
    let kind = prop::sample::select(vec![HttpTransportKind::Auto, HttpTransportKind::Sse]);
    (url, pairs(), rarely(text().prop_map(Some)), rarely(kind), rarely(auth())).prop_map(
        |(url, headers, helper, kind, auth)| {
            TransportSpec::Http(HttpSpec {
                url: url.to_owned(),
                headers: headers.into_iter().collect(),
                headers_helper: helper.map(Secret::new),
                kind,
                auth: Box::new(auth),
            })
        },
    )
}

fn selection() -> impl Strategy<Value = ToolSelection> {
    let approval = || prop::option::of(prop::sample::select(ApprovalMode::ALL.to_vec()));
    let tool = (approval(), prop::option::of(Just("alias".to_owned())))
        .prop_map(|(approval, alias)| DeclaredTool { approval, alias, ..DeclaredTool::default() })
        .prop_filter("says something", |tool| *tool != DeclaredTool::default());
    let tools = prop::collection::btree_map("[a-z]{1,3}", tool, 0..2);
    (names(), names(), tools, approval()).prop_map(|(include, exclude, tools, approval)| {
        ToolSelection { include, exclude, tools, approval, listed_only: false }
    })
}

fn timeouts() -> impl Strategy<Value = ServerTimeouts> {
    let time = || prop::option::of((1..9_u64).prop_map(Duration::from_millis));
    (time(), time(), time(), any::<bool>()).prop_map(|(start, call, max, same)| match same {
        true => ServerTimeouts { start: call, call, max: call },
        false => ServerTimeouts { start, call, max },
    })
}

fn spec() -> impl Strategy<Value = ServerSpec> {
    let pool = prop::sample::select(vec![PoolScope::Shared, PoolScope::PerCaller]);
    let flag = || rarely(any::<bool>());
    let flags = (flag(), flag(), flag(), flag());
    let sandbox = rarely((prop::option::of(any::<bool>()), texts(), names()));
    let transport = prop_oneof![stdio(), http()];
    let rest = (flags, rarely(pool), rarely(selection()), rarely(timeouts()), sandbox);
    (transport, rest).prop_map(
        |(transport, ((off, trust, required, described), pool, selection, timeouts, sandbox))| {
            let (confined, allow_write, allowed_domains) = sandbox;
            let sandbox = SandboxSpec {
                enabled: confined,
                allow_write,
                allowed_domains,
                ..SandboxSpec::default()
            };
            ServerSpec {
                enabled: !off,
                trust,
                required,
                pool,
                selection,
                timeouts,
                description: described.then(|| "what it is for".to_owned()),
                safety: SafetySpec { sandbox, ..SafetySpec::default() },
                ..ServerSpec::new(name("x y"), transport)
            }
        },
    )
}

/// The same server, whatever stands in for variables that are not set: some hosts promise the
/// empty text for those, and cannot say otherwise. A project's servers run in its folder; and where
/// every tool is hidden, none is included.
fn spelled_out(spec: &ServerSpec) -> ServerSpec {
    let plain = |text: &mut String| *text = text.replace(":-}", "}");
    let secret = |value: &mut Secret<String>| {
        *value = Secret::new(value.expose().replace(":-}", "}"));
    };
    let mut spec = spec.clone();
    match &mut spec.transport {
        TransportSpec::Stdio(stdio) => {
            plain(&mut stdio.command);
            stdio.cwd.get_or_insert("/projects/app".into());
            stdio.args.iter_mut().for_each(plain);
            stdio.env.values_mut().for_each(secret);
        }
        TransportSpec::Http(http) => {
            plain(&mut http.url);
            http.headers.values_mut().for_each(secret);
            let oauth = &mut http.auth.oauth;
            oauth.client_id.iter_mut().for_each(plain);
            oauth.client_secret.iter_mut().for_each(secret);
        }
        TransportSpec::BuiltIn => {}
    }
    spec.safety.sandbox.allow_write.iter_mut().for_each(plain);
    let ToolSelection { include, exclude, .. } = &mut spec.selection;
    exclude.sort();
    if exclude.iter().any(|pattern| pattern == "*") {
        include.clear();
    }
    spec
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Nothing is lost in silence: what is written without a loss is read as it was. And what was
    /// read once is said in full.
    #[test]
    fn what_is_written_is_read_again_or_reported(spec in spec(), which in 0..HOSTS.len()) {
        let dialect = HOSTS[which];
        let (text, losses) = written(dialect, &spec);
        let reading = read(dialect, &text);
        if losses.is_empty() {
            let specs: Vec<_> =
                reading.servers.iter().map(|it| spelled_out(&it.spec)).collect();
            let found: Vec<_> = reading.diagnostics.iter().map(ToString::to_string).collect();
            prop_assert_eq!(specs, [spelled_out(&spec)], "{} {:?}\n{}", dialect, found, text);
        }
        for declared in &reading.servers {
            let (text, losses) = written(dialect, &declared.spec);
            prop_assert_eq!(&losses, &[""; 0], "{} {}", dialect, text);
            let again = read(dialect, &text);
            prop_assert_eq!(&again.servers[0].spec, &declared.spec, "{} {}", dialect, text);
        }
    }
}
