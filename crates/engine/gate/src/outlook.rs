//! What would be decided if somebody called, for whoever runs the gateway.
//!
//! Nobody is asked and nothing is recorded. What belongs to one caller is left out: his grants, what
//! he has read, his arguments.

use std::sync::Arc;

use toolgate_model::{CapabilityId, Effect, Via};
use toolgate_policy::Asked;
use toolgate_session::Interactor;
use toolgate_wire::{Frame, Limits, build, method};

use crate::decide::{Matter, facts};
use crate::{Caller, Gate, Refusal};

/// What would become of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outlook {
    /// Of what.
    pub id: CapabilityId,
    /// Which way.
    pub effect: Effect,
    /// Because of what.
    pub because: String,
    /// Who would be asked, where somebody would.
    pub via: Option<Via>,
}

impl Gate {
    /// What would be decided about everything that whoever has the profile of this caller sees.
    /// Arguments are left out, so that rules with conditions on them are, too.
    pub fn outlook(
        &self,
        caller: &Arc<Caller>,
        port: &Arc<dyn Interactor>,
    ) -> Result<Vec<Outlook>, Refusal> {
        let view = self.view_of(&caller.profile)?;
        let request = build::request("0", method::TOOLS_CALL, Some(b"{}"));
        let Ok(request) = Frame::parse(request, &Limits::default()) else { return Ok(Vec::new()) };
        let governing = &view.governing;
        let outlook = |id: &CapabilityId| {
            let matter =
                Matter { view: &view, request: &request, id, caller, port, number: 0, stale: None };
            let subject = matter.subject()?;
            let asked = Asked {
                id,
                tags: &subject.marks.tags,
                client: &caller.client.name,
                profile: &caller.profile,
                arguments: b"{}",
            };
            let decision = governing.policy.decide(&asked, &facts(&matter, &subject));
            let asks = decision.effect == Effect::Ask;
            let via = asks.then(|| governing.via(caller, decision.because.is_written()));
            let because = decision.because.to_string();
            Some(Outlook { id: id.clone(), effect: decision.effect, because, via })
        };
        Ok(view.exposure.rows.iter().filter_map(|row| outlook(&row.id)).collect())
    }
}
