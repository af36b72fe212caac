//! Explains the decision about a hypothetical call, with every rule that applies to it.
//!
//! It uses the current catalogs and rules. Nothing is sent, asked or recorded.

use std::borrow::Cow;
use std::sync::Arc;

use toolgate_fleet::{CheckedCatalog, FleetServer};
use toolgate_model::{CapabilityId, CapabilityKind, Effect, ServerName};
use toolgate_policy::{DecisionExplanation, PolicyFacts, PolicyLayer, PolicyQuery};
use toolgate_session::Interactor;

use crate::decide::{
    CallContext, CallDecision, CallTarget, CapabilityAttributes, DecisionOutcome, TargetRules,
    facts,
};
use crate::forecast::hypothetical_request;
use crate::params::RequestParams;
use crate::{Caller, Gate, GateError, Visibility};

/// A hypothetical call.
#[derive(Debug, Clone, Copy)]
pub struct CallHypothesis<'a> {
    /// The capability to call.
    pub id: &'a CapabilityId,
    /// The name of the client.
    pub client: &'a str,
    /// The name of the profile.
    pub profile: &'a str,
    /// The raw arguments; for a method, the raw params.
    pub arguments: &'a [u8],
}

/// The decision about a hypothetical call, with the reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallExplanation {
    /// What would happen to the call.
    pub outcome: DecisionOutcome,
    /// The deciding reason.
    pub because: String,
    /// The step of the policy that decided.
    pub step: &'static str,
    /// The decision of that step, if taint tightened it afterwards.
    pub before_taint: Option<(Effect, String)>,
    /// All rules and settings that apply, by layer.
    pub entries: Vec<ExplanationEntry>,
    /// The tags of the capability.
    pub tags: Vec<String>,
    /// Whether the capability only reads.
    pub read_only: bool,
    /// Whether the server is known to offer it.
    pub is_offered: bool,
    /// Why callers with the profile do not see it, if they do not.
    pub hidden: Option<String>,
}

/// One rule or setting that applies to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplanationEntry {
    /// The layer it belongs to.
    pub layer: &'static str,
    /// Its effect.
    pub effect: Effect,
    /// Its text as written.
    pub text: String,
    /// The file and line it comes from.
    pub origin: String,
    /// Whether it matches this caller and these arguments.
    pub holds: bool,
    /// Whether it decided.
    pub decided: bool,
}

impl Gate {
    /// Explains the decision about a call. Returns `Ok(None)` if there is no such server, and an
    /// error if there is no such profile.
    pub fn explain(
        &self,
        what: &CallHypothesis<'_>,
        caller: &Arc<Caller>,
        port: &Arc<dyn Interactor>,
    ) -> Result<Option<CallExplanation>, GateError> {
        let view = &self.profile_view(what.profile)?;
        let id = what.id;
        let Some((member, known)) = self.find_server(&id.server) else { return Ok(None) };
        let Some(request) = &hypothetical_request(id, what.arguments) else { return Ok(None) };
        let params = &RequestParams::of(request);
        let context =
            CallContext { view, request, id, caller, port, number: 0, stale: None, params };
        let fact = known.as_ref().and_then(|known| known.definition(id.kind, &id.name));
        let identity = member.spec.digest();
        let subject = context.target().unwrap_or_else(|| {
            let marks = match id.kind {
                CapabilityKind::Tool => CapabilityAttributes::of_tool(
                    &member,
                    &id.name,
                    fact.map_or(&b"{}"[..], |fact| &fact.raw[..]),
                ),
                CapabilityKind::Method => CapabilityAttributes::of_method(&member),
                _ => CapabilityAttributes::of_readable(&member),
            };
            CallTarget {
                member: &member,
                identity: &identity,
                rules: TargetRules::Cached(view.governance.prepared_rules(id, &marks.tags)),
                attributes: Cow::Owned(marks),
                definition: fact.map(|fact| *fact.digest()),
                pinned_at: None,
                block: view.block_reason(id).map(|because| because.rule.as_str()),
            }
        });
        let grant = self.find_grant(&context, &subject);
        let grant = grant.as_ref().map(|granted| &*granted.description);
        let facts = PolicyFacts { grant, ..facts(self, &context, &subject) };
        let asked = PolicyQuery {
            id,
            tags: &subject.attributes.tags,
            client: &caller.client.name,
            caller: &caller.person,
            profile: what.profile,
            arguments: &params.arguments,
        };
        let explained = view.governance.policy.explain(&asked, &facts);
        let CallDecision { outcome, because } = self.decide(&context, &subject);
        let row = view.exposure.entries.iter().find(|row| row.id == *id);
        let hidden = row
            .filter(|row| row.visibility == Visibility::Hidden)
            .map(|row| row.because.to_string());
        let standing = (explained.base_decision != explained.decision)
            .then(|| (explained.base_decision.effect, explained.base_decision.reason.to_string()));
        Ok(Some(CallExplanation {
            outcome,
            because: because.into_owned(),
            step: explained.step.as_str(),
            before_taint: standing,
            entries: explanation_entries(&explained, &facts),
            tags: subject.attributes.tags.clone(),
            read_only: subject.attributes.read_only,
            is_offered: fact.is_some(),
            hidden,
        }))
    }

    /// Returns a server, with its catalog if that is known.
    fn find_server(
        &self,
        server: &ServerName,
    ) -> Option<(Arc<FleetServer>, Option<Arc<CheckedCatalog>>)> {
        let offers = self.fleet.catalogs(None).into_iter();
        let mut offers = offers.filter(|offered| offered.fleet_server.spec.name == *server);
        if let Some(offered) = offers.next() {
            return Some((offered.fleet_server, Some(offered.checked)));
        }
        let status = self.fleet.status().into_iter().find(|status| status.spec.name == *server)?;
        Some((Arc::new(FleetServer::from_spec(status.spec, status.origin)), None))
    }
}

/// Returns the rules by layer, with the server's declaration after the administrator's rules.
fn explanation_entries(
    explained: &DecisionExplanation<'_>,
    facts: &PolicyFacts<'_>,
) -> Vec<ExplanationEntry> {
    let of_rule = |said: &toolgate_policy::RuleExplanation<'_>| ExplanationEntry {
        layer: said.layer.as_str(),
        effect: said.effect,
        text: said.text.to_owned(),
        origin: said.origin.to_string(),
        holds: said.holds,
        decided: said.decided,
    };
    let (admin, rest): (Vec<_>, Vec<_>) =
        explained.rules.iter().partition(|said| said.layer == PolicyLayer::Admin);
    let mut entries: Vec<_> = admin.into_iter().map(of_rule).collect();
    entries.extend(explained.explain_declaration(facts).into_iter().map(|said| ExplanationEntry {
        layer: PolicyLayer::Server.as_str(),
        effect: said.effect,
        text: said.text,
        origin: said.origin.to_string(),
        holds: said.holds,
        decided: said.decided,
    }));
    entries.extend(rest.into_iter().map(of_rule));
    entries
}
