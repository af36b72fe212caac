//! A second implementation of the decision order: no index, nothing prepared, one rule after the
//! other. It shares nothing with the engine but the declared types.

use serde_json::Value;
use toolgate_model::{
    ApprovalMode, CapabilityKind, ConfigScope, ConfigValue, Effect, ExpectedArgumentValue,
    GovernanceSettings, PolicyMode, RuleSpec,
};
use toolgate_policy::{PolicyFacts, PolicyQuery};

/// The decision about a call, and the line of the rule that decided, if a rule did.
pub fn decide(
    said: &GovernanceSettings,
    known: &[&str],
    asked: &PolicyQuery<'_>,
    facts: &PolicyFacts<'_>,
) -> (Effect, Option<u32>) {
    let (effect, line, mode) = standing(said, known, asked, facts);
    let tool = asked.id.kind == CapabilityKind::Tool;
    let floor = mode != PolicyMode::Full || (said.yolo_floor && facts.destructive);
    match effect == Effect::Allow && tool && facts.tainted && floor {
        true => (Effect::Ask, None),
        false => (effect, line),
    }
}

fn standing(
    said: &GovernanceSettings,
    known: &[&str],
    asked: &PolicyQuery<'_>,
    facts: &PolicyFacts<'_>,
) -> (Effect, Option<u32>, PolicyMode) {
    let mode = mode(said);
    let rule = |scopes: &[ConfigScope], effect: Effect| {
        let of = said.rules.iter().filter(|set| scopes.contains(&set.origin.scope));
        let mut rules = of.flat_map(|set| &set.rules).filter(|(its, _)| *its == effect);
        rules.find(|(_, rule)| applies(rule, effect, known, asked)).map(|(_, rule)| rule.position.0)
    };
    let (admin, user) =
        (&[ConfigScope::System][..], &[ConfigScope::User, ConfigScope::BuiltIn][..]);
    let below = &[ConfigScope::User, ConfigScope::BuiltIn, ConfigScope::Project][..];
    let tool = asked.id.kind == CapabilityKind::Tool;
    let trusted = tool && facts.trust.is_some_and(|origin| origin.scope != ConfigScope::Project);
    let entry = facts.approval.filter(|_| tool).map(|(approval, origin)| {
        let writes =
            matches!(approval, ApprovalMode::Auto | ApprovalMode::Writes) && !facts.read_only;
        (approval == ApprovalMode::Always || writes, origin.scope != ConfigScope::Project)
    });
    let steps = [
        facts.block.map(|_| (Effect::Deny, None)),
        rule(admin, Effect::Deny).map(|line| (Effect::Deny, Some(line))),
        rule(below, Effect::Deny).map(|line| (Effect::Deny, Some(line))),
        rule(admin, Effect::Ask).map(|line| (Effect::Ask, Some(line))),
        rule(admin, Effect::Allow).map(|line| (Effect::Allow, Some(line))),
        facts.grant.map(|_| (Effect::Allow, None)),
        entry.filter(|(asks, _)| *asks && mode != PolicyMode::Full).map(|_| (Effect::Ask, None)),
        trusted.then_some((Effect::Allow, None)),
        entry.filter(|(asks, counts)| *counts && !asks).map(|_| (Effect::Allow, None)),
        rule(below, Effect::Ask)
            .filter(|_| mode != PolicyMode::Full)
            .map(|line| (Effect::Ask, Some(line))),
        rule(user, Effect::Allow).map(|line| (Effect::Allow, Some(line))),
        (!tool).then_some((Effect::Allow, None)),
        (facts.built_in && facts.read_only).then_some((Effect::Allow, None)),
        (mode == PolicyMode::Full).then_some((Effect::Allow, None)),
    ];
    let (effect, line) = steps.into_iter().flatten().next().unwrap_or((Effect::Ask, None));
    (effect, line, mode)
}

fn mode(said: &GovernanceSettings) -> PolicyMode {
    let order = [PolicyMode::Full, PolicyMode::Ask, PolicyMode::Limited];
    let first = |scope: fn(ConfigScope) -> bool| {
        said.rules.iter().filter(|set| scope(set.origin.scope)).find_map(|set| set.mode)
    };
    let user = first(|scope| matches!(scope, ConfigScope::User | ConfigScope::BuiltIn));
    let admin = first(|scope| scope == ConfigScope::System);
    let own = [user, admin].into_iter().flatten();
    let own = own.max_by_key(|mode| order.iter().position(|its| its == mode)).unwrap_or_default();
    let project = said.rules.iter().filter(|set| set.origin.scope == ConfigScope::Project);
    let all = project.filter_map(|set| set.mode).chain([own]);
    all.max_by_key(|mode| order.iter().position(|its| its == mode)).unwrap()
}

fn applies(rule: &RuleSpec, effect: Effect, known: &[&str], asked: &PolicyQuery<'_>) -> bool {
    let allows = effect == Effect::Allow;
    let any = |pattern: &Option<String>, text: &str| {
        pattern.as_ref().is_none_or(|pattern| fits(pattern.as_bytes(), text.as_bytes(), false))
    };
    means(&rule.subject, allows, known, asked)
        && any(&rule.client, asked.client)
        && any(&rule.profile, asked.profile)
        && rule
            .when
            .iter()
            .all(|when| holds(&when.pointer, &when.expected, asked.arguments, allows))
}

