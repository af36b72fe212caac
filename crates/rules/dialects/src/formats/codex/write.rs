//! Writes a server as a Codex entry.

use toolgate_model::{
    ApprovalMode, AuthProvider, ConfigValue, DeclaredTool, HttpSpec, ServerSpec, TransportSpec,
};

use super::{APPROVALS, AUTHORIZATION, BEARER, CHATGPT, ID, KEYS, OAUTH, OAUTH_BESIDE};
use crate::common::entry::{exact_names, take_kept_field};
use crate::common::{EntryWriter, oauth, server};
use crate::template::{self, ConfigTemplatePart, TemplateVariable, VariableSource};

/// Writes the process or the endpoint.
pub(super) fn transport(rest: &mut ServerSpec, writer: &mut EntryWriter<'_>) {
    // The variables of another machine are in the same list as local variables.
    let elsewhere = take_kept_field(rest, ID, "env_vars");
    match &mut rest.transport {
        TransportSpec::Stdio(stdio) => {
            server::write_stdio(stdio, &KEYS, writer);
            let inherited = std::mem::take(&mut stdio.env_inherit);
            let names = exact_names(writer, "env_inherit", &inherited);
            let mut names: Vec<_> = names.into_iter().map(ConfigValue::Text).collect();
            if let Some(ConfigValue::List(elsewhere)) = elsewhere {
                names.extend(elsewhere);
            }
            if !names.is_empty() {
                writer.data("env_vars", ConfigValue::List(names));
            }
        }
        TransportSpec::Http(http) => {
            writer.template(KEYS.url, &http.url);
            write_headers(http, writer);
            write_auth(http, writer);
            server::write_type(&mut rest.transport, &KEYS, writer);
        }
        TransportSpec::BuiltIn => {}
    }
}

fn word(approval: ApprovalMode) -> &'static str {
    let found = APPROVALS.iter().find(|(_, meant)| *meant == approval);
    found.map_or("prompt", |(word, _)| word)
}

fn write_auth(http: &mut HttpSpec, writer: &mut EntryWriter<'_>) {
    if let Some(helper) = http.headers_helper.take() {
        writer.template("http_headers_helper", helper.expose());
    }
    let auth = match &http.auth.provider {
        AuthProvider::OAuth => Some("oauth"),
        AuthProvider::Foreign(host) if host == CHATGPT => Some(CHATGPT),
        _ => None,
    };
    if auth.is_some() {
        writer.text("auth", auth);
        http.auth.provider = AuthProvider::Discovered;
    }
    writer.with_table("oauth", |it| oauth::write(it, &OAUTH, &mut http.auth.oauth));
    oauth::write(writer, &OAUTH_BESIDE, &mut http.auth.oauth);
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

/// Writes which tools need approval.
pub(super) fn approvals(rest: &mut ServerSpec, writer: &mut EntryWriter<'_>) {
    let selection = &mut rest.selection;
    writer.text("default_tools_approval_mode", selection.approval.take().map(word));
    writer.with_table("tools", |inner| {
        for (name, tool) in &mut selection.tools {
            if let Some(approval) = tool.approval.take() {
                inner.with_table(name, |it| it.text("approval_mode", Some(word(approval))));
            }
        }
    });
    selection.tools.retain(|_, tool| *tool != DeclaredTool::default());
}
