//! Step: decides whether a request passes, and why.
//!
//! This module collects the facts; `rules/policy` decides on them. Asking a person is up to
//! `approve.rs`.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::SystemTime;

use toolgate_fleet::{CheckedDefinition, FleetError, FleetServer, OfferedCatalog};
use toolgate_model::{
    ApprovalChannel, ApprovalMode, CapabilityId, CapabilityKind, ConfigScope, Digest, Effect,
    ErrorCode, GovernanceSettings, Origin, PolicyMode, has_tag_word,
};
use toolgate_policy::{CapabilityRules, DecisionReason, NO_APPROVER, PolicyFacts, PolicyQuery};
use toolgate_session::{Interactor, QuestionKind};
use toolgate_wire::view::ToolHints;
use toolgate_wire::{Frame, method, words};

use crate::error::Denial;
use crate::params::RequestParams;
use crate::profile_view::ProfileView;
use crate::{Caller, Gate, GateError, arguments, extension, governance, pins};

/// The reason if no file sets a mode. Equals the text of the corresponding `DecisionReason`.
const UNWRITTEN: &str = "mode `ask`, as no file says otherwise";
/// The same, if the client asks its user.
const CLIENTS_OWN: &str = "mode `ask`, as no file says otherwise; its client approves by itself";

/// Everything a decision about one request needs.
#[derive(Clone, Copy)]
pub(crate) struct CallContext<'a> {
    pub(crate) view: &'a Arc<ProfileView>,
    pub(crate) request: &'a Frame,
    pub(crate) id: &'a CapabilityId,
    pub(crate) caller: &'a Arc<Caller>,
    pub(crate) port: &'a Arc<dyn Interactor>,
    /// The number of the call in the journal.
    pub(crate) number: u64,
    /// Why the catalog of the server is not recent enough to rely on.
    pub(crate) stale: Option<&'a str>,
    /// The arguments and the other members of `params`.
    pub(crate) params: &'a RequestParams<'a>,
}

words! {
    /// What happens to a request, as its caller experiences it. Later variants are stricter.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum DecisionOutcome {
        /// The request is sent.
        Allowed = "allowed",
        /// The request is sent, because the caller's client asks its user itself.
        ClientApproves = "client_approves",
        /// The caller's client shows an approval form.
        Form = "form",
        /// The request waits for an operator.
        Operator = "operator",
        /// The request is refused.
        Refused = "refused",
    }
}

impl DecisionOutcome {
    /// Returns what happens to a request, given the effect of the rules. `written` says whether the
    /// effect was set explicitly.
    ///
    /// The gate uses this function, and so does everything that predicts or replays its decisions.
    pub fn of(
        settings: &GovernanceSettings,
        effect: Effect,
        written: bool,
        asker: &ApprovalContext<'_>,
    ) -> Self {
        match effect {
            Effect::Allow => Self::Allowed,
            Effect::Deny => Self::Refused,
            Effect::Ask => match governance::approver_for(settings, asker, written) {
                ApprovalChannel::Client => Self::ClientApproves,
                ApprovalChannel::Elicitation if asker.shows_forms => Self::Form,
                _ if asker.is_attended => Self::Operator,
                _ => Self::Refused,
            },
        }
    }

    /// Returns what the caller experiences: the request passes, needs approval, or is refused.
    pub fn effect(self) -> Effect {
        match self {
            Self::Allowed | Self::ClientApproves => Effect::Allow,
            Self::Form | Self::Operator => Effect::Ask,
            Self::Refused => Effect::Deny,
        }
    }

    /// Returns who is asked, if anyone.
    pub fn via(self) -> Option<ApprovalChannel> {
        match self {
            Self::ClientApproves => Some(ApprovalChannel::Client),
            Self::Form => Some(ApprovalChannel::Elicitation),
            Self::Operator => Some(ApprovalChannel::Operator),
            Self::Allowed | Self::Refused => None,
        }
    }
}