/// Supports only members, and only the values that the tests write: texts, numbers, lists and null.
fn holds(at: &str, is: &ExpectedArgumentValue, arguments: &[u8], allows: bool) -> bool {
    let text = String::from_utf8_lossy(arguments);
    let twice = text.matches("\"x\":").count() > 1;
    let Some(value) = serde_json::from_slice::<Value>(arguments).ok().filter(|_| !twice) else {
        return !allows;
    };
    match (value.pointer(at), is) {
        (None | Some(Value::Null), _) => false,
        (Some(Value::String(text)), ExpectedArgumentValue::Glob(glob)) => {
            fits(glob.as_bytes(), text.as_bytes(), false)
        }
        (Some(Value::Array(_) | Value::Object(_)), ExpectedArgumentValue::Glob(_)) => !allows,
        (Some(other), ExpectedArgumentValue::Glob(glob)) => {
            !allows && fits(glob.as_bytes(), other.to_string().as_bytes(), false)
        }
        (
            Some(Value::Number(given)),
            ExpectedArgumentValue::Value(ConfigValue::Integer(wanted)),
        ) => given.as_f64() == Some(*wanted as f64),
        (
            Some(Value::String(given)),
            ExpectedArgumentValue::Value(ConfigValue::Integer(wanted)),
        ) => !allows && given.parse() == Ok(*wanted),
        (Some(_), ExpectedArgumentValue::Value(_)) => false,
    }
}

/// One reading of a rule's subject: the servers it can match, and whether it covers a capability.
type Reading<'a> = (Box<dyn Fn(&str) -> bool + 'a>, bool, bool);

fn means(about: &str, allows: bool, known: &[&str], asked: &PolicyQuery<'_>) -> bool {
    if let Some(tag) = about.strip_prefix("tag:") {
        let below = |own: &String| own == tag || own.starts_with(&format!("{tag}."));
        return asked.tags.iter().any(below);
    }
    let readings = readings(about, allows, asked);
    if !allows {
        return readings.iter().any(|(_, _, meant)| *meant);
    }
    let servers = |reading: &Reading<'_>| known.iter().filter(|it| reading.0(it)).count();
    let found: Vec<_> = readings.iter().filter(|reading| servers(reading) > 0).collect();
    match &found[..] {
        [reading] => reading.2 && (!reading.1 || servers(reading) == 1),
        _ => false,
    }
}

/// Each with whether it must match one server alone.
fn readings<'a>(about: &'a str, allows: bool, asked: &'a PolicyQuery<'_>) -> Vec<Reading<'a>> {
    let (server, name, kind) = (asked.id.server.as_str(), &*asked.id.name, asked.id.kind);
    let tool = kind == CapabilityKind::Tool;
    let joined = |rest: &'a str, sep: &'a str, clean: fn(&str) -> String| -> Reading<'a> {
        let about = move |server: &str| {
            [server.to_owned(), clean(server)]
                .iter()
                .any(|own| begins(rest.as_bytes(), format!("{own}{sep}").as_bytes()))
        };
        let mut names =
            vec![format!("{server}{sep}{name}"), format!("{}{sep}{name}", clean(server))];
        names.extend((!allows).then(|| format!("{}{sep}{}", clean(server), clean(name))));
        let fits = |own: &String| fits(rest.as_bytes(), own.as_bytes(), allows);
        (Box::new(about), true, tool && names.iter().any(fits))
    };
    if let Some(rest) = about.strip_prefix("mcp__") {
        let plain = !rest.contains('*');
        let is = move |own: &str| part(rest, own) || (plain || !allows) && part(rest, &double(own));
        let whole: Reading<'a> = (Box::new(is), plain, is(server));
        let has = if allows { rest.contains("__") } else { true };
        return [whole].into_iter().chain(has.then(|| joined(rest, "__", double))).collect();
    }
    let (form, rest) = about.split_once(':').unwrap();
    let (parts, all) = match form {
        "mcp" => (tool, true),
        "prompt" => (kind == CapabilityKind::Prompt, kind == CapabilityKind::Prompt),
        _ => {
            let resource = matches!(kind, CapabilityKind::Resource | CapabilityKind::Template);
            (resource, resource)
        }
    };
    if rest == "*/*" {
        return vec![(Box::new(|_| true), false, all)];
    }
    let mut found: Vec<Reading<'a>> =
        vec![(Box::new(|own| part(rest, own)), false, all && part(rest, server))];
    for (at, _) in rest.match_indices('/') {
        let (of, what) = (&rest[..at], &rest[at + 1..]);
        let covered = if what == "*" { all } else { parts };
        let meant = covered && part(of, server) && part(what, name);
        found.push((Box::new(move |own| part(of, own)), false, meant));
    }
    let has = if allows { rest.contains('_') } else { rest != "*" };
    found.extend((form == "mcp" && !rest.contains('/') && has).then(|| joined(rest, "_", single)));
    found
}

fn single(name: &str) -> String {
    name.replace(|c: char| !c.is_ascii_alphanumeric(), "_")
}

fn double(name: &str) -> String {
    name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "_")
}

fn part(pattern: &str, text: &str) -> bool {
    pattern == "*" || fits(pattern.as_bytes(), text.as_bytes(), true)
}

fn fits(pattern: &[u8], text: &[u8], stops: bool) -> bool {
    match (pattern, text) {
        ([], text) => text.is_empty(),
        ([b'*', rest @ ..], []) => fits(rest, text, stops),
        ([b'*', rest @ ..], [c, more @ ..]) => {
            fits(rest, text, stops) || (!stops || *c != b'/') && fits(pattern, more, stops)
        }
        ([p, rest @ ..], [c, more @ ..]) => p == c && fits(rest, more, stops),
        _ => false,
    }
}

fn begins(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern, text) {
        (_, []) => true,
        ([], _) => false,
        ([b'*', rest @ ..], [_, more @ ..]) => begins(rest, text) || begins(pattern, more),
        ([p, rest @ ..], [c, more @ ..]) => p == c && begins(rest, more),
    }
}
