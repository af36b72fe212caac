//! One rule, understood: what it is about, for whom, under which conditions, and whose word it is.
//!
//! A rule that cannot be understood never opens anything. One that allows is left out. Of one that
//! refuses or asks, a condition that cannot be read is taken to hold; and if it cannot be told what
//! the rule is about, everything is asked about.

use toolgate_model::{
    CapabilityKind, Data, Effect, Expected, Origin, Posture, RuleSet, Scope, ServerName,
    WrittenRule,
};

use crate::condition::{Arguments, Holds, Test};
use crate::glob::Glob;
use crate::pattern::{Named, Pattern, Reading, is_below};
use crate::{Asked, Layer, reader};

/// How a rule names a client by its key, and not by what it calls itself.
const KEY: &str = "key:";

/// A rule that cannot be understood: it is reported, and a `deny` or `ask` among them makes
/// everything it might be about be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRule {
    /// Where it stands.
    pub origin: Origin,
    /// What is wrong, and what to write instead.
    pub message: String,
}

/// Where a rule stands in the order of decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// It refuses.
    Deny,
    /// It asks, and nothing that allows comes before it.
    AdminAsk,
    /// It allows, as an administrator's word.
    AdminAllow,
    /// It asks, as a user's or a project's word.
    UserAsk,
    /// It allows, as a user's word.
    UserAllow,
}

impl Place {
    pub const COUNT: usize = 5;
}

#[derive(Debug, Clone)]
pub(crate) struct Rule {
    /// What it does: what is written, unless it could not be understood.
    pub effect: Effect,
    /// None, if it counts for nothing: what a project's file allows.
    pub place: Option<Place>,
    pub layer: Layer,
    pub text: String,
    pub origin: Origin,
    /// Everything its text can be read as.
    pub written: Pattern,
    /// What it means.
    pub pattern: Pattern,
    pub client: Option<Client>,
    pub profile: Option<Glob>,
    pub when: Vec<Test>,
}

/// Which client a rule is for.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub glob: Glob,
    /// Whether it is known by its key (`key:NAME`), and not by what it calls itself.
    by_key: bool,
}

/// The names by which a rule can mean a client.
#[derive(Debug, Clone, Copy)]
pub struct ClientNames<'a> {
    /// What it calls itself.
    pub client: &'a str,
    /// Who calls: `key:NAME` for the holder of a key.
    pub caller: &'a str,
}

impl Client {
    pub(crate) fn fits(&self, names: ClientNames<'_>) -> bool {
        self.glob.fits(if self.by_key { names.caller } else { names.client })
    }
}

impl Rule {
    /// A rule, unless it is one that allows and cannot be understood; and what is wrong with it.
    pub fn of(
        set: &RuleSet,
        effect: Effect,
        written: &WrittenRule,
        posture: Posture,
    ) -> (Option<Self>, Vec<BadRule>) {
        let origin = origin(set, written);
        let layer = Layer::of(set.origin.scope);
        let mut wrong = Vec::new();
        let (pattern, understood) = match reader::read(&written.about) {
            Ok(pattern) => (pattern, true),
            Err(why) => {
                wrong.push(format!("understand what it is about: {why}"));
                (reader::unread(&written.about), false)
            }
        };
        let client = glob("client", written.client.as_deref(), &mut wrong);
        let by_key = written.client.as_ref().is_some_and(|name| name.starts_with(KEY));
        if client.is_some() && !by_key && effect == Effect::Allow && posture == Posture::Governed {
            wrong.push("believe what a client calls itself: name its key (`key:NAME`)".to_owned());
        }
        let client = client.map(|glob| Client { glob, by_key });
        let profile = glob("profile", written.profile.as_deref(), &mut wrong);
        let when = written.when.iter().map(|condition| {
            let (test, why) = Test::of(condition);
            wrong.extend(why);
            test
        });
        let when: Vec<_> = when.collect();
        let message = |why: String| {
            let meanwhile = meanwhile(effect, understood);
            format!("use the {effect} rule `{}`: {why}; {meanwhile}", written.about)
        };
        let bad: Vec<_> = wrong
            .into_iter()
            .map(|why| BadRule { origin: origin.clone(), message: message(why) })
            .collect();
        if effect == Effect::Allow && !bad.is_empty() {
            return (None, bad);
        }
        let place = place(effect, layer, understood);
        let effect = if understood { effect } else { Effect::Ask };
        let text = text(written);
        let rule = Self {
            effect,
            place,
            layer,
            text,
            origin,
            written: pattern.clone(),
            pattern,
            client,
            profile,
            when,
        };
        (Some(rule), bad)
    }

