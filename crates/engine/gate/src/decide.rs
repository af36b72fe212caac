//! Step: whether a request passes, and because of what.
//!
//! What is known of it is put together here; what follows from that is decided by `rules/policy`. If
//! somebody is to be asked, that is the part of `approve.rs`.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::SystemTime;

use toolgate_fleet::{FleetError, Member};
use toolgate_model::{
    Approval, CapabilityId, CapabilityKind, Digest, Effect, Governance, Mode, Origin, Scope, Via,
    says,
};
use toolgate_policy::{Asked, Because, Facts, Prepared};
use toolgate_session::Interactor;
use toolgate_wire::view::ToolView;
use toolgate_wire::{Frame, method};

use crate::params::Params;
use crate::refusal::Refused;
use crate::view::View;
use crate::{Caller, Gate, Refusal, arguments, extension, governing, pinned};

/// What decides where nobody wrote anything.
const UNWRITTEN: &str = "mode `ask`, as no file says otherwise";
/// The same, where the client asks by itself.
const CLIENTS_OWN: &str = "mode `ask`, as no file says otherwise; its client approves by itself";

/// Somebody wants to do something.
#[derive(Clone, Copy)]
pub(crate) struct Matter<'a> {
    pub(crate) view: &'a Arc<View>,
    pub(crate) request: &'a Frame,
    pub(crate) id: &'a CapabilityId,
    pub(crate) caller: &'a Arc<Caller>,
    pub(crate) port: &'a Arc<dyn Interactor>,
    /// What the call is numbered in the journal.
    pub(crate) number: u64,
    /// Why what is known of its server is not to be relied on.
    pub(crate) stale: Option<&'a str>,
    /// What it says beside what it is about.
    pub(crate) params: &'a Params<'a>,
}

/// What becomes of a request, as its caller meets it. Later is stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It is sent.
    Allowed,
    /// It is sent, because the caller's client asks its user by itself.
    ClientApproves,
    /// The caller is asked by a form of its client.
    Form,
    /// It waits for an operator.
    Operator,
    /// It is refused.
    Refused,
}

impl Outcome {
    /// What becomes of a call of somebody, given what the rules say of it. `written`: whether
    /// somebody wrote that down.
    ///
    /// The one answer for the gate, and for everything that foretells or repeats its decisions.
    pub fn of(said: &Governance, effect: Effect, written: bool, asker: &Asker<'_>) -> Self {
        match effect {
            Effect::Allow => Self::Allowed,
            Effect::Deny => Self::Refused,
            Effect::Ask => match governing::who_approves(said, asker, written) {
                Via::Client => Self::ClientApproves,
                Via::Elicitation if asker.shows_forms => Self::Form,
                _ if asker.is_attended => Self::Operator,
                _ => Self::Refused,
            },
        }
    }

    /// What its caller meets: it passes, somebody is asked, or it is refused.
    pub fn effect(self) -> Effect {
        match self {
            Self::Allowed | Self::ClientApproves => Effect::Allow,
            Self::Form | Self::Operator => Effect::Ask,
            Self::Refused => Effect::Deny,
        }
    }

    /// Who is asked, if somebody is.
    pub fn via(self) -> Option<Via> {
        match self {
            Self::ClientApproves => Some(Via::Client),
            Self::Form => Some(Via::Elicitation),
            Self::Operator => Some(Via::Operator),
            Self::Allowed | Self::Refused => None,
        }
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::ClientApproves => "client-approves",
            Self::Form => "form",
            Self::Operator => "operator",
            Self::Refused => "refused",
        }
    }
}

/// Whoever calls, as far as it matters for who approves.
#[derive(Debug, Clone, Copy)]
pub struct Asker<'a> {
    /// The client, as it calls itself.
    pub client: &'a str,
    /// Who calls: a name that is the same after a restart.
    pub person: &'a str,
    /// Whether the client shows forms to its user.
    pub shows_forms: bool,
    /// Whether an operator can look at what waits.
    pub is_attended: bool,
}

