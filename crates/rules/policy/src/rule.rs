//! A compiled rule: its subject, clients, conditions, layer and effect.
//!
//! An invalid rule never allows anything. An invalid allow rule is left out. In an invalid deny or
//! ask rule, a condition that cannot be parsed counts as met; if the subject cannot be parsed,
//! everything requires approval.

use toolgate_model::{
    CapabilityKind, ConfigScope, ConfigValue, Effect, ExpectedArgumentValue, Origin, Posture,
    RuleSet, RuleSpec, ServerName,
};

use crate::condition::{CallArguments, CompiledCondition, ConditionOutcome};
use crate::glob::Glob;
use crate::pattern::{NamedCapability, PatternReading, RulePattern, is_below};
use crate::{PolicyLayer, PolicyQuery, parser};

/// The prefix by which a rule names a client by its access key instead of its reported name.
const KEY: &str = "key:";

/// A problem with an invalid rule. Until it is fixed, an invalid `deny` or `ask` rule makes
/// everything that it might cover require approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidRule {
    /// Where the rule is declared.
    pub origin: Origin,
    /// The error message, with what to write instead.
    pub message: String,
}

/// The precedence of a rule in the order of decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RulePrecedence {
    /// The rule denies.
    Deny,
    /// The rule asks, and nothing that allows comes before it.
    AdminAsk,
    /// An administrator's rule allows.
    AdminAllow,
    /// A user's or project's rule asks.
    UserAsk,
    /// A user's rule allows.
    UserAllow,
}

impl RulePrecedence {
    pub const COUNT: usize = 5;
}

/// A compiled rule.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    /// The effect as written, or `ask` if the subject could not be parsed.
    pub effect: Effect,
    /// The precedence; `None` if the rule has no effect, like an allow rule of a project.
    pub precedence: Option<RulePrecedence>,
    pub layer: PolicyLayer,
    pub text: String,
    pub origin: Origin,
    /// All readings of its subject.
    pub parsed: RulePattern,
    /// The readings it covers.
    pub pattern: RulePattern,
    pub client: Option<ClientPattern>,
    pub profile: Option<Glob>,
    pub conditions: Vec<CompiledCondition>,
}

/// The clients that a rule applies to.
#[derive(Debug, Clone)]
pub(crate) struct ClientPattern {
    pub glob: Glob,
    /// Whether the pattern matches the access key (`key:NAME`) instead of the reported name.
    by_key: bool,
}

/// The names by which a rule can refer to a client.
#[derive(Debug, Clone, Copy)]
pub struct MatchableClientNames<'a> {
    /// The name that the client reports.
    pub client: &'a str,
    /// The caller: `key:NAME` for the holder of an access key.
    pub caller: &'a str,
}

impl ClientPattern {
    pub(crate) fn matches(&self, names: MatchableClientNames<'_>) -> bool {
        self.glob.matches(if self.by_key { names.caller } else { names.client })
    }
}

impl Rule {
    /// Compiles a rule. Returns no rule if it would allow and is invalid, and all problems found.
    pub fn compile(
        set: &RuleSet,
        effect: Effect,
        written: &RuleSpec,
        posture: Posture,
    ) -> (Option<Self>, Vec<InvalidRule>) {
        let origin = rule_origin(set, written);
        let layer = PolicyLayer::from_scope(set.origin.scope);
        let mut wrong = Vec::new();
        let (pattern, understood) = match parser::parse(&written.subject) {
            Ok(pattern) => (pattern, true),
            Err(why) => {
                wrong.push(why);
                (parser::fallback_pattern(&written.subject), false)
            }
        };
        let client = parse_glob("client", written.client.as_deref(), &mut wrong);
        let by_key = written.client.as_ref().is_some_and(|name| name.starts_with(KEY));
        if client.is_some() && !by_key && effect == Effect::Allow && posture == Posture::Governed {
            wrong.push(
                "in the governed posture `client` must be an access key (`key:NAME`)".to_owned(),
            );
        }
        let client = client.map(|glob| ClientPattern { glob, by_key });
        let profile = parse_glob("profile", written.profile.as_deref(), &mut wrong);
        let when = written.when.iter().map(|condition| {
            let (test, why) = CompiledCondition::compile(condition);
            wrong.extend(why);
            test
        });
        let when: Vec<_> = when.collect();
        let message = |why: String| {
            let meanwhile = interim_effect(effect, understood);
            format!("the {effect} rule `{}` is invalid: {why}; {meanwhile}", written.subject)
        };
        let bad: Vec<_> = wrong
            .into_iter()
            .map(|why| InvalidRule { origin: origin.clone(), message: message(why) })
            .collect();
        if effect == Effect::Allow && !bad.is_empty() {
            return (None, bad);
        }
        let place = precedence(effect, layer, understood);
        let effect = if understood { effect } else { Effect::Ask };
        let text = format_rule(written);
        let rule = Self {
            effect,
            precedence: place,
            layer,
            text,
            origin,
            parsed: pattern.clone(),
            pattern,
            client,
            profile,
            conditions: when,
        };
        (Some(rule), bad)
    }

