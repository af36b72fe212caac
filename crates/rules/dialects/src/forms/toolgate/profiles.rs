//! What kinds of callers see, and which client gets which: `[profiles.NAME]` and `[clients.NAME]`.
//!
//! Whether a profile that is named exists is for whoever knows all files.

use std::collections::BTreeMap;

use toolgate_model::{
    Data, DeclaredProfile, Expose, Naming, Origin, Prefix, Profile, RESULT_LIMIT,
};

use crate::ClientProfile;
use crate::frame::Fields;
use crate::frame::tree::{Member, Value};

/// The profiles of a file: those that can be used, and where those stand that cannot.
#[derive(Default)]
pub(super) struct Found {
    pub profiles: BTreeMap<String, DeclaredProfile>,
    pub unread: BTreeMap<String, Origin>,
}

pub(super) fn read(top: &mut Fields<'_, '_, '_>) -> Found {
    let mut found = Found::default();
    top.within("profiles", |inner| {
        for member in inner.members() {
            let origin = inner.report().origin(member.at);
            match profile(inner, member) {
                Some(profile) => {
                    let declared = DeclaredProfile { profile, origin };
                    found.profiles.insert(member.key.clone(), declared);
                }
                None => drop(found.unread.insert(member.key.clone(), origin)),
            }
        }
        inner.all_known();
    });
    found
}

fn profile(all: &mut Fields<'_, '_, '_>, member: &Member) -> Option<Profile> {
    let members = table(all, member, "{ tags = [\"…\"] }")?;
    let what = format!("profile {:?}", member.key);
    let mut fields = Fields::of(all.report(), what, member.at, members);
    if !is_name(&member.key) {
        fields.fail(
            "cannot have this name: it is part of an address",
            "use letters, digits, `-`, `_` and `.`, at most 64, and not `.` first",
        );
    }
    let profile = Profile {
        tags: fields.texts("tags"),
        include: fields.texts("include").unwrap_or_default(),
        exclude: fields.texts("exclude").unwrap_or_default(),
        naming: naming(&mut fields),
        prefix: prefix(&mut fields),
        expose: fields.choice("expose", &Expose::ALL.map(|it| (it.as_str(), it))),
        budget: budget(&mut fields),
        result_limit: results(&mut fields),
    };
    idle(&mut fields, &profile);
    // A slip in `tags` or `exclude` would otherwise show what was to be hidden.
    fields.finish_whole().then_some(profile)
}

/// Whether a name can stand in a path as it is.
fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=64).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(plain)
}

pub(super) fn naming(fields: &mut Fields<'_, '_, '_>) -> Option<Naming> {
    fields.choice("naming", &Naming::ALL.map(|it| (it.as_str(), it)))
}

pub(super) fn prefix(fields: &mut Fields<'_, '_, '_>) -> Option<Prefix> {
    fields.choice("prefix", &Prefix::ALL.map(|it| (it.as_str(), it)))
}

/// What is said and changes nothing.
fn idle(fields: &mut Fields<'_, '_, '_>, profile: &Profile) {
    let other = profile.naming.filter(|it| *it != Naming::Toolgate);
    if let (Some(naming), Some(_)) = (other, profile.prefix) {
        let problem = format!("changes nothing beside naming = {:?}", naming.as_str());
        fields.warn("prefix", &problem, "remove it: the choice is only in naming = \"toolgate\"");
    }
}

fn budget(fields: &mut Fields<'_, '_, '_>) -> Option<u32> {
    let node = fields.node("budget")?;
    match &node.value {
        Value::Integer(number) => tokens(fields, node.at, "budget", *number),
        other => {
            let problem = format!("has {} where `budget` must be a whole number", other.kind());
            fields.wrong(node.at, &problem, "give a number of tokens");
            None
        }
    }
}

/// `true` is the usual limit; `false` is none, as when nothing is said.
fn results(fields: &mut Fields<'_, '_, '_>) -> Option<u32> {
    let node = fields.node("results")?;
    match &node.value {
        Value::Flag(bounded) => bounded.then_some(RESULT_LIMIT),
        Value::Integer(number) => tokens(fields, node.at, "results", *number),
        other => {
            let problem = format!("has {} where `results` must be a number", other.kind());
            fields.wrong(node.at, &problem, "give a number of tokens, or true or false");
            None
        }
    }
}

fn tokens(fields: &mut Fields<'_, '_, '_>, at: usize, key: &str, number: i64) -> Option<u32> {
    let tokens = u32::try_from(number).ok().filter(|tokens| *tokens > 0);
    if tokens.is_none() {
        let problem = format!("cannot have this `{key}`: it is out of range");
        fields.wrong(at, &problem, "give a number of tokens, at least 1");
    }
    tokens
}

/// Which client gets which profile.
pub(super) fn clients(top: &mut Fields<'_, '_, '_>) -> BTreeMap<String, ClientProfile> {
    let mut clients = BTreeMap::new();
    top.within("clients", |inner| {
        for member in inner.members() {
            let origin = inner.report().origin(member.at);
            let Some(members) = table(inner, member, "{ profile = \"…\" }") else { continue };
            let what = format!("client {:?}", member.key);
            let mut fields = Fields::of(inner.report(), what, member.at, members);
            let profile = fields.text("profile").map(str::to_owned);
            if profile.is_none() {
                fields.fail("has no `profile`", "say which one it gets, or remove the entry");
            }
            if let (true, Some(profile)) = (fields.finish(), profile) {
                clients.insert(member.key.clone(), ClientProfile { profile, origin });
            }
        }
        inner.all_known();
    });
    clients
}

fn table<'t>(all: &mut Fields<'_, '_, '_>, member: &'t Member, like: &str) -> Option<&'t [Member]> {
    if let Value::Table(members) = &member.node.value {
        return Some(members);
    }
    let (kind, key) = (member.node.value.kind(), &member.key);
    let problem = format!("has {kind} where `{key}` must be a table");
    all.fault(member.node.at, &problem, &format!("write it like {like}"));
    None
}

/// The profiles as a table of them.
pub(super) fn write(profiles: &BTreeMap<String, DeclaredProfile>) -> Data {
    let tables = profiles.iter().map(|(name, it)| (name.clone(), written(&it.profile)));
    Data::Table(tables.collect())
}

fn written(profile: &Profile) -> Data {
    // Every field is named: a new one cannot be forgotten here.
    let Profile { tags, include, exclude, naming, prefix, expose, budget, result_limit } = profile;
    let list = |texts: &[String]| Data::texts(texts.iter().cloned());
    let number = |tokens: u32| Data::Integer(i64::from(tokens));
    let fields = [
        ("tags", tags.as_deref().map(list)),
        ("include", (!include.is_empty()).then(|| list(include))),
        ("exclude", (!exclude.is_empty()).then(|| list(exclude))),
        ("naming", naming.map(|it| Data::text(it.as_str()))),
        ("prefix", prefix.map(|it| Data::text(it.as_str()))),
        ("expose", expose.map(|it| Data::text(it.as_str()))),
        ("budget", budget.map(number)),
        ("results", result_limit.map(number)),
    ];
    let said = fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    Data::Table(said.collect())
}

/// Who gets which, as a table of clients.
pub(super) fn write_clients(clients: &BTreeMap<String, ClientProfile>) -> Data {
    let table = |client: &ClientProfile| {
        Data::Table(vec![("profile".to_owned(), Data::text(&client.profile))])
    };
    Data::Table(clients.iter().map(|(name, client)| (name.clone(), table(client))).collect())
}
