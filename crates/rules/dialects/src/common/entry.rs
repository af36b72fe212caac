//! The fields of an entry as data: a dialect lists each field once, and it is read and written by
//! that list.
//!
//! A field that is written is removed from the copy of the spec. [`report_losses`] reports
//! everything that still differs from the default. So a new field of the spec is reported as a loss
//! in every dialect until the dialect writes it.

use std::time::Duration;

use toolgate_model::{
    AuthProvider, ConfigValue, HttpSpec, HttpTransportKind, SafetySpec, Secret, ServerName,
    ServerSpec, ServerTimeouts, StdioSpec, ToolSelection, TransportSpec,
};

use super::fields::TimeUnit;
use super::oauth::{self, OAuthKeys};
use super::server;
use super::tool_filter::ToolFilterKeys;
use super::{EntryWriter, TableFields};
use crate::dialect_format::{DialectFormat, ParsedEntry};
use crate::{VariableSyntax, template};

/// Reads a field into the spec.
pub(crate) type ServerFieldReader = fn(&mut TableFields<'_>, &mut ServerSpec);
/// Writes a field of the spec, and removes it there.
pub(crate) type ServerFieldWriter = fn(&mut ServerSpec, &mut EntryWriter<'_>);

/// One field of an entry, or a few that belong together.
pub(crate) enum EntryField {
    /// The process or the endpoint, by the names in [`DialectFormat::keys`].
    Transport,
    /// The same, unless the function reports that the entry cannot be used and returns false.
    CheckedTransport(fn(&mut TableFields<'_>) -> bool),
    /// The field in [`DialectFormat::enabled`].
    Enabled,
    Text(&'static str, fn(&mut ServerSpec) -> &mut Option<String>),
    Flag(&'static str, fn(&mut ServerSpec) -> &mut bool),
    OptionalFlag(&'static str, fn(&mut ServerSpec) -> &mut Option<bool>),
    Texts(&'static str, fn(&mut ServerSpec) -> &mut Vec<String>),
    /// A list in which no items and no list are different.
    OptionalTexts(&'static str, fn(&mut ServerSpec) -> &mut Option<Vec<String>>),
    /// A table with these fields.
    Table(&'static str, &'static [Self]),
    /// A list of exact names; the second name is ours. A pattern among them is a loss.
    Names(&'static str, &'static str, fn(&mut ServerSpec) -> &mut Vec<String>),
    /// The lists of included and excluded tools.
    Tools(ToolFilterKeys),
    Timeout(TimeoutField),
    /// A table of OAuth settings, which has no effect for a process.
    OAuth(&'static str, &'static OAuthKeys),
    /// Fields that only the host uses. They are kept, and written at the end.
    Kept(&'static [&'static str]),
    /// Fields with their own rules.
    Other(ServerFieldReader, ServerFieldWriter),
    /// Fields that are only read, because others express the same, or to warn about them.
    ReadOnly(ServerFieldReader),
}

/// A single time limit.
#[derive(Clone, Copy)]
pub(crate) struct TimeoutField {
    pub key: &'static str,
    pub unit: TimeUnit,
    pub scope: TimeoutScope,
    pub least: Option<LeastTimeout>,
}

/// What a single time limit covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeoutScope {
    /// Calls.
    Calls,
    /// The connection.
    Start,
    /// Both.
    All,
}

/// The shortest time that a host accepts.
#[derive(Clone, Copy)]
pub(crate) struct LeastTimeout {
    pub time: Duration,
    /// What the host does with a shorter one, and what to write instead.
    pub problem: &'static str,
    pub hint: &'static str,
    /// Whether the host uses the shortest time instead.
    pub is_used: bool,
}

impl TimeoutField {
    /// Returns a limit of any length.
    pub const fn new(key: &'static str, unit: TimeUnit, scope: TimeoutScope) -> Self {
        Self { key, unit, scope, least: None }
    }

    /// Reads the limit.
    pub fn read(self, fields: &mut TableFields<'_>, spec: &mut ServerSpec) {
        let Some(mut time) = fields.time(self.key, self.unit) else { return };
        if let Some(least) = self.least.filter(|least| time < least.time) {
            fields.warn(self.key, least.problem, least.hint);
            if !least.is_used {
                return;
            }
            time = least.time;
        }
        match self.scope {
            TimeoutScope::Calls => {
                (spec.timeouts.call, spec.timeouts.max) = (Some(time), Some(time));
            }
            TimeoutScope::Start => spec.timeouts.start = Some(time),
            TimeoutScope::All => spec.timeouts = ServerTimeouts::all(time),
        }
    }

    /// Writes the limit, if one number can express it.
    pub fn write(self, timeouts: &mut ServerTimeouts, writer: &mut EntryWriter<'_>) {
        let least = self.least.map_or(Duration::ZERO, |least| least.time);
        match (take_timeout(timeouts, self.scope, least), self.unit) {
            (Some(time), TimeUnit::Millis) => writer.millis(self.key, time),
            (Some(time), TimeUnit::Seconds) => writer.seconds(self.key, time),
            (None, _) => {}
        }
    }
}

/// Removes and returns the limit that a single number can express.
fn take_timeout(
    times: &mut ServerTimeouts,
    scope: TimeoutScope,
    least: Duration,
) -> Option<Duration> {
    let none = ServerTimeouts::default();
    let ServerTimeouts { start, call, max } = *times;
    let (time, sayable, rest) = match scope {
        TimeoutScope::Calls => (call, call == max, ServerTimeouts { start, ..none }),
        TimeoutScope::Start => (start, true, ServerTimeouts { start: None, ..*times }),
        TimeoutScope::All => (call, start == call && call == max, none),
    };
    let time = time.filter(|time| sayable && *time >= least)?;
    *times = rest;
    Some(time)
}

impl EntryField {
    fn read(&self, format: &DialectFormat, fields: &mut TableFields<'_>, spec: &mut ServerSpec) {
        match self {
            Self::CheckedTransport(check) if !check(fields) => {
                fields.mark_known(format.keys.transport_keys);
                fields.mark_known(&format.keys.fields());
            }
            Self::Transport | Self::CheckedTransport(_) => {
                let found = server::read_transport(fields, &format.keys);
                spec.transport = found.unwrap_or(TransportSpec::BuiltIn);
                if let (TransportSpec::Http(_), Some(why)) = (&spec.transport, format.stdio_only) {
                    let hint = "declare the endpoint in .mcp.json or toolgate.toml";
                    fields.fail(&format!("has a `url`, but {why}"), hint);
                }
            }
            Self::Enabled => {
                for (key, on) in format.enabled.iter().flat_map(|it| it.fields()) {
                    spec.enabled &= fields.flag(key).is_none_or(|flag| flag == on);
                }
            }
            Self::Text(key, slot) => *slot(spec) = fields.owned_text(key),
            Self::Flag(key, slot) => *slot(spec) = fields.flag(key).unwrap_or(false),
            Self::OptionalFlag(key, slot) => *slot(spec) = fields.flag(key),
            Self::Texts(key, slot) | Self::Names(key, _, slot) => {
                *slot(spec) = fields.texts(key).unwrap_or_default();
            }
            Self::OptionalTexts(key, slot) => *slot(spec) = fields.texts(key),
            Self::Table(key, inside) => {
                fields.with_table(key, |inner| {
                    inside.iter().for_each(|field| field.read(format, inner, spec));
                });
            }
            Self::Tools(keys) => keys.read(fields, &mut spec.selection),
            Self::Timeout(timeout) => timeout.read(fields, spec),
            Self::OAuth(key, names) => match &mut spec.transport {
                TransportSpec::Http(http) => {
                    fields.with_table(key, |it| oauth::read(it, names, &mut http.auth.oauth));
                }
                TransportSpec::Stdio(_) => server::warn_unused(fields, "command", &[key]),
                TransportSpec::BuiltIn => fields.mark_known(&[key]),
            },
            Self::Kept(keys) => keep(spec, format.extras, fields.read_extras(keys)),
            Self::Other(read, _) | Self::ReadOnly(read) => read(fields, spec),
        }
    }

    fn write(&self, format: &DialectFormat, rest: &mut ServerSpec, writer: &mut EntryWriter<'_>) {
        match self {
            Self::Transport | Self::CheckedTransport(_) => {
                server::write_transport(&mut rest.transport, &format.keys, writer);
            }
            Self::Enabled => {
                let enabled = std::mem::replace(&mut rest.enabled, true);
                if let Some(field) = format.enabled.filter(|field| !enabled || field.is_required) {
                    writer.flag(field.field, enabled == field.value_when_enabled);
                }
            }
            Self::Text(key, slot) => writer.text(key, slot(rest).take().as_deref()),
            Self::Flag(key, slot) => {
                if std::mem::take(slot(rest)) {
                    writer.flag(key, true);
                }
            }
            Self::OptionalFlag(key, slot) => {
                if let Some(flag) = slot(rest).take() {
                    writer.flag(key, flag);
                }
            }
            Self::Texts(key, slot) => writer.texts(key, &std::mem::take(slot(rest))),
            Self::OptionalTexts(key, slot) => {
                if let Some(texts) = slot(rest).take() {
                    writer.data(key, ConfigValue::texts(texts));
                }
            }
            Self::Table(key, inside) => writer.with_table(key, |inner| {
                inside.iter().for_each(|field| field.write(format, rest, inner));
            }),
            Self::Names(key, ours, slot) => {
                let names = exact_names(writer, ours, &std::mem::take(slot(rest)));
                writer.texts(key, &names);
            }
            Self::Tools(keys) => keys.write(writer, &mut rest.selection),
            Self::Timeout(timeout) => timeout.write(&mut rest.timeouts, writer),
            Self::OAuth(key, names) => {
                if let TransportSpec::Http(http) = &mut rest.transport {
                    writer.with_table(key, |it| oauth::write(it, names, &mut http.auth.oauth));
                }
            }
            Self::Kept(_) | Self::ReadOnly(_) => {}
            Self::Other(_, write) => write(rest, writer),
        }
    }
}

/// Reads an entry by the fields of its dialect. An entry without a transport is unusable, and the
/// error is already reported.
pub(crate) fn read(
    format: &DialectFormat,
    name: ServerName,
    entry: &mut TableFields<'_>,
) -> Option<ParsedEntry> {
    let mut spec = ServerSpec::new(name, TransportSpec::BuiltIn);
    for field in format.fields {
        field.read(format, entry, &mut spec);
    }
    (spec.transport != TransportSpec::BuiltIn).then(|| spec.into())
}

/// Writes an entry by the fields of its dialect, and reports what it cannot express.
pub(crate) fn write(format: &DialectFormat, spec: &ServerSpec, writer: &mut EntryWriter<'_>) {
    match (&spec.transport, format.stdio_only) {
        (TransportSpec::BuiltIn, _) => return writer.losses.add("transport", "it is built in"),
        (TransportSpec::Http(_), Some(why)) => return writer.losses.add("transport", why),
        _ => {}
    }
    let mut rest = spec.clone();
    for field in format.fields {
        field.write(format, &mut rest, writer);
    }
    report_losses(&rest, format.extras, writer);
}

/// Adds fields that only one host uses to those of the spec.
pub(crate) fn keep(spec: &mut ServerSpec, host: &str, more: Vec<(String, ConfigValue)>) {
    let mut kept = take_kept(spec, host);
    kept.extend(more);
    if !kept.is_empty() {
        spec.extras.insert(host.to_owned(), Secret::new(ConfigValue::Table(kept)));
    }
}

/// Removes and returns the fields that only one host uses.
pub(crate) fn take_kept(spec: &mut ServerSpec, host: &str) -> Vec<(String, ConfigValue)> {
    match spec.extras.remove(host).map(|kept| kept.expose().clone()) {
        Some(ConfigValue::Table(kept)) => kept,
        _ => Vec::new(),
    }
}

/// Removes and returns one of the fields that only one host uses.
pub(crate) fn take_kept_field(spec: &mut ServerSpec, host: &str, key: &str) -> Option<ConfigValue> {
    let mut kept = take_kept(spec, host);
    let found = kept.iter().position(|(name, _)| name == key).map(|at| kept.remove(at).1);
    keep(spec, host, kept);
    found
}

/// Returns a text without variables. A variable in it is a loss.
pub(crate) fn render_literal(
    writer: &mut EntryWriter<'_>,
    field: &str,
    text: &str,
) -> Option<String> {
    let written = VariableSyntax::Literal.render_parts(&template::parse_template(text));
    written.map_err(|why| writer.losses.add(field, why)).ok()
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
        let why = format!("{pattern:?} is a pattern, and this dialect takes exact names only");
        writer.losses.add(field, why);
    }
    exact
}

/// Writes the fields that only this host uses, and reports what is left.
fn report_losses(rest: &ServerSpec, host: &str, writer: &mut EntryWriter<'_>) {
    writer.write_extras(host, rest);
    let mut lost = |field: &str, is_set: bool| writer.losses.add_if_set(field, is_set);
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
        selection: ToolSelection { include, exclude, listed_only, tools, approval },
        safety,
        extras: _,
        sampling,
        compile,
    } = rest;
    match transport {
        TransportSpec::Stdio(StdioSpec { env_file, env_inherit, .. }) => {
            lost("env_file", env_file.is_some());
            lost("env_inherit", !env_inherit.is_empty());
        }
        TransportSpec::Http(HttpSpec { headers_helper, kind, auth, .. }) => {
            lost("headers_helper", headers_helper.is_some());
            lost("type", *kind != HttpTransportKind::Auto);
            lost("auth.provider", auth.provider != AuthProvider::Discovered);
            let mut names: Vec<_> = auth.oauth.fields().iter().map(|(name, _)| *name).collect();
            names.dedup();
            names.iter().for_each(|name| lost(&format!("auth.{name}"), true));
            lost("auth.callback_port", auth.oauth.callback_port.is_some());
        }
        TransportSpec::BuiltIn => {}
    }
    lost("enabled", !enabled);
    lost("timeouts", *timeouts != ServerTimeouts::default());
    lost("pool", *pool != Default::default());
    lost("description", description.is_some());
    lost("tags", tags.is_some());
    lost("trust", *trust);
    lost("sampling", sampling.is_some());
    lost("compile", *compile);
    lost("required", *required);
    lost("include", !include.is_empty());
    lost("exclude", !exclude.is_empty());
    lost("tools", *listed_only || !tools.is_empty());
    lost("approval", approval.is_some());
    lost("safety", *safety != SafetySpec::default());
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn one_number_says_only_what_it_covers() {
        let usual = ServerTimeouts::default();
        let mut calls = ServerTimeouts::calls(SECOND);
        assert_eq!(take_timeout(&mut calls.clone(), TimeoutScope::All, SECOND), None);
        assert_eq!(take_timeout(&mut calls.clone(), TimeoutScope::Calls, SECOND * 2), None);
        assert_eq!(take_timeout(&mut calls, TimeoutScope::Calls, SECOND), Some(SECOND));
        assert_eq!(calls, usual);

        let mut uneven = ServerTimeouts { call: Some(SECOND), ..usual };
        for scope in [TimeoutScope::Calls, TimeoutScope::Start, TimeoutScope::All] {
            assert_eq!(take_timeout(&mut uneven, scope, SECOND), None, "{scope:?}");
        }
        assert_eq!(take_timeout(&mut usual.clone(), TimeoutScope::Calls, SECOND), None);

        let mut start = ServerTimeouts::all(SECOND);
        assert_eq!(take_timeout(&mut start.clone(), TimeoutScope::All, SECOND), Some(SECOND));
        assert_eq!(take_timeout(&mut start, TimeoutScope::Start, SECOND), Some(SECOND));
        assert_eq!(start, ServerTimeouts::calls(SECOND));
    }
}
