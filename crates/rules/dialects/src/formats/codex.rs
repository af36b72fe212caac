//! Codex's `config.toml`.
//!
//! Strings contain no variables. Instead, separate fields name variables: `env_vars`,
//! `bearer_token_env_var` and `env_http_headers`. A call timeout limits the whole call, with or
//! without progress.

mod write;

use std::collections::BTreeMap;

use toolgate_model::{
    ApprovalMode, AuthProvider, ConfigValue, HttpSpec, Secret, ServerName, ServerSpec,
    ServerTimeouts, StdioSpec, ToolSpec, TransportSpec,
};

use crate::common::fields::TimeUnit;
use crate::common::oauth::{self, OAuthField};
use crate::common::server::{self, EntryKeys};
use crate::common::tool_filter::ToolFilterKeys;
use crate::common::tree::{TreeNode, TreeValue};
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{DialectFormat, EnabledField, ParsedEntry, ServersLocation};
use crate::template::{TemplateVariable, is_env_name};
use crate::{Syntax, VariableSyntax};

/// The dialect of Codex.
pub(crate) struct Codex;

const ID: &str = "codex";
const KEYS: EntryKeys = EntryKeys {
    transport_keys: &[],
    transport_names: &[],
    headers: "http_headers",
    ..EntryKeys::COMMON
};
/// Fields that only apply to endpoints.
const HTTP_ONLY: [&str; 7] = [
    "bearer_token_env_var",
    "env_http_headers",
    "http_headers_helper",
    "auth",
    "oauth",
    "scopes",
    "oauth_resource",
];
/// Fields that only Codex uses.
const KEPT: [&str; 3] = ["environment_id", "supports_parallel_tool_calls", "omit_tools_from"];
const TOOLS: ToolFilterKeys =
    ToolFilterKeys { include: "enabled_tools", exclude: "disabled_tools" };
const AUTH: [(&str, CodexAuth); 2] = [("oauth", CodexAuth::OAuth), ("chatgpt", CodexAuth::ChatGpt)];
const OAUTH: [(&str, OAuthField); 3] = [
    ("client_id", OAuthField::ClientId),
    ("client_secret", OAuthField::ClientSecret),
    ("callback_port", OAuthField::CallbackPort),
];
/// OAuth settings outside the OAuth table.
const OAUTH_BESIDE: [(&str, OAuthField); 2] =
    [("scopes", OAuthField::Scopes), ("oauth_resource", OAuthField::Resource)];
const APPROVALS: [(&str, ApprovalMode); 4] = [
    ("auto", ApprovalMode::Auto),
    ("prompt", ApprovalMode::Always),
    ("writes", ApprovalMode::Writes),
    ("approve", ApprovalMode::Never),
];
/// The header that authenticates the client, and the prefix of its value.
const AUTHORIZATION: &str = "Authorization";
const BEARER: &str = "Bearer ";

/// The kinds of authentication in `auth`.
#[derive(Clone, Copy)]
enum CodexAuth {
    OAuth,
    ChatGpt,
}

impl DialectFormat for Codex {
    fn syntax(&self) -> Syntax {
        Syntax::Toml
    }

    fn servers_location(&self) -> ServersLocation {
        ServersLocation::Map(&["mcp_servers"])
    }

    fn variable_syntax(&self) -> VariableSyntax {
        VariableSyntax::Literal
    }

    fn is_servers_only(&self) -> bool {
        false
    }

    fn enabled_field(&self) -> Option<EnabledField> {
        Some(EnabledField { field: "enabled", value_when_enabled: true, opposite_field: None })
    }

