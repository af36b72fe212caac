//! core-agent's `.agents/mcp.json`, version 1, and the `permissions` of `.agents/config.json`
//! beside it. Other settings of the second file are ignored.
//!
//! Every entry names its transport and has no fields of the other one. Variables are expanded only
//! in the values of `env` and `headers`.

use toolgate_model::{
    AuthProvider, AuthSpec, ConfigValue, Effect, HttpSpec, HttpTransportKind, OAuthSpec, Secret,
    ServerSpec, TransportSpec,
};

use crate::common::entry::{EntryField, render_literal};
use crate::common::rules::{self, PermissionKeys};
use crate::common::server::{self, EntryKeys};
use crate::common::tree::TreeNode;
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{
    ConfigServerGroup, DialectFormat, RuleTranslation, ServersLocation, WrittenSettings,
};
use crate::losses::ConversionLosses;
use crate::{FileSettings, Permissions, PolicyMode, VariableSyntax, template};

/// The dialect of core-agent.
pub(crate) const FORMAT: DialectFormat = DialectFormat {
    name: ID,
    paths: &[".agents/mcp.json", ".agents/config.json"],
    extras: ID,
    servers: ServersLocation::Map(&["servers"]),
    variables: VariableSyntax::EnvPrefix,
    fields: &[
        EntryField::Other(read_transport, write_transport),
        // How core-agent treats the results of a server, and what it assumes about its tools.
        EntryField::Kept(&["agentic_never", "read_only"]),
    ],
    server_groups: Some(|top| {
        let servers = if is_config(top) { None } else { top.servers(FORMAT.servers) };
        servers.map(ConfigServerGroup::from).into_iter().collect()
    }),
    read_settings,
    write_settings,
    translate_rule: |effect, rule, _| translate_rule(effect, &rule.subject),
    version: || Some(ConfigValue::Integer(VERSION)),
    ..DialectFormat::MCP_SERVERS
};

const ID: &str = "core-agent";
/// The supported version of the schema.
const VERSION: i64 = 1;
/// Settings for all servers about how core-agent treats their results.
const FOR_ALL: [&[&str]; 4] = [
    &["agentic_wrap"],
    &["agentic_wrap_threshold"],
    &["agentic_wrap_llm"],
    &["agentic_wrap_model"],
];
/// The names of the permission fields. `allow` refuses what `limited` would ask about. The file
/// edits that `acceptEdits` allows are not MCP calls.
const PERMISSIONS: PermissionKeys = PermissionKeys {
    path: &["permissions"],
    mode: "mode",
    modes: &[
        ("ask", PolicyMode::Ask),
        ("yolo", PolicyMode::Full),
        ("allow", PolicyMode::Limited),
        ("acceptEdits", PolicyMode::Ask),
    ],
    lists: ["allow", "ask", "deny"],
};
/// The mode in which no tools are called.
const PLAN: &str = "plan";
/// The rule with the same effect.
const EVERYTHING: &str = "mcp:*";

fn read_settings(top: &mut TableFields<'_>) -> FileSettings {
    if is_config(top) {
        let permissions = top.with_table("permissions", permissions).unwrap_or_default();
        top.allow_unknown();
        return FileSettings { permissions, ..FileSettings::default() };
    }
    if top.integer("version").is_some_and(|version| version != VERSION) {
        top.warn("version", "is not known: the file is read as version 1", "write 1");
    }
    let kept = top.read_extras(&FOR_ALL.map(|path| path[0]));
    let kept = (!kept.is_empty()).then(|| Secret::new(ConfigValue::Table(kept)));
    let extras = kept.map(|kept| (ID.to_owned(), kept)).into_iter().collect();
    let permissions = top.with_table("permissions", permissions).unwrap_or_default();
    FileSettings { permissions, extras, ..FileSettings::default() }
}

fn write_settings(settings: &FileSettings, losses: &mut ConversionLosses) -> WrittenSettings {
    let mut settings = settings.clone();
    let kept = settings.extras.remove(ID);
    let mut written = PERMISSIONS.write(&settings, losses);
    if let Some(ConfigValue::Table(fields)) = kept.as_ref().map(Secret::expose) {
        for (key, said) in fields {
            match FOR_ALL.iter().find(|path| path[0] == key) {
                Some(path) => written.push((path, said.clone())),
                None => losses.add_if_set(&format!("extra.{ID}.{key}"), true),
            }
        }
    }
    written
}

/// Returns true if this is the file with the host's settings, and not the one with servers.
fn is_config(top: &TableFields<'_>) -> bool {
    top.file().path.file_name().is_some_and(|name| name == "config.json")
}

/// Reads the rules as written: they use core-agent's tool names.
fn permissions(fields: &mut TableFields<'_>) -> Permissions {
    let plan = fields.node("mode").filter(|node| node.text() == Some(PLAN));
    let mut said = PERMISSIONS.read_lists(fields);
    match plan {
        Some(node) => said.deny.push(rules::rule(EVERYTHING, fields.position_at(node.at))),
        None => said.mode = rules::mode(fields, PERMISSIONS.modes),
    }
    said
}

