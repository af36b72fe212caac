//! Step: checks that a definition is still the approved one.
//!
//! `rules/pins` decides what may be used, once per view. This module acts on the result: it pins
//! definitions on first sight, reports changed ones and revokes the grants bound to them, and
//! withholds what must not be used. A withheld capability is not listed, and a call to it is
//! refused with the reason.
//!
//! Built-in servers are not pinned, because their tools only change with this program.

mod status;
mod templates;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use toolgate_exposure::ExposureReason;
use toolgate_fleet::{FleetServer, OfferedCatalog, PinnableDefinition};
use toolgate_model::{
    CapabilityId, CapabilityKind, ConfigScope, Digest, Posture, ServerName, TransportSpec,
};
use toolgate_pins::{LockFile, PinStatus, PinSubject, Pins, evaluate_pin};
use toolgate_store::{self as store, Pin, StoreError};
use toolgate_wire::string;

use crate::Gate;
use crate::budget::JournalRecordLimiter;
use crate::stores::StoreWrite;

pub use status::PinStatusEntry;

/// Recorded as the approver of what a server offers when it is first listed.
const FIRST_LISTING: &str = "first listing";
/// Recorded as the approver of what a known server offers later for the first time.
const FIRST_SIGHT: &str = "first sight";

/// The most definitions whose change was reported and is remembered. Beyond that, changes may be
/// reported again.
const MOST_TOLD: usize = 8192;

/// Identifies a pin: server, identity, kind, and name; no kind stands for the instructions.
type PinKey = (ServerName, Digest, Option<CapabilityKind>, Box<str>);

/// All pins.
#[derive(Default)]
pub(crate) struct PinRegistry {
    pins: Pins,
    pinned_at: HashMap<PinKey, SystemTime>,
    /// Changes that were reported, with the new digest. Each is reported once.
    reported: HashMap<PinKey, Digest>,
    /// Limits how many changes are reported.
    budget: JournalRecordLimiter,
    lock: Option<Arc<LockFile>>,
    /// Counts inserted pins.
    inserted: u64,
}

/// What must not be used of a view's servers, and since when the rest is pinned.
#[derive(Default)]
pub(crate) struct WithheldCapabilities {
    reasons: HashMap<CapabilityId, ExposureReason>,
    /// Servers whose instructions are not forwarded.
    pub(crate) without_instructions: HashSet<ServerName>,
    /// Servers that must not be used at all, each with the reason.
    servers: HashMap<ServerName, ExposureReason>,
    pub(crate) pinned_at: HashMap<CapabilityId, SystemTime>,
}

impl WithheldCapabilities {
    /// Returns why a capability must not be used, listed or not.
    pub(crate) fn reason_for(&self, id: &CapabilityId) -> Option<&ExposureReason> {
        if self.reasons.is_empty() && self.servers.is_empty() {
            return None; // the usual case
        }
        let whole = || self.servers.get(&id.server).filter(|_| !self.pinned_at.contains_key(id));
        self.reasons.get(id).or_else(whole)
    }
}

/// Returns true if the server is built into this program.
pub(crate) fn is_builtin(member: &FleetServer) -> bool {
    member.spec.transport == TransportSpec::BuiltIn && member.origin.scope == ConfigScope::BuiltIn
}

/// Returns the id of what is pinned; `None` for the instructions.
fn pinned_id(server: &ServerName, what: Option<(CapabilityKind, &str)>) -> Option<CapabilityId> {
    what.map(|(kind, name)| CapabilityId { server: server.clone(), kind, name: name.into() })
}

impl PinRegistry {
    /// Replaces all pins by those in the store.
    pub(crate) fn replace(&mut self, pins: &[store::PinMetadata]) {
        (self.pins, self.pinned_at) = Default::default();
        pins.iter().for_each(|pin| self.insert(pin));
    }

    fn insert(&mut self, pin: &store::PinMetadata) {
        self.inserted += 1;
        let capability = pin.capability.as_ref().map(|(kind, name)| (*kind, name.as_str()));
        self.pins.insert(&pin.server, pin.identity, capability, pin.digest, pin.bytes);
        self.pinned_at.insert(key(&pin.server, pin.identity, capability), pin.pinned_at);
    }

    fn evaluate(&self, posture: Posture, subject: &PinSubject<'_>) -> PinStatus {
        evaluate_pin(&self.pins, self.lock.as_deref(), posture, subject)
    }
}

fn key(server: &ServerName, identity: Digest, what: Option<(CapabilityKind, &str)>) -> PinKey {
    (server.clone(), identity, what.map(|(kind, _)| kind), what.map_or("", |(_, name)| name).into())
}

/// The check of one server's catalog against the pins.
struct PinCheck<'a> {
    gate: &'a Gate,
    posture: Posture,
    offered: &'a OfferedCatalog,
    identity: Digest,
    withheld: &'a mut WithheldCapabilities,
}