    fn read(&self, name: ServerName, entry: &mut TableFields<'_, '_, '_>) -> Option<ParsedEntry> {
        let mut transport = server::read_transport(entry, &KEYS);
        let mut kept = match entry.read_extras(&KEPT).map(|kept| kept.expose().clone()) {
            Some(ConfigValue::Table(kept)) => kept,
            _ => Vec::new(),
        };
        refuse_token(entry);
        match &mut transport {
            Some(TransportSpec::Stdio(stdio)) => {
                let elsewhere = read_env_vars(entry, stdio);
                kept.extend(elsewhere.map(|names| ("env_vars".to_owned(), names)));
                server::warn_unused(entry, "command", &HTTP_ONLY);
            }
            Some(TransportSpec::Http(http)) => {
                read_auth(entry, http);
                server::warn_unused(entry, "url", &["env_vars"]);
            }
            Some(TransportSpec::BuiltIn) | None => {
                entry.mark_known(&HTTP_ONLY);
                entry.mark_known(&["env_vars"]);
            }
        }
        let mut selection = TOOLS.read(entry);
        selection.approval = entry.choice("default_tools_approval_mode", &APPROVALS);
        approvals(entry, &mut selection.tools);
        let enabled = entry.flag("enabled").unwrap_or(true);
        let required = entry.flag("required").unwrap_or(false);
        let timeouts = timeouts(entry);
        let mut spec = ServerSpec::new(name, transport?);
        if !kept.is_empty() {
            spec.extras.insert(ID.to_owned(), Secret::new(ConfigValue::Table(kept)));
        }
        Some(ServerSpec { enabled, required, timeouts, selection, ..spec }.into())
    }

    fn write(&self, spec: &ServerSpec, writer: &mut EntryWriter<'_>) {
        write::entry(spec, writer);
    }
}

/// Rejects a token in the file itself, as Codex does. The field is not listed in hints.
fn refuse_token(entry: &mut TableFields<'_, '_, '_>) {
    if !entry.members().iter().any(|member| member.key == "bearer_token") {
        return;
    }
    if let Some(node) = entry.node("bearer_token") {
        let hint = "put the token in a variable, and its name in `bearer_token_env_var`";
        entry.error_at(node.at, "cannot have its `bearer_token` in the file", hint);
    }
}

/// Reads the variables that are inherited by name. Returns those of another machine as written,
/// because only Codex can read them.
fn read_env_vars(
    entry: &mut TableFields<'_, '_, '_>,
    stdio: &mut StdioSpec,
) -> Option<ConfigValue> {
    let mut elsewhere = Vec::new();
    for node in entry.list("env_vars")? {
        let (name, is_remote) = match &node.value {
            TreeValue::Text(name) => (name.as_str(), false),
            TreeValue::Table(members) => {
                let what = "a variable of `env_vars`".to_owned();
                let mut inner = TableFields::of(entry.diagnostics(), what, node.at, members);
                let name = inner.text("name");
                let source = inner.choice("source", &[("local", false), ("remote", true)]);
                if name.is_none() {
                    inner.fail("has no `name`", "name the variable to inherit");
                }
                match (inner.finish(), name) {
                    (true, Some(name)) => (name, source.unwrap_or(false)),
                    _ => {
                        entry.mark_unusable();
                        continue;
                    }
                }
            }
            other => {
                let problem = format!("has {} where `env_vars` must name variables", other.kind());
                entry.error_at(node.at, &problem, "write each name in quotes");
                continue;
            }
        };
        if name.is_empty() || name.contains(['=', '*', '?', '\0']) {
            entry.error_at(
                node.at,
                "cannot inherit a variable with this name",
                "use the exact name of the variable",
            );
        } else if is_remote {
            entry.warn(
                "env_vars",
                "names variables of another machine",
                "only Codex can inherit them",
            );
            elsewhere.push(node.data());
        } else {
            stdio.env_inherit.push(name.to_owned());
        }
    }
    (!elsewhere.is_empty()).then_some(ConfigValue::List(elsewhere))
}