/// What becomes of a request, and because of what.
pub(crate) struct Judgement {
    pub(crate) outcome: Outcome,
    pub(crate) because: Cow<'static, str>,
}

/// What is known of a tool beside its definition: made once for each view.
#[derive(Debug, Clone, Default)]
pub(crate) struct Marks {
    pub(crate) tags: Vec<String>,
    /// Whether it only reads, or may be repeated: by an operator's tag, or by the annotation of a
    /// trusted server.
    pub(crate) read_only: bool,
    pub(crate) idempotent: bool,
    pub(crate) destructive: bool,
    pub(crate) egress: bool,
}

impl Marks {
    /// Reads the marks of a tool off the operator's tags and off its annotations. What a server says
    /// of its own tools counts in their favour only if it is trusted; against them it always does.
    pub(crate) fn of_tool(member: &Member, name: &str, definition: &[u8]) -> Self {
        let hints = ToolView::of(definition).map(|tool| tool.hints).unwrap_or_default();
        let believed = member.spec.trust || pinned::is_ours(member);
        let trusted = |hint: Option<bool>| believed && hint == Some(true);
        // Only what an operator wrote says something: a server's name may be any word.
        let written = member.spec.written_tags(name).unwrap_or_default();
        let says = |word| says(written, word);
        Self {
            read_only: says("read-only") || says("read") || trusted(hints.read_only),
            idempotent: says("idempotent") || trusted(hints.idempotent),
            destructive: says("destructive") || hints.destructive == Some(true),
            egress: says("egress"),
            tags: member.spec.tool_tags(name, definition),
        }
    }

    /// Everything but tools is read, and nothing else can be done with it.
    pub(crate) fn of_reading(member: &Member) -> Self {
        Self { tags: member.spec.server_tags(), read_only: true, ..Self::default() }
    }

    /// An extension's method may do anything; what is said of its server holds for it.
    pub(crate) fn of_method(member: &Member) -> Self {
        let tags = member.spec.server_tags();
        let (destructive, egress) = (says(&tags, "destructive"), says(&tags, "egress"));
        Self { tags, destructive, egress, ..Self::default() }
    }
}

/// What a view knows of the thing a request is about.
pub(crate) struct Subject<'a> {
    pub(crate) member: &'a Arc<Member>,
    /// What is started or reached under its server's name.
    pub(crate) identity: &'a Digest,
    /// The rules that can be about it.
    pub(crate) rules: Rules<'a>,
    pub(crate) marks: Cow<'a, Marks>,
    /// The digest of its definition, if it has one.
    pub(crate) definition: Option<Digest>,
    pub(crate) pinned_at: Option<SystemTime>,
    /// Why it must not be used, whatever anybody allows.
    pub(crate) block: Option<&'a str>,
}

/// Rules that were looked for before: with the view, or for an earlier request.
pub(crate) enum Rules<'a> {
    OfView(&'a Prepared),
    Kept(Arc<Prepared>),
}

impl std::ops::Deref for Rules<'_> {
    type Target = Prepared;

    fn deref(&self) -> &Prepared {
        match self {
            Self::OfView(rules) => rules,
            Self::Kept(rules) => rules,
        }
    }
}

/// What the rules say of a request that they do not deny.
pub(crate) struct Ruling {
    pub(crate) because: Cow<'static, str>,
    /// Who is to be asked first.
    pub(crate) asks: Option<Via>,
}

impl Subject<'_> {
    /// Whether what its server says is believed.
    pub(crate) fn is_trusted(&self) -> bool {
        let relays = || self.member.built_in.as_ref().is_some_and(|server| server.relays());
        self.member.spec.trust || pinned::is_ours(self.member) && !relays()
    }
}

