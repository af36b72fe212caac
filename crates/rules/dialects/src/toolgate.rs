//! Our own dialect: `toolgate.toml` in a project, `config.toml` of the user and of the system.

use std::time::Duration;

use toolgate_model::{PoolScope, Prefix, Scope, ServerName, ServerSpec, Timeouts, TransportSpec};

use crate::fields::Fields;
use crate::report::Report;
use crate::server;
use crate::tree::{Member, Value};
use crate::{Declared, FileRef, Interpolation, Reading, Settings, duration, toml};

/// Reads a text in our own dialect.
pub fn toolgate(text: &str, at: &FileRef) -> Reading {
    let text = text.trim_start_matches('\u{feff}');
    let mut report = Report::new(text, at);
    let mut reading = Reading::default();
    match toml::parse(text) {
        Ok(document) => {
            let (settings, servers) = top_level(&mut report, &document);
            reading.settings = settings;
            server::each(&mut report, servers, |report, name, member, fields| {
                reading.servers.extend(entry(report, name, member, fields));
            });
        }
        Err(error) => report.syntax(error),
    }
    reading.diagnostics = report.finish();
    reading
}

fn top_level<'t>(report: &mut Report<'_>, document: &'t [Member]) -> (Settings, &'t [Member]) {
    let mut fields = Fields::of(report, "the file".into(), 0, document);
    let servers = fields.table("servers").map_or(&[][..], |(_, servers)| servers);
    let roots = fields.texts("roots").map(|roots| roots.into_iter().map(Into::into).collect());
    let prefix = choice(&mut fields, "prefix", &Prefix::ALL.map(|it| (it.as_str(), it)));
    fields.not_yet(&["launch", "policy", "profiles", "approvals"]);
    // A bad setting is reported and left out; the servers beside it are still good.
    fields.finish();
    (Settings { roots, prefix }, servers)
}

fn entry(
    report: &mut Report<'_>,
    name: ServerName,
    member: &Member,
    members: &[Member],
) -> Option<Declared> {
    let origin = report.origin(member.at);
    let mut fields = Fields::of(report, format!("server {:?}", name.as_str()), member.at, members);
    let mut transport = server::transport(&mut fields);
    inherit(&mut fields, transport.as_mut());
    let pools = [("shared", PoolScope::Shared), ("per-caller", PoolScope::PerCaller)];
    let pool = choice(&mut fields, "pool", &pools).unwrap_or_default();
    let enabled = fields.flag("enabled").unwrap_or(true);
    let timeouts = timeouts(&mut fields);
    fields.not_yet(&["tags", "include", "exclude", "tools", "trust", "auth", "sandbox"]);
    fields.ignored(&["description"]);
    let spec = ServerSpec { name, transport: transport?, enabled, timeouts, pool };
    let interpolation = Interpolation::Prefixed;
    fields.finish().then_some(Declared { spec, origin, interpolation })
}

/// Taking over our own environment is for the user to say: a project's file must not reach it.
fn inherit(fields: &mut Fields<'_, '_, '_>, transport: Option<&mut TransportSpec>) {
    let Some(patterns) = fields.texts("env_inherit") else {
        return;
    };
    if fields.report().file().scope == Scope::Project {
        let hint = "say it in your own config, or name each variable in `env`";
        return fields.warn("env_inherit", "has no effect in a project's file", hint);
    }
    match transport {
        Some(TransportSpec::Stdio(stdio)) => stdio.env_inherit = patterns,
        Some(_) => fields.warn("env_inherit", "has no effect beside `url`", "remove it"),
        None => {}
    }
}

/// One of a few words.
fn choice<T: Copy>(
    fields: &mut Fields<'_, '_, '_>,
    key: &'static str,
    choices: &[(&'static str, T)],
) -> Option<T> {
    let at = fields.node(key)?.at;
    let text = fields.text(key)?;
    let found = choices.iter().find(|(word, _)| *word == text);
    if found.is_none() {
        let words: Vec<_> = choices.iter().map(|(word, _)| format!("{word:?}")).collect();
        let hint = format!("use one of {}", words.join(", "));
        fields.fault(at, &format!("cannot have `{key} = {text:?}`"), &hint);
    }
    found.map(|(_, value)| *value)
}

fn timeouts(fields: &mut Fields<'_, '_, '_>) -> Timeouts {
    let mut timeouts = Timeouts::default();
    let Some((at, members)) = fields.table("timeouts") else {
        return timeouts;
    };
    let mut inner = Fields::of(fields.report(), "`timeouts`".into(), at, members);
    let slots =
        [("start", &mut timeouts.start), ("call", &mut timeouts.call), ("max", &mut timeouts.max)];
    for (key, slot) in slots {
        if let Some(read) = timeout(&mut inner, key) {
            *slot = read;
        }
    }
    if !inner.finish() {
        fields.spoil();
    }
    timeouts
}

fn timeout(fields: &mut Fields<'_, '_, '_>, key: &'static str) -> Option<Duration> {
    let node = fields.node(key)?;
    let read = match &node.value {
        Value::Text(text) => duration::parse(text),
        Value::Integer(_) => Err("it has no unit"),
        other => Err(other.kind()),
    };
    let problem = |why| format!("cannot have this `{key}`: {why}");
    read.map_err(|why| {
        fields.fault(node.at, &problem(why), "write it like \"500ms\", \"30s\", \"10m\"")
    })
    .ok()
}
