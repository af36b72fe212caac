//! Step: whether a request passes, and because of what.
//!
//! What is known of it is put together here; what follows from that is decided by `rules/policy`. If
//! somebody is to be asked, that is the part of `approve.rs`.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::SystemTime;

use toolgate_fleet::{FleetError, Member};
use toolgate_model::{
    Approval, CapabilityId, CapabilityKind, DEFAULT_TAG, Digest, Effect, Mode, Origin, Scope, Via,
    says,
};
use toolgate_policy::{Asked, Because, Facts, Prepared};
use toolgate_session::Interactor;
use toolgate_wire::view::ToolView;
use toolgate_wire::{Frame, method};

use crate::refusal::Refused;
use crate::view::View;
use crate::{Caller, Gate, Refusal, arguments, extension, pinned};

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
        let own = member.spec.selection.tools.get(name).and_then(|tool| tool.tags.clone());
        let tags = own.unwrap_or_else(|| server_tags(member));
        let says = |word| says(&tags, word);
        Self {
            read_only: says("read-only") || says("read") || trusted(hints.read_only),
            idempotent: says("idempotent") || trusted(hints.idempotent),
            destructive: says("destructive") || hints.destructive == Some(true),
            egress: says("egress"),
            tags,
        }
    }

    /// Everything but tools is read, and nothing else can be done with it.
    pub(crate) fn of_reading(member: &Member) -> Self {
        Self { tags: server_tags(member), read_only: true, ..Self::default() }
    }

    /// An extension's method may do anything.
    fn of_method(member: &Member) -> Self {
        Self { tags: server_tags(member), ..Self::default() }
    }
}

fn server_tags(member: &Member) -> Vec<String> {
    member.spec.tags.clone().unwrap_or_else(|| vec![DEFAULT_TAG.to_owned()])
}

/// What a view knows of the thing a request is about.
pub(crate) struct Subject<'a> {
    pub(crate) member: &'a Arc<Member>,
    /// What is started or reached under its server's name.
    pub(crate) identity: &'a Digest,
    /// The rules that can be about it.
    rules: Rules<'a>,
    pub(crate) marks: Cow<'a, Marks>,
    /// The digest of its definition, if it has one.
    pub(crate) definition: Option<Digest>,
    pub(crate) pinned_at: Option<SystemTime>,
    /// Why it must not be used, whatever anybody allows.
    pub(crate) block: Option<&'a str>,
}

/// Rules that were looked for before: with the view, or for an earlier request.
enum Rules<'a> {
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
        let is_known = self.is_known();
        if let Some(tool) = view.offered_tool(self.id).filter(|_| is_known) {
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
        let fact = known.fact(self.id.kind, &self.id.name).filter(|_| is_known);
        let marks = match (self.id.kind, fact) {
            (CapabilityKind::Tool, Some(fact)) => Marks::of_tool(member, &self.id.name, &fact.raw),
            _ if is_known => Marks::of_reading(member),
            _ => Marks::of_method(member),
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
        self.is_known().then_some(self.id)
    }

    /// The arguments as they are sent, raw.
    pub(crate) fn arguments(&self) -> &'a [u8] {
        match self.request.is(method::TOOLS_CALL) || self.request.is(method::PROMPTS_GET) {
            true => arguments::given(self.request),
            false => b"{}",
        }
    }

    /// Whether the gateway knows what its method means. What an extension's method does to whatever
    /// it names is its own secret.
    fn is_known(&self) -> bool {
        !extension::concerns(&self.request.method().unwrap_or_default())
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
        if matter.is_withdrawal() {
            let because = Cow::Borrowed("it takes something back");
            return Ok(Ruling { because, asks: None });
        }
        let governing = &matter.view.governing;
        let grant = self.granted(matter, subject);
        let grant = grant.as_ref().map(|granted| &*granted.told);
        let facts = Facts { grant, ..facts(matter, subject) };
        let asked = Asked {
            id: matter.id,
            tags: &subject.marks.tags,
            client: &matter.caller.client.name,
            profile: &matter.caller.profile,
            arguments: matter.arguments(),
        };
        let decision = subject.rules.decide(&asked, &facts);
        let written = decision.because.is_written();
        match (decision.effect, told(&decision.because)) {
            (Effect::Deny, because) => {
                self.record_decision(matter, subject, Effect::Deny, &because);
                Err(Refused::denied(because.into_owned()))
            }
            (Effect::Allow, because) => Ok(Ruling { because, asks: None }),
            (Effect::Ask, because) => match governing.via(matter.caller, written) {
                Via::Client if !written => Ok(Ruling { because: CLIENTS_OWN.into(), asks: None }),
                Via::Client => {
                    let because = format!("{because}; its client approves by itself").into();
                    Ok(Ruling { because, asks: None })
                }
                via => Ok(Ruling { because, asks: Some(via) }),
            },
        }
    }
}

/// What is known of a request beside the rules.
pub(crate) fn facts<'a>(matter: &Matter<'_>, subject: &Subject<'a>) -> Facts<'a> {
    let (member, marks) = (subject.member, &subject.marks);
    let risky = marks.egress || marks.destructive;
    let tainted = risky && matter.view.governing.taints && matter.caller.taint.is_raised();
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
    if id.kind != CapabilityKind::Tool {
        return None;
    }
    let selection = &member.spec.selection;
    let own = selection.tools.get(&*id.name).and_then(|tool| tool.approval);
    Some((own.or(selection.approval)?, &member.origin))
}

/// A reason in words. The most frequent one costs nothing.
fn told(because: &Because<'_>) -> Cow<'static, str> {
    match because {
        Because::Mode(Mode::Ask, None) => Cow::Borrowed(UNWRITTEN),
        because => Cow::Owned(because.to_string()),
    }
}
