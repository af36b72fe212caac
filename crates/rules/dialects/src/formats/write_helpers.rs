//! Helpers for writers, and the report of everything that a dialect cannot express.
//!
//! A writer works on a copy of the spec and removes what it has written. [`report_losses`] reports
//! everything that still differs from the default. So a new field of the spec is reported as a loss
//! in every dialect until the dialect writes it.

use std::time::Duration;

use toolgate_model::{
    AuthProvider, AuthSpec, HttpSpec, HttpTransportKind, OAuthSpec, SafetySpec, ServerSpec,
    ServerTimeouts, StdioSpec, ToolSelection, TransportSpec,
};

use crate::common::EntryWriter;
use crate::common::server::EntryKeys;
use crate::losses::ConversionLosses;
use crate::{VariableSyntax, template};

/// What a single `timeout` of a dialect limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeoutScope {
    /// Calls.
    Calls,
    /// The connection.
    Start,
    /// Both.
    All,
}

/// Writes the process, with the field names of a dialect.
pub(crate) fn stdio(stdio: &mut StdioSpec, keys: &EntryKeys, writer: &mut EntryWriter<'_>) {
    writer.template(keys.command, &stdio.command);
    writer.templates(keys.args, &stdio.args);
    writer.secrets(keys.env, "env", &stdio.env);
    writer.cwd(keys.cwd, stdio.cwd.as_deref());
    if let Some(key) = keys.env_file {
        writer.path(key, stdio.env_file.take().as_deref());
    }
}

/// Writes the endpoint, with the field names of a dialect. The caller writes the HTTP transport.
pub(crate) fn http(http: &HttpSpec, keys: &EntryKeys, writer: &mut EntryWriter<'_>) {
    writer.template(keys.url, &http.url);
    writer.secrets(keys.headers, "headers", &http.headers);
}

/// Records a loss if the server's HTTP transport is not the only one that the dialect supports.
pub(crate) fn fixed_kind(
    kind: &mut HttpTransportKind,
    fixed: HttpTransportKind,
    writer: &mut EntryWriter<'_>,
) {
    if *kind != fixed {
        writer.losses().add("type", "this dialect supports one HTTP transport only");
    }
    *kind = HttpTransportKind::Auto;
}

/// Returns the time to write for a dialect with one `timeout`, if it can express the limits.
pub(crate) fn timeout(
    times: &mut ServerTimeouts,
    covers: TimeoutScope,
    least: Duration,
) -> Option<Duration> {
    let none = ServerTimeouts::default();
    let ServerTimeouts { start, call, max } = *times;
    let (time, sayable, rest) = match covers {
        TimeoutScope::Calls => (call, call == max, ServerTimeouts { start, ..none }),
        TimeoutScope::Start => (start, true, ServerTimeouts { start: None, ..*times }),
        TimeoutScope::All => (call, start == call && call == max, none),
    };
    let time = time.filter(|time| sayable && *time >= least)?;
    *times = rest;
    Some(time)
}

/// Returns a text without variables. A variable in it is a loss.
pub(crate) fn render_literal(
    writer: &mut EntryWriter<'_>,
    field: &str,
    text: &str,
) -> Option<String> {
    let written = VariableSyntax::Literal.render_parts(&template::parse_template(text));
    written.map_err(|why| writer.losses().add(field, why)).ok()
}

/// Returns exact names. A pattern among them is a loss.
pub(crate) fn exact_names(
    writer: &mut EntryWriter<'_>,
    field: &str,
    patterns: &[String],
) -> Vec<String> {
    let (exact, patterns): (Vec<_>, Vec<_>) =
        patterns.iter().cloned().partition(|name| !name.contains(['*', '?']));
    for pattern in patterns {
        writer.losses().add(
            field,
            format!("{pattern:?} is a pattern, and this dialect takes exact names only"),
        );
    }
    exact
}

/// Reports a server that the dialect cannot declare. Nothing is written for it.
pub(crate) fn report_undeclarable(writer: &mut EntryWriter<'_>, why: &str) {
    writer.losses().add("transport", why);
}

