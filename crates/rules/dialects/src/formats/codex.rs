//! Codex's `config.toml`.
//!
//! Strings contain no variables. Instead, separate fields name variables: `env_vars`,
//! `bearer_token_env_var` and `env_http_headers`. A call timeout limits the whole call, with or
//! without progress.

mod write;

use toolgate_model::{
    ApprovalMode, AuthProvider, ConfigValue, DeclaredTool, HttpSpec, Secret, ServerSpec, StdioSpec,
    TransportSpec,
};

use crate::Syntax;
use crate::common::TableFields;
use crate::common::entry::{EntryField, TimeoutField, TimeoutScope, keep};
use crate::common::fields::TimeUnit;
use crate::common::oauth::{self, OAuthField};
use crate::common::server::{self, EntryKeys};
use crate::common::tool_filter::ToolFilterKeys;
use crate::common::tree::{TreeNode, TreeValue, find};
use crate::dialect_format::{DialectFormat, EnabledField, ServersLocation};
use crate::template::{TemplateVariable, is_env_name};

/// The dialect of Codex.
pub(crate) const FORMAT: DialectFormat = DialectFormat {
    name: ID,
    paths: &[".codex/config.toml"],
    extras: ID,
    syntax: Syntax::Toml,
    servers: ServersLocation::Map(&["mcp_servers"]),
    servers_only: false,
    enabled: Some(EnabledField::ENABLED),
    fields: &[
        EntryField::Other(read_transport, write::transport),
        EntryField::Tools(ToolFilterKeys { include: "enabled_tools", exclude: "disabled_tools" }),
        EntryField::Other(read_approvals, write::approvals),
        EntryField::Enabled,
        EntryField::Flag("required", |spec| &mut spec.required),
        EntryField::Other(read_start_timeout, |rest, writer| {
            START_TIMEOUT.write(&mut rest.timeouts, writer);
        }),
        EntryField::Timeout(CALL_TIMEOUT),
    ],
    ..DialectFormat::MCP_SERVERS
};

const ID: &str = "codex";
const KEYS: EntryKeys =
    EntryKeys { cwd: Some("cwd"), headers: "http_headers", ..EntryKeys::UNTYPED };
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
const OAUTH: [(&str, OAuthField); 3] = [
    ("client_id", OAuthField::CLIENT_ID),
    ("client_secret", OAuthField::ClientSecret),
    ("callback_port", OAuthField::CallbackPort),
];
/// OAuth settings outside the OAuth table.
const OAUTH_BESIDE: [(&str, OAuthField); 2] =
    [("scopes", OAuthField::SCOPES), ("oauth_resource", OAuthField::RESOURCE)];
const APPROVALS: [(&str, ApprovalMode); 4] = [
    ("auto", ApprovalMode::Auto),
    ("prompt", ApprovalMode::Always),
    ("writes", ApprovalMode::Writes),
    ("approve", ApprovalMode::Never),
];
const START_TIMEOUT: TimeoutField =
    TimeoutField::new("startup_timeout_sec", TimeUnit::Seconds, TimeoutScope::Start);
const CALL_TIMEOUT: TimeoutField =
    TimeoutField { key: "tool_timeout_sec", scope: TimeoutScope::Calls, ..START_TIMEOUT };
/// The login with an account of ChatGPT.
const CHATGPT: &str = "chatgpt";
/// The header that authenticates the client, and the prefix of its value.
const AUTHORIZATION: &str = "Authorization";
const BEARER: &str = "Bearer ";

fn read_transport(entry: &mut TableFields<'_>, spec: &mut ServerSpec) {
    let transport = server::read_transport(entry, &KEYS);
    keep(spec, ID, entry.read_extras(&KEPT));
    refuse_token(entry);
    spec.transport = transport.unwrap_or(TransportSpec::BuiltIn);
    match &mut spec.transport {
        TransportSpec::Stdio(stdio) => {
            let elsewhere = read_env_vars(entry, stdio).unwrap_or_default();
            server::warn_unused(entry, "command", &HTTP_ONLY);
            if !elsewhere.is_empty() {
                keep(spec, ID, vec![("env_vars".to_owned(), ConfigValue::List(elsewhere))]);
            }
        }
        TransportSpec::Http(http) => {
            read_auth(entry, http);
            server::warn_unused(entry, "url", &["env_vars"]);
        }
        TransportSpec::BuiltIn => {
            entry.mark_known(&HTTP_ONLY);
            entry.mark_known(&["env_vars"]);
        }
    }
}

/// Rejects a token in the file itself, as Codex does. The field is not listed in hints.
fn refuse_token(entry: &mut TableFields<'_>) {
    let is_there = find(entry.members, "bearer_token").is_some();
    if let Some(node) = is_there.then(|| entry.node("bearer_token")).flatten() {
        let hint = "put the token in a variable, and its name in `bearer_token_env_var`";
        entry.error_at(node.at, "cannot have its `bearer_token` in the file", hint);
    }
}

