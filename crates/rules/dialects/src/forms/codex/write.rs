//! Writes a server as Codex declares it.

use std::time::Duration;

use toolgate_model::{
    Approval, AuthProvider, Data, HttpKind, HttpSpec, Secret, ServerSpec, StdioSpec, Timeouts,
    ToolSpec, TransportSpec,
};

use super::{APPROVALS, AUTHORIZATION, BEARER, ID, KEYS, OAUTH, OAUTH_BESIDE, TOOLS};
use crate::forms::rest::{self, Covers};
use crate::frame::{Writer, oauth};
use crate::template::{self, Piece, Source, Variable};

/// Writes an entry.
pub(super) fn entry(spec: &ServerSpec, writer: &mut Writer<'_>) {
    let mut rest = spec.clone();
    let elsewhere = take_elsewhere(&mut rest);
    match &mut rest.transport {
        TransportSpec::Stdio(stdio) => write_stdio(stdio, elsewhere, writer),
        TransportSpec::Http(http) => write_http(http, writer),
        TransportSpec::BuiltIn => return rest::undeclarable(writer, "it is built in"),
    }
    if !std::mem::replace(&mut rest.enabled, true) {
        writer.flag("enabled", false);
    }
    if std::mem::take(&mut rest.required) {
        writer.flag("required", true);
    }
    write_timeouts(&mut rest.timeouts, writer);
    TOOLS.write(writer, &mut rest.selection);
    writer.plain("default_tools_approval_mode", rest.selection.approval.take().map(word));
    write_approvals(&mut rest, writer);
    rest::finish(&rest, ID, writer);
}

fn word(approval: Approval) -> &'static str {
    let found = APPROVALS.iter().find(|(_, meant)| *meant == approval);
    found.map_or("prompt", |(word, _)| word)
}

/// The variables of another machine among what was kept: they stand in one list with ours.
fn take_elsewhere(rest: &mut ServerSpec) -> Vec<Data> {
    let Some(Data::Table(mut kept)) = rest.extras.get(ID).map(|it| it.expose().clone()) else {
        return Vec::new();
    };
    let mut elsewhere = Vec::new();
    kept.retain_mut(|(key, value)| match value {
        Data::List(names) if key == "env_vars" => {
            elsewhere.append(names);
            false
        }
        _ => true,
    });
    rest.extras.insert(ID.to_owned(), Secret::new(Data::Table(kept)));
    elsewhere
}

fn write_stdio(stdio: &mut StdioSpec, elsewhere: Vec<Data>, writer: &mut Writer<'_>) {
    rest::stdio(stdio, &KEYS, writer);
    let inherited = std::mem::take(&mut stdio.env_inherit);
    let names = rest::exact(writer, "env_inherit", &inherited).into_iter().map(Data::Text);
    let names: Vec<_> = names.chain(elsewhere).collect();
    if !names.is_empty() {
        writer.data("env_vars", Data::List(names));
    }
}

fn write_http(http: &mut HttpSpec, writer: &mut Writer<'_>) {
    writer.template(KEYS.url, &http.url);
    write_headers(http, writer);
    // It speaks nothing but Streamable HTTP, so that need not be said.
    if http.kind == HttpKind::Streamable {
        http.kind = HttpKind::Auto;
    }
    if let Some(helper) = http.headers_helper.take() {
        writer.template("http_headers_helper", helper.expose());
    }
    let auth = match &http.auth.provider {
        AuthProvider::OAuth => Some("oauth"),
        AuthProvider::Foreign(host) if host == "chatgpt" => Some("chatgpt"),
        _ => None,
    };
    if auth.is_some() {
        writer.plain("auth", auth);
        http.auth.provider = AuthProvider::Discovered;
    }
    let inner = oauth::write(writer, &OAUTH, &mut http.auth.oauth);
    if !inner.is_empty() {
        writer.data("oauth", Data::Table(inner));
    }
    for (key, value) in oauth::write(writer, &OAUTH_BESIDE, &mut http.auth.oauth) {
        writer.data(&key, value);
    }
}

/// A header that is a variable, or a bearer token that is one, has a field of its own.
fn write_headers(http: &HttpSpec, writer: &mut Writer<'_>) {
    let mut headers = http.headers.clone();
    let mut named = Vec::new();
    let mut bearer = None;
    headers.retain(|header, value| match template::pieces(value.expose()).as_slice() {
        [Piece::Variable(variable)] if is_plain(variable) => {
            named.push((header.clone(), Data::text(&variable.name)));
            false
        }
        [Piece::Text(text), Piece::Variable(variable)]
            if text == BEARER
                && is_plain(variable)
                && header.eq_ignore_ascii_case(AUTHORIZATION) =>
        {
            bearer = Some(variable.name.clone());
            false
        }
        _ => true,
    });
    writer.plain("bearer_token_env_var", bearer.as_deref());
    writer.secrets(KEYS.headers, "headers", &headers);
    if !named.is_empty() {
        writer.data("env_http_headers", Data::Table(named));
    }
}

/// Codex leaves a header out whose variable is not set, so an empty default is as good as none.
fn is_plain(variable: &Variable) -> bool {
    variable.source == Source::Env && variable.default.as_deref().is_none_or(str::is_empty)
}

fn write_timeouts(timeouts: &mut Timeouts, writer: &mut Writer<'_>) {
    if let Some(start) = rest::timeout(timeouts, Covers::Start, Duration::ZERO) {
        writer.seconds("startup_timeout_sec", start);
    }
    if let Some(limit) = rest::timeout(timeouts, Covers::Calls, Duration::ZERO) {
        writer.seconds("tool_timeout_sec", limit);
    }
}

/// What is said of single tools; what cannot be said here stays.
fn write_approvals(rest: &mut ServerSpec, writer: &mut Writer<'_>) {
    let mut written = Vec::new();
    for (name, tool) in &mut rest.selection.tools {
        if let Some(approval) = tool.approval.take() {
            let mode = ("approval_mode".to_owned(), Data::text(word(approval)));
            written.push((name.clone(), Data::Table(vec![mode])));
        }
    }
    rest.selection.tools.retain(|_, tool| *tool != ToolSpec::default());
    if !written.is_empty() {
        writer.data("tools", Data::Table(written));
    }
}
