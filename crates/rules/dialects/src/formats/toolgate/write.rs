//! Writes a server as an entry of Toolgate's own file: plain fields first, then tables, so that
//! long tables can have their own header.

use std::time::Duration;

use toolgate_model::{
    ConfigScope, ConfigValue, HttpSpec, HttpTransportKind, PoolScope, SafetySpec, SandboxSpec,
    ServerSpec, ServerTimeouts, StdioSpec, TransportSpec,
};

use super::{auth, sampling, tools};
use crate::common::EntryWriter;
use crate::losses::ConversionLosses;

pub(super) fn server(spec: &ServerSpec, writer: &mut EntryWriter<'_>) {
    // Names every field, so that a new one cannot be forgotten.
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
    writer.text("description", description.as_deref());
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
        writer.text("pool", Some("per-caller"));
    }
    if let Some(tags) = tags {
        writer.data("tags", list(tags));
    }
    tools::write_lists(selection, writer);
    write_vouched_flag("trust", *trust, writer);
    write_vouched_flag("compile", *compile, writer);
    if *required {
        writer.flag("required", true);
    }
    write_review(safety, writer);
    match transport {
        TransportSpec::Stdio(stdio) => writer.secrets("env", "env", &stdio.env),
        TransportSpec::Http(http) => {
            writer.secrets("headers", "headers", &http.headers);
            auth::write(&http.auth, writer);
        }
        TransportSpec::BuiltIn => {}
    }
    writer.table("timeouts", limits(timeouts));
    sampling::write(sampling.as_ref(), writer);
    tools::write_tools(selection, writer);
    write_sandbox(safety, writer);
    write_extras(spec, writer);
}

fn process(stdio: &StdioSpec, writer: &mut EntryWriter<'_>) {
    let StdioSpec { command, args, cwd, env: _, env_file, env_inherit, files: _ } = stdio;
    writer.template("command", command);
    writer.templates("args", args);
    writer.cwd(Some("cwd"), cwd.as_deref());
    writer.path("env_file", env_file.as_deref());
    let has_patterns = env_inherit.iter().any(|pattern| pattern.contains(['*', '?']));
    match has_patterns && writer.file().scope == ConfigScope::Project {
        true => writer.losses().add("env_inherit", "a project's file cannot contain patterns"),
        false => writer.texts("env_inherit", env_inherit),
    }
}

fn endpoint(http: &HttpSpec, writer: &mut EntryWriter<'_>) {
    let HttpSpec { url, headers: _, headers_helper, kind, auth: _ } = http;
    let word = match kind {
        HttpTransportKind::Auto => None,
        HttpTransportKind::Streamable => Some("streamable-http"),
        HttpTransportKind::Sse => Some("sse"),
    };
    writer.text("type", word);
    writer.template("url", url);
    if let Some(helper) = headers_helper {
        writer.template("headers_helper", helper.expose());
    }
}

fn write_vouched_flag(key: &str, vouched: bool, writer: &mut EntryWriter<'_>) {
    match vouched && writer.file().scope == ConfigScope::Project {
        true => writer.losses().add(key, "it has no effect in a project's file"),
        false if vouched => writer.flag(key, true),
        false => {}
    }
}

/// Returns the fields that are set.
pub(super) fn set_fields<const N: usize>(
    fields: [(&str, Option<ConfigValue>); N],
) -> Vec<(String, ConfigValue)> {
    fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

/// Returns a list of strings.
pub(super) fn list(texts: &[String]) -> ConfigValue {
    ConfigValue::texts(texts.iter().cloned())
}

/// Returns the time limits that are set.
pub(super) fn limits(timeouts: &ServerTimeouts) -> Vec<(String, ConfigValue)> {
    let ServerTimeouts { start, call, max } = *timeouts;
    let text = |time: Option<_>| time.map(|time| ConfigValue::Text(format_duration(time)));
    set_fields([("start", text(start)), ("call", text(call)), ("max", text(max))])
}

/// Formats a duration in the largest unit that is exact.
pub(super) fn format_duration(time: Duration) -> String {
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

fn write_review(safety: &SafetySpec, writer: &mut EntryWriter<'_>) {
    writer.texts("allowed_commands", &safety.allowed_commands);
    writer.text("client_consent", safety.client_consent.as_deref());
}

fn write_sandbox(safety: &SafetySpec, writer: &mut EntryWriter<'_>) {
    let SafetySpec {
        allowed_commands: _,
        manifest_digest,
        manifest_signature,
        sandbox,
        client_consent: _,
    } = safety;
    writer.with_table("manifest", |inner| {
        inner.text("digest", manifest_digest.as_deref());
        inner.text("signature", manifest_signature.as_deref());
    });
    let SandboxSpec {
        enabled,
        profile,
        allow_write,
        deny_read,
        deny_write,
        allowed_domains,
        denied_domains,
    } = sandbox;
    writer.with_table("sandbox", |inner| {
        if let Some(enabled) = enabled {
            inner.flag("enabled", *enabled);
        }
        inner.text("profile", profile.as_deref());
        inner.texts("allow_write", allow_write);
        inner.texts("deny_read", deny_read);
        inner.texts("deny_write", deny_write);
        inner.texts("allowed_domains", allowed_domains);
        inner.texts("denied_domains", denied_domains);
    });
}

/// Writes the fields that only other hosts use, so that they can be written back there.
fn write_extras(spec: &ServerSpec, writer: &mut EntryWriter<'_>) {
    let extras = spec.extras.iter().filter_map(|(dialect, kept)| {
        let field = format!("extra.{dialect}");
        Some((dialect.clone(), toml_compatible(kept.expose(), &field, writer.losses())?))
    });
    let extras = extras.collect();
    writer.table("extra", extras);
}

/// Returns the part of a value that TOML can express: no nulls, and no numbers out of range.
pub(super) fn toml_compatible(
    value: &ConfigValue,
    field: &str,
    losses: &mut ConversionLosses,
) -> Option<ConfigValue> {
    match value {
        ConfigValue::Null => {
            losses.add(field, "TOML has no null");
            None
        }
        ConfigValue::Decimal(spelled) if !spelled.contains(['.', 'e', 'E']) => {
            losses.add(field, "TOML has no numbers that large");
            None
        }
        ConfigValue::List(items) => {
            let items = items.iter().filter_map(|item| toml_compatible(item, field, losses));
            Some(ConfigValue::List(items.collect()))
        }
        ConfigValue::Table(fields) => {
            let fields = fields.iter().filter_map(|(key, value)| {
                Some((key.clone(), toml_compatible(value, &format!("{field}.{key}"), losses)?))
            });
            Some(ConfigValue::Table(fields.collect()))
        }
        plain => Some(plain.clone()),
    }
}