/// The properties of a caller that determine who approves.
#[derive(Debug, Clone, Copy)]
pub struct ApprovalContext<'a> {
    /// The name the client gives itself.
    pub client: &'a str,
    /// The principal's name, stable across restarts.
    pub person: &'a str,
    /// Whether the client shows forms to its user.
    pub shows_forms: bool,
    /// Whether an operator can see pending calls.
    pub is_attended: bool,
}

/// The outcome for a request, with the reason.
pub(crate) struct CallDecision {
    pub(crate) outcome: DecisionOutcome,
    pub(crate) because: Cow<'static, str>,
    /// The code of the error, if the request is refused.
    pub(crate) code: ErrorCode,
}

/// The properties of a capability beside its definition. Computed once per view.
#[derive(Debug, Clone, Default)]
pub(crate) struct CapabilityAttributes {
    pub(crate) tags: Vec<String>,
    /// Whether it only reads, or may be repeated: from an operator's tag or a trusted server's
    /// annotation.
    pub(crate) read_only: bool,
    pub(crate) idempotent: bool,
    pub(crate) destructive: bool,
    pub(crate) egress: bool,
}

impl CapabilityAttributes {
    /// Reads the attributes of a tool from the operator's tags and the tool's annotations.
    /// Annotations in a tool's favour count only if the server is trusted; those against it always
    /// count.
    fn of_tool(member: &FleetServer, name: &str, definition: &[u8]) -> Self {
        let hints = ToolHints::of(definition);
        let believed = member.spec.trust || pins::is_builtin(member);
        let trusted = |hint: Option<bool>| believed && hint == Some(true);
        // Only declared tags count here: a server's name may be any word.
        let written = member.spec.declared_tags(name).unwrap_or_default();
        let says = |word| has_tag_word(written, word);
        Self {
            read_only: says("read-only") || says("read") || trusted(hints.read_only),
            idempotent: says("idempotent") || trusted(hints.idempotent),
            destructive: says("destructive") || hints.destructive == Some(true),
            egress: says("egress"),
            tags: member.spec.tool_tags(name, definition),
        }
    }

    /// Reads the attributes of a capability with this definition, if it has one.
    pub(crate) fn of(member: &FleetServer, id: &CapabilityId, definition: Option<&[u8]>) -> Self {
        let tags = || member.spec.server_tags();
        match id.kind {
            CapabilityKind::Tool => Self::of_tool(member, &id.name, definition.unwrap_or(b"{}")),
            // An extension method may do anything, so the server's tags apply.
            CapabilityKind::Method => Self {
                destructive: has_tag_word(&tags(), "destructive"),
                egress: has_tag_word(&tags(), "egress"),
                tags: tags(),
                ..Self::default()
            },
            // Anything else can only be read.
            _ => Self { tags: tags(), read_only: true, ..Self::default() },
        }
    }
}

/// A request with what the view knows about the capability it names.
pub(crate) struct CallTarget<'a> {
    pub(crate) context: CallContext<'a>,
    pub(crate) member: &'a Arc<FleetServer>,
    /// The digest of what is started or connected to under the server's name.
    pub(crate) identity: &'a Digest,
    /// The rules that can apply to it.
    pub(crate) rules: Arc<CapabilityRules>,
    pub(crate) attributes: Cow<'a, CapabilityAttributes>,
    /// The digest of its definition, if it has one.
    pub(crate) definition: Option<Digest>,
    pub(crate) pinned_at: Option<SystemTime>,
    /// Why it must not be used, regardless of the rules.
    pub(crate) block: Option<&'a str>,
}

impl CallTarget<'_> {
    /// Returns the question to the policy.
    pub(crate) fn query<'q>(&'q self, arguments: &'q [u8]) -> PolicyQuery<'q> {
        let CallContext { id, caller, .. } = self.context;
        PolicyQuery {
            id,
            tags: &self.attributes.tags,
            client: &caller.client.name,
            caller: &caller.person,
            profile: &caller.profile,
            arguments,
        }
    }

    /// Returns true if the server's content is trusted.
    pub(crate) fn is_trusted(&self) -> bool {
        let relays = || {
            self.member.built_in.as_ref().is_some_and(|server| server.relays_untrusted_content())
        };
        self.member.spec.trust || pins::is_builtin(self.member) && !relays()
    }
}