impl<'a> Matter<'a> {
    /// What is known of it; `None` if its server is not there any more.
    pub(crate) fn subject(&self) -> Option<Subject<'a>> {
        let view = &**self.view;
        let block = view.blocked(self.id).map(|because| because.rule.as_str());
        let block = self.stale.or(block);
        if let Some(tool) = view.offered_tool(self.id) {
            let member = &view.offered()[tool.server].member;
            let policy = &view.governing.policy;
            let rules = tool.rules.get_or_init(|| policy.prepare(self.id, &tool.marks.tags));
            return Some(Subject {
                member,
                identity: view.identity(tool.server),
                rules: Rules::OfView(rules),
                marks: Cow::Borrowed(&tool.marks),
                definition: Some(*tool.fact.digest()),
                pinned_at: tool.pinned_at,
                block,
            });
        }
        let place = view.place_of(&self.id.server)?;
        let (offered, identity) = (&view.offered()[place], view.identity(place));
        let (member, known) = (&offered.member, &offered.known);
        let fact = known.fact(self.id.kind, &self.id.name);
        let marks = match (self.id.kind, fact) {
            (CapabilityKind::Tool, fact) => {
                let definition = fact.map_or(&b"{}"[..], |fact| &fact.raw[..]);
                Marks::of_tool(member, &self.id.name, definition)
            }
            (CapabilityKind::Method, _) => Marks::of_method(member),
            _ => Marks::of_reading(member),
        };
        Some(Subject {
            member,
            identity,
            rules: Rules::Kept(view.governing.prepared(self.id, &marks.tags)),
            marks: Cow::Owned(marks),
            definition: fact.map(|fact| *fact.digest()),
            pinned_at: view.withheld.pinned_at.get(self.id).copied(),
            block,
        })
    }

    /// The same; fails if its server is not there any more.
    pub(crate) fn known(&self) -> Result<Subject<'a>, Refusal> {
        self.subject().ok_or_else(|| FleetError::Unknown(self.id.server.clone()).into())
    }

    /// The capability it names, as the protocol has it.
    pub(crate) fn named(&self) -> Option<&'a CapabilityId> {
        (self.id.kind != CapabilityKind::Method).then_some(self.id)
    }

    /// The capabilities that a request of an extension names. What its method does to them is its own
    /// secret, so it must not do what they are kept from.
    pub(crate) fn targets(&self) -> BTreeSet<CapabilityId> {
        match self.id.kind {
            CapabilityKind::Method => extension::targets(self.view, self.id, self.request),
            _ => BTreeSet::new(),
        }
    }

    /// Whether it takes something back, which nobody is asked about.
    fn is_withdrawal(&self) -> bool {
        self.request.is(method::RESOURCES_UNSUBSCRIBE)
    }
}

impl Gate {
    /// Decides by the rules. What they deny is refused, on record.
    pub(crate) fn ruled(
        &self,
        matter: &Matter<'_>,
        subject: &Subject<'_>,
    ) -> Result<Ruling, Refused> {
        let Judgement { outcome, because } = self.judge(matter, subject);
        let asks = match outcome {
            Outcome::Refused => {
                self.record_decision(matter, subject, Effect::Deny, &because);
                return Err(Refused::denied(because.into_owned()));
            }
            Outcome::Allowed | Outcome::ClientApproves => None,
            Outcome::Form => Some(Via::Elicitation),
            Outcome::Operator => Some(Via::Operator),
        };
        Ok(Ruling { because, asks })
    }

    /// What becomes of a request. The one answer for the gate itself and for everything that
    /// foretells it.
    ///
    /// A request of an extension is judged by its method and by every capability it names; the
    /// strictest counts.
    pub(crate) fn judge(&self, matter: &Matter<'_>, subject: &Subject<'_>) -> Judgement {
        if matter.is_withdrawal() {
            let because = Cow::Borrowed("it takes something back");
            return Judgement { outcome: Outcome::Allowed, because };
        }
        let params = &matter.params.arguments;
        let mut judged = self.judge_one(matter, subject, params);
        for id in &matter.targets() {
            let because = |because: &str| Cow::Owned(format!("{because}; it names {id}"));
            if extension::is_hidden(matter.view, id) {
                let because = because("its caller does not see all it names");
                return Judgement { outcome: Outcome::Refused, because };
            }
            let matter = Matter { id, ..*matter };
            let Some(subject) = matter.subject() else { continue };
            // A rule about a tool looks at its arguments, and where a method puts those is unknown.
            for arguments in [params, arguments::given(matter.request)] {
                let other = self.judge_one(&matter, &subject, arguments);
                if other.outcome > judged.outcome {
                    judged = Judgement { because: because(&other.because), ..other };
                }
            }
        }
        judged
    }

