//! The order in which things count. It stands here and nowhere else.
//!
//! Whoever tightens it adds a line above those that allow; whoever wants a new reason to allow has
//! to say here what it comes before.

use toolgate_model::{Approval, CapabilityKind, Effect, Mode, Origin, Scope};

use crate::rule::{Place, Rule};
use crate::{Because, Decision, Facts};

/// What holds where no rule speaks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    pub mode: Mode,
    pub mode_at: Option<Origin>,
    pub yolo_floor: bool,
}

/// The step at which a call was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// It cannot be done, whatever anybody allows.
    Block,
    /// A rule refuses.
    Deny,
    /// An administrator's rule asks.
    AdminAsk,
    /// An administrator's rule allows.
    AdminAllow,
    /// Somebody approved it before.
    Grant,
    /// The server's entry asks.
    EntryAsk,
    /// The server is trusted.
    Trust,
    /// The server's entry allows.
    EntryAllow,
    /// A user's or a project's rule asks.
    UserAsk,
    /// A user's rule allows.
    UserAllow,
    /// Only tools are asked about.
    NoTool,
    /// It is built in and only reads.
    BuiltIn,
    /// The mode.
    Mode,
}

impl Step {
    /// All of them, in their order.
    pub const ALL: [Self; 13] = [
        Self::Block,
        Self::Deny,
        Self::AdminAsk,
        Self::AdminAllow,
        Self::Grant,
        Self::EntryAsk,
        Self::Trust,
        Self::EntryAllow,
        Self::UserAsk,
        Self::UserAllow,
        Self::NoTool,
        Self::BuiltIn,
        Self::Mode,
    ];

    /// The step, in a word or two.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Deny => "deny rule",
            Self::AdminAsk => "administrator's ask rule",
            Self::AdminAllow => "administrator's allow rule",
            Self::Grant => "grant",
            Self::EntryAsk => "server's entry asks",
            Self::Trust => "trust",
            Self::EntryAllow => "server's entry allows",
            Self::UserAsk => "ask rule",
            Self::UserAllow => "allow rule",
            Self::NoTool => "not a tool",
            Self::BuiltIn => "built in",
            Self::Mode => "mode",
        }
    }
}

/// A decision, at which step it fell, and what it was before taint and absence tightened it.
pub(crate) struct Verdict<'p> {
    pub step: Step,
    pub standing: Decision<'p>,
    pub decision: Decision<'p>,
}

/// Decides. `find` gives the first rule of a place that holds.
pub(crate) fn verdict<'p>(
    find: impl Fn(Place) -> Option<&'p Rule>,
    settings: &'p Settings,
    kind: CapabilityKind,
    facts: &Facts<'_>,
) -> Verdict<'p> {
    let (step, standing) = standing(find, settings, kind, facts);
    let mut decision = standing.clone();
    if decision.effect == Effect::Allow && taint_asks(settings, kind, facts) {
        decision = Decision { effect: Effect::Ask, because: Because::Tainted };
    }
    if decision.effect == Effect::Ask && !facts.can_ask {
        let because = Because::Headless(Box::new(decision.because));
        decision = Decision { effect: Effect::Deny, because };
    }
    Verdict { step, standing, decision }
}

fn standing<'p>(
    find: impl Fn(Place) -> Option<&'p Rule>,
    settings: &'p Settings,
    kind: CapabilityKind,
    facts: &Facts<'_>,
) -> (Step, Decision<'p>) {
    let is_tool = is_call(kind);
    // In this mode nobody but the administrator has anybody asked.
    let asks = settings.mode != Mode::Full;
    let by = |step, effect, because| (step, Decision { effect, because });
    let rule = |step, rule: &'p Rule| {
        by(step, rule.effect, Because::Rule { text: &rule.text, origin: &rule.origin })
    };
    if let Some(block) = facts.block {
        return by(Step::Block, Effect::Deny, Because::Blocked(block.to_owned()));
    }
    for (place, step) in [
        (Place::Deny, Step::Deny),
        (Place::AdminAsk, Step::AdminAsk),
        (Place::AdminAllow, Step::AdminAllow),
    ] {
        if let Some(found) = find(place) {
            return rule(step, found);
        }
    }
    if let Some(grant) = facts.grant {
        return by(Step::Grant, Effect::Allow, Because::Granted(grant.to_owned()));
    }
    if let Some((step, effect, because)) = is_tool.then(|| server(facts, asks)).flatten() {
        return by(step, effect, because);
    }
    if let Some(found) = find(Place::UserAsk).filter(|_| asks) {
        return rule(Step::UserAsk, found);
    }
    if let Some(found) = find(Place::UserAllow) {
        return rule(Step::UserAllow, found);
    }
    if !is_tool {
        return by(Step::NoTool, Effect::Allow, Because::Unasked);
    }
    if facts.built_in && facts.read_only {
        return by(Step::BuiltIn, Effect::Allow, Because::BuiltIn);
    }
    let effect = if asks { Effect::Ask } else { Effect::Allow };
    by(Step::Mode, effect, Because::Mode(settings.mode, settings.mode_at.as_ref()))
}

/// Whether it can change something: a tool, or a method of an extension. Everything else is read.
fn is_call(kind: CapabilityKind) -> bool {
    matches!(kind, CapabilityKind::Tool | CapabilityKind::Method)
}

/// What the declaration of the server says: in this layer too, what asks comes before what allows.
fn server<'p>(facts: &Facts<'_>, asks: bool) -> Option<(Step, Effect, Because<'p>)> {
    let own = |origin: &&Origin| origin.scope != Scope::Project;
    let entry = facts.approval.map(|(approval, origin)| {
        let wants = match approval {
            Approval::Always => true,
            Approval::Never => false,
            Approval::Auto | Approval::Writes => !facts.read_only,
        };
        (wants, origin, Because::Entry(approval, origin.clone()))
    });
    match (entry, facts.trust.filter(own)) {
        (Some((true, _, because)), _) if asks => Some((Step::EntryAsk, Effect::Ask, because)),
        (_, Some(trust)) => Some((Step::Trust, Effect::Allow, Because::Trusted(trust.clone()))),
        (Some((false, origin, because)), None) if own(&origin) => {
            Some((Step::EntryAllow, Effect::Allow, because))
        }
        _ => None,
    }
}

/// Where nobody is asked, only what is destructive is asked about, and only if that is configured.
fn taint_asks(settings: &Settings, kind: CapabilityKind, facts: &Facts<'_>) -> bool {
    let floor = settings.yolo_floor && facts.destructive;
    is_call(kind) && facts.tainted && (settings.mode != Mode::Full || floor)
}
