//! Codex's `config.toml`.
//!
//! It has no variables inside texts; fields of its own name variables instead: `env_vars`,
//! `bearer_token_env_var` and `env_http_headers`. A limit of calls is one for all of a call, with or
//! without progress.

mod write;

use std::collections::BTreeMap;

use toolgate_model::{
    Approval, AuthProvider, Data, HttpSpec, Secret, ServerName, ServerSpec, StdioSpec, Timeouts,
    ToolSpec, TransportSpec,
};

use crate::form::{Entry, Form, Place, Switch};
use crate::frame::fields::Unit;
use crate::frame::oauth::{self, Part};
use crate::frame::server::{self, Keys};
use crate::frame::tools::Lists;
use crate::frame::tree::{Node, Value};
use crate::frame::{Fields, Writer};
use crate::template::{Variable, is_env_name};
use crate::{Grammar, Syntax};

pub(crate) struct Codex;

const ID: &str = "codex";
const KEYS: Keys = Keys { tags: &[], words: &[], headers: "http_headers", ..Keys::COMMON };
/// Fields that mean something at an endpoint only.
const HTTP_ONLY: [&str; 7] = [
    "bearer_token_env_var",
    "env_http_headers",
    "http_headers_helper",
    "auth",
    "oauth",
    "scopes",
    "oauth_resource",
];
/// Fields that mean something to Codex only.
const KEPT: [&str; 3] = ["environment_id", "supports_parallel_tool_calls", "omit_tools_from"];
const TOOLS: Lists = Lists { include: "enabled_tools", exclude: "disabled_tools" };
const AUTH: [(&str, Who); 2] = [("oauth", Who::OAuth), ("chatgpt", Who::ChatGpt)];
const OAUTH: [(&str, Part); 3] = [
    ("client_id", Part::ClientId),
    ("client_secret", Part::ClientSecret),
    ("callback_port", Part::CallbackPort),
];
/// What is said of a login beside its table.
const OAUTH_BESIDE: [(&str, Part); 2] =
    [("scopes", Part::Scopes), ("oauth_resource", Part::Resource)];
const APPROVALS: [(&str, Approval); 4] = [
    ("auto", Approval::Auto),
    ("prompt", Approval::Always),
    ("writes", Approval::Writes),
    ("approve", Approval::Never),
];
/// The header that carries who we are, and how its value begins.
const AUTHORIZATION: &str = "Authorization";
const BEARER: &str = "Bearer ";

#[derive(Clone, Copy)]
enum Who {
    OAuth,
    ChatGpt,
}

impl Form for Codex {
    fn syntax(&self) -> Syntax {
        Syntax::Toml
    }

    fn place(&self) -> Place {
        Place::Map(&["mcp_servers"])
    }

    fn grammar(&self) -> Grammar {
        Grammar::Literal
    }

    fn is_own_file(&self) -> bool {
        false
    }

    fn switch(&self) -> Option<Switch> {
        Some(Switch { field: "enabled", on: true, other: None })
    }

