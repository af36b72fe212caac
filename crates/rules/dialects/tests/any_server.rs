//! Any server at all, written in a dialect: what is not reported as lost comes back the same, and
//! what was read once is written again without a loss, whether at once or on the way through ours.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

mod common;

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use toolgate_dialects::template::{self, ConfigTemplatePart};
use toolgate_dialects::{Dialect, FileRef, FileSettings, VariableSyntax};
use toolgate_model::{
    ApprovalMode, AuthProvider, AuthSpec, DeclaredTool, HttpSpec, HttpTransportKind, OAuthSpec,
    PoolScope, SafetySpec, SamplingLimits, SandboxSpec, Secret, ServerName, ServerSpec,
    ServerTimeouts, StdioSpec, ToolSelection, TransportSpec,
};

/// How many servers each dialect is given; `PROPTEST_CASES` asks for more.
const CASES: u32 = 3_000;

/// One test per dialect, so that a run names the one that fails.
macro_rules! dialects {
    ($($test:ident: $dialect:ident,)*) => { $(
        #[test]
        fn $test() {
            check(Dialect::$dialect);
        }
    )* };
}

dialects! {
    mcp_json: McpJson,
    claude_code: ClaudeCode,
    claude_desktop: ClaudeDesktop,
    codex: Codex,
    gemini: Gemini,
    llxprt: Llxprt,
    core_agent: CoreAgent,
    sidekick: Sidekick,
    cursor: Cursor,
    windsurf: Windsurf,
    cline: Cline,
    copilot: Copilot,
    toolgate: Toolgate,
    nyzhi: Nyzhi,
    second_brain: SecondBrain,
    vscode: VsCode,
    continue_dev: Continue,
    zed: Zed,
    opencode: OpenCode,
    opencode_v2: OpenCodeV2,
    goose: Goose,
}

fn check(dialect: Dialect) {
    let at = common::place(dialect);
    let cases = Config::default().cases.max(CASES);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let lossless = std::cell::Cell::new(0);
    let survived = TestRunner::new(config).run(&server(), |spec| {
        let is_lossless = comes_back(dialect, &spec, &at)?;
        lossless.set(lossless.get() + u32::from(is_lossless));
        Ok(())
    });
    survived.unwrap_or_else(|error| panic!("{dialect}: {error}"));
    // A check that nothing reaches would be none.
    assert!(lossless.get() > 0, "{dialect} could say only {} of them", lossless.get());
}

/// Writes and reads a server; tells whether nothing was reported as lost.
fn comes_back(dialect: Dialect, spec: &ServerSpec, at: &FileRef) -> Result<bool, TestCaseError> {
    let written = dialect.write(std::slice::from_ref(spec), &FileSettings::default(), at).unwrap();
    let reading = dialect.read(&written.text, at);
    let read: Vec<_> = reading.servers.iter().map(|declared| declared.spec.clone()).collect();
    let is_lost = |field: &str| written.losses.iter().any(|loss| loss.field.starts_with(field));
    match read.first() {
        Some(read) => {
            for (field, of) in FIELDS.iter().filter(|(field, _)| !is_lost(field)) {
                prop_assert_eq!(same(of(read)), same(of(spec)), "{} in {}", field, written.text);
            }
        }
        None => prop_assert!(!written.losses.is_empty(), "it is gone: {}", written.text),
    }
    survives(dialect, &read, at)?;
    survives(Dialect::Toolgate, &read, &common::place(Dialect::Toolgate))?;
    Ok(written.losses.is_empty())
}

/// Writes what was read, without a loss, and reads it again: it is the same. So whatever comes out
/// of ours is what a dialect's writer was given at first, and goes back the same way.
fn survives(dialect: Dialect, read: &[ServerSpec], at: &FileRef) -> Result<(), TestCaseError> {
    let written = dialect.write(read, &FileSettings::default(), at).unwrap();
    prop_assert_eq!(&written.losses, &[], "{} {}", dialect, written.text);
    let again = dialect.read(&written.text, at);
    let again: Vec<_> = again.servers.into_iter().map(|declared| declared.spec).collect();
    prop_assert_eq!(again, read, "{} {}", dialect, written.text);
    Ok(())
}

/// What stands in for a variable that is not set is the dialect's own promise: empty, or nothing.
fn same(text: String) -> String {
    text.replace(":-}", "}")
}

