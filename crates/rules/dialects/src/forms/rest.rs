//! What is left of a server after a dialect has written what it has words for: all of it is a loss.
//!
//! A writer works on a copy of the spec and takes out what it says. [`finish`] reports whatever
//! still differs from the usual, so a part of the spec that is added later is a loss in every such
//! dialect until it is said there, and is never lost in silence.

use std::time::Duration;

use toolgate_model::{
    Auth, AuthProvider, HttpKind, HttpSpec, OAuth, Safety, Selection, ServerSpec, StdioSpec,
    Timeouts, TransportSpec,
};

use crate::frame::Writer;
use crate::frame::server::Keys;
use crate::losses::Losses;
use crate::{Grammar, template};

/// What a single `timeout` of a dialect is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Covers {
    /// Calls.
    Calls,
    /// Getting connected.
    Start,
    /// Either.
    All,
}

/// Writes what is started, in a dialect's words.
pub(crate) fn stdio(stdio: &mut StdioSpec, keys: &Keys, writer: &mut Writer<'_>) {
    writer.template(keys.command, &stdio.command);
    writer.templates(keys.args, &stdio.args);
    writer.secrets(keys.env, "env", &stdio.env);
    writer.cwd(keys.cwd, stdio.cwd.as_deref());
    if let Some(key) = keys.env_file {
        writer.path(key, stdio.env_file.take().as_deref());
    }
}

/// Writes where to connect, in a dialect's words; which HTTP transport it is stays to be said.
pub(crate) fn http(http: &HttpSpec, keys: &Keys, writer: &mut Writer<'_>) {
    writer.template(keys.url, &http.url);
    writer.secrets(keys.headers, "headers", &http.headers);
}

/// The dialect always speaks this HTTP transport and cannot leave it open, or choose another.
pub(crate) fn fixed_kind(kind: &mut HttpKind, fixed: HttpKind, writer: &mut Writer<'_>) {
    if *kind != fixed {
        writer.losses().add("type", "this dialect knows one HTTP transport only");
    }
    *kind = HttpKind::Auto;
}

/// The time to write for a dialect with one `timeout`, if it can say what was said.
pub(crate) fn timeout(times: &mut Timeouts, covers: Covers, least: Duration) -> Option<Duration> {
    let none = Timeouts::default();
    let Timeouts { start, call, max } = *times;
    let (time, sayable, rest) = match covers {
        Covers::Calls => (call, call == max, Timeouts { start, ..none }),
        Covers::Start => (start, true, Timeouts { start: None, ..*times }),
        Covers::All => (call, start == call && call == max, none),
    };
    let time = time.filter(|time| sayable && *time >= least)?;
    *times = rest;
    Some(time)
}

/// A text that must mean itself here: variables in it are a loss.
pub(crate) fn literally(writer: &mut Writer<'_>, field: &str, text: &str) -> Option<String> {
    let written = Grammar::Literal.text(&template::pieces(text));
    written.map_err(|why| writer.losses().add(field, why)).ok()
}

/// Names a dialect takes exactly: a pattern among them is a loss.
pub(crate) fn exact(writer: &mut Writer<'_>, field: &str, patterns: &[String]) -> Vec<String> {
    let (exact, patterns): (Vec<_>, Vec<_>) =
        patterns.iter().cloned().partition(|name| !name.contains(['*', '?']));
    for pattern in patterns {
        writer
            .losses()
            .add(field, format!("{pattern:?} is a pattern, and names are taken exactly"));
    }
    exact
}

/// A server that cannot be declared in this dialect: nothing is written of it.
pub(crate) fn undeclarable(writer: &mut Writer<'_>, why: &str) {
    writer.losses().add("transport", why);
}

/// Adds what the same dialect said for itself, and reports what is left.
pub(crate) fn finish(rest: &ServerSpec, dialect: &str, writer: &mut Writer<'_>) {
    writer.kept(dialect, rest);
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
            losses.unsaid("env_file", env_file.is_some());
            losses.unsaid("env_inherit", !env_inherit.is_empty());
        }
        TransportSpec::Http(HttpSpec { headers_helper, kind, auth, .. }) => {
            losses.unsaid("headers_helper", headers_helper.is_some());
            losses.unsaid("type", *kind != HttpKind::Auto);
            unsaid_auth(auth, losses);
        }
        TransportSpec::BuiltIn => {}
    }
    losses.unsaid("enabled", !enabled);
    losses.unsaid("timeouts", *timeouts != Timeouts::default());
    losses.unsaid("pool", *pool != Default::default());
    losses.unsaid("description", description.is_some());
    losses.unsaid("tags", tags.is_some());
    losses.unsaid("trust", *trust);
    losses.unsaid("sampling", sampling.is_some());
    losses.unsaid("compile", *compile);
    losses.unsaid("required", *required);
    unsaid_selection(selection, losses);
    losses.unsaid("safety", *safety != Safety::default());
}

fn unsaid_selection(selection: &Selection, losses: &mut Losses) {
    let Selection { include, exclude, listed_only, tools, approval } = selection;
    losses.unsaid("include", !include.is_empty());
    losses.unsaid("exclude", !exclude.is_empty());
    losses.unsaid("tools", *listed_only || !tools.is_empty());
    losses.unsaid("approval", approval.is_some());
}

fn unsaid_auth(auth: &Auth, losses: &mut Losses) {
    let Auth { provider, oauth } = auth;
    losses.unsaid("auth.provider", *provider != AuthProvider::Discovered);
    let OAuth {
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
    losses.unsaid("auth.client_id", client_id.is_some());
    losses.unsaid("auth.client_secret", client_secret.is_some());
    losses.unsaid("auth.issuer", issuer.is_some());
    losses.unsaid("auth.metadata_url", metadata_url.is_some());
    losses.unsaid("auth.authorization_url", authorization_url.is_some());
    losses.unsaid("auth.token_url", token_url.is_some());
    losses.unsaid("auth.registration_url", registration_url.is_some());
    losses.unsaid("auth.redirect_uri", redirect_uri.is_some());
    losses.unsaid("auth.callback_port", callback_port.is_some());
    losses.unsaid("auth.scopes", !scopes.is_empty());
    losses.unsaid("auth.audiences", !audiences.is_empty());
    losses.unsaid("auth.resource", resource.is_some());
    losses.unsaid("auth.token_param", token_param.is_some());
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn one_number_says_only_what_it_covers() {
        let usual = Timeouts::default();
        let mut calls = Timeouts::calls(SECOND);
        assert_eq!(timeout(&mut calls.clone(), Covers::All, SECOND), None);
        assert_eq!(timeout(&mut calls.clone(), Covers::Calls, SECOND * 2), None);
        assert_eq!(timeout(&mut calls, Covers::Calls, SECOND), Some(SECOND));
        assert_eq!(calls, usual);

        let mut uneven = Timeouts { call: Some(SECOND), ..usual };
        for covers in [Covers::Calls, Covers::Start, Covers::All] {
            assert_eq!(timeout(&mut uneven, covers, SECOND), None, "{covers:?}");
        }
        assert_eq!(timeout(&mut usual.clone(), Covers::Calls, SECOND), None);

        let mut start = Timeouts::all(SECOND);
        assert_eq!(timeout(&mut start.clone(), Covers::All, SECOND), Some(SECOND));
        assert_eq!(timeout(&mut start, Covers::Start, SECOND), Some(SECOND));
        assert_eq!(start, Timeouts::calls(SECOND));
    }
}
