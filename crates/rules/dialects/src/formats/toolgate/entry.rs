//! Reads and writes one entry of Toolgate's own file: a server, or an override of a server in
//! another file. Plain fields are written before tables, so that long tables can have their own
//! header.

use std::collections::BTreeMap;

use toolgate_model::{
    ConfigScope, ConfigValue, HttpSpec, PoolScope, Secret, ServerName, ServerSpec, ServerTimeouts,
    StdioSpec, TransportSpec,
};

use super::{auth, policy, sampling, tools, variables, write};
use crate::common::entry::{self, EntryField};
use crate::common::server::{self, EntryKeys};
use crate::common::tree::TreeValue;
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{DialectFormat, ParsedEntry};

/// The fields of a server.
pub(super) const FIELDS: &[EntryField] = &[
    EntryField::Text("description", |spec| &mut spec.description),
    EntryField::Other(read_transport, write_transport),
    EntryField::Enabled,
    EntryField::Other(
        |entry, spec| spec.pool = entry.choice("pool", &POOLS).unwrap_or_default(),
        |rest, writer| {
            if std::mem::take(&mut rest.pool) == PoolScope::PerCaller {
                writer.text("pool", Some("per-caller"));
            }
        },
    ),
    EntryField::OptionalTexts("tags", |spec| &mut spec.tags),
    EntryField::Texts("include", |spec| &mut spec.selection.include),
    EntryField::Texts("exclude", |spec| &mut spec.selection.exclude),
    EntryField::Flag("only_listed", |spec| &mut spec.selection.listed_only),
    EntryField::Other(
        |entry, spec| spec.selection.approval = tools::approval(entry),
        |rest, writer| {
            writer.text("approval", rest.selection.approval.take().map(|it| it.as_str()));
        },
    ),
    EntryField::Other(
        |entry, spec| {
            let hint = "set it in your own config, if you trust this server";
            spec.trust = read_vouched_flag(entry, "trust", hint);
        },
        |rest, writer| write_vouched_flag("trust", &mut rest.trust, writer),
    ),
    EntryField::Other(
        |entry, spec| {
            let hint = "set it in your own config, if its content may be kept";
            spec.compile = read_vouched_flag(entry, "compile", hint);
        },
        |rest, writer| write_vouched_flag("compile", &mut rest.compile, writer),
    ),
    EntryField::Flag("required", |spec| &mut spec.required),
    EntryField::Texts("allowed_commands", |spec| &mut spec.safety.allowed_commands),
    EntryField::Text("client_consent", |spec| &mut spec.safety.client_consent),
    EntryField::Other(|_, _| {}, write_transport_tables),
    EntryField::Other(
        |entry, spec| spec.timeouts = timeouts(entry),
        |rest, writer| writer.table("timeouts", write::limits(std::mem::take(&mut rest.timeouts))),
    ),
    EntryField::Other(
        |entry, spec| spec.sampling = sampling::read(entry),
        |rest, writer| sampling::write(rest.sampling.take(), writer),
    ),
    EntryField::Other(tools::read, tools::write),
    EntryField::Table(
        "manifest",
        &[
            EntryField::Text("digest", |spec| &mut spec.safety.manifest_digest),
            EntryField::Text("signature", |spec| &mut spec.safety.manifest_signature),
        ],
    ),
    EntryField::Table(
        "sandbox",
        &[
            EntryField::OptionalFlag("enabled", |spec| &mut spec.safety.sandbox.enabled),
            EntryField::Text("profile", |spec| &mut spec.safety.sandbox.profile),
            EntryField::Texts("allow_write", |spec| &mut spec.safety.sandbox.allow_write),
            EntryField::Texts("deny_read", |spec| &mut spec.safety.sandbox.deny_read),
            EntryField::Texts("deny_write", |spec| &mut spec.safety.sandbox.deny_write),
            EntryField::Texts("allowed_domains", |spec| &mut spec.safety.sandbox.allowed_domains),
            EntryField::Texts("denied_domains", |spec| &mut spec.safety.sandbox.denied_domains),
        ],
    ),
    EntryField::Other(
        |entry, spec| spec.extras = extras(entry),
        |rest, writer| {
            let extras = write::extras(&std::mem::take(&mut rest.extras), writer.losses);
            writer.table("extra", extras);
        },
    ),
    // These are kept but not enforced yet.
    EntryField::ReadOnly(|entry, _| {
        let keys = ["required", "allowed_commands", "manifest", "client_consent", "sandbox"];
        entry.warn_unsupported(&keys);
    }),
];
/// The field names of a process and an endpoint.
const KEYS: EntryKeys = EntryKeys { env_file: Some("env_file"), ..EntryKeys::COMMON };
const POOLS: [(&str, PoolScope); 2] =
    [("shared", PoolScope::Shared), ("per-caller", PoolScope::PerCaller)];