/// A part of a server, and the fields a loss of it is reported under.
type Field = (&'static str, fn(&ServerSpec) -> String);

/// What must come back unless it is reported; single headers and variables of `env` count as one.
const FIELDS: [Field; 21] = [
    ("command", |spec| stdio_of(spec, |it| it.command.clone())),
    ("args", |spec| stdio_of(spec, |it| format!("{:?}", it.args))),
    ("env", |spec| stdio_of(spec, |it| exposed(&it.env))),
    ("env_file", |spec| stdio_of(spec, |it| format!("{:?}", it.env_file))),
    ("env_inherit", |spec| stdio_of(spec, |it| format!("{:?}", it.env_inherit))),
    ("url", |spec| http_of(spec, |it| it.url.clone())),
    ("headers", |spec| http_of(spec, |it| exposed(&it.headers))),
    ("headers_helper", |spec| {
        http_of(spec, |it| format!("{:?}", it.headers_helper.as_ref().map(Secret::expose)))
    }),
    // Where there is no word for Streamable HTTP alone, it is still what is tried first.
    ("type", |spec| http_of(spec, |it| (it.kind == HttpTransportKind::Sse).to_string())),
    ("enabled", |spec| spec.enabled.to_string()),
    ("timeouts", |spec| format!("{:?}", spec.timeouts)),
    ("pool", |spec| format!("{:?}", spec.pool)),
    ("description", |spec| format!("{:?}", spec.description)),
    ("tags", |spec| format!("{:?}", spec.tags)),
    ("trust", |spec| spec.trust.to_string()),
    ("sampling", |spec| format!("{:?}", spec.sampling)),
    ("compile", |spec| spec.compile.to_string()),
    ("required", |spec| spec.required.to_string()),
    // A rule of what is seen may be said in other words, and several words speak of a tool.
    ("", |spec| seen(&spec.selection)),
    ("", |spec| http_of(spec, |it| format!("{:?}", it.auth))),
    ("", |spec| format!("{:?}", spec.safety)),
];

fn stdio_of(spec: &ServerSpec, of: impl Fn(&StdioSpec) -> String) -> String {
    match &spec.transport {
        TransportSpec::Stdio(stdio) => of(stdio),
        other => other.as_str().replace("sse", "http"),
    }
}

fn http_of(spec: &ServerSpec, of: impl Fn(&HttpSpec) -> String) -> String {
    match &spec.transport {
        TransportSpec::Http(http) => of(http),
        other => other.as_str().to_owned(),
    }
}

fn exposed(values: &BTreeMap<String, Secret<String>>) -> String {
    values.iter().map(|(name, value)| format!("{name}={:?};", value.expose())).collect()
}

/// What a selection means for some tools: which are seen, and on what terms.
fn seen(selection: &ToolSelection) -> String {
    let usual = DeclaredTool::default();
    let named = ["a", "b", "read", "other"];
    let terms = named.map(|name| {
        let tool = selection.tools.get(name).unwrap_or(&usual);
        let approval = tool.approval.or(selection.approval);
        (name, selection.is_visible(name).then_some((&tool.alias, &tool.tags, approval)))
    });
    format!("{terms:?}")
}

/// A text of our grammar: plain for the most part, with variables now and then.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-zA-Z0-9 ./$:{}\"\\\\-]{1,12}".prop_map(|text| template::literal(&text)),
        1 => Just("${env:TOKEN}".to_owned()),
        1 => Just("a ${env:TOKEN:-x} b".to_owned()),
        1 => Just("${env:TOKEN:-}".to_owned()),
        1 => Just("${home}${/}x".to_owned()),
        1 => Just("${secret:key}".to_owned()),
    ]
}

fn word() -> impl Strategy<Value = String> {
    "[a-z][a-z0-9_-]{0,7}"
}

fn secrets(name: &'static str) -> impl Strategy<Value = BTreeMap<String, Secret<String>>> {
    btree_map(name, text().prop_map(Secret::new), 0..3)
}

/// The usual, for the most part: what a dialect cannot say must not drown what it can.
fn mostly<T: Clone + std::fmt::Debug>(
    usual: T,
    other: impl Strategy<Value = T>,
) -> impl Strategy<Value = T> {
    prop_oneof![4 => Just(usual), 1 => other]
}