impl<'a> CallContext<'a> {
    /// Returns the target of the request; `None` if its server is gone.
    pub(crate) fn target(&self) -> Option<CallTarget<'a>> {
        let view = &**self.view;
        let Some(tool) = view.tools.get(self.id) else {
            let place = view.offered.iter().position(|it| *it.server() == self.id.server)?;
            let OfferedCatalog { fleet_server: member, checked, .. } = &view.offered[place];
            let fact = checked.definition(self.id.kind, &self.id.name);
            return Some(self.target_on(member, &view.identities[place], fact));
        };
        let prepare = || Arc::new(view.governance.policy.prepare(self.id, &tool.attributes.tags));
        Some(CallTarget {
            context: *self,
            member: &view.offered[tool.server].fleet_server,
            identity: &view.identities[tool.server],
            rules: tool.rules.get_or_init(prepare).clone(),
            attributes: Cow::Borrowed(&tool.attributes),
            definition: Some(*tool.fact.digest()),
            pinned_at: tool.pinned_at,
            block: self.block_reason(),
        })
    }

    /// Returns the target of the request on a server that need not be part of the view.
    pub(crate) fn target_on(
        &self,
        member: &'a Arc<FleetServer>,
        identity: &'a Digest,
        fact: Option<&Arc<CheckedDefinition>>,
    ) -> CallTarget<'a> {
        let marks = CapabilityAttributes::of(member, self.id, fact.map(|fact| &fact.raw[..]));
        CallTarget {
            context: *self,
            member,
            identity,
            rules: self.view.governance.prepared_rules(self.id, &marks.tags),
            attributes: Cow::Owned(marks),
            definition: fact.map(|fact| *fact.digest()),
            pinned_at: self.view.withheld.pinned_at.get(self.id).copied(),
            block: self.block_reason(),
        }
    }

    /// Returns why the capability must not be used, regardless of the rules.
    fn block_reason(&self) -> Option<&'a str> {
        let reason = || self.view.block_reason(self.id).map(|because| because.rule.as_str());
        self.stale.or_else(reason)
    }

    /// Like `target`, but returns an error if the server is gone.
    pub(crate) fn require_target(&self) -> Result<CallTarget<'a>, GateError> {
        self.target().ok_or_else(|| FleetError::Unknown(self.id.server.clone()).into())
    }

    /// Returns the capabilities that an extension request names. The gate cannot know what the
    /// method does to them, so their rules apply to the request as well.
    pub(crate) fn named_capabilities(&self) -> BTreeSet<CapabilityId> {
        extension::named_capabilities(self.view, self.id, self.request)
    }
}

impl Gate {
    /// Applies the rules. A denied request is recorded and refused.
    pub(crate) fn evaluate_policy(&self, call: &CallTarget<'_>) -> Result<CallDecision, Denial> {
        let decision = self.decide(call);
        match decision.outcome {
            DecisionOutcome::Refused => {
                Err(self.deny(call, decision.code, decision.because.into_owned()))
            }
            _ => Ok(decision),
        }
    }

    /// Decides a request, for the gate itself and for everything that predicts its decisions.
    ///
    /// An extension request is decided for its method and for every capability it names. The
    /// strictest decision counts.
    pub(crate) fn decide(&self, call: &CallTarget<'_>) -> CallDecision {
        let context = &call.context;
        // What only withdraws something needs no approval.
        if context.request.is(method::RESOURCES_UNSUBSCRIBE) {
            let because = Cow::Borrowed("it only withdraws a subscription");
            let code = ErrorCode::PolicyDenied;
            return CallDecision { outcome: DecisionOutcome::Allowed, because, code };
        }
        let params = &context.params.arguments;
        let mut judged = self.decide_one(call, params);
        for id in &context.named_capabilities() {
            let because = |because: &str| Cow::Owned(format!("{because}; it names {id}"));
            if extension::is_hidden(context.view, id) {
                let because = because("its caller cannot see everything it names");
                let code = ErrorCode::CallHidden;
                return CallDecision { outcome: DecisionOutcome::Refused, because, code };
            }
            let Some(named) = CallContext { id, ..*context }.target() else { continue };
            // Rules about a tool check its arguments, and the method may put those anywhere.
            for arguments in [params, arguments::raw_arguments(context.request)] {
                let other = self.decide_one(&named, arguments);
                if other.outcome > judged.outcome {
                    judged = CallDecision { because: because(&other.because), ..other };
                }
            }
        }
        judged
    }

