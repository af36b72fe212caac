//! A server as an entry of our own file: plain fields first, then tables, so that long ones can have
//! a header of their own below.

use std::time::Duration;

use toolgate_model::{
    Data, HttpKind, HttpSpec, PoolScope, Safety, Sandbox, Scope, ServerSpec, StdioSpec, Timeouts,
    TransportSpec,
};

use super::{auth, sampling, tools};
use crate::frame::Writer;
use crate::losses::Losses;

pub(super) fn server(spec: &ServerSpec, writer: &mut Writer<'_>) {
    // Every field is named: a new one cannot be forgotten here.
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
    } = spec;
    writer.plain("description", description.as_deref());
    match transport {
        TransportSpec::Stdio(stdio) => process(stdio, writer),
        TransportSpec::Http(http) => endpoint(http, writer),
        TransportSpec::BuiltIn => {
            return writer.losses().add("transport", "it is built in and needs no entry");
        }
    }
    if !enabled {
        writer.flag("enabled", false);
    }
    if *pool == PoolScope::PerCaller {
        writer.plain("pool", Some("per-caller"));
    }
    if let Some(tags) = tags {
        writer.data("tags", Data::texts(tags.iter().cloned()));
    }
    tools::write_lists(selection, writer);
    vouched("trust", *trust, writer);
    vouched("compile", *compile, writer);
    if *required {
        writer.flag("required", true);
    }
    reviewed(safety, writer);
    match transport {
        TransportSpec::Stdio(stdio) => writer.secrets("env", "env", &stdio.env),
        TransportSpec::Http(http) => {
            writer.secrets("headers", "headers", &http.headers);
            auth::write(&http.auth, writer);
        }
        TransportSpec::BuiltIn => {}
    }
    times(timeouts, writer);
    sampling::write(sampling.as_ref(), writer);
    tools::write_tools(selection, writer);
    confined(safety, writer);
    kept(spec, writer);
}

fn process(stdio: &StdioSpec, writer: &mut Writer<'_>) {
    let StdioSpec { command, args, cwd, env: _, env_file, env_inherit, files: _ } = stdio;
    writer.template("command", command);
    writer.templates("args", args);
    writer.cwd(Some("cwd"), cwd.as_deref());
    writer.path("env_file", env_file.as_deref());
    let has_patterns = env_inherit.iter().any(|pattern| pattern.contains(['*', '?']));
    match has_patterns && writer.file().scope == Scope::Project {
        true => writer.losses().add("env_inherit", "a project's file takes no patterns"),
        false => writer.plains("env_inherit", env_inherit),
    }
}

fn endpoint(http: &HttpSpec, writer: &mut Writer<'_>) {
    let HttpSpec { url, headers: _, headers_helper, kind, auth: _ } = http;
    let word = match kind {
        HttpKind::Auto => None,
        HttpKind::Streamable => Some("streamable-http"),
        HttpKind::Sse => Some("sse"),
    };
    writer.plain("type", word);
    writer.template("url", url);
    if let Some(helper) = headers_helper {
        writer.template("headers_helper", helper.expose());
    }
}

fn vouched(key: &str, vouched: bool, writer: &mut Writer<'_>) {
    match vouched && writer.file().scope == Scope::Project {
        true => writer.losses().add(key, "a project's file cannot vouch for itself"),
        false if vouched => writer.flag(key, true),
        false => {}
    }
}

fn times(timeouts: &Timeouts, writer: &mut Writer<'_>) {
    let limits = limits(timeouts);
    if !limits.is_empty() {
        writer.data("timeouts", Data::Table(limits));
    }
}

/// The limits that are set.
pub(super) fn limits(timeouts: &Timeouts) -> Vec<(String, Data)> {
    let Timeouts { start, call, max } = *timeouts;
    let limits = [("start", start), ("call", call), ("max", max)];
    let set = |(key, time): (&str, Option<_>)| Some((key.to_owned(), Data::Text(spelled(time?))));
    limits.into_iter().filter_map(set).collect()
}

/// A length of time in the largest unit that says it exactly.
pub(super) fn spelled(time: Duration) -> String {
    let millis = time.as_millis();
    if millis == 0 {
        return "0s".to_owned();
    }
    let units = [("h", 3_600_000), ("m", 60_000), ("s", 1_000)];
    match units.iter().find(|(_, unit)| millis.is_multiple_of(*unit)) {
        Some((word, unit)) => format!("{}{word}", millis / unit),
        None => format!("{millis}ms"),
    }
}

fn reviewed(safety: &Safety, writer: &mut Writer<'_>) {
    writer.plains("allowed_commands", &safety.allowed_commands);
    writer.plain("client_consent", safety.client_consent.as_deref());
}

fn confined(safety: &Safety, writer: &mut Writer<'_>) {
    let Safety {
        allowed_commands: _,
        manifest_digest,
        manifest_signature,
        sandbox,
        client_consent: _,
    } = safety;
    writer.within("manifest", |inner| {
        inner.plain("digest", manifest_digest.as_deref());
        inner.plain("signature", manifest_signature.as_deref());
    });
    let Sandbox {
        enabled,
        profile,
        allow_write,
        deny_read,
        deny_write,
        allowed_domains,
        denied_domains,
    } = sandbox;
    writer.within("sandbox", |inner| {
        if let Some(enabled) = enabled {
            inner.flag("enabled", *enabled);
        }
        inner.plain("profile", profile.as_deref());
        inner.plains("allow_write", allow_write);
        inner.plains("deny_read", deny_read);
        inner.plains("deny_write", deny_write);
        inner.plains("allowed_domains", allowed_domains);
        inner.plains("denied_domains", denied_domains);
    });
}

/// What means something to other hosts only, for when it goes back to them.
fn kept(spec: &ServerSpec, writer: &mut Writer<'_>) {
    let extras = spec.extras.iter().filter_map(|(dialect, kept)| {
        let field = format!("extra.{dialect}");
        Some((dialect.clone(), sayable(kept.expose(), &field, writer.losses())?))
    });
    let extras: Vec<_> = extras.collect();
    if !extras.is_empty() {
        writer.data("extra", Data::Table(extras));
    }
}

/// The part of a value that TOML has words for: neither null nor numbers beyond its range.
pub(super) fn sayable(value: &Data, field: &str, losses: &mut Losses) -> Option<Data> {
    match value {
        Data::Null => {
            losses.add(field, "TOML has no word for null");
            None
        }
        Data::Fraction(spelled) if !spelled.contains(['.', 'e', 'E']) => {
            losses.add(field, "TOML has no number that large");
            None
        }
        Data::List(items) => {
            let items = items.iter().filter_map(|item| sayable(item, field, losses));
            Some(Data::List(items.collect()))
        }
        Data::Table(fields) => {
            let fields = fields.iter().filter_map(|(key, value)| {
                Some((key.clone(), sayable(value, &format!("{field}.{key}"), losses)?))
            });
            Some(Data::Table(fields.collect()))
        }
        plain => Some(plain.clone()),
    }
}
