//! Reads and writes `[profiles.NAME]` and `[clients.NAME]`: what callers see, and which client gets
//! which profile.
//!
//! `edges/config`, which knows all files, checks that a named profile exists.

use std::collections::BTreeMap;

use toolgate_model::{
    ConfigValue, DeclaredProfile, ExposureMode, NamingStyle, PrefixMode, Profile, RESULT_LIMIT,
};

use super::write::{list, set_fields};
use crate::common::TableFields;
use crate::common::tree::{TreeMember, TreeValue};
use crate::{ClientProfile, FileSettings};

/// Reads the valid profiles, and the positions of the invalid ones.
pub(super) fn read(top: &mut TableFields<'_>, into: &mut FileSettings) {
    top.with_table("profiles", |inner| {
        for member in inner.members {
            let (name, origin) = (member.key.clone(), inner.diagnostics.origin(member.at));
            match profile(inner, member) {
                Some(profile) => {
                    drop(into.profiles.insert(name, DeclaredProfile { profile, origin }));
                }
                None => drop(into.invalid_profiles.insert(name, origin)),
            }
        }
        inner.allow_unknown();
    });
}

fn profile<'t>(all: &mut TableFields<'t>, member: &'t TreeMember) -> Option<Profile> {
    let members = all.expect_table(member, "{ tags = [\"…\"] }")?;
    let what = format!("profile {:?}", member.key);
    let mut fields = all.nested(what, member.at, members);
    if !is_name(&member.key) {
        fields.fail(
            "has an invalid name: the name is part of a URL",
            "use letters, digits, `-`, `_` and `.`, at most 64, and not `.` first",
        );
    }
    let profile = Profile {
        tags: fields.texts("tags"),
        include: fields.texts("include").unwrap_or_default(),
        exclude: fields.texts("exclude").unwrap_or_default(),
        naming: naming(&mut fields),
        prefix: prefix(&mut fields),
        expose: fields.choice("expose", &ExposureMode::ALL.map(|it| (it.as_str(), it))),
        budget: budget(&mut fields),
        result_limit: results(&mut fields),
    };
    warn_ineffective_prefix(&mut fields, &profile);
    // Otherwise a typo in `tags` or `exclude` would show what should be hidden.
    fields.finish_strict().then_some(profile)
}

/// Returns true if a name can be part of a URL path unescaped.
fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=64).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(plain)
}

pub(super) fn naming(fields: &mut TableFields<'_>) -> Option<NamingStyle> {
    fields.choice("naming", &NamingStyle::ALL.map(|it| (it.as_str(), it)))
}

pub(super) fn prefix(fields: &mut TableFields<'_>) -> Option<PrefixMode> {
    fields.choice("prefix", &PrefixMode::ALL.map(|it| (it.as_str(), it)))
}

/// Warns about a `prefix` without effect.
fn warn_ineffective_prefix(fields: &mut TableFields<'_>, profile: &Profile) {
    let other = profile.naming.filter(|it| *it != NamingStyle::Toolgate);
    if let (Some(naming), Some(_)) = (other, profile.prefix) {
        let problem = format!("has no effect with naming = {:?}", naming.as_str());
        fields.warn("prefix", &problem, "remove it, or use naming = \"toolgate\"");
    }
}

fn budget(fields: &mut TableFields<'_>) -> Option<u32> {
    let node = fields.node("budget")?;
    match &node.value {
        TreeValue::Integer(number) => tokens(fields, node.at, "budget", *number),
        other => {
            let problem = format!("has {} where `budget` must be a whole number", other.kind());
            fields.error_with_value(node.at, &problem, "give a number of tokens");
            None
        }
    }
}

/// Reads the result limit: `true` is the default limit, and `false` is no limit, as if unset.
fn results(fields: &mut TableFields<'_>) -> Option<u32> {
    let node = fields.node("results")?;
    match &node.value {
        TreeValue::Flag(bounded) => bounded.then_some(RESULT_LIMIT),
        TreeValue::Integer(number) => tokens(fields, node.at, "results", *number),
        other => {
            let problem = format!("has {} where `results` must be a number", other.kind());
            fields.error_with_value(node.at, &problem, "give a number of tokens, or true or false");
            None
        }
    }
}

fn tokens(fields: &mut TableFields<'_>, at: usize, key: &str, number: i64) -> Option<u32> {
    let tokens = u32::try_from(number).ok().filter(|tokens| *tokens > 0);
    if tokens.is_none() {
        let problem = format!("has an invalid `{key}`: it is out of range");
        fields.error_with_value(at, &problem, "give a number of tokens, at least 1");
    }
    tokens
}

/// Reads the profile of each client.
pub(super) fn clients(top: &mut TableFields<'_>) -> BTreeMap<String, ClientProfile> {
    let mut clients = BTreeMap::new();
    top.with_table("clients", |inner| {
        inner.each_table("client", "{ profile = \"…\" }", |member, fields| {
            let origin = fields.diagnostics.origin(member.at);
            match fields.owned_text("profile") {
                Some(profile) => {
                    drop(clients.insert(member.key.clone(), ClientProfile { profile, origin }));
                }
                None => fields.fail(
                    "has no `profile`",
                    "name the profile of this client, or remove the entry",
                ),
            }
        });
    });
    clients
}

/// Returns the profiles as a table.
pub(super) fn write(profiles: &BTreeMap<String, DeclaredProfile>) -> Vec<(String, ConfigValue)> {
    profiles.iter().map(|(name, it)| (name.clone(), profile_data(&it.profile))).collect()
}

fn profile_data(profile: &Profile) -> ConfigValue {
    // Names every field, so that a new one cannot be forgotten.
    let Profile { tags, include, exclude, naming, prefix, expose, budget, result_limit } = profile;
    let number = |tokens: u32| ConfigValue::Integer(i64::from(tokens));
    let fields = set_fields([
        ("tags", tags.as_deref().map(list)),
        ("include", (!include.is_empty()).then(|| list(include))),
        ("exclude", (!exclude.is_empty()).then(|| list(exclude))),
        ("naming", naming.map(|it| ConfigValue::text(it.as_str()))),
        ("prefix", prefix.map(|it| ConfigValue::text(it.as_str()))),
        ("expose", expose.map(|it| ConfigValue::text(it.as_str()))),
        ("budget", budget.map(number)),
        ("results", result_limit.map(number)),
    ]);
    ConfigValue::Table(fields)
}

/// Returns the profiles of clients as a table.
pub(super) fn write_clients(
    clients: &BTreeMap<String, ClientProfile>,
) -> Vec<(String, ConfigValue)> {
    let table = |client: &ClientProfile| {
        ConfigValue::Table(vec![("profile".to_owned(), ConfigValue::text(&client.profile))])
    };
    clients.iter().map(|(name, client)| (name.clone(), table(client))).collect()
}
