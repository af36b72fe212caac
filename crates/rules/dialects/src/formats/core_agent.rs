//! core-agent's `.agents/mcp.json`, version 1, and the `permissions` of `.agents/config.json`
//! beside it. Other settings of the second file are ignored.
//!
//! Every entry names its transport and has no fields of the other one. Variables are expanded only
//! in the values of `env` and `headers`.

use toolgate_model::{
    AuthProvider, AuthSpec, ConfigValue, Effect, HttpSpec, HttpTransportKind, OAuthSpec, RuleSpec,
    Secret, ServerName, ServerSpec, StdioSpec, TransportSpec,
};

use super::write_helpers;
use crate::common::rules::{self, InvalidRuleHandling};
use crate::common::server::{self, EntryKeys};
use crate::common::tree::{TreeNode, TreeValue};
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{
    DialectFormat, ParsedEntry, RuleTranslation, ServerGroup, ServersLocation,
};
use crate::losses::ConversionLosses;
use crate::{FileSettings, Permissions, PolicyMode, Syntax, VariableSyntax, template};

/// The dialect of core-agent.
pub(crate) struct CoreAgent;

const ID: &str = "core-agent";
/// The supported version of the schema.
const VERSION: i64 = 1;
const KEYS: EntryKeys =
    EntryKeys { transport_keys: &[], transport_names: &[], cwd: None, ..EntryKeys::COMMON };
/// How core-agent treats the results of a server, and what it assumes about its tools.
const KEPT: [&str; 2] = ["agentic_never", "read_only"];
/// The same settings for all servers.
const FOR_ALL: [&[&str]; 4] = [
    &["agentic_wrap"],
    &["agentic_wrap_threshold"],
    &["agentic_wrap_llm"],
    &["agentic_wrap_model"],
];
/// The names of modes; the first name of a mode is the one that is written. `allow` refuses what
/// `limited` would ask about. The file edits that `acceptEdits` allows are not MCP calls.
const MODES: [(&str, PolicyMode); 4] = [
    ("ask", PolicyMode::Ask),
    ("yolo", PolicyMode::Full),
    ("allow", PolicyMode::Limited),
    ("acceptEdits", PolicyMode::Ask),
];
/// The mode in which no tools are called.
const PLAN: &str = "plan";
/// The rule with the same effect.
const EVERYTHING: &str = "mcp:*";

impl DialectFormat for CoreAgent {
    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn servers_location(&self) -> ServersLocation {
        ServersLocation::Map(&["servers"])
    }

    fn variable_syntax(&self) -> VariableSyntax {
        VariableSyntax::EnvPrefix
    }

    fn is_servers_only(&self) -> bool {
        true
    }

    fn server_groups<'t>(&self, top: &mut TableFields<'t, '_, '_>) -> Vec<ServerGroup<'t>> {
        let servers = if is_config(top) { None } else { top.servers(self.servers_location()) };
        servers.map(|servers| ServerGroup { servers, only_in: None }).into_iter().collect()
    }

    fn read_settings(&self, top: &mut TableFields<'_, '_, '_>) -> FileSettings {
        if is_config(top) {
            let permissions = top.with_table("permissions", permissions).unwrap_or_default();
            top.allow_unknown();
            return FileSettings { permissions, ..FileSettings::default() };
        }
        if top.integer("version").is_some_and(|version| version != VERSION) {
            top.warn("version", "is not known: the file is read as version 1", "write 1");
        }
        let kept = top.read_extras(&FOR_ALL.map(|path| path[0]));
        let extras = kept.map(|kept| (ID.to_owned(), kept)).into_iter().collect();
        let permissions = top.with_table("permissions", permissions).unwrap_or_default();
        FileSettings { permissions, extras, ..FileSettings::default() }
    }

    fn read(&self, name: ServerName, entry: &mut TableFields<'_, '_, '_>) -> Option<ParsedEntry> {
        let transport = transport(entry);
        let extras = entry.read_extras(&KEPT).map(|kept| (ID.to_owned(), kept));
        let mut spec = ServerSpec::new(name, transport?);
        spec.extras.extend(extras);
        Some(spec.into())
    }

    fn write(&self, spec: &ServerSpec, writer: &mut EntryWriter<'_>) {
        let mut rest = spec.clone();
        match &mut rest.transport {
            TransportSpec::Stdio(stdio) => write_stdio(stdio, writer),
            TransportSpec::Http(http) => write_http(http, writer),
            TransportSpec::BuiltIn => {
                return write_helpers::report_undeclarable(writer, "it is built in");
            }
        }
        write_helpers::report_losses(&rest, ID, writer);
    }

    fn base_fields(&self) -> Vec<(String, ConfigValue)> {
        vec![("version".to_owned(), ConfigValue::Integer(VERSION))]
    }

    fn write_settings(
        &self,
        settings: &FileSettings,
        losses: &mut ConversionLosses,
    ) -> Vec<(&'static [&'static str], ConfigValue)> {
        let mut rest = FileSettings { permissions: Permissions::default(), ..settings.clone() };
        let kept = rest.extras.remove(ID);
        losses.add_settings(&rest);
        let mut written: Vec<(&'static [&'static str], ConfigValue)> = Vec::new();
        let permissions = write_permissions(&settings.permissions, losses);
        if !permissions.is_empty() {
            written.push((&["permissions"], ConfigValue::Table(permissions)));
        }
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

    fn translate_rule(
        &self,
        effect: Effect,
        rule: &RuleSpec,
        _said: &Permissions,
    ) -> RuleTranslation {
        translate_rule(effect, &rule.subject)
    }
}

