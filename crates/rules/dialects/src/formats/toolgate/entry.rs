//! Reads one entry of Toolgate's own file as a server, or as an override of a server in another
//! file.

use std::collections::BTreeMap;

use toolgate_model::{
    ConfigValue, HttpSpec, PoolScope, SafetySpec, SandboxSpec, Secret, ServerName, ServerSpec,
    ServerTimeouts, StdioSpec, TransportSpec,
};

use super::{auth, policy, sampling, tools, variables};
use crate::common::TableFields;
use crate::common::server::{self, EntryKeys};
use crate::common::tree::TreeValue;
use crate::dialect_format::ParsedEntry;

/// The field names.
const KEYS: EntryKeys = EntryKeys { env_file: Some("env_file"), ..EntryKeys::COMMON };
const POOLS: [(&str, PoolScope); 2] =
    [("shared", PoolScope::Shared), ("per-caller", PoolScope::PerCaller)];
/// The fields that an override can have.
const AMENDS: [&str; 2] = ["enabled", "env_inherit"];
/// Fields that are kept but not enforced yet.
const NOT_YET: [&str; 4] = ["required", "allowed_commands", "manifest", "client_consent"];

pub(super) fn read(name: ServerName, entry: &mut TableFields<'_>) -> Option<ParsedEntry> {
    if let Some(switch) = read_override(entry) {
        return switch;
    }
    let mut transport = server::read_transport(entry, &KEYS);
    process(entry, transport.as_mut());
    endpoint(entry, transport.as_mut());
    variables::check(entry);
    let enabled = entry.flag("enabled").unwrap_or(true);
    let pool = entry.choice("pool", &POOLS).unwrap_or_default();
    let timeouts = timeouts(entry);
    let description = entry.owned_text("description");
    let tags = entry.texts("tags");
    let selection = tools::read(entry);
    let trust =
        read_vouched_flag(entry, "trust", "set it in your own config, if you trust this server");
    let compile = read_vouched_flag(
        entry,
        "compile",
        "set it in your own config, if its content may be kept",
    );
    let sampling = sampling::read(entry);
    let required = entry.flag("required").unwrap_or(false);
    let safety = safety(entry);
    let extras = extras(entry);
    entry.warn_unsupported(&NOT_YET);
    let spec = ServerSpec::new(name, transport?);
    let spec = ServerSpec { enabled, pool, timeouts, description, tags, selection, ..spec };
    Some(ServerSpec { trust, compile, sampling, required, safety, extras, ..spec }.into())
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
    for member in entry.members().iter().filter(|member| !AMENDS.contains(&member.key.as_str())) {
        let problem = format!(
            "has neither `command` nor `url`: it overrides a server of another file, and cannot set `{}`",
            member.key
        );
        entry.error_at(member.at, &problem, "remove it, or add `command` or `url`");
    }
    entry.allow_unknown();
    Some(Some(ParsedEntry::Override { enabled, env_inherit }))
}

/// Reads the fields of a process.
fn process(entry: &mut TableFields<'_>, transport: Option<&mut TransportSpec>) {
    let inherited = read_env_inherit(entry);
    match transport {
        Some(TransportSpec::Stdio(StdioSpec { env_inherit, .. })) => {
            *env_inherit = inherited.unwrap_or_default();
        }
        Some(_) => server::warn_unused(entry, "url", &["env_inherit"]),
        None => {}
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

/// Reads the fields of an endpoint.
fn endpoint(entry: &mut TableFields<'_>, transport: Option<&mut TransportSpec>) {
    let helper = entry.template("headers_helper").map(Secret::new);
    let auth = auth::read(entry);
    match transport {
        Some(TransportSpec::Http(http)) => {
            let HttpSpec { headers_helper, auth: slot, .. } = http;
            *headers_helper = helper;
            **slot = auth;
            entry.warn_unsupported(&["headers_helper", "auth"]);
        }
        Some(_) => server::warn_unused(entry, "command", &["headers_helper", "auth"]),
        None => {}
    }
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

fn safety(entry: &mut TableFields<'_>) -> SafetySpec {
    let mut safety = SafetySpec {
        allowed_commands: entry.texts("allowed_commands").unwrap_or_default(),
        client_consent: entry.owned_text("client_consent"),
        ..SafetySpec::default()
    };
    entry.with_table("manifest", |inner| {
        safety.manifest_digest = inner.owned_text("digest");
        safety.manifest_signature = inner.owned_text("signature");
    });
    let sandbox = entry.with_table("sandbox", |inner| {
        let mut list = |key| inner.texts(key).unwrap_or_default();
        let sandbox = SandboxSpec {
            allow_write: list("allow_write"),
            deny_read: list("deny_read"),
            deny_write: list("deny_write"),
            allowed_domains: list("allowed_domains"),
            denied_domains: list("denied_domains"),
            ..SandboxSpec::default()
        };
        let profile = inner.owned_text("profile");
        SandboxSpec { enabled: inner.flag("enabled"), profile, ..sandbox }
    });
    entry.warn_unsupported(&["sandbox"]);
    SafetySpec { sandbox: sandbox.unwrap_or_default(), ..safety }
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