/// Reads the variables that are inherited by name. Returns those of another machine as written,
/// because only Codex can read them.
fn read_env_vars(entry: &mut TableFields<'_>, stdio: &mut StdioSpec) -> Option<Vec<ConfigValue>> {
    let mut elsewhere = Vec::new();
    for node in entry.list("env_vars")? {
        let (name, is_remote) = match &node.value {
            TreeValue::Text(name) => (name.as_str(), false),
            TreeValue::Table(members) => {
                let read = |inner: &mut TableFields<'_>| {
                    let name = inner.owned_text("name");
                    if name.is_none() {
                        inner.fail("has no `name`", "name the variable to inherit");
                    }
                    let source = inner.choice("source", &[("local", false), ("remote", true)]);
                    source.unwrap_or(false)
                };
                let what = "a variable of `env_vars`";
                let is_remote = entry.read_nested(what, node.at, members, read);
                match (node.field("name").and_then(TreeNode::text), is_remote) {
                    (Some(name), Some(is_remote)) => (name, is_remote),
                    _ => continue,
                }
            }
            other => {
                let problem = format!("has {} where `env_vars` must name variables", other.kind());
                entry.error_at(node.at, &problem, "write each name in quotes");
                continue;
            }
        };
        if name.is_empty() || name.contains(['=', '*', '?', '\0']) {
            let hint = "use the exact name of the variable";
            entry.error_at(node.at, "cannot inherit a variable with this name", hint);
        } else if is_remote {
            let problem = "names variables of another machine";
            entry.warn("env_vars", problem, "only Codex can inherit them");
            elsewhere.push(node.data());
        } else {
            stdio.env_inherit.push(name.to_owned());
        }
    }
    Some(elsewhere)
}

/// Reads how Toolgate authenticates to an endpoint.
fn read_auth(entry: &mut TableFields<'_>, http: &mut HttpSpec) {
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
    match entry.choice("auth", &[("oauth", false), (CHATGPT, true)]) {
        Some(true) => http.auth.provider = AuthProvider::Foreign(CHATGPT.to_owned()),
        Some(false) => http.auth.provider = AuthProvider::OAuth,
        None => {}
    }
    entry.with_table("oauth", |inner| oauth::read(inner, &OAUTH, &mut http.auth.oauth));
    oauth::read(entry, &OAUTH_BESIDE, &mut http.auth.oauth);
}

/// Returns the headers whose values are variables: the header and the name of the variable.
fn named_headers<'t>(entry: &mut TableFields<'t>) -> Vec<(String, &'t str)> {
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
fn variable<'t>(entry: &mut TableFields<'t>, key: &'static str) -> Option<&'t str> {
    let node = entry.node(key)?;
    let name = entry.text(key)?;
    if !is_env_name(name) {
        report_invalid_name(entry, node, key);
    }
    is_env_name(name).then_some(name)
}

/// Reports an invalid variable name without showing it: it may be the credential itself.
fn report_invalid_name(entry: &mut TableFields<'_>, node: &TreeNode, key: &str) {
    let problem = format!("has a `{key}` that is not a variable name");
    entry.error_at(node.at, &problem, "put the value in a variable, and its name here");
}

fn read_start_timeout(entry: &mut TableFields<'_>, spec: &mut ServerSpec) {
    let millis = entry.time("startup_timeout_ms", TimeUnit::Millis);
    let seconds = entry.time(START_TIMEOUT.key, TimeUnit::Seconds);
    if seconds.is_some() {
        server::warn_unused(entry, START_TIMEOUT.key, &["startup_timeout_ms"]);
    }
    spec.timeouts.start = seconds.or(millis);
}

/// Reads which tools need approval.
fn read_approvals(entry: &mut TableFields<'_>, spec: &mut ServerSpec) {
    spec.selection.approval = entry.choice("default_tools_approval_mode", &APPROVALS);
    let Some((_, members)) = entry.table("tools") else { return };
    for member in members {
        let Some(fields) = member.node.table() else {
            let problem = format!("has {} as tool {:?}", member.node.value.kind(), member.key);
            entry.error_at(member.node.at, &problem, "make it a table with `approval_mode`");
            continue;
        };
        let what = format!("tool {:?}", member.key);
        let read = |inner: &mut TableFields<'_>| inner.choice("approval_mode", &APPROVALS);
        let approval = entry.read_nested(what, member.at, fields, read).flatten();
        if approval.is_some() {
            let tool = DeclaredTool { approval, ..DeclaredTool::default() };
            spec.selection.tools.insert(member.key.clone(), tool);
        }
    }
}
