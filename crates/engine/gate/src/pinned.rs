//! Step: whether a definition is still what was approved.
//!
//! What may be used is judged by `rules/pins`, once for every view that is made. What follows is
//! done here: a first sight is pinned, a drift is told and takes the grants that were bound to it,
//! and what must not be used is withheld: not listed, and refused when it is called, with the reason.
//!
//! The tools of this program itself are not pinned: they change with it and with nothing else.

mod standings;
mod through;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use bytes::Bytes;
use toolgate_exposure::Because;
use toolgate_fleet::{Member, Offered};
use toolgate_model::{
    CapabilityId, CapabilityKind, Digest, Posture, Scope, ServerName, TransportSpec,
};
use toolgate_pins::{Lock, Pins, Standing, Subject, is_pinned_kind, standing};
use toolgate_store::{self as store, Pin, StoreError};
use toolgate_wire::string;

use crate::Gate;
use crate::books::Errand;
use crate::budget::RecordBudget;

pub use standings::PinState;

/// Whoever pins what is seen for the first time.
const FIRST_LISTING: &str = "first listing";
/// The same, of something that was not there when its server was first seen.
const FIRST_SIGHT: &str = "first sight";

/// What was told is remembered of so many definitions; beyond that it may be told again.
const MOST_TOLD: usize = 8192;

type Key = (ServerName, Digest, Option<CapabilityKind>, Box<str>);

/// Everything that is pinned.
#[derive(Default)]
pub(crate) struct Pinned(Mutex<Register>);

#[derive(Default)]
struct Register {
    pins: Pins,
    at: HashMap<Key, SystemTime>,
    /// What was told to have changed, and into what: once is enough.
    told: HashMap<Key, Digest>,
    /// How many changes may be told yet.
    budget: RecordBudget,
    lock: Option<Arc<Lock>>,
    /// Counts pins as they come.
    inserted: u64,
}

/// What of a view's servers must not be used, and since when the rest is pinned.
#[derive(Default)]
pub(crate) struct Withheld {
    why: HashMap<CapabilityId, Because>,
    /// Servers whose instructions are not passed on.
    pub(crate) silent: HashSet<ServerName>,
    /// Servers of which nothing may be used, and why.
    servers: HashMap<ServerName, Because>,
    pub(crate) pinned_at: HashMap<CapabilityId, SystemTime>,
}

impl Withheld {
    /// Why a capability must not be used, listed or not.
    pub(crate) fn because(&self, id: &CapabilityId) -> Option<&Because> {
        if self.why.is_empty() && self.servers.is_empty() {
            return None; // as nearly always
        }
        let whole = || self.servers.get(&id.server).filter(|_| !self.pinned_at.contains_key(id));
        self.why.get(id).or_else(whole)
    }
}

/// Whether a server is this program's own.
pub(crate) fn is_ours(member: &Member) -> bool {
    member.spec.transport == TransportSpec::BuiltIn && member.origin.scope == Scope::BuiltIn
}

/// A definition, or the instructions of a server, as it is offered now.
struct Seen<'a> {
    id: Option<CapabilityId>,
    digest: Digest,
    definition: &'a [u8],
}

/// What is offered of a server that is pinned one by one: the first of each name.
fn seen(offered: &Offered) -> Vec<Seen<'_>> {
    let instructions = offered.known.catalog.instructions.as_deref().unwrap_or_default();
    let digest = *offered.known.instructions_digest();
    let mut all = vec![Seen { id: None, digest, definition: instructions.as_bytes() }];
    for kind in CapabilityKind::ALL.into_iter().filter(|kind| is_pinned_kind(*kind)) {
        let mut names = HashSet::new();
        for (definition, fact) in offered.known.of_kind(kind) {
            if names.insert(&definition.name) && fact.unusable.is_none() {
                let (server, name) = (offered.member.spec.name.clone(), definition.name.clone());
                let id = Some(CapabilityId { server, kind, name });
                all.push(Seen { id, digest: *fact.digest(), definition: &fact.raw });
            }
        }
    }
    all
}

impl Pinned {
    fn register(&self) -> MutexGuard<'_, Register> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over what the store has, and forgets everything else.
    pub(crate) fn load(&self, pins: Vec<store::Pinned>) {
        self.register().replace(&pins);
    }

    /// The same, unless something was pinned since it was asked for; whether it was taken over.
    fn load_unless_newer(&self, pins: &[store::Pinned], since: u64) -> bool {
        let mut register = self.register();
        let current = register.inserted == since;
        if current {
            register.replace(pins);
        }
        current
    }
}

impl Register {
    fn replace(&mut self, pins: &[store::Pinned]) {
        (self.pins, self.at) = Default::default();
        pins.iter().for_each(|pin| self.insert(pin));
    }

    fn insert(&mut self, pin: &store::Pinned) {
        self.inserted += 1;
        let capability = pin.capability.as_ref().map(|(kind, name)| (*kind, name.as_str()));
        self.pins.insert(&pin.server, pin.identity, capability, pin.digest, pin.bytes);
        self.at.insert(key(&pin.server, pin.identity, capability), pin.pinned_at);
    }
}

fn key(server: &ServerName, identity: Digest, what: Option<(CapabilityKind, &str)>) -> Key {
    (server.clone(), identity, what.map(|(kind, _)| kind), what.map_or("", |(_, name)| name).into())
}

/// The judging of one server's offer.
struct Judging<'a> {
    gate: &'a Gate,
    posture: Posture,
    offered: &'a Offered,
    identity: Digest,
    withheld: &'a mut Withheld,
}