fn stdio() -> impl Strategy<Value = StdioSpec> {
    let cwd = prop_oneof![Just("/projects/app"), Just("/projects/app/x"), Just("/srv")];
    let cwd = prop_oneof![2 => Just(None), 1 => cwd.prop_map(|it| Some(it.into()))];
    let env_file = mostly(None, Just(Some("/projects/app/.env".into())));
    let inherit = mostly(Vec::new(), vec("[A-Z]{1,4}", 0..2));
    (word(), vec(text(), 0..3), cwd, secrets("[A-Z_]{1,6}"), env_file, inherit).prop_map(
        |(command, args, cwd, env, env_file, env_inherit)| StdioSpec {
            command,
            args,
            cwd,
            env,
            env_file,
            env_inherit,
            ..StdioSpec::default()
        },
    )
}

fn http() -> impl Strategy<Value = HttpSpec> {
    let kind = prop_oneof![
        Just(HttpTransportKind::Auto),
        Just(HttpTransportKind::Streamable),
        Just(HttpTransportKind::Sse)
    ];
    let url = prop_oneof![
        2 => Just("https://mcp.example.com/mcp".to_owned()),
        1 => Just("https://${env:HOST}/mcp?x=$${y}".to_owned()),
    ];
    let helper = mostly(None, word().prop_map(Secret::new).prop_map(Some));
    let auth = mostly(AuthSpec::default(), auth());
    (url, secrets("[A-Za-z-]{1,6}"), helper, kind, auth).prop_map(
        |(url, headers, headers_helper, kind, auth)| HttpSpec {
            url,
            headers,
            headers_helper,
            kind,
            auth: Box::new(auth),
        },
    )
}

fn auth() -> impl Strategy<Value = AuthSpec> {
    let google = prop_oneof![Just(AuthProvider::GoogleCredentials), Just(AuthProvider::Off)];
    let provider = mostly(AuthProvider::Discovered, google);
    let texts = (
        option::of(text()),
        mostly(None, text().prop_map(Some)),
        mostly(None, word().prop_map(Some)),
    );
    let metadata_url = option::of(Just("https://auth.example.com/metadata".to_owned()));
    (provider, texts, metadata_url, option::of(1..u16::MAX), vec(word(), 0..3)).prop_map(
        |(provider, (client_id, secret, issuer), metadata_url, callback_port, scopes)| AuthSpec {
            provider,
            oauth: OAuthSpec {
                client_id,
                client_secret: secret.map(Secret::new),
                issuer,
                metadata_url,
                callback_port,
                scopes,
                ..OAuthSpec::default()
            },
        },
    )
}

fn timeouts() -> impl Strategy<Value = ServerTimeouts> {
    let usual = ServerTimeouts::default();
    let time = || (1..200_000_u64).prop_map(Duration::from_millis);
    prop_oneof![
        4 => Just(usual),
        1 => time().prop_map(ServerTimeouts::calls),
        1 => time().prop_map(move |start| ServerTimeouts { start: Some(start), ..usual }),
        1 => time().prop_map(ServerTimeouts::all),
        1 => (time(), time(), time()).prop_map(|(start, call, max)| ServerTimeouts {
            start: Some(start),
            call: Some(call),
            max: Some(max),
        }),
    ]
}

fn selection() -> impl Strategy<Value = ToolSelection> {
    let never = Just(Some(ApprovalMode::Never));
    let approval = || mostly(None, option::of(prop::sample::select(ApprovalMode::ALL.to_vec())));
    let terms = (
        mostly(None, word().prop_map(Some)),
        mostly(None, vec(word(), 0..2).prop_map(Some)),
        prop::bool::weighted(0.8),
        prop_oneof![never, approval()],
    );
    let tool = terms.prop_map(|(alias, tags, enabled, approval)| DeclaredTool {
        alias,
        tags,
        enabled,
        approval,
    });
    let name = || prop_oneof![4 => prop::sample::select(vec!["a", "b", "read"]), 1 => Just("r*")];
    let names = || vec(name().prop_map(str::to_owned), 0..3);
    let tools =
        btree_map(prop::sample::select(vec!["a", "b", "read"]).prop_map(str::to_owned), tool, 0..3);
    let any = (names(), mostly(Vec::new(), names()), any::<bool>(), tools, approval()).prop_map(
        |(include, exclude, listed_only, tools, approval)| ToolSelection {
            include,
            exclude,
            listed_only,
            tools,
            approval,
        },
    );
    prop_oneof![2 => Just(ToolSelection::default()), 1 => any]
}