/// Returns true if this is the file with the host's settings, and not the one with servers.
fn is_config(top: &mut TableFields<'_, '_, '_>) -> bool {
    top.diagnostics().file().path.file_name().is_some_and(|name| name == "config.json")
}

/// Reads the rules as written: they use core-agent's tool names.
fn permissions(fields: &mut TableFields<'_, '_, '_>) -> Permissions {
    let plans = matches!(fields.node("mode"), Some(TreeNode { value: TreeValue::Text(mode), .. }) if mode == PLAN);
    let mut said = Permissions {
        allow: rules::read_rules(fields, "allow", InvalidRuleHandling::Skip),
        ask: rules::read_rules(fields, "ask", InvalidRuleHandling::Keep),
        deny: rules::read_rules(fields, "deny", InvalidRuleHandling::Keep),
        ..Permissions::default()
    };
    match plans {
        true => {
            let at =
                fields.node("mode").map(|node| fields.position_at(node.at)).unwrap_or_default();
            said.deny.push(rules::rule(EVERYTHING, at));
        }
        false => said.mode = rules::mode(fields, &MODES),
    }
    said
}

fn write_permissions(
    permissions: &Permissions,
    losses: &mut ConversionLosses,
) -> Vec<(String, ConfigValue)> {
    let Permissions { mode, allow, ask, deny, .. } = permissions;
    rules::report_unsupported(permissions, losses);
    let word = mode.and_then(|mode| MODES.iter().find(|(_, meant)| *meant == mode.value));
    let word = word.map(|(word, _)| ("mode".to_owned(), ConfigValue::text(*word)));
    let mut fields: Vec<_> = word.into_iter().collect();
    for (effect, said) in [(Effect::Allow, allow), (Effect::Ask, ask), (Effect::Deny, deny)] {
        fields.extend(rules::field(effect.as_str(), effect, said, losses));
    }
    fields
}

/// Translates a rule into Toolgate's syntax. core-agent matches rules against `<server>_<tool>
/// <arguments>`, and a rule without a namespace against every call.
fn translate_rule(effect: Effect, about: &str) -> RuleTranslation {
    let (namespace, pattern) = about.split_once(':').unwrap_or(("mcp", about));
    if namespace != "mcp" {
        return RuleTranslation::HostTool;
    }
    match pattern.split_once(' ') {
        None | Some((_, "*")) => {
            let name = pattern.split(' ').next().unwrap_or_default();
            RuleTranslation::Rule(format!("mcp:{name}"))
        }
        // Without its condition on arguments the rule is wider, which is safe if it restricts.
        Some((name, _)) if effect != Effect::Allow => RuleTranslation::Rule(format!("mcp:{name}")),
        Some(_) => RuleTranslation::Ignored("its condition on arguments is not supported"),
    }
}

/// The transports of an entry.
#[derive(Clone, Copy)]
enum CoreAgentTransport {
    Stdio,
    Http,
}

