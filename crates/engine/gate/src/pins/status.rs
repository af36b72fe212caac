//! The pin status of each definition, for the operator. Reading it has no side effects.

use toolgate_model::{CapabilityId, ServerName};
use toolgate_pins::{PinStatus, PinSubject};

use super::{is_builtin, pinned_id};
use crate::Gate;

/// The pin status of one definition, or of a server's instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinStatusEntry {
    /// The server.
    pub server: ServerName,
    /// The capability; `None` for the server's instructions.
    pub id: Option<CapabilityId>,
    /// The status.
    pub status: PinStatus,
}

impl Gate {
    /// Returns the status of everything that is pinned individually, as last offered, by server.
    pub fn pin_statuses(&self) -> Vec<PinStatusEntry> {
        let posture = self.current_governance().settings.posture;
        let mut states = Vec::new();
        let offers = self.fleet.catalogs(None);
        let register = self.pins.lock();
        for offered in offers.iter().filter(|it| !is_builtin(&it.fleet_server)) {
            let server = offered.server();
            let identity = offered.fleet_server.spec.digest();
            for seen in offered.checked.pinnable() {
                let (capability, digest) = (seen.capability, &seen.digest);
                let subject = PinSubject { server, identity: &identity, capability, digest };
                let status = register.evaluate(posture, &subject);
                let id = pinned_id(server, capability);
                states.push(PinStatusEntry { server: server.clone(), id, status });
            }
        }
        states
    }
}
