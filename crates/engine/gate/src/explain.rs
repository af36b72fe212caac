//! Explains and predicts decisions about hypothetical calls.
//!
//! It uses the current catalogs and rules. Nothing is sent, asked or recorded.

use std::sync::Arc;

use toolgate_fleet::{CheckedCatalog, FleetServer};
use toolgate_model::{CapabilityId, CapabilityKind, ServerName};
use toolgate_policy::RuleExplanation;
use toolgate_session::Interactor;
use toolgate_wire::{Frame, MessageLimits, build, method, string};

use crate::decide::{CallContext, CallDecision, CallTarget, DecisionOutcome};
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
    /// All rules and settings that apply, by layer.
    pub entries: Vec<RuleExplanation>,
    /// The tags of the capability.
    pub tags: Vec<String>,
    /// Whether the capability only reads.
    pub read_only: bool,
    /// Whether the server is known to offer it.
    pub is_offered: bool,
    /// Why callers with the profile do not see it, if they do not.
    pub hidden: Option<String>,
}

/// The predicted decision about one capability.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionForecast {
    /// The capability.
    pub id: CapabilityId,
    /// What would happen to a call.
    pub outcome: DecisionOutcome,
    /// The deciding reason.
    pub because: String,
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
        let call = context.target().unwrap_or_else(|| CallTarget {
            pinned_at: None,
            ..context.target_on(&member, &identity, fact)
        });
        let grant = self.find_grant(&call);
        let facts = self.facts(&call, grant.as_deref());
        let explained = view.governance.policy.explain(&call.query(&params.arguments), &facts);
        let CallDecision { outcome, because, .. } = self.decide(&call);
        let row = view.exposure.entries.iter().find(|row| row.id == *id);
        let hidden = row.filter(|row| row.visibility == Visibility::Hidden);
        Ok(Some(CallExplanation {
            outcome,
            because: because.into_owned(),
            step: explained.step.as_str(),
            entries: explained.rules,
            tags: call.attributes.tags.clone(),
            read_only: call.attributes.read_only,
            is_offered: fact.is_some(),
            hidden: hidden.map(|row| row.because.to_string()),
        }))
    }

    /// Predicts the decision about every capability for callers with this caller's profile, with the
    /// code of real decisions. Arguments are empty, so rules with conditions on them do not match.
    pub fn forecast_decisions(
        &self,
        caller: &Arc<Caller>,
        port: &Arc<dyn Interactor>,
    ) -> Result<Vec<DecisionForecast>, GateError> {
        let view = &self.profile_view(&caller.profile)?;
        let forecast = |id: &CapabilityId| {
            let request = &hypothetical_request(id, b"{}")?;
            let params = &RequestParams::of(request);
            let context =
                CallContext { view, request, id, caller, port, number: 0, stale: None, params };
            let CallDecision { outcome, because, .. } = self.decide(&context.target()?);
            Some(DecisionForecast { id: id.clone(), outcome, because: because.into_owned() })
        };
        Ok(view.exposure.entries.iter().filter_map(|row| forecast(&row.id)).collect())
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

/// Builds a request that is never sent, with the server's own name for the capability.
fn hypothetical_request(id: &CapabilityId, arguments: &[u8]) -> Option<Frame> {
    let name = string::encode(&id.name);
    let calling = [b"{\"name\":", name.as_bytes(), b",\"arguments\":", arguments, b"}"].concat();
    let (method, params) = match id.kind {
        CapabilityKind::Tool => (method::TOOLS_CALL, calling),
        CapabilityKind::Prompt => (method::PROMPTS_GET, calling),
        CapabilityKind::Method => (&*id.name, arguments.to_vec()),
        CapabilityKind::Resource | CapabilityKind::Template => {
            (method::RESOURCES_READ, [b"{\"uri\":", name.as_bytes(), b"}"].concat())
        }
    };
    Frame::parse(build::request("0", method, Some(&params)), &MessageLimits::default()).ok()
}