/// The fields that an override can have.
const AMENDS: [&str; 2] = ["enabled", "env_inherit"];
/// The fields that a hint names first.
const IMPORTANT: [&str; 13] = [
    "command",
    "url",
    "enabled",
    "env_inherit",
    "type",
    "transport",
    "cwd",
    "env_file",
    "env",
    "args",
    "headers",
    "headers_helper",
    "auth",
];

pub(super) fn read(
    format: &DialectFormat,
    name: ServerName,
    entry: &mut TableFields<'_>,
) -> Option<ParsedEntry> {
    if let Some(switch) = read_override(entry) {
        return switch;
    }
    entry.mark_known(&IMPORTANT);
    entry::read(format, name, entry)
}

/// Reads an override: an entry without `command` and `url`, but with `enabled` or `env_inherit`. It
/// cannot have other fields, because they belong to the declaration of the server.
fn read_override(entry: &mut TableFields<'_>) -> Option<Option<ParsedEntry>> {
    let declares = entry.node("command").is_some() || entry.node("url").is_some();
    if declares || AMENDS.iter().all(|key| entry.node(key).is_none()) {
        return None;
    }
    let enabled = entry.flag("enabled");
    let env_inherit = read_env_inherit(entry).unwrap_or_default();
    for member in entry.members.iter().filter(|member| !AMENDS.contains(&member.key.as_str())) {
        let problem = format!(
            "has neither `command` nor `url`: it overrides a server of another file, and cannot set `{}`",
            member.key
        );
        entry.error_at(member.at, &problem, "remove it, or add `command` or `url`");
    }
    entry.allow_unknown();
    Some(Some(ParsedEntry::Override { enabled, env_inherit }))
}

/// Reads the process to start or the endpoint to connect to.
fn read_transport(entry: &mut TableFields<'_>, spec: &mut ServerSpec) {
    let transport = server::read_transport(entry, &KEYS);
    let env_inherit = read_env_inherit(entry).unwrap_or_default();
    let headers_helper = entry.template("headers_helper").map(Secret::new);
    let auth = Box::new(auth::read(entry));
    match transport {
        Some(TransportSpec::Stdio(stdio)) => {
            server::warn_unused(entry, "command", &["headers_helper", "auth"]);
            spec.transport = TransportSpec::Stdio(StdioSpec { env_inherit, ..stdio });
        }
        Some(TransportSpec::Http(http)) => {
            server::warn_unused(entry, "url", &["env_inherit"]);
            entry.warn_unsupported(&["headers_helper", "auth"]);
            spec.transport = TransportSpec::Http(HttpSpec { headers_helper, auth, ..http });
        }
        Some(TransportSpec::BuiltIn) | None => {}
    }
    variables::check(entry);
}

