//! Visitors: callers who come back without a session.
//!
//! Requests of one principal that say the same of their client are one caller to the gate, so that
//! his servers, subscriptions and places are found again. Two principals never share one. A
//! visitor leaves when nobody has used him for some time, and the gate hears of it when the last
//! of his calls is over.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use tokio::time::{MissedTickBehavior, interval};
use toolgate_wire::{Frame, scan};

use super::subscriptions::Subscriptions;
use super::{Envelope, SUPPORTED};
use crate::peer::PeerId;
use crate::principal::{Comer, Principal};
use crate::session::Abilities;
use crate::shares::ShareLimits;
use crate::upstreams::{
    Answer, AskKind, Caller, CallerId, Client, Interactor, Question, Refusal, Scope, Upstreams,
};

/// How many visitors one peer may be: each is a client program with its abilities.
const PER_PEER: usize = 64;
/// In how many looks an idle visitor's time passes.
const LOOKS: u32 = 8;

/// A caller without a session.
pub(crate) struct Visitor {
    pub(crate) principal: Principal,
    /// Who came first as this visitor: for whom it is counted.
    peer: PeerId,
    pub(crate) caller: Arc<Caller>,
    pub(crate) abilities: Abilities,
    /// What is configured to answer `roots/list`, whatever the client would say.
    pub(crate) roots: Option<Bytes>,
    pub(crate) subscriptions: Subscriptions,
    upstreams: Arc<dyn Upstreams>,
    touched: AtomicU64,
}

impl Drop for Visitor {
    fn drop(&mut self) {
        self.upstreams.release(self.caller.id);
    }
}

/// Why somebody is no visitor.
#[derive(Debug)]
pub(crate) enum TurnedAway {
    /// There is no room for one more.
    Full,
    /// The gate does not take such a client.
    Refused(Refusal),
}

/// What tells visitors apart: the bytes as they came, and the place they came to.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Identity {
    comer: Comer,
    capabilities: Bytes,
    client: Bytes,
}

/// The visitors of a gateway.
pub(crate) struct Visitors {
    upstreams: Arc<dyn Upstreams>,
    most: usize,
    known: Mutex<HashMap<Identity, Arc<Visitor>>>,
    /// Counts the looks for idle ones: a clock that is free to read.
    looks: AtomicU64,
}

