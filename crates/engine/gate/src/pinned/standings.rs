//! How the definitions of servers stand, for whoever runs the gateway: nothing follows from asking.

use toolgate_model::{CapabilityId, ServerName};
use toolgate_pins::{Standing, Subject, standing};

use super::{is_ours, seen};
use crate::Gate;

/// How one definition stands, or the instructions of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinState {
    /// Whose it is.
    pub server: ServerName,
    /// Which; none for the server's instructions.
    pub id: Option<CapabilityId>,
    /// How it stands.
    pub standing: Standing,
}

impl Gate {
    /// How everything stands that is pinned one by one, as servers offered it last, by server.
    pub fn pin_states(&self) -> Vec<PinState> {
        let posture = self.governing().posture();
        let mut states = Vec::new();
        let offers = self.fleet.catalogs(None);
        let register = self.pinned.register();
        for offered in offers.iter().filter(|it| !is_ours(&it.member)) {
            let server = &offered.member.spec.name;
            let identity = offered.member.spec.digest();
            for seen in seen(offered) {
                let capability = seen.id.as_ref().map(|id| (id.kind, &*id.name));
                let (identity, digest) = (&identity, &seen.digest);
                let subject = Subject { server, identity, capability, digest };
                let lock = register.lock.as_deref();
                let standing = standing(&register.pins, lock, posture, &subject);
                states.push(PinState { server: server.clone(), id: seen.id, standing });
            }
        }
        states
    }
}