    fn judge_one(&self, matter: &Matter<'_>, subject: &Subject<'_>, arguments: &[u8]) -> Judgement {
        let grant = self.granted(matter, subject);
        let grant = grant.as_ref().map(|granted| &*granted.told);
        let facts = Facts { grant, ..facts(self, matter, subject) };
        let asked = Asked {
            id: matter.id,
            tags: &subject.marks.tags,
            client: &matter.caller.client.name,
            caller: &matter.caller.person,
            profile: &matter.caller.profile,
            arguments,
        };
        let decision = subject.rules.decide(&asked, &facts);
        let written = decision.because.is_written();
        let because = told(&decision.because);
        // What only matters for who is asked is not looked at where nobody is.
        let books = self.books.get().filter(|_| decision.effect == Effect::Ask);
        let caller = matter.caller;
        let asker = Asker {
            client: &caller.client.name,
            person: &caller.person,
            shows_forms: books.is_some() && governing::can_be_asked(caller),
            is_attended: books.is_some_and(|books| books.is_attended()),
        };
        let said = matter.view.governing.said();
        let outcome = Outcome::of(said, decision.effect, written, &asker);
        let because = match (outcome, decision.effect) {
            (Outcome::ClientApproves, _) if !written => CLIENTS_OWN.into(),
            (Outcome::ClientApproves, _) => {
                format!("{because}; its client approves by itself").into()
            }
            (Outcome::Refused, Effect::Ask) => format!("nobody can be asked: {because}").into(),
            _ => because,
        };
        Judgement { outcome, because }
    }
}

/// What is known of a request beside the rules.
pub(crate) fn facts<'a>(gate: &Gate, matter: &Matter<'_>, subject: &Subject<'a>) -> Facts<'a> {
    let (member, marks) = (subject.member, &subject.marks);
    let risky = marks.egress || marks.destructive;
    let tainted = risky && matter.view.governing.taints && gate.taint(matter.caller).is_raised();
    Facts {
        block: subject.block,
        grant: None,
        trust: trust(member),
        approval: approval(member, matter.id),
        read_only: marks.read_only,
        built_in: pinned::is_ours(member),
        tainted,
        destructive: marks.destructive,
        // Whether somebody really can is found out when he is to be.
        can_ask: true,
    }
}

/// Where it is said that a server is trusted. A project's file cannot say it: if such a server is
/// trusted, the user's own word for it is in the state.
pub(crate) fn trust(member: &Member) -> Option<&Origin> {
    static WORD: LazyLock<Origin> = LazyLock::new(|| {
        let file = Some(Arc::new(PathBuf::from("state.db")));
        Origin { scope: Scope::User, file, line: 0, column: 0 }
    });
    member.spec.trust.then(|| match member.origin.scope {
        Scope::Project => &*WORD,
        _ => &member.origin,
    })
}

/// When somebody is asked, as the entry of a server says it of one of its tools.
pub(crate) fn approval<'a>(
    member: &'a Member,
    id: &CapabilityId,
) -> Option<(Approval, &'a Origin)> {
    let selection = &member.spec.selection;
    let own = match id.kind {
        CapabilityKind::Tool => selection.tools.get(&*id.name).and_then(|tool| tool.approval),
        CapabilityKind::Method => None,
        _ => return None,
    };
    Some((own.or(selection.approval)?, &member.origin))
}

/// A reason in words. The most frequent one costs nothing.
fn told(because: &Because<'_>) -> Cow<'static, str> {
    match because {
        Because::Mode(Mode::Ask, None) => Cow::Borrowed(UNWRITTEN),
        because => Cow::Owned(because.to_string()),
    }
}