/// Reads the transport. Reads every field before checking any, so that none is reported as unknown.
fn transport(entry: &mut TableFields<'_, '_, '_>) -> Option<TransportSpec> {
    let is_tagged = entry.node("transport").is_some();
    let tag = entry.choice(
        "transport",
        &[("stdio", CoreAgentTransport::Stdio), ("http", CoreAgentTransport::Http)],
    );
    let command = entry.text("command").map(template::literal);
    let args = entry.texts("args").unwrap_or_default();
    let url = entry.text("url").map(template::literal);
    let mut stdio = server::read_stdio(entry, command.clone().unwrap_or_default(), &KEYS);
    stdio.args = args.iter().map(|arg| template::literal(arg)).collect();
    let headers = entry.secrets("headers");
    let auth = entry.with_table("auth", auth);
    if !is_tagged {
        entry.fail("has no `transport`", "add \"stdio\" for a process, \"http\" for an endpoint");
    }
    match tag? {
        CoreAgentTransport::Stdio => {
            refuse(entry, "stdio", &["url", "auth"]);
            server::warn_unused(entry, "command", &["headers"]);
            require(entry, "stdio", "command");
            command?;
            server::check_stdio(entry, &stdio, "command");
            Some(TransportSpec::Stdio(stdio))
        }
        CoreAgentTransport::Http => {
            refuse(entry, "http", &["command"]);
            server::warn_unused(entry, "url", &["args", "env"]);
            require(entry, "http", "url");
            let auth = auth.flatten().unwrap_or_default();
            let kind = HttpTransportKind::Streamable;
            let http =
                HttpSpec { url: url?, headers, kind, auth: Box::new(auth), ..HttpSpec::default() };
            server::check_http(entry, &http, "url");
            Some(TransportSpec::Http(http))
        }
    }
}

/// Reports fields that belong to the other transport.
fn refuse(entry: &mut TableFields<'_, '_, '_>, tag: &str, keys: &[&'static str]) {
    for key in keys {
        if let Some(at) = entry.node(key).map(|node| node.at) {
            let problem = format!("mixes transports: it is {tag:?} and has `{key}`");
            entry.error_at(at, &problem, &format!("remove `{key}`, or change the transport"));
        }
    }
}

fn require(entry: &mut TableFields<'_, '_, '_>, tag: &str, key: &'static str) {
    if entry.node(key).is_none() {
        let problem = format!("is {tag:?} and has no `{key}`");
        entry.fail(&problem, &format!("add `{key}`"));
    }
}

/// Reads the authentication, if it names Google's application default credentials.
fn auth(fields: &mut TableFields<'_, '_, '_>) -> Option<AuthSpec> {
    let scopes = fields.with_table("google_oauth", |inner| inner.texts("scopes"))?;
    let scopes = scopes.unwrap_or_default().iter().map(|scope| template::literal(scope)).collect();
    Some(AuthSpec {
        provider: AuthProvider::GoogleCredentials,
        oauth: OAuthSpec { scopes, ..OAuthSpec::default() },
    })
}

fn write_stdio(stdio: &StdioSpec, writer: &mut EntryWriter<'_>) {
    writer.text("transport", Some("stdio"));
    let command = write_helpers::render_literal(writer, "command", &stdio.command);
    writer.text("command", command.as_deref());
    let args: Vec<_> = stdio
        .args
        .iter()
        .filter_map(|arg| write_helpers::render_literal(writer, "args", arg))
        .collect();
    writer.texts("args", &args);
    writer.secrets("env", "env", &stdio.env);
    writer.cwd(None, stdio.cwd.as_deref());
}

fn write_http(http: &mut HttpSpec, writer: &mut EntryWriter<'_>) {
    writer.text("transport", Some("http"));
    write_helpers::fixed_kind(&mut http.kind, HttpTransportKind::Streamable, writer);
    let url = write_helpers::render_literal(writer, "url", &http.url);
    writer.text("url", url.as_deref());
    writer.secrets("headers", "headers", &http.headers);
    if http.auth.provider == AuthProvider::GoogleCredentials {
        http.auth.provider = AuthProvider::Discovered;
        let scopes = std::mem::take(&mut http.auth.oauth.scopes);
        let scopes =
            scopes.iter().filter_map(|it| write_helpers::render_literal(writer, "auth.scopes", it));
        let scopes = vec![("scopes".to_owned(), ConfigValue::texts(scopes))];
        writer.data(
            "auth",
            ConfigValue::Table(vec![("google_oauth".to_owned(), ConfigValue::Table(scopes))]),
        );
    }
}