/// Writes the fields that only this dialect uses, and reports what is left.
pub(crate) fn report_losses(rest: &ServerSpec, dialect: &str, writer: &mut EntryWriter<'_>) {
    writer.write_extras(dialect, rest);
    let losses = writer.losses();
    let ServerSpec {
        name: _,
        transport,
        enabled,
        timeouts,
        pool,
        description,
        tags,
        trust,
        required,
        selection,
        safety,
        extras: _,
        sampling,
        compile,
    } = rest;
    match transport {
        TransportSpec::Stdio(StdioSpec { env_file, env_inherit, .. }) => {
            losses.add_if_set("env_file", env_file.is_some());
            losses.add_if_set("env_inherit", !env_inherit.is_empty());
        }
        TransportSpec::Http(HttpSpec { headers_helper, kind, auth, .. }) => {
            losses.add_if_set("headers_helper", headers_helper.is_some());
            losses.add_if_set("type", *kind != HttpTransportKind::Auto);
            report_auth_losses(auth, losses);
        }
        TransportSpec::BuiltIn => {}
    }
    losses.add_if_set("enabled", !enabled);
    losses.add_if_set("timeouts", *timeouts != ServerTimeouts::default());
    losses.add_if_set("pool", *pool != Default::default());
    losses.add_if_set("description", description.is_some());
    losses.add_if_set("tags", tags.is_some());
    losses.add_if_set("trust", *trust);
    losses.add_if_set("sampling", sampling.is_some());
    losses.add_if_set("compile", *compile);
    losses.add_if_set("required", *required);
    report_selection_losses(selection, losses);
    losses.add_if_set("safety", *safety != SafetySpec::default());
}

fn report_selection_losses(selection: &ToolSelection, losses: &mut ConversionLosses) {
    let ToolSelection { include, exclude, listed_only, tools, approval } = selection;
    losses.add_if_set("include", !include.is_empty());
    losses.add_if_set("exclude", !exclude.is_empty());
    losses.add_if_set("tools", *listed_only || !tools.is_empty());
    losses.add_if_set("approval", approval.is_some());
}

fn report_auth_losses(auth: &AuthSpec, losses: &mut ConversionLosses) {
    let AuthSpec { provider, oauth } = auth;
    losses.add_if_set("auth.provider", *provider != AuthProvider::Discovered);
    let OAuthSpec {
        client_id,
        client_secret,
        issuer,
        metadata_url,
        authorization_url,
        token_url,
        registration_url,
        redirect_uri,
        callback_port,
        scopes,
        audiences,
        resource,
        token_param,
    } = oauth;
    losses.add_if_set("auth.client_id", client_id.is_some());
    losses.add_if_set("auth.client_secret", client_secret.is_some());
    losses.add_if_set("auth.issuer", issuer.is_some());
    losses.add_if_set("auth.metadata_url", metadata_url.is_some());
    losses.add_if_set("auth.authorization_url", authorization_url.is_some());
    losses.add_if_set("auth.token_url", token_url.is_some());
    losses.add_if_set("auth.registration_url", registration_url.is_some());
    losses.add_if_set("auth.redirect_uri", redirect_uri.is_some());
    losses.add_if_set("auth.callback_port", callback_port.is_some());
    losses.add_if_set("auth.scopes", !scopes.is_empty());
    losses.add_if_set("auth.audiences", !audiences.is_empty());
    losses.add_if_set("auth.resource", resource.is_some());
    losses.add_if_set("auth.token_param", token_param.is_some());
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn one_number_says_only_what_it_covers() {
        let usual = ServerTimeouts::default();
        let mut calls = ServerTimeouts::calls(SECOND);
        assert_eq!(timeout(&mut calls.clone(), TimeoutScope::All, SECOND), None);
        assert_eq!(timeout(&mut calls.clone(), TimeoutScope::Calls, SECOND * 2), None);
        assert_eq!(timeout(&mut calls, TimeoutScope::Calls, SECOND), Some(SECOND));
        assert_eq!(calls, usual);

        let mut uneven = ServerTimeouts { call: Some(SECOND), ..usual };
        for covers in [TimeoutScope::Calls, TimeoutScope::Start, TimeoutScope::All] {
            assert_eq!(timeout(&mut uneven, covers, SECOND), None, "{covers:?}");
        }
        assert_eq!(timeout(&mut usual.clone(), TimeoutScope::Calls, SECOND), None);

        let mut start = ServerTimeouts::all(SECOND);
        assert_eq!(timeout(&mut start.clone(), TimeoutScope::All, SECOND), Some(SECOND));
        assert_eq!(timeout(&mut start, TimeoutScope::Start, SECOND), Some(SECOND));
        assert_eq!(start, ServerTimeouts::calls(SECOND));
    }
}