impl PinCheck<'_> {
    fn run(mut self, register: &mut PinRegistry) {
        let server = self.offered.server();
        let by = match register.pins.has_server(server, self.identity) {
            true => FIRST_SIGHT,
            false => FIRST_LISTING,
        };
        let mut new = Vec::new();
        for seen in self.offered.checked.pinnable() {
            let (what, id) = (seen.capability, pinned_id(server, seen.capability));
            let (identity, digest) = (&self.identity, &seen.digest);
            let subject = PinSubject { server, identity, capability: what, digest };
            let stands = register.evaluate(self.posture, &subject);
            let key = key(server, self.identity, what);
            if stands == PinStatus::New && !self.offered.is_from_predecessor {
                let pin = self.pin(&seen, by);
                register.insert(&store::PinMetadata::from(&pin)); // the next one counts with it
                new.push(pin);
            }
            if let Some(why) = stands.refusal(&subject) {
                if register.reported.len() >= MOST_TOLD {
                    register.reported.clear();
                }
                if register.reported.insert(key, seen.digest) != Some(seen.digest) {
                    self.report_drift(&stands, id.as_ref(), &why, &mut register.budget);
                }
                self.withhold(id, why);
            } else {
                register.reported.remove(&key);
                let at = register.pinned_at.get(&key).copied().unwrap_or_else(SystemTime::now);
                self.withheld.pinned_at.extend(id.map(|id| (id, at)));
            }
        }
        self.check_server(register);
        self.store_pins(new, by);
    }

    fn pin(&self, seen: &PinnableDefinition<'_>, by: &str) -> Pin {
        Pin {
            server: self.offered.server().clone(),
            identity: self.identity,
            capability: seen.capability.map(|(kind, name)| (kind, name.to_owned())),
            digest: seen.digest,
            definition: Bytes::copy_from_slice(seen.definition),
            by: by.to_owned(),
            pinned_at: SystemTime::now(),
        }
    }

    /// Checks whether anything may be used of a server that is not pinned individually.
    fn check_server(&mut self, register: &PinRegistry) {
        let server = self.offered.server();
        let any = Some((CapabilityKind::Resource, "*"));
        let digest = &self.identity;
        let subject = PinSubject { server, identity: &self.identity, capability: any, digest };
        let stands = register.evaluate(self.posture, &subject);
        if !stands.is_usable() {
            let subject = PinSubject { capability: None, ..subject };
            let rule = stands.refusal(&subject).unwrap_or_default();
            let origin = self.offered.fleet_server.origin.clone();
            self.withheld.servers.insert(server.clone(), ExposureReason { rule, origin });
        }
    }

    fn withhold(&mut self, id: Option<CapabilityId>, why: String) {
        match id {
            Some(id) => {
                let origin = self.offered.fleet_server.origin.clone();
                self.withheld.reasons.insert(id, ExposureReason { rule: why, origin });
            }
            None => {
                self.withheld.without_instructions.insert(self.offered.server().clone());
            }
        }
    }

    /// Reports that an approved definition changed and revokes its grants: they were not given for
    /// the new definition. The report is limited by the server's budget.
    fn report_drift(
        &self,
        stands: &PinStatus,
        id: Option<&CapabilityId>,
        why: &str,
        budget: &mut JournalRecordLimiter,
    ) {
        let PinStatus::Changed { was } = stands else { return };
        let server = self.offered.server();
        if let Some(unreported) = budget.take(server) {
            tracing::warn!(target: "toolgate::gate", %server, "{why}");
            let server = string::encode(server.as_str());
            let unreported = match unreported {
                0 => String::new(),
                unreported => format!(r#","untold":{unreported}"#),
            };
            self.gate.note(
                "drift",
                id,
                &format!(r#"{{"server":{server}{unreported},"was":"{was}"}}"#),
            );
        }
        if let (Some(stores), Some(id)) = (self.gate.stores.get(), id) {
            stores.send(StoreWrite::Revoke(id.clone()));
        }
    }

    fn store_pins(&self, new: Vec<Pin>, by: &str) {
        if new.is_empty() {
            return;
        }
        let server = self.offered.server().as_str();
        let detail = format!(
            r#"{{"server":{},"by":"{by}","definitions":{}}}"#,
            string::encode(server),
            new.len()
        );
        self.gate.note("pinned", None, &detail);
        if let Some(stores) = self.gate.stores.get() {
            stores.send(StoreWrite::Pin(new));
        }
    }
}

impl Gate {
    /// Loads the pins from the store.
    pub async fn reload_pins(&self) -> Result<(), StoreError> {
        let Some(stores) = self.stores.get() else { return Ok(()) };
        loop {
            let since = self.pins.lock().inserted;
            stores.flush().await; // includes what was first seen here
            let pins = stores.decisions.pin_summaries().await?;
            let mut register = self.pins.lock();
            if register.inserted == since {
                register.replace(&pins);
                drop(register);
                self.fleet.request_rebuild();
                return Ok(());
            }
        }
    }

    /// Restricts use to what this lock file contains.
    pub fn set_lock_file(&self, lock: Option<LockFile>) {
        self.pins.lock().lock = lock.map(Arc::new);
        self.fleet.request_rebuild();
    }

    /// Checks everything that is offered against the pins.
    pub(crate) fn withheld_capabilities(
        &self,
        offered: &[OfferedCatalog],
        posture: Posture,
    ) -> WithheldCapabilities {
        let mut withheld = WithheldCapabilities::default();
        let register = &mut self.pins.lock();
        for offered in offered.iter().filter(|it| !is_builtin(&it.fleet_server)) {
            let identity = offered.fleet_server.spec.digest();
            let withheld = &mut withheld;
            PinCheck { gate: self, posture, offered, identity, withheld }.run(register);
        }
        withheld
    }
}
