//! Predicts the decisions about calls, for the operator.
//!
//! The prediction uses the same code as real decisions. Nothing is asked or recorded.

use std::sync::Arc;

use toolgate_model::{CapabilityId, CapabilityKind};
use toolgate_session::Interactor;
use toolgate_wire::{Frame, MessageLimits, build, method, string};

use crate::decide::{CallContext, CallDecision, DecisionOutcome};
use crate::params::RequestParams;
use crate::{Caller, Gate, GateError};

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
    /// Predicts the decision about every capability for callers with this caller's profile.
    /// Arguments are empty, so rules with conditions on them do not match.
    pub fn forecast_decisions(
        &self,
        caller: &Arc<Caller>,
        port: &Arc<dyn Interactor>,
    ) -> Result<Vec<DecisionForecast>, GateError> {
        let view = &self.profile_view(&caller.profile)?;
        let outlook = |id: &CapabilityId| {
            let request = &hypothetical_request(id, b"{}")?;
            let params = &RequestParams::of(request);
            let context =
                CallContext { view, request, id, caller, port, number: 0, stale: None, params };
            let CallDecision { outcome, because } = self.decide(&context, &context.target()?);
            Some(DecisionForecast { id: id.clone(), outcome, because: because.into_owned() })
        };
        Ok(view.exposure.entries.iter().filter_map(|row| outlook(&row.id)).collect())
    }
}

/// Builds a request that is never sent, with the server's own name for the capability.
pub(crate) fn hypothetical_request(id: &CapabilityId, arguments: &[u8]) -> Option<Frame> {
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