    /// Whether it can be about a server. Of one about tags that depends on the tags of the server,
    /// where they are known.
    pub fn may_mean(&self, server: &ServerName, tags: Option<&[String]>) -> bool {
        let mut readings = self.pattern.readings.iter();
        readings.any(|reading| match reading {
            Reading::Pair { server: wanted, .. } => wanted.fits(server.as_str()),
            Reading::Made { server: wanted, join } => {
                wanted.fits(server.as_str()) || wanted.fits(&join.made(server.as_str()))
            }
            Reading::Joined { whole, join, .. } => [server.as_str(), &join.made(server.as_str())]
                .iter()
                .any(|name| whole.may_begin(&format!("{name}{}", join.between()))),
            Reading::Tag(parts) => {
                tags.is_none_or(|tags| tags.iter().any(|tag| is_below(parts, tag)))
            }
            Reading::Everything(_) => true,
        })
    }

    /// Whether it is about a capability.
    ///
    /// Who allows a tool, a tag or a whole server knows what is listed there. What methods do no list
    /// says, so a rule that allows must name them as such.
    pub fn is_about(&self, named: &Named<'_>) -> bool {
        let must_name_methods =
            self.effect == Effect::Allow && named.id.kind == CapabilityKind::Method;
        let mut readings = self.pattern.readings.iter();
        readings
            .any(|reading| (!must_name_methods || reading.names_methods()) && reading.fits(named))
    }

    /// Whether it holds whoever calls with whatever arguments.
    pub fn is_plain(&self) -> bool {
        self.client.is_none() && self.profile.is_none() && self.when.is_empty()
    }

    /// Whether it holds for this caller and these arguments.
    pub fn holds<'a>(&'a self, asked: &Asked<'_>, arguments: &Arguments<'a>) -> bool {
        let enough = if self.effect == Effect::Allow { Holds::Yes } else { Holds::Unclear };
        self.client.as_ref().is_none_or(|client| {
            client.fits(ClientNames { client: asked.client, caller: asked.caller })
        }) && self.profile.as_ref().is_none_or(|profile| profile.fits(asked.profile))
            && self.when.iter().all(|test| test.holds(arguments) >= enough)
    }
}

fn place(effect: Effect, layer: Layer, understood: bool) -> Option<Place> {
    match (effect, layer) {
        // What it would have refused must not pass by anything that allows.
        (Effect::Deny, _) if !understood => Some(Place::AdminAsk),
        (Effect::Deny, _) => Some(Place::Deny),
        (Effect::Ask, Layer::Admin) => Some(Place::AdminAsk),
        (Effect::Ask, _) => Some(Place::UserAsk),
        (Effect::Allow, Layer::Admin) => Some(Place::AdminAllow),
        (Effect::Allow, Layer::User) => Some(Place::UserAllow),
        (Effect::Allow, Layer::Server | Layer::Project) => None,
    }
}

fn meanwhile(effect: Effect, understood: bool) -> &'static str {
    match (effect, understood) {
        (Effect::Allow, _) => "it allows nothing until then",
        (_, false) => "everything it might be about is asked about until then",
        (_, true) => "it counts without that part until then",
    }
}

fn glob(whose: &str, text: Option<&str>, wrong: &mut Vec<String>) -> Option<Glob> {
    match text? {
        "" => {
            wrong.push(format!("use an empty `{whose}`: name one, or leave it out"));
            None
        }
        text => Some(Glob::text(text)),
    }
}

fn origin(set: &RuleSet, written: &WrittenRule) -> Origin {
    match written.at {
        (0, _) => set.origin.clone(),
        (line, column) => Origin { line, column, ..set.origin.clone() },
    }
}

/// The rule in one line, with whatever it depends on.
fn text(written: &WrittenRule) -> String {
    let mut terms = Vec::new();
    terms.extend(written.client.as_ref().map(|client| format!("client = {client:?}")));
    terms.extend(written.profile.as_ref().map(|profile| format!("profile = {profile:?}")));
    terms.extend(written.when.iter().map(|condition| match &condition.is {
        Expected::Glob(glob) => format!("{} like {glob:?}", condition.at),
        Expected::Value(value) => format!("{} is {}", condition.at, spelled(value)),
    }));
    match terms.is_empty() {
        true => written.about.clone(),
        false => format!("{} ({})", written.about, terms.join(", ")),
    }
}

fn spelled(value: &Data) -> String {
    let list = |values: Vec<String>| values.join(", ");
    match value {
        Data::Null => "null".to_owned(),
        Data::Flag(flag) => flag.to_string(),
        Data::Integer(number) => number.to_string(),
        Data::Fraction(spelling) => spelling.clone(),
        Data::Text(text) => format!("{text:?}"),
        Data::List(values) => format!("[{}]", list(values.iter().map(spelled).collect())),
        Data::Table(members) => {
            let member = |(key, value): &(String, Data)| format!("{key:?}: {}", spelled(value));
            format!("{{{}}}", list(members.iter().map(member).collect()))
        }
    }
}

impl Layer {
    /// Whose word the rules of a file are.
    pub(crate) fn of(scope: Scope) -> Self {
        match scope {
            Scope::System => Self::Admin,
            Scope::User | Scope::BuiltIn => Self::User,
            Scope::Project => Self::Project,
        }
    }
}