impl Visitors {
    pub(crate) fn new(upstreams: Arc<dyn Upstreams>, most: usize) -> Self {
        Self { upstreams, most, known: Mutex::default(), looks: AtomicU64::new(0) }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Identity, Arc<Visitor>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whoever sends such a request.
    pub(crate) fn find(
        &self,
        comer: Comer,
        envelope: &Envelope,
    ) -> Result<Arc<Visitor>, TurnedAway> {
        let Envelope { capabilities, client, .. } = envelope;
        let identity =
            Identity { comer, capabilities: capabilities.clone(), client: client.clone() };
        if let Some(visitor) = self.known().get(&identity) {
            visitor.touched.store(self.looks.load(Ordering::Relaxed), Ordering::Relaxed);
            return Ok(visitor.clone());
        }
        let text = |key| scan::text(&identity.client, key).unwrap_or_default().into_owned();
        let client = Client { name: text("name"), version: text("version") };
        let asked = identity.comer.place.as_deref();
        let profile = self.upstreams.choose(asked, &client).map_err(TurnedAway::Refused)?;
        self.enter(identity, client, profile).ok_or(TurnedAway::Full)
    }

    fn enter(&self, identity: Identity, client: Client, profile: Arc<str>) -> Option<Arc<Visitor>> {
        // The request they came in need not be kept.
        let identity = Identity {
            comer: identity.comer,
            capabilities: Bytes::copy_from_slice(&identity.capabilities),
            client: Bytes::copy_from_slice(&identity.client),
        };
        let peer = identity.comer.peer_id();
        let mut known = self.known();
        let is_own = |visitor: &Visitor| visitor.peer == peer;
        let own = known.values().filter(|visitor| is_own(visitor)).count();
        let bounds = ShareLimits { most: self.most, per_peer: PER_PEER };
        let evicted = match bounds.admit(&peer, known.len(), own) {
            true => None,
            // A client makes room for itself, and nobody for it but those who are gone.
            false => Some(evict(&mut known, is_own).or_else(|| match own < PER_PEER {
                true => evict(&mut known, |visitor| visitor.peer.is_gone()),
                false => None,
            })?),
        };
        let welcome = |identity: &Identity| self.welcome(identity, client, profile, peer.clone());
        let visitor = known.entry(identity).or_insert_with_key(welcome);
        let visitor = visitor.clone();
        drop(known);
        drop(evicted);
        Some(visitor)
    }

    fn welcome(
        &self,
        identity: &Identity,
        client: Client,
        profile: Arc<str>,
        peer: PeerId,
    ) -> Arc<Visitor> {
        let id = CallerId::fresh();
        let roots = self.upstreams.roots();
        let ambient = Arc::new(Ambient { scope: id.scope(), roots: roots.clone() });
        tracing::debug!(
            target: "toolgate::gateway",
            client = %client.name, version = %client.version, %profile, "a visitor"
        );
        let principal = identity.comer.principal.clone();
        let capabilities = identity.capabilities.clone();
        Arc::new(Visitor {
            abilities: Abilities::of(&capabilities),
            caller: Arc::new(
                Caller::new(id, client, SUPPORTED, capabilities, ambient)
                    .of(principal.at_the_gate())
                    .known_as(principal.person())
                    .seeing(profile),
            ),
            principal,
            peer,
            roots,
            subscriptions: Subscriptions::default(),
            upstreams: self.upstreams.clone(),
            touched: AtomicU64::new(self.looks.load(Ordering::Relaxed)),
        })
    }

    /// Sends those away whom nobody has used for `patience` looks.
    fn look(&self, patience: u64) {
        let now = self.looks.fetch_add(1, Ordering::Relaxed) + 1;
        let mut gone = Vec::new();
        self.known().retain(|_, visitor| {
            if busy(visitor) {
                visitor.touched.store(now, Ordering::Relaxed);
            }
            let idle = now.saturating_sub(visitor.touched.load(Ordering::Relaxed));
            if idle > patience {
                gone.push(visitor.clone());
            }
            idle <= patience
        });
    }

    /// Forgets the visitors of some principals.
    pub(crate) fn forget(&self, whose: impl Fn(&Principal) -> bool) {
        let mut gone = Vec::new();
        self.known().retain(|identity, visitor| {
            let goes = whose(&identity.comer.principal);
            if goes {
                gone.push(visitor.clone());
            }
            !goes
        });
    }
}

/// Whether a call, a listen or a task of his is open. Whoever has one of the first two holds him,
/// too.
fn busy(visitor: &Arc<Visitor>) -> bool {
    Arc::strong_count(visitor) > 1 || visitor.upstreams.holds_tasks(visitor.caller.id)
}

/// Takes out whoever has been idle longest among these, if one is idle.
#[expect(clippy::mutable_key_type, reason = "equality and hash leave the peer out")]
fn evict(
    known: &mut HashMap<Identity, Arc<Visitor>>,
    among: impl Fn(&Visitor) -> bool,
) -> Option<(Identity, Arc<Visitor>)> {
    let idle = known.values().filter(|visitor| !busy(visitor) && among(visitor));
    let longest = idle.min_by_key(|visitor| visitor.touched.load(Ordering::Relaxed));
    let longest = longest.map(|visitor| visitor.caller.id)?;
    known.extract_if(|_, visitor| visitor.caller.id == longest).next()
}

/// Looks for visitors that have been idle for `ttl`, as long as there are any to come.
pub(crate) async fn expire(visitors: Weak<Visitors>, ttl: Duration) {
    let pace = (ttl / LOOKS).max(Duration::from_millis(5));
    let mut looks = interval(pace);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        let Some(visitors) = visitors.upgrade() else { return };
        visitors.look(LOOKS.into());
    }
}

/// Speaks for a visitor outside any call: there is no way to ask his client.
struct Ambient {
    scope: Scope,
    roots: Option<Bytes>,
}

impl Interactor for Ambient {
    fn scope(&self) -> Scope {
        self.scope
    }

    fn tell(&self, _event: Frame) {}

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        let answer = match (&self.roots, question.kind) {
            (Some(roots), AskKind::Roots) => Answer::Result(roots.clone()),
            _ => Answer::Unsupported,
        };
        Box::pin(std::future::ready(answer))
    }
}