/// Translates a rule into Toolgate's syntax. core-agent matches rules against `<server>_<tool>
/// <arguments>`, and a rule without a namespace against every call.
fn translate_rule(effect: Effect, about: &str) -> RuleTranslation {
    let (namespace, pattern) = about.split_once(':').unwrap_or(("mcp", about));
    if namespace != "mcp" {
        return RuleTranslation::HostTool;
    }
    let (name, arguments) = pattern.split_once(' ').unwrap_or((pattern, "*"));
    // Without its condition on arguments the rule is wider, which is safe if it restricts.
    match arguments == "*" || effect != Effect::Allow {
        true => RuleTranslation::Rule(format!("mcp:{name}")),
        false => RuleTranslation::Ignored("its condition on arguments is not supported"),
    }
}

/// Reads the transport. Reads every field before checking any, so that none is reported as unknown.
fn read_transport(entry: &mut TableFields<'_>, spec: &mut ServerSpec) {
    let is_tagged = entry.has("transport");
    let is_http = entry.choice("transport", &[("stdio", false), ("http", true)]);
    let command = entry.text("command").map(template::literal);
    let args = entry.texts("args").unwrap_or_default();
    let url = entry.text("url").map(template::literal);
    let keys = EntryKeys::UNTYPED;
    let mut stdio = server::read_stdio(entry, command.clone().unwrap_or_default(), &keys);
    stdio.args = args.iter().map(|arg| template::literal(arg)).collect();
    let headers = entry.secrets("headers");
    let auth = entry.with_table("auth", auth).flatten().unwrap_or_default();
    if !is_tagged {
        entry.fail("has no `transport`", "add \"stdio\" for a process, \"http\" for an endpoint");
    }
    match is_http {
        Some(false) => {
            refuse(entry, "stdio", &["url", "auth"]);
            server::warn_unused(entry, "command", &["headers"]);
            require(entry, "stdio", "command");
            if command.is_some() {
                server::check_stdio(entry, &stdio, "command");
                spec.transport = TransportSpec::Stdio(stdio);
            }
        }
        Some(true) => {
            refuse(entry, "http", &["command"]);
            server::warn_unused(entry, "url", &["args", "env"]);
            require(entry, "http", "url");
            if let Some(url) = url {
                let (kind, auth) = (HttpTransportKind::Streamable, Box::new(auth));
                let http = HttpSpec { url, headers, kind, auth, ..HttpSpec::default() };
                server::check_http(entry, &http, "url");
                spec.transport = TransportSpec::Http(http);
            }
        }
        None => {}
    }
}

/// Reports fields that belong to the other transport.
fn refuse(entry: &mut TableFields<'_>, tag: &str, keys: &[&'static str]) {
    for key in keys {
        if let Some(TreeNode { at, .. }) = entry.node(key) {
            let problem = format!("mixes transports: it is {tag:?} and has `{key}`");
            entry.error_at(*at, &problem, &format!("remove `{key}`, or change the transport"));
        }
    }
}

fn require(entry: &mut TableFields<'_>, tag: &str, key: &'static str) {
    if !entry.has(key) {
        entry.fail(&format!("is {tag:?} and has no `{key}`"), &format!("add `{key}`"));
    }
}

/// Reads the authentication, if it names Google's application default credentials.
fn auth(fields: &mut TableFields<'_>) -> Option<AuthSpec> {
    let scopes = fields.with_table("google_oauth", |inner| inner.texts("scopes"))?;
    let scopes = scopes.unwrap_or_default().iter().map(|scope| template::literal(scope)).collect();
    let oauth = OAuthSpec { scopes, ..OAuthSpec::default() };
    Some(AuthSpec { provider: AuthProvider::GoogleCredentials, oauth })
}

fn write_transport(rest: &mut ServerSpec, writer: &mut EntryWriter<'_>) {
    match &mut rest.transport {
        TransportSpec::Stdio(stdio) => {
            writer.text("transport", Some("stdio"));
            let command = render_literal(writer, "command", &stdio.command);
            writer.text("command", command.as_deref());
            let args = stdio.args.iter().filter_map(|arg| render_literal(writer, "args", arg));
            let args: Vec<_> = args.collect();
            writer.texts("args", &args);
            writer.secrets("env", "env", &stdio.env);
            writer.cwd(None, stdio.cwd.as_deref());
        }
        TransportSpec::Http(http) => write_http(http, writer),
        TransportSpec::BuiltIn => {}
    }
}

fn write_http(http: &mut HttpSpec, writer: &mut EntryWriter<'_>) {
    writer.text("transport", Some("http"));
    if std::mem::take(&mut http.kind) != HttpTransportKind::Streamable {
        writer.losses.add("type", "this dialect supports one HTTP transport only");
    }
    let url = render_literal(writer, "url", &http.url);
    writer.text("url", url.as_deref());
    writer.secrets("headers", "headers", &http.headers);
    if http.auth.provider == AuthProvider::GoogleCredentials {
        http.auth.provider = AuthProvider::Discovered;
        let scopes = std::mem::take(&mut http.auth.oauth.scopes);
        writer.with_table("auth", |auth| {
            let scopes = scopes.iter().filter_map(|it| render_literal(auth, "auth.scopes", it));
            let scopes = ConfigValue::texts(scopes.collect::<Vec<_>>());
            auth.with_table("google_oauth", |inner| inner.data("scopes", scopes));
        });
    }
}
