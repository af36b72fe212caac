//! Random rules and calls from few names, so that they collide: names that join ambiguously, names
//! with slashes, and names that hosts make equal.

use std::path::PathBuf;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use toolgate_model::{
    ApprovalMode, ArgumentCondition, CapabilityId, CapabilityKind, ConfigScope, ConfigValue,
    Effect, ExpectedArgumentValue, GovernanceSettings, Origin, PolicyMode, RuleSet, RuleSpec,
    ServerName,
};
use toolgate_policy::{Policy, PolicyFacts, PolicyQuery};

pub const SERVERS: [&str; 9] = ["a", "a_b", "a-b", "a__b", "b", "s/p", "s", "c", "a.b"];
pub const TOOLS: [&str; 9] = ["b_c", "c", "b__c", "x/c", "b-c", "_c", "b", "p/c", "C"];
const TAGS: [&str; 5] = ["mcp", "mcp.a", "mcp.a.b", "mcp.ab", "read-only"];
const ARGUMENTS: [&str; 10] = [
    "{}",
    r#"{"x":"a"}"#,
    r#"{"x":"a/b"}"#,
    r#"{"x":1}"#,
    r#"{"x":1.0}"#,
    r#"{"x":["a"]}"#,
    r#"{"x":"b","x":"a"}"#,
    "{",
    r#"{"x":null}"#,
    r#"{"x":"1"}"#,
];
const ABOUT: [&str; 14] = [
    "mcp:*",
    "mcp:*/*",
    "mcp:*/c",
    "mcp:a*/c",
    "mcp:*/b*",
    "mcp:a_*",
    "mcp:*_c",
    "mcp:a*",
    "mcp__a__*",
    "mcp__*__c",
    "mcp__*",
    "mcp__a*",
    "resource:*/*",
    "prompt:*/c",
];

/// The number of cases of a property: all with `TOOLGATE_SOAK`, otherwise a tenth.
pub fn cases(all: u32) -> ProptestConfig {
    let cases = if std::env::var_os("TOOLGATE_SOAK").is_some() { all } else { all / 10 };
    ProptestConfig { cases, max_shrink_iters: 10_000, ..ProptestConfig::default() }
}

pub fn server(name: &str) -> ServerName {
    ServerName::new(name).unwrap()
}

pub fn tool(server: &str, name: &str) -> CapabilityId {
    CapabilityId { server: self::server(server), kind: CapabilityKind::Tool, name: name.into() }
}

pub fn origin(scope: ConfigScope, line: u32) -> Origin {
    let file = Some(Arc::new(PathBuf::from(format!("{scope}.toml"))));
    Origin { scope, file, line, column: 0 }
}

/// A policy that knows its servers.
pub fn policy(said: &GovernanceSettings, known: &[&str]) -> Policy {
    let known: Vec<_> = known.iter().map(|name| server(name)).collect();
    Policy::compile(said).0.with_servers(&known)
}

/// Rules of one scope, each on a line of its own.
pub fn set(scope: ConfigScope, rules: &[(Effect, &str)]) -> RuleSet {
    let rules = (1..).zip(rules).map(|(line, (effect, about))| {
        (*effect, RuleSpec { position: (line, 0), ..RuleSpec::from((*about).to_owned()) })
    });
    RuleSet { origin: origin(scope, 0), mode: None, rules: rules.collect() }
}

pub fn said(sets: impl IntoIterator<Item = RuleSet>) -> GovernanceSettings {
    GovernanceSettings { rules: sets.into_iter().collect(), ..GovernanceSettings::default() }
}

/// A call with all its facts.
#[derive(Debug, Clone)]
pub struct Call {
    pub id: CapabilityId,
    pub tags: Vec<String>,
    pub client: &'static str,
    pub profile: &'static str,
    pub arguments: &'static str,
    pub facts: OwnedFacts,
}

#[derive(Debug, Clone, Default)]
pub struct OwnedFacts {
    pub block: bool,
    pub grant: bool,
    pub trust: Option<Origin>,
    pub approval: Option<(ApprovalMode, Origin)>,
    pub flags: [bool; 4],
}

impl Call {
    pub fn of(id: CapabilityId) -> Self {
        let facts = OwnedFacts::default();
        Self { id, tags: vec![], client: "c1", profile: "default", arguments: "{}", facts }
    }

    pub fn asked(&self) -> PolicyQuery<'_> {
        let Self { id, tags, client, profile, arguments, .. } = self;
        PolicyQuery { id, tags, client, caller: "local", profile, arguments: arguments.as_bytes() }
    }

    pub fn facts(&self) -> PolicyFacts<'_> {
        let OwnedFacts { block, grant, trust, approval, flags } = &self.facts;
        let [read_only, built_in, tainted, destructive] = *flags;
        PolicyFacts {
            block: block.then_some("it is blocked"),
            grant: grant.then_some("granted"),
            trust: trust.as_ref(),
            approval: approval.as_ref().map(|(approval, origin)| (*approval, origin)),
            read_only,
            built_in,
            tainted,
            destructive,
        }
    }
}