fn safety() -> impl Strategy<Value = SafetySpec> {
    let sandbox =
        (option::of(any::<bool>()), mostly(None, word().prop_map(Some)), vec(text(), 0..2));
    let sandbox = sandbox.prop_map(|(enabled, profile, allow_write)| SandboxSpec {
        enabled,
        profile,
        allow_write,
        ..SandboxSpec::default()
    });
    let words = (option::of(word()), option::of(word()), option::of(word()));
    (vec(word(), 0..2), words, sandbox).prop_map(
        |(allowed_commands, (manifest_digest, manifest_signature, client_consent), sandbox)| {
            SafetySpec {
                allowed_commands,
                manifest_digest,
                manifest_signature,
                sandbox,
                client_consent,
            }
        },
    )
}

fn server() -> impl Strategy<Value = ServerSpec> {
    let transport = prop_oneof![
        6 => stdio().prop_map(TransportSpec::Stdio),
        6 => http().prop_map(TransportSpec::Http),
        1 => Just(TransportSpec::BuiltIn),
    ];
    let says = (
        mostly(None, "[a-z ]{1,9}".prop_map(Some)),
        mostly(None, vec(word(), 0..2).prop_map(Some)),
    );
    let rarely = || prop::bool::weighted(0.1);
    let flags = (prop::bool::weighted(0.8), rarely(), rarely(), rarely());
    let sampling = (1..3_u32, 1..3_u64).prop_map(|(concurrency, max_tokens)| {
        Some(SamplingLimits { concurrency, max_tokens, ..SamplingLimits::default() })
    });
    let safety = (mostly(SafetySpec::default(), safety()), mostly(None, sampling), rarely());
    let name = "[a-zA-Z0-9 ._@/\"-]{0,6}[a-z]";
    (name, transport, timeouts(), says, flags, selection(), safety).prop_map(
        |(
            name,
            transport,
            timeouts,
            (description, tags),
            (enabled, trust, per_caller, required),
            selection,
            (safety, sampling, compile),
        )| {
            let name = ServerName::new(&name).unwrap();
            let pool = if per_caller { PoolScope::PerCaller } else { PoolScope::Shared };
            let spec = ServerSpec {
                required,
                safety,
                sampling,
                compile,
                ..ServerSpec::new(name, transport)
            };
            ServerSpec { enabled, timeouts, pool, description, tags, trust, selection, ..spec }
        },
    )
}

const GRAMMARS: [VariableSyntax; 9] = [
    VariableSyntax::Toolgate,
    VariableSyntax::Braces,
    VariableSyntax::Dollar,
    VariableSyntax::EnvPrefix,
    VariableSyntax::Editor,
    VariableSyntax::Windsurf,
    VariableSyntax::Curly,
    VariableSyntax::Secrets,
    VariableSyntax::Literal,
];

proptest! {
    /// What a text of another grammar means survives the way into ours, and back.
    #[test]
    fn any_text_means_the_same_in_our_grammar(
        text in "[$]{0,3}([{]{1,2}[a-zA-Z:/ .-]{0,9}[}]{0,2}|[a-z$ ]{0,4}){0,4}",
        index in 0..GRAMMARS.len(),
    ) {
        let grammar = GRAMMARS[index];
        let pieces = grammar.parse(&text);
        let ours = template::render(&pieces);
        prop_assert_eq!(&template::parse_template(&ours), &pieces, "{:?} {} {}", grammar, text, ours);
        if let Ok(back) = grammar.render_parts(&pieces) {
            prop_assert_eq!(grammar.parse(&back), pieces, "{:?} {}", grammar, back);
        }
    }

    /// What has no variables is the same text in a grammar without any.
    #[test]
    fn a_literal_text_stays_itself(text in "[${}a-z:]{0,12}") {
        let pieces = VariableSyntax::Literal.parse(&text);
        prop_assert!(pieces.iter().all(|piece| matches!(piece, ConfigTemplatePart::Text(_))));
        prop_assert_eq!(VariableSyntax::Literal.render_parts(&template::parse_template(&template::literal(&text))), Ok(text));
    }
}