/// Reads how Toolgate authenticates to an endpoint.
fn read_auth(entry: &mut TableFields<'_, '_, '_>, http: &mut HttpSpec) {
    for (header, name) in named_headers(entry) {
        let value = TemplateVariable::env(name, None).to_string();
        if http.headers.insert(header, Secret::new(value)).is_some() {
            let hint = "remove it from `http_headers`";
            entry.warn("env_http_headers", "replaces a header of `http_headers`", hint);
        }
    }
    if let Some(name) = variable(entry, "bearer_token_env_var") {
        let value = format!("{BEARER}{}", TemplateVariable::env(name, None));
        http.headers.retain(|header, _| {
            let other = !header.eq_ignore_ascii_case(AUTHORIZATION);
            if !other {
                let hint = "keep one of the two";
                entry.warn("bearer_token_env_var", "replaces another Authorization header", hint);
            }
            other
        });
        http.headers.insert(AUTHORIZATION.to_owned(), Secret::new(value));
    }
    http.headers_helper = entry.template("http_headers_helper").map(Secret::new);
    match entry.choice("auth", &AUTH) {
        Some(CodexAuth::OAuth) => http.auth.provider = AuthProvider::OAuth,
        Some(CodexAuth::ChatGpt) => {
            http.auth.provider = AuthProvider::Foreign("chatgpt".to_owned())
        }
        None => {}
    }
    entry.with_table("oauth", |inner| oauth::read(inner, &OAUTH, &mut http.auth.oauth));
    oauth::read(entry, &OAUTH_BESIDE, &mut http.auth.oauth);
}

/// Returns the headers whose values are variables: the header and the name of the variable.
fn named_headers<'t>(entry: &mut TableFields<'t, '_, '_>) -> Vec<(String, &'t str)> {
    let Some((_, members)) = entry.table("env_http_headers") else { return Vec::new() };
    let mut headers = Vec::new();
    for member in members {
        match &member.node {
            TreeNode { value: TreeValue::Text(name), .. } if is_env_name(name) => {
                headers.push((member.key.clone(), name.as_str()));
            }
            node => report_invalid_name(entry, node, &format!("env_http_headers.{}", member.key)),
        }
    }
    headers
}

/// Returns the name of a variable.
fn variable<'t>(entry: &mut TableFields<'t, '_, '_>, key: &'static str) -> Option<&'t str> {
    let node = entry.node(key)?;
    let name = entry.text(key)?;
    if !is_env_name(name) {
        report_invalid_name(entry, node, key);
    }
    is_env_name(name).then_some(name)
}

/// Reports an invalid variable name without showing it: it may be the credential itself.
fn report_invalid_name(entry: &mut TableFields<'_, '_, '_>, node: &TreeNode, key: &str) {
    let problem = format!("has a `{key}` that is not a variable name");
    entry.error_at(node.at, &problem, "put the value in a variable, and its name here");
}

fn timeouts(entry: &mut TableFields<'_, '_, '_>) -> ServerTimeouts {
    let millis = entry.time("startup_timeout_ms", TimeUnit::Millis);
    let seconds = entry.time("startup_timeout_sec", TimeUnit::Seconds);
    if seconds.is_some() {
        server::warn_unused(entry, "startup_timeout_sec", &["startup_timeout_ms"]);
    }
    let calls = entry.time("tool_timeout_sec", TimeUnit::Seconds);
    ServerTimeouts { start: seconds.or(millis), call: calls, max: calls }
}

/// Reads which tools need approval.
fn approvals(entry: &mut TableFields<'_, '_, '_>, tools: &mut BTreeMap<String, ToolSpec>) {
    let Some((_, members)) = entry.table("tools") else { return };
    for member in members {
        let TreeValue::Table(fields) = &member.node.value else {
            let problem = format!("has {} as tool {:?}", member.node.value.kind(), member.key);
            entry.error_at(member.node.at, &problem, "make it a table with `approval_mode`");
            continue;
        };
        let what = format!("tool {:?}", member.key);
        let mut inner = TableFields::of(entry.diagnostics(), what, member.at, fields);
        let approval = inner.choice("approval_mode", &APPROVALS);
        if !inner.finish() {
            entry.mark_unusable();
        }
        if approval.is_some() {
            tools.insert(member.key.clone(), ToolSpec { approval, ..ToolSpec::default() });
        }
    }
}