    fn decide_one(&self, call: &CallTarget<'_>, arguments: &[u8]) -> CallDecision {
        let (view, caller) = (call.context.view, call.context.caller);
        let grant = self.find_grant(call);
        let facts = self.facts(call, grant.as_deref());
        let decision = call.rules.decide(&call.query(arguments), &facts);
        let written = decision.reason.is_explicit();
        let because = describe_reason(&decision.reason);
        // These facts only matter for the choice of the approver.
        let stores = self.stores.get().filter(|_| decision.effect == Effect::Ask);
        let forms = || QuestionKind::Form.is_declared_in(&caller.capabilities);
        let asker = ApprovalContext {
            client: &caller.client.name,
            person: &caller.person,
            shows_forms: stores.is_some() && forms(),
            is_attended: stores.is_some_and(|stores| stores.is_attended()),
        };
        let settings = &view.governance.settings;
        let outcome = DecisionOutcome::of(settings, decision.effect, written, &asker);
        let code = match decision.reason {
            DecisionReason::Blocked(_) => ErrorCode::PinChanged,
            _ if decision.effect == Effect::Ask => ErrorCode::ApprovalDenied,
            _ => ErrorCode::PolicyDenied,
        };
        let because = match (outcome, decision.effect) {
            (DecisionOutcome::ClientApproves, _) if !written => CLIENTS_OWN.into(),
            (DecisionOutcome::ClientApproves, _) => {
                format!("{because}; its client approves by itself").into()
            }
            (DecisionOutcome::Refused, Effect::Ask) => format!("{NO_APPROVER}{because}").into(),
            _ => because,
        };
        CallDecision { outcome, because, code }
    }

    /// Collects the facts about a request.
    pub(crate) fn facts<'a>(
        &self,
        call: &CallTarget<'a>,
        grant: Option<&'a str>,
    ) -> PolicyFacts<'a> {
        let (member, marks, context) = (call.member, &call.attributes, &call.context);
        let risky = marks.egress || marks.destructive;
        let taints = risky && context.view.governance.taint_enabled;
        PolicyFacts {
            block: call.block,
            grant,
            trust: trust(member),
            approval: approval(member, context.id),
            read_only: marks.read_only,
            built_in: pins::is_builtin(member),
            tainted: taints && self.taint(context.caller).is_raised(),
            destructive: marks.destructive,
        }
    }
}

/// Returns where a server is declared as trusted. A project file cannot declare that: for a project
/// server, the user's own decision is in the state database.
fn trust(member: &FleetServer) -> Option<&Origin> {
    static WORD: LazyLock<Origin> = LazyLock::new(|| {
        let file = Some(Arc::new(PathBuf::from("state.db")));
        Origin { scope: ConfigScope::User, file, line: 0, column: 0 }
    });
    member.spec.trust.then(|| match member.origin.scope {
        ConfigScope::Project => &*WORD,
        _ => &member.origin,
    })
}

/// Returns the approval mode that the server's declaration sets for a tool.
fn approval<'a>(member: &'a FleetServer, id: &CapabilityId) -> Option<(ApprovalMode, &'a Origin)> {
    let selection = &member.spec.selection;
    let own = match id.kind {
        CapabilityKind::Tool => selection.tools.get(&*id.name).and_then(|tool| tool.approval),
        CapabilityKind::Method => None,
        _ => return None,
    };
    Some((own.or(selection.approval)?, &member.origin))
}

/// Returns the text of a reason. The most frequent one does not allocate.
fn describe_reason(because: &DecisionReason<'_>) -> Cow<'static, str> {
    match because {
        DecisionReason::Mode(PolicyMode::Ask, None) => Cow::Borrowed(UNWRITTEN),
        because => Cow::Owned(because.to_string()),
    }
}