    /// Returns true if the rule can match a server. A rule about tags depends on the server's tags,
    /// if they are known.
    pub fn may_match_server(&self, server: &ServerName, tags: Option<&[String]>) -> bool {
        let mut readings = self.pattern.readings.iter();
        readings.any(|reading| match reading {
            PatternReading::Tag(parts) => {
                tags.is_none_or(|tags| tags.iter().any(|tag| is_below(parts, tag)))
            }
            reading => reading.may_match_server(server),
        })
    }

    /// Returns true if the rule covers a capability.
    ///
    /// An allow rule for a tool, a tag or a whole server refers to what the server lists. Servers
    /// do not list methods, so an allow rule must name them explicitly.
    pub fn is_about(&self, named: &NamedCapability<'_>) -> bool {
        let must_name_methods =
            self.effect == Effect::Allow && named.id.kind == CapabilityKind::Method;
        let mut readings = self.pattern.readings.iter();
        readings.any(|reading| {
            (!must_name_methods || reading.names_methods()) && reading.matches(named)
        })
    }

    /// Returns true if the rule applies to every caller and all arguments.
    pub fn is_unconditional(&self) -> bool {
        self.client.is_none() && self.profile.is_none() && self.conditions.is_empty()
    }

    /// Returns true if the rule applies to this caller and these arguments.
    pub fn holds<'a>(&'a self, query: &PolicyQuery<'_>, arguments: &CallArguments<'a>) -> bool {
        let enough = if self.effect == Effect::Allow {
            ConditionOutcome::Yes
        } else {
            ConditionOutcome::Unclear
        };
        self.client.as_ref().is_none_or(|client| {
            client.matches(MatchableClientNames { client: query.client, caller: query.caller })
        }) && self.profile.as_ref().is_none_or(|profile| profile.matches(query.profile))
            && self.conditions.iter().all(|test| test.evaluate(arguments) >= enough)
    }
}

fn precedence(effect: Effect, layer: PolicyLayer, understood: bool) -> Option<RulePrecedence> {
    match (effect, layer) {
        // Nothing that allows may let a call pass that the rule was meant to deny.
        (Effect::Deny, _) if !understood => Some(RulePrecedence::AdminAsk),
        (Effect::Deny, _) => Some(RulePrecedence::Deny),
        (Effect::Ask, PolicyLayer::Admin) => Some(RulePrecedence::AdminAsk),
        (Effect::Ask, _) => Some(RulePrecedence::UserAsk),
        (Effect::Allow, PolicyLayer::Admin) => Some(RulePrecedence::AdminAllow),
        (Effect::Allow, PolicyLayer::User) => Some(RulePrecedence::UserAllow),
        (Effect::Allow, PolicyLayer::Server | PolicyLayer::Project) => None,
    }
}

fn interim_effect(effect: Effect, understood: bool) -> &'static str {
    match (effect, understood) {
        (Effect::Allow, _) => "until it is fixed it allows nothing",
        (_, false) => "until it is fixed every call it might cover requires approval",
        (_, true) => "until it is fixed it applies without that part",
    }
}

fn parse_glob(whose: &str, text: Option<&str>, wrong: &mut Vec<String>) -> Option<Glob> {
    match text? {
        "" => {
            wrong.push(format!("`{whose}` is empty: name one, or leave it out"));
            None
        }
        text => Some(Glob::text_pattern(text)),
    }
}

fn rule_origin(set: &RuleSet, written: &RuleSpec) -> Origin {
    match written.position {
        (0, _) => set.origin.clone(),
        (line, column) => Origin { line, column, ..set.origin.clone() },
    }
}

/// Formats the rule in one line, with its conditions.
fn format_rule(written: &RuleSpec) -> String {
    let mut terms = Vec::new();
    terms.extend(written.client.as_ref().map(|client| format!("client = {client:?}")));
    terms.extend(written.profile.as_ref().map(|profile| format!("profile = {profile:?}")));
    terms.extend(written.when.iter().map(|condition| match &condition.expected {
        ExpectedArgumentValue::Glob(glob) => format!("{} like {glob:?}", condition.pointer),
        ExpectedArgumentValue::Value(value) => {
            format!("{} is {}", condition.pointer, format_value(value))
        }
    }));
    match terms.is_empty() {
        true => written.subject.clone(),
        false => format!("{} ({})", written.subject, terms.join(", ")),
    }
}

fn format_value(value: &ConfigValue) -> String {
    let list = |values: Vec<String>| values.join(", ");
    match value {
        ConfigValue::Null => "null".to_owned(),
        ConfigValue::Bool(flag) => flag.to_string(),
        ConfigValue::Integer(number) => number.to_string(),
        ConfigValue::Decimal(spelling) => spelling.clone(),
        ConfigValue::Text(text) => format!("{text:?}"),
        ConfigValue::List(values) => {
            format!("[{}]", list(values.iter().map(format_value).collect()))
        }
        ConfigValue::Table(members) => {
            let member =
                |(key, value): &(String, ConfigValue)| format!("{key:?}: {}", format_value(value));
            format!("{{{}}}", list(members.iter().map(member).collect()))
        }
    }
}

impl PolicyLayer {
    /// Returns the layer of the rules of a file.
    pub(crate) fn from_scope(scope: ConfigScope) -> Self {
        match scope {
            ConfigScope::System => Self::Admin,
            ConfigScope::User | ConfigScope::BuiltIn => Self::User,
            ConfigScope::Project => Self::Project,
        }
    }
}