/// Writes the plain fields of a process or an endpoint.
fn write_transport(rest: &mut ServerSpec, writer: &mut EntryWriter<'_>) {
    server::write_type(&mut rest.transport, &KEYS, writer);
    match &mut rest.transport {
        TransportSpec::Stdio(stdio) => {
            writer.template("command", &stdio.command);
            writer.templates("args", &stdio.args);
            writer.cwd(Some("cwd"), stdio.cwd.as_deref());
            writer.path("env_file", stdio.env_file.take().as_deref());
            let inherited = std::mem::take(&mut stdio.env_inherit);
            let has_patterns = inherited.iter().any(|pattern| pattern.contains(['*', '?']));
            match has_patterns && writer.file.scope == ConfigScope::Project {
                true => {
                    writer.losses.add("env_inherit", "a project's file cannot contain patterns");
                }
                false => writer.texts("env_inherit", &inherited),
            }
        }
        TransportSpec::Http(http) => {
            writer.template("url", &http.url);
            if let Some(helper) = http.headers_helper.take() {
                writer.template("headers_helper", helper.expose());
            }
        }
        TransportSpec::BuiltIn => {}
    }
}

/// Writes the tables of a process or an endpoint.
fn write_transport_tables(rest: &mut ServerSpec, writer: &mut EntryWriter<'_>) {
    match &mut rest.transport {
        TransportSpec::Stdio(stdio) => writer.secrets("env", "env", &stdio.env),
        TransportSpec::Http(http) => {
            writer.secrets("headers", "headers", &http.headers);
            auth::write(std::mem::take(&mut *http.auth), writer);
        }
        TransportSpec::BuiltIn => {}
    }
}

/// Reads the inherited variables. A project's file may name single variables, as in `env`, but no
/// patterns: only the user decides to pass on the environment.
fn read_env_inherit(fields: &mut TableFields<'_>) -> Option<Vec<String>> {
    let patterns = fields.texts("env_inherit")?;
    let is_project = fields.is_project();
    if is_project && patterns.iter().any(|pattern| pattern.contains(['*', '?'])) {
        let hint = "set it in your own config, or name each variable";
        fields.warn("env_inherit", "cannot contain patterns in a project's file", hint);
        return None;
    }
    Some(patterns)
}

pub(super) fn timeouts(entry: &mut TableFields<'_>) -> ServerTimeouts {
    let mut timeouts = ServerTimeouts::default();
    entry.with_table("timeouts", |inner| {
        let slots = [
            ("start", &mut timeouts.start),
            ("call", &mut timeouts.call),
            ("max", &mut timeouts.max),
        ];
        for (key, slot) in slots {
            *slot = policy::time(inner, key);
        }
    });
    timeouts
}

/// Reads a flag that grants trust to a server. A project's file cannot set it.
fn read_vouched_flag(entry: &mut TableFields<'_>, key: &'static str, hint: &str) -> bool {
    let vouches = entry.flag(key).unwrap_or(false);
    if vouches && entry.is_project() {
        entry.warn(key, "has no effect in a project's file", hint);
        return false;
    }
    vouches
}

fn write_vouched_flag(key: &str, vouched: &mut bool, writer: &mut EntryWriter<'_>) {
    let vouched = std::mem::take(vouched);
    match vouched && writer.file.scope == ConfigScope::Project {
        true => writer.losses.add(key, "it has no effect in a project's file"),
        false if vouched => writer.flag(key, true),
        false => {}
    }
}

/// Reads the fields that only other hosts use, by dialect.
pub(super) fn extras(entry: &mut TableFields<'_>) -> BTreeMap<String, Secret<ConfigValue>> {
    let Some((_, members)) = entry.table("extra") else { return BTreeMap::new() };
    let mut extras = BTreeMap::new();
    for member in members {
        match &member.node.value {
            TreeValue::Table(_) => {
                extras.insert(member.key.clone(), Secret::new(member.node.data()));
            }
            other => {
                let problem =
                    format!("has {} where `extra.{}` must be a table", other.kind(), member.key);
                entry.error_at(member.node.at, &problem, "name a dialect and give its fields");
            }
        }
    }
    extras
}