fn one<T: Clone + std::fmt::Debug + 'static>(of: &'static [T]) -> impl Strategy<Value = T> {
    (0..of.len()).prop_map(|at| of[at].clone())
}

fn about() -> impl Strategy<Value = String> {
    let names = (one(&SERVERS), one(&TOOLS));
    prop_oneof![
        6 => (0..6_u8, names).prop_map(|(form, (server, tool))| match form {
            0 => format!("mcp:{server}/{tool}"),
            1 => format!("mcp:{server}_{tool}"),
            2 => format!("mcp__{server}__{tool}"),
            3 => format!("mcp:{server}"),
            4 => format!("mcp:{server}/*"),
            _ => format!("resource:{server}/{tool}"),
        }),
        2 => one(&ABOUT).prop_map(str::to_owned),
        1 => one(&TAGS).prop_map(|tag| format!("tag:{tag}")),
    ]
}

fn condition() -> impl Strategy<Value = ArgumentCondition> {
    let is = prop_oneof![
        Just(ExpectedArgumentValue::Glob("a*".into())),
        Just(ExpectedArgumentValue::Glob("1".into())),
        Just(ExpectedArgumentValue::Value(ConfigValue::Integer(1))),
    ];
    is.prop_map(|is| ArgumentCondition { pointer: "/x".into(), expected: is })
}

pub fn rule() -> impl Strategy<Value = (Effect, RuleSpec)> {
    let client = option::weighted(0.1, one(&["c1", "c*", "d"]).prop_map(str::to_owned));
    let profile = option::weighted(0.1, one(&["default", "r*"]).prop_map(str::to_owned));
    let when = prop_oneof![4 => Just(Vec::new()), 1 => vec(condition(), 1..3)];
    (one(&Effect::ALL), about(), client, profile, when).prop_map(
        |(effect, about, client, profile, when)| {
            (effect, RuleSpec { subject: about, client, profile, when, position: (0, 0) })
        },
    )
}

fn mode() -> impl Strategy<Value = Option<PolicyMode>> {
    option::weighted(0.3, one(&[PolicyMode::Ask, PolicyMode::Limited, PolicyMode::Full]))
}

fn scope() -> impl Strategy<Value = ConfigScope> {
    one(&[ConfigScope::System, ConfigScope::User, ConfigScope::Project, ConfigScope::BuiltIn])
}

/// The rules of some files; every rule has a line that no other has.
pub fn governance() -> impl Strategy<Value = GovernanceSettings> {
    let set = (scope(), mode(), vec(rule(), 0..5));
    (vec(set, 0..4), any::<bool>()).prop_map(|(sets, yolo_floor)| {
        let sets = sets.into_iter().map(|(scope, mode, rules)| RuleSet {
            origin: origin(scope, 0),
            mode,
            rules,
        });
        let mut said = GovernanceSettings {
            rules: sets.collect(),
            yolo_floor,
            ..GovernanceSettings::default()
        };
        number(&mut said);
        said
    })
}

/// Gives every rule a line of its own.
pub fn number(said: &mut GovernanceSettings) {
    for (line, (_, rule)) in (1..).zip(said.rules.iter_mut().flat_map(|set| &mut set.rules)) {
        rule.position = (line, 1);
    }
}

/// The servers there are.
pub fn known() -> impl Strategy<Value = Vec<&'static str>> {
    vec(any::<bool>(), SERVERS.len()).prop_map(|has| {
        SERVERS.iter().zip(has).filter(|(_, has)| *has).map(|(server, _)| *server).collect()
    })
}

pub fn call() -> impl Strategy<Value = Call> {
    let kind = prop_oneof![
        5 => Just(CapabilityKind::Tool),
        1 => one(&CapabilityKind::ALL),
    ];
    let id = (one(&SERVERS), kind, one(&TOOLS))
        .prop_map(|(server, kind, name)| CapabilityId { kind, ..tool(server, name) });
    let rare = || proptest::bool::weighted(0.1);
    let at = || scope().prop_map(|scope| origin(scope, 1));
    let facts = (
        rare(),
        rare(),
        option::weighted(0.2, at()),
        option::weighted(0.2, (one(&ApprovalMode::ALL), at())),
        any::<[bool; 4]>(),
    );
    let facts = facts.prop_map(|(block, grant, trust, approval, flags)| OwnedFacts {
        block,
        grant,
        trust,
        approval,
        flags,
    });
    let tags = vec(one(&TAGS).prop_map(str::to_owned), 0..3);
    let whose = (one(&["c1", "d2"]), one(&["default", "research"]));
    (id, tags, whose, one(&ARGUMENTS), facts).prop_map(
        |(id, tags, (client, profile), arguments, facts)| Call {
            id,
            tags,
            client,
            profile,
            arguments,
            facts,
        },
    )
}
