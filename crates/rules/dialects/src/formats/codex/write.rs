//! Writes a server as a Codex entry.

use std::time::Duration;

use toolgate_model::{
    ApprovalMode, AuthProvider, ConfigValue, HttpSpec, HttpTransportKind, Secret, ServerSpec,
    ServerTimeouts, StdioSpec, ToolSpec, TransportSpec,
};

use super::{APPROVALS, AUTHORIZATION, BEARER, ID, KEYS, OAUTH, OAUTH_BESIDE, TOOLS};
use crate::common::{EntryWriter, oauth};
use crate::formats::write_helpers::{self, TimeoutScope};
use crate::template::{self, ConfigTemplatePart, TemplateVariable, VariableSource};

/// Writes an entry.
pub(super) fn entry(spec: &ServerSpec, writer: &mut EntryWriter<'_>) {
    let mut rest = spec.clone();
    let elsewhere = take_remote_variables(&mut rest);
    match &mut rest.transport {
        TransportSpec::Stdio(stdio) => write_stdio(stdio, elsewhere, writer),
        TransportSpec::Http(http) => write_http(http, writer),
        TransportSpec::BuiltIn => {
            return write_helpers::report_undeclarable(writer, "it is built in");
        }
    }
    if !std::mem::replace(&mut rest.enabled, true) {
        writer.flag("enabled", false);
    }
    if std::mem::take(&mut rest.required) {
        writer.flag("required", true);
    }
    write_timeouts(&mut rest.timeouts, writer);
    TOOLS.write(writer, &mut rest.selection);
    writer.text("default_tools_approval_mode", rest.selection.approval.take().map(word));
    write_approvals(&mut rest, writer);
    write_helpers::report_losses(&rest, ID, writer);
}

fn word(approval: ApprovalMode) -> &'static str {
    let found = APPROVALS.iter().find(|(_, meant)| *meant == approval);
    found.map_or("prompt", |(word, _)| word)
}

/// Returns the kept variables of another machine, which are in the same list as local variables.
fn take_remote_variables(rest: &mut ServerSpec) -> Vec<ConfigValue> {
    let Some(ConfigValue::Table(mut kept)) = rest.extras.get(ID).map(|it| it.expose().clone())
    else {
        return Vec::new();
    };
    let mut elsewhere = Vec::new();
    kept.retain_mut(|(key, value)| match value {
        ConfigValue::List(names) if key == "env_vars" => {
            elsewhere.append(names);
            false
        }
        _ => true,
    });
    rest.extras.insert(ID.to_owned(), Secret::new(ConfigValue::Table(kept)));
    elsewhere
}

fn write_stdio(stdio: &mut StdioSpec, elsewhere: Vec<ConfigValue>, writer: &mut EntryWriter<'_>) {
    write_helpers::stdio(stdio, &KEYS, writer);
    let inherited = std::mem::take(&mut stdio.env_inherit);
    let names = write_helpers::exact_names(writer, "env_inherit", &inherited)
        .into_iter()
        .map(ConfigValue::Text);
    let names: Vec<_> = names.chain(elsewhere).collect();
    if !names.is_empty() {
        writer.data("env_vars", ConfigValue::List(names));
    }
}

fn write_http(http: &mut HttpSpec, writer: &mut EntryWriter<'_>) {
    writer.template(KEYS.url, &http.url);
    write_headers(http, writer);
    // Codex supports only Streamable HTTP, so the transport is not written.
    if http.kind == HttpTransportKind::Streamable {
        http.kind = HttpTransportKind::Auto;
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
        writer.text("auth", auth);
        http.auth.provider = AuthProvider::Discovered;
    }
    let inner = oauth::write(writer, &OAUTH, &mut http.auth.oauth);
    if !inner.is_empty() {
        writer.data("oauth", ConfigValue::Table(inner));
    }
    for (key, value) in oauth::write(writer, &OAUTH_BESIDE, &mut http.auth.oauth) {
        writer.data(&key, value);
    }
}

/// Writes headers. A header, or a bearer token, that is a variable has a separate field.
fn write_headers(http: &HttpSpec, writer: &mut EntryWriter<'_>) {
    let mut headers = http.headers.clone();
    let mut named = Vec::new();
    let mut bearer = None;
    headers.retain(|header, value| match template::parse_template(value.expose()).as_slice() {
        [ConfigTemplatePart::Variable(variable)] if is_plain(variable) => {
            named.push((header.clone(), ConfigValue::text(&variable.name)));
            false
        }
        [ConfigTemplatePart::Text(text), ConfigTemplatePart::Variable(variable)]
            if text == BEARER
                && is_plain(variable)
                && header.eq_ignore_ascii_case(AUTHORIZATION) =>
        {
            bearer = Some(variable.name.clone());
            false
        }
        _ => true,
    });
    writer.text("bearer_token_env_var", bearer.as_deref());
    writer.secrets(KEYS.headers, "headers", &headers);
    if !named.is_empty() {
        writer.data("env_http_headers", ConfigValue::Table(named));
    }
}

/// Returns true if the variable has no default. Codex omits a header whose variable is not set, so
/// an empty default counts as none.
fn is_plain(variable: &TemplateVariable) -> bool {
    variable.source == VariableSource::Env && variable.default.as_deref().is_none_or(str::is_empty)
}

fn write_timeouts(timeouts: &mut ServerTimeouts, writer: &mut EntryWriter<'_>) {
    if let Some(start) = write_helpers::timeout(timeouts, TimeoutScope::Start, Duration::ZERO) {
        writer.seconds("startup_timeout_sec", start);
    }
    if let Some(limit) = write_helpers::timeout(timeouts, TimeoutScope::Calls, Duration::ZERO) {
        writer.seconds("tool_timeout_sec", limit);
    }
}

/// Writes the settings of single tools, and removes them from `rest`.
fn write_approvals(rest: &mut ServerSpec, writer: &mut EntryWriter<'_>) {
    let mut written = Vec::new();
    for (name, tool) in &mut rest.selection.tools {
        if let Some(approval) = tool.approval.take() {
            let mode = ("approval_mode".to_owned(), ConfigValue::text(word(approval)));
            written.push((name.clone(), ConfigValue::Table(vec![mode])));
        }
    }
    rest.selection.tools.retain(|_, tool| *tool != ToolSpec::default());
    if !written.is_empty() {
        writer.data("tools", ConfigValue::Table(written));
    }
}
