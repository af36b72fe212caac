//! A decision with everything that spoke for and against it.
//!
//! It looks at every rule, not only at those that could decide.

use toolgate_model::{Approval, Effect, Origin, Scope};

use crate::condition::Arguments;
use crate::decide::{Step, Verdict};
use crate::pattern::Named;
use crate::rule::Rule;
use crate::{Asked, Because, Decision, Facts, Policy};

/// Whose word something is. Earlier counts first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// The machine's administrator: files of system scope.
    Admin,
    /// The declaration of the server: its trust and its `approval`.
    Server,
    /// The user.
    User,
    /// A project's file: it only tightens.
    Project,
}

impl Layer {
    /// All of them, in their order.
    pub const ALL: [Self; 4] = [Self::Admin, Self::Server, Self::User, Self::Project];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Server => "server",
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// A rule that is about the capability.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said<'p> {
    /// Whose word it is.
    pub layer: Layer,
    /// What it does.
    pub effect: Effect,
    /// As it is written.
    pub text: &'p str,
    /// Where it stands.
    pub origin: &'p Origin,
    /// Whether it holds for this caller and these arguments, and counts at all.
    pub holds: bool,
    /// Whether it is the one that decided.
    pub decided: bool,
}

/// A decision, explained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained<'p> {
    /// What becomes of the call.
    pub decision: Decision<'p>,
    /// The step that decided, before taint and the absence of anybody to ask tightened it.
    pub step: Step,
    /// What that step decided: the same as `decision`, unless it was tightened.
    pub standing: Decision<'p>,
    /// Every rule about the capability, by layer.
    pub said: Vec<Said<'p>>,
}

/// What the declaration of a server says about a call to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared<'a> {
    /// What it does.
    pub effect: Effect,
    /// As it would be written.
    pub text: String,
    /// Where it stands.
    pub origin: &'a Origin,
    /// Whether it counts: a project's declaration allows nothing.
    pub holds: bool,
    /// Whether it is what decided.
    pub decided: bool,
}

impl Explained<'_> {
    /// What the server's declaration says, by the facts that were decided on.
    pub fn declared<'a>(&self, facts: &Facts<'a>) -> Vec<Declared<'a>> {
        let own = |origin: &Origin| origin.scope != Scope::Project;
        let entry = facts.approval.map(|(approval, origin)| {
            let reads = matches!(approval, Approval::Auto | Approval::Writes) && facts.read_only;
            let allows = approval == Approval::Never || reads;
            let effect = if allows { Effect::Allow } else { Effect::Ask };
            let text = format!("approval = \"{}\"", approval.as_str());
            let decided = matches!(self.step, Step::EntryAsk | Step::EntryAllow);
            Declared { effect, text, origin, holds: !allows || own(origin), decided }
        });
        let trust = facts.trust.map(|origin| {
            let (text, decided) = ("trust = true".to_owned(), self.step == Step::Trust);
            Declared { effect: Effect::Allow, text, origin, holds: own(origin), decided }
        });
        entry.into_iter().chain(trust).collect()
    }
}

impl Policy {
    /// Decides, and tells everything that is said about it.
    pub fn explain(&self, asked: &Asked<'_>, facts: &Facts<'_>) -> Explained<'_> {
        let Verdict { step, standing, decision } = self.verdict(asked, facts);
        let named = Named::new(asked.id, asked.tags);
        let arguments = Arguments::new(asked.arguments);
        let about = self.rules().iter().filter(|rule| rule.is_about(&named));
        let mut said: Vec<_> = about
            .map(|rule| Said {
                layer: rule.layer,
                effect: rule.effect,
                text: &rule.text,
                origin: &rule.origin,
                holds: rule.place.is_some() && rule.holds(asked, &arguments),
                decided: is(rule, &standing.because),
            })
            .collect();
        said.sort_by_key(|said| said.layer);
        Explained { decision, step, standing, said }
    }
}

/// Whether a rule is the very one that decided.
fn is(rule: &Rule, because: &Because<'_>) -> bool {
    match because {
        Because::Rule { text, .. } => std::ptr::eq(*text, rule.text.as_str()),
        _ => false,
    }
}
