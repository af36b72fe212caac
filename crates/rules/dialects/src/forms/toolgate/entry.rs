//! One entry of our own file becomes a server, or the switch of a server that another file
//! declares.

use std::collections::BTreeMap;

use toolgate_model::{
    Data, HttpSpec, PoolScope, Safety, Sandbox, Scope, Secret, ServerName, ServerSpec, StdioSpec,
    Timeouts, TransportSpec,
};

use super::{auth, policy, sampling, tools, variables};
use crate::form::Entry;
use crate::frame::Fields;
use crate::frame::server::{self, Keys};
use crate::frame::tree::Value;

/// What our own fields are called.
const KEYS: Keys = Keys { env_file: Some("env_file"), ..Keys::COMMON };
const POOLS: [(&str, PoolScope); 2] =
    [("shared", PoolScope::Shared), ("per-caller", PoolScope::PerCaller)];
/// What an entry may say of a server of another file.
const AMENDS: [&str; 2] = ["enabled", "env_inherit"];
/// Fields that are carried, and enforced by a later version.
const NOT_YET: [&str; 4] = ["required", "allowed_commands", "manifest", "client_consent"];

pub(super) fn read(name: ServerName, entry: &mut Fields<'_, '_, '_>) -> Option<Entry> {
    if let Some(switch) = switch(entry) {
        return switch;
    }
    let mut transport = server::transport(entry, &KEYS);
    process(entry, transport.as_mut());
    endpoint(entry, transport.as_mut());
    variables::check(entry);
    let enabled = entry.flag("enabled").unwrap_or(true);
    let pool = entry.choice("pool", &POOLS).unwrap_or_default();
    let timeouts = timeouts(entry);
    let description = entry.text("description").map(str::to_owned);
    let tags = entry.texts("tags");
    let selection = tools::read(entry);
    let trust = vouches(entry, "trust", "say it in your own config, if you trust this server");
    let compile = vouches(entry, "compile", "say it in your own config, if its content may stay");
    let sampling = sampling::read(entry);
    let required = entry.flag("required").unwrap_or(false);
    let safety = safety(entry);
    let extras = extras(entry);
    entry.not_yet(&NOT_YET);
    let spec = ServerSpec::new(name, transport?);
    let spec = ServerSpec { enabled, pool, timeouts, description, tags, selection, ..spec };
    Some(ServerSpec { trust, compile, sampling, required, safety, extras, ..spec }.into())
}

/// An entry that says neither what to start nor where to connect, but `enabled` or `env_inherit`: it
/// can say nothing else, because the rest stands with the server itself.
fn switch(entry: &mut Fields<'_, '_, '_>) -> Option<Option<Entry>> {
    let declares = entry.node("command").is_some() || entry.node("url").is_some();
    if declares || AMENDS.iter().all(|key| entry.node(key).is_none()) {
        return None;
    }
    let enabled = entry.flag("enabled");
    let env_inherit = inherited(entry).unwrap_or_default();
    for member in entry.members().iter().filter(|member| !AMENDS.contains(&member.key.as_str())) {
        let problem = format!(
            "has neither `command` nor `url`: it amends a server of another file, and cannot say `{}`",
            member.key
        );
        entry.fault(member.at, &problem, "remove it, or add `command` or `url`");
    }
    entry.all_known();
    Some(Some(Entry::Amendment { enabled, env_inherit }))
}

/// What only a process has.
fn process(entry: &mut Fields<'_, '_, '_>, transport: Option<&mut TransportSpec>) {
    let inherited = inherited(entry);
    match transport {
        Some(TransportSpec::Stdio(StdioSpec { env_inherit, .. })) => {
            *env_inherit = inherited.unwrap_or_default();
        }
        Some(_) => server::unused(entry, "url", &["env_file", "env_inherit"]),
        None => {}
    }
}

/// Taking over our own environment is for the user to say: a project's file may name single
/// variables, as in `env`, but no patterns.
fn inherited(fields: &mut Fields<'_, '_, '_>) -> Option<Vec<String>> {
    let patterns = fields.texts("env_inherit")?;
    let is_project = fields.report().file().scope == Scope::Project;
    if is_project && patterns.iter().any(|pattern| pattern.contains(['*', '?'])) {
        let hint = "say it in your own config, or name each variable";
        fields.warn("env_inherit", "has no patterns in a project's file", hint);
        return None;
    }
    Some(patterns)
}

/// What only an endpoint has.
fn endpoint(entry: &mut Fields<'_, '_, '_>, transport: Option<&mut TransportSpec>) {
    let helper = entry.template("headers_helper").map(Secret::new);
    let auth = auth::read(entry);
    match transport {
        Some(TransportSpec::Http(http)) => {
            let HttpSpec { headers_helper, auth: slot, .. } = http;
            *headers_helper = helper;
            **slot = auth;
            entry.not_yet(&["headers_helper", "auth"]);
        }
        Some(_) => server::unused(entry, "command", &["headers_helper", "auth"]),
        None => {}
    }
}

pub(super) fn timeouts(entry: &mut Fields<'_, '_, '_>) -> Timeouts {
    let mut timeouts = Timeouts::default();
    entry.within("timeouts", |inner| {
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

/// A flag by which somebody vouches for a server: a project's file cannot vouch for itself.
fn vouches(entry: &mut Fields<'_, '_, '_>, key: &'static str, hint: &str) -> bool {
    let vouches = entry.flag(key).unwrap_or(false);
    if vouches && entry.report().file().scope == Scope::Project {
        entry.warn(key, "does not count in a project's file", hint);
        return false;
    }
    vouches
}

fn safety(entry: &mut Fields<'_, '_, '_>) -> Safety {
    let mut safety = Safety {
        allowed_commands: entry.texts("allowed_commands").unwrap_or_default(),
        client_consent: entry.text("client_consent").map(str::to_owned),
        ..Safety::default()
    };
    entry.within("manifest", |inner| {
        safety.manifest_digest = inner.text("digest").map(str::to_owned);
        safety.manifest_signature = inner.text("signature").map(str::to_owned);
    });
    let sandbox = entry.within("sandbox", |inner| {
        let mut list = |key| inner.texts(key).unwrap_or_default();
        let sandbox = Sandbox {
            allow_write: list("allow_write"),
            deny_read: list("deny_read"),
            deny_write: list("deny_write"),
            allowed_domains: list("allowed_domains"),
            denied_domains: list("denied_domains"),
            ..Sandbox::default()
        };
        let profile = inner.text("profile").map(str::to_owned);
        Sandbox { enabled: inner.flag("enabled"), profile, ..sandbox }
    });
    entry.not_yet(&["sandbox"]);
    Safety { sandbox: sandbox.unwrap_or_default(), ..safety }
}

/// What means something to other hosts only, by dialect.
pub(super) fn extras(entry: &mut Fields<'_, '_, '_>) -> BTreeMap<String, Secret<Data>> {
    let Some((_, members)) = entry.table("extra") else { return BTreeMap::new() };
    let mut extras = BTreeMap::new();
    for member in members {
        match &member.node.value {
            Value::Table(_) => {
                extras.insert(member.key.clone(), Secret::new(member.node.data()));
            }
            other => {
                let problem =
                    format!("has {} where `extra.{}` must be a table", other.kind(), member.key);
                entry.fault(member.node.at, &problem, "name a dialect and give its fields");
            }
        }
    }
    extras
}