impl Judging<'_> {
    fn run(mut self, register: &mut Register) {
        let server = &self.offered.member.spec.name;
        let by = match register.pins.knows(server, self.identity) {
            true => FIRST_SIGHT,
            false => FIRST_LISTING,
        };
        let mut new = Vec::new();
        for seen in seen(self.offered) {
            let what = seen.id.as_ref().map(|id| (id.kind, &*id.name));
            let (identity, digest) = (&self.identity, &seen.digest);
            let subject = Subject { server, identity, capability: what, digest };
            let stands = standing(&register.pins, register.lock.as_deref(), self.posture, &subject);
            let key = key(server, self.identity, what);
            if stands == Standing::New && !self.offered.borrowed {
                let pin = self.pin(what, &seen, by);
                register.insert(&store::Pinned::from(&pin)); // the next one counts with it
                new.push(pin);
            }
            if let Some(why) = stands.refusal(&subject) {
                if register.told.len() >= MOST_TOLD {
                    register.told.clear();
                }
                if register.told.insert(key, seen.digest) != Some(seen.digest) {
                    self.tell(&stands, seen.id.as_ref(), &why, &mut register.budget);
                }
                self.withhold(seen.id, why);
            } else {
                register.told.remove(&key);
                let at = register.at.get(&key).copied().unwrap_or_else(SystemTime::now);
                self.withheld.pinned_at.extend(seen.id.map(|id| (id, at)));
            }
        }
        self.whole(register);
        self.keep(new, by);
    }

    fn pin(&self, what: Option<(CapabilityKind, &str)>, seen: &Seen<'_>, by: &str) -> Pin {
        Pin {
            server: self.offered.member.spec.name.clone(),
            identity: self.identity,
            capability: what.map(|(kind, name)| (kind, name.to_owned())),
            digest: seen.digest,
            definition: Bytes::copy_from_slice(seen.definition),
            by: by.to_owned(),
            pinned_at: SystemTime::now(),
        }
    }

    /// Whether anything of a server may be used that is not pinned one by one.
    fn whole(&mut self, register: &Register) {
        let server = &self.offered.member.spec.name;
        let any = Some((CapabilityKind::Resource, "*"));
        let digest = &self.identity;
        let subject = Subject { server, identity: &self.identity, capability: any, digest };
        let stands = standing(&register.pins, register.lock.as_deref(), self.posture, &subject);
        if !stands.is_usable() {
            let subject = Subject { capability: None, ..subject };
            let rule = stands.refusal(&subject).unwrap_or_default();
            let origin = self.offered.member.origin.clone();
            self.withheld.servers.insert(server.clone(), Because { rule, origin });
        }
    }

    fn withhold(&mut self, id: Option<CapabilityId>, why: String) {
        match id {
            Some(id) => {
                let origin = self.offered.member.origin.clone();
                self.withheld.why.insert(id, Because { rule: why, origin });
            }
            None => drop(self.withheld.silent.insert(self.offered.member.spec.name.clone())),
        }
    }

    /// Something that was approved is another thing now: whoever allowed that one did not mean this.
    /// It is told as long as its server has not changed too much already.
    fn tell(
        &self,
        stands: &Standing,
        id: Option<&CapabilityId>,
        why: &str,
        budget: &mut RecordBudget,
    ) {
        let Standing::Changed { was } = stands else { return };
        let server = &self.offered.member.spec.name;
        if let Some(untold) = budget.take(server) {
            tracing::warn!(target: "toolgate::gate", %server, "{why}");
            let server = string::encode(server.as_str());
            let untold = match untold {
                0 => String::new(),
                untold => format!(r#","untold":{untold}"#),
            };
            self.gate.note("drift", id, &format!(r#"{{"server":{server}{untold},"was":"{was}"}}"#));
        }
        if let (Some(books), Some(id)) = (self.gate.books.get(), id) {
            books.send(Errand::Revoke(id.clone()));
        }
    }

    fn keep(&self, new: Vec<Pin>, by: &str) {
        if new.is_empty() {
            return;
        }
        let server = self.offered.member.spec.name.as_str();
        let detail = format!(
            r#"{{"server":{},"by":"{by}","definitions":{}}}"#,
            string::encode(server),
            new.len()
        );
        self.gate.note("pinned", None, &detail);
        if let Some(books) = self.gate.books.get() {
            books.send(Errand::Pin(new));
        }
    }
}

impl Gate {
    /// Takes over what is pinned in the store by now.
    pub async fn reload_pins(&self) -> Result<(), StoreError> {
        let Some(books) = self.books.get() else { return Ok(()) };
        loop {
            let since = self.pinned.register().inserted;
            books.settled().await; // what was seen here first is there, too
            let pins = books.decisions.pinned().await?;
            if self.pinned.load_unless_newer(&pins, since) {
                self.fleet.renew();
                return Ok(());
            }
        }
    }

    /// Uses nothing from now on that this lock file does not have.
    pub fn freeze(&self, lock: Option<Lock>) {
        self.pinned.register().lock = lock.map(Arc::new);
        self.fleet.renew();
    }

    /// Judges everything that is offered to somebody.
    pub(crate) fn withheld(&self, offered: &[Offered], posture: Posture) -> Withheld {
        let mut withheld = Withheld::default();
        let register = &mut self.pinned.register();
        for offered in offered.iter().filter(|it| !is_ours(&it.member)) {
            let identity = offered.member.spec.digest();
            let withheld = &mut withheld;
            Judging { gate: self, posture, offered, identity, withheld }.run(register);
        }
        withheld
    }
}