    fn read(&self, name: ServerName, entry: &mut Fields<'_, '_, '_>) -> Option<Entry> {
        let mut transport = server::transport(entry, &KEYS);
        let mut kept = match entry.kept(&KEPT).map(|kept| kept.expose().clone()) {
            Some(Data::Table(kept)) => kept,
            _ => Vec::new(),
        };
        refuse_token(entry);
        match &mut transport {
            Some(TransportSpec::Stdio(stdio)) => {
                let elsewhere = inherited(entry, stdio);
                kept.extend(elsewhere.map(|names| ("env_vars".to_owned(), names)));
                server::unused(entry, "command", &HTTP_ONLY);
            }
            Some(TransportSpec::Http(http)) => {
                identity(entry, http);
                server::unused(entry, "url", &["env_vars"]);
            }
            Some(TransportSpec::BuiltIn) | None => {
                entry.ignored(&HTTP_ONLY);
                entry.ignored(&["env_vars"]);
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
            spec.extras.insert(ID.to_owned(), Secret::new(Data::Table(kept)));
        }
        Some(ServerSpec { enabled, required, timeouts, selection, ..spec }.into())
    }

    fn write(&self, spec: &ServerSpec, writer: &mut Writer<'_>) {
        write::entry(spec, writer);
    }
}

/// A token in the file itself is refused, as Codex does. Whoever does not write one is not told of
/// the field either.
fn refuse_token(entry: &mut Fields<'_, '_, '_>) {
    if !entry.members().iter().any(|member| member.key == "bearer_token") {
        return;
    }
    if let Some(node) = entry.node("bearer_token") {
        let hint = "put the token in a variable, and its name in `bearer_token_env_var`";
        entry.fault(node.at, "cannot have its `bearer_token` in the file", hint);
    }
}

/// Reads the variables that are taken over by name. Those of another machine come back as they
/// were written: only Codex can reach it.
fn inherited(entry: &mut Fields<'_, '_, '_>, stdio: &mut StdioSpec) -> Option<Data> {
    let mut elsewhere = Vec::new();
    for node in entry.list("env_vars")? {
        let (name, is_remote) = match &node.value {
            Value::Text(name) => (name.as_str(), false),
            Value::Table(members) => {
                let what = "a variable of `env_vars`".to_owned();
                let mut inner = Fields::of(entry.report(), what, node.at, members);
                let name = inner.text("name");
                let source = inner.choice("source", &[("local", false), ("remote", true)]);
                if name.is_none() {
                    inner.fail("has no `name`", "name the variable to take over");
                }
                match (inner.finish(), name) {
                    (true, Some(name)) => (name, source.unwrap_or(false)),
                    _ => {
                        entry.spoil();
                        continue;
                    }
                }
            }
            other => {
                let problem = format!("has {} where `env_vars` must name variables", other.kind());
                entry.fault(node.at, &problem, "write each name in quotes");
                continue;
            }
        };
        if name.is_empty() || name.contains(['=', '*', '?', '\0']) {
            entry.fault(node.at, "cannot take over a variable of this name", "name it exactly");
        } else if is_remote {
            entry.warn(
                "env_vars",
                "names variables of another machine",
                "only Codex takes them over",
            );
            elsewhere.push(node.data());
        } else {
            stdio.env_inherit.push(name.to_owned());
        }
    }
    (!elsewhere.is_empty()).then_some(Data::List(elsewhere))
}

/// Reads how an endpoint is told who we are.
fn identity(entry: &mut Fields<'_, '_, '_>, http: &mut HttpSpec) {
    for (header, name) in named_headers(entry) {
        let value = Variable::env(name, None).to_string();
        if http.headers.insert(header, Secret::new(value)).is_some() {
            let hint = "remove it from `http_headers`";
            entry.warn("env_http_headers", "replaces a header of `http_headers`", hint);
        }
    }
    if let Some(name) = variable(entry, "bearer_token_env_var") {
        let value = format!("{BEARER}{}", Variable::env(name, None));
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
        Some(Who::OAuth) => http.auth.provider = AuthProvider::OAuth,
        Some(Who::ChatGpt) => http.auth.provider = AuthProvider::Foreign("chatgpt".to_owned()),
        None => {}
    }
    entry.within("oauth", |inner| oauth::read(inner, &OAUTH, &mut http.auth.oauth));
    oauth::read(entry, &OAUTH_BESIDE, &mut http.auth.oauth);
}

/// Headers whose values are variables: the header, and the variable's name.
fn named_headers<'t>(entry: &mut Fields<'t, '_, '_>) -> Vec<(String, &'t str)> {
    let Some((_, members)) = entry.table("env_http_headers") else { return Vec::new() };
    let mut headers = Vec::new();
    for member in members {
        match &member.node {
            Node { value: Value::Text(name), .. } if is_env_name(name) => {
                headers.push((member.key.clone(), name.as_str()));
            }
            node => not_a_variable(entry, node, &format!("env_http_headers.{}", member.key)),
        }
    }
    headers
}

/// The name of a variable.
fn variable<'t>(entry: &mut Fields<'t, '_, '_>, key: &'static str) -> Option<&'t str> {
    let node = entry.node(key)?;
    let name = entry.text(key)?;
    if !is_env_name(name) {
        not_a_variable(entry, node, key);
    }
    is_env_name(name).then_some(name)
}

/// What stands there may be the credential itself: it is not repeated.
fn not_a_variable(entry: &mut Fields<'_, '_, '_>, node: &Node, key: &str) {
    let problem = format!("has a `{key}` that is no name of a variable");
    entry.fault(node.at, &problem, "put the value in a variable, and its name here");
}

fn timeouts(entry: &mut Fields<'_, '_, '_>) -> Timeouts {
    let millis = entry.time("startup_timeout_ms", Unit::Millis);
    let seconds = entry.time("startup_timeout_sec", Unit::Seconds);
    if seconds.is_some() {
        server::unused(entry, "startup_timeout_sec", &["startup_timeout_ms"]);
    }
    let calls = entry.time("tool_timeout_sec", Unit::Seconds);
    Timeouts { start: seconds.or(millis), call: calls, max: calls }
}

/// Reads when somebody is asked before single tools are called.
fn approvals(entry: &mut Fields<'_, '_, '_>, tools: &mut BTreeMap<String, ToolSpec>) {
    let Some((_, members)) = entry.table("tools") else { return };
    for member in members {
        let Value::Table(fields) = &member.node.value else {
            let problem = format!("has {} as tool {:?}", member.node.value.kind(), member.key);
            entry.fault(member.node.at, &problem, "make it a table with `approval_mode`");
            continue;
        };
        let what = format!("tool {:?}", member.key);
        let mut inner = Fields::of(entry.report(), what, member.at, fields);
        let approval = inner.choice("approval_mode", &APPROVALS);
        if !inner.finish() {
            entry.spoil();
        }
        if approval.is_some() {
            tools.insert(member.key.clone(), ToolSpec { approval, ..ToolSpec::default() });
        }
    }
}
