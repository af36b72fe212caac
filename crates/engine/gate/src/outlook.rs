//! What would become of a call that nobody makes, for whoever runs the gateway.
//!
//! It is judged as the gate judges real ones. Nobody is asked and nothing is recorded.

use std::sync::Arc;

use toolgate_model::{CapabilityId, CapabilityKind};
use toolgate_session::Interactor;
use toolgate_wire::{Frame, Limits, build, method, string};

use crate::decide::{Judgement, Matter, Outcome};
use crate::params::Params;
use crate::{Caller, Gate, Refusal};

/// What would become of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outlook {
    /// Of what.
    pub id: CapabilityId,
    /// What.
    pub outcome: Outcome,
    /// Because of what.
    pub because: String,
}

impl Gate {
    /// What would become of calls of everything there is, made by whoever has the profile of this
    /// caller. Arguments are left out, so that rules with conditions on them are, too.
    pub fn outlook(
        &self,
        caller: &Arc<Caller>,
        port: &Arc<dyn Interactor>,
    ) -> Result<Vec<Outlook>, Refusal> {
        let view = &self.view_of(&caller.profile)?;
        let outlook = |id: &CapabilityId| {
            let request = &supposed(id, b"{}")?;
            let params = &Params::of(request);
            let matter = Matter { view, request, id, caller, port, number: 0, stale: None, params };
            let Judgement { outcome, because } = self.judge(&matter, &matter.subject()?);
            Some(Outlook { id: id.clone(), outcome, because: because.into_owned() })
        };
        Ok(view.exposure.rows.iter().filter_map(|row| outlook(&row.id)).collect())
    }
}

/// A request that nobody makes, under the server's own name for what it is about.
pub(crate) fn supposed(id: &CapabilityId, arguments: &[u8]) -> Option<Frame> {
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
    Frame::parse(build::request("0", method, Some(&params)), &Limits::default()).ok()
}
