//! Modern clients, which have no session but are recognized across requests.
//!
//! Requests of one principal with the same description of the client belong to one caller at the
//! gate, so that the caller's servers, subscriptions and slots are found again. Two principals
//! never share a client. An idle client is removed after some time, and the gate releases its
//! caller after the last of its calls has ended.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use tokio::time::{MissedTickBehavior, interval};
use toolgate_host::{Answer, Caller, CallerId, Client, Interactor, Question, QuestionKind};
use toolgate_wire::Frame;

use super::subscription_counts::SubscriptionCounts;
use super::{ClientMeta, SUPPORTED_REVISION};
use crate::Gate;
use crate::exchange::ClientCapabilities;
use crate::peer::PeerId;
use crate::peer_quota::{PeerLimits, PeerQuotaEntry};
use crate::principal::{ClientIdentity, ClientPrincipal};
use crate::rejection::Rejection;
use crate::session::parse_client;

/// How many clients one peer may have. Each is a client program with its capabilities.
const PER_PEER: usize = 64;
/// How many ticks the lifetime of an idle client has.
const TICKS_PER_TTL: u32 = 8;

/// A modern client, recognized without a session.
pub(crate) struct StatelessClient {
    pub(crate) principal: ClientPrincipal,
    /// The peer that sent the first request of this client. The client counts against its quota.
    peer: PeerId,
    pub(crate) caller: Arc<Caller>,
    pub(crate) capabilities: ClientCapabilities,
    /// The configured answer to `roots/list`. It replaces the client's own.
    pub(crate) roots: Option<Bytes>,
    pub(crate) subscriptions: SubscriptionCounts,
    pub(super) gate: Arc<Gate>,
    last_used: AtomicU64,
}

impl Drop for StatelessClient {
    fn drop(&mut self) {
        self.gate.release(self.caller.id);
    }
}

impl PeerQuotaEntry for Arc<StatelessClient> {
    fn peer(&self) -> &PeerId {
        &self.peer
    }

    fn idle_since(&self) -> Option<u64> {
        (!is_busy(self)).then(|| self.last_used.load(Ordering::Relaxed))
    }
}

/// What distinguishes clients: their raw description, their principal and their profile.
#[derive(Debug, PartialEq, Eq, Hash)]
struct StatelessClientKey {
    identity: ClientIdentity,
    capabilities: Bytes,
    client: Bytes,
}

/// The modern clients of a gateway.
pub(crate) struct StatelessClients {
    gate: Arc<Gate>,
    limits: PeerLimits,
    clients: Mutex<HashMap<StatelessClientKey, Arc<StatelessClient>>>,
    /// Counts the checks for idle clients. It serves as a clock that is cheap to read.
    ticks: AtomicU64,
}

impl StatelessClients {
    pub(crate) fn new(gate: Arc<Gate>, max_clients: usize) -> Self {
        let limits = PeerLimits { total: max_clients, per_peer: PER_PEER };
        Self { gate, limits, clients: Mutex::default(), ticks: AtomicU64::new(0) }
    }

    /// Returns the client that sent a request.
    pub(crate) fn find_or_create(
        &self,
        identity: ClientIdentity,
        envelope: &ClientMeta,
        request: &Frame,
    ) -> Result<Arc<StatelessClient>, Rejection> {
        let (capabilities, client) = (envelope.capabilities.clone(), envelope.client.clone());
        let key = StatelessClientKey { identity, capabilities, client };
        if let Some(client) = self.clients.lock().get(&key) {
            client.last_used.store(self.ticks.load(Ordering::Relaxed), Ordering::Relaxed);
            return Ok(client.clone());
        }
        let id = || request.id().map(|id| id.to_owned());
        let client = parse_client(&key.client);
        let requested = key.identity.profile.as_deref();
        let profile = self.gate.choose_profile(requested, &client);
        let profile = profile.map_err(|error| Rejection::refused_client(id(), error))?;
        self.insert(key, client, profile).ok_or_else(|| {
            Rejection::invalid_request(id(), "too many different clients are active")
        })
    }

    fn insert(
        &self,
        key: StatelessClientKey,
        client: Client,
        profile: Arc<str>,
    ) -> Option<Arc<StatelessClient>> {
        // Copies the bytes, so that they do not keep the whole request in memory.
        let key = StatelessClientKey {
            identity: key.identity,
            capabilities: Bytes::copy_from_slice(&key.capabilities),
            client: Bytes::copy_from_slice(&key.client),
        };
        let peer = key.identity.peer_id();
        let mut known = self.clients.lock();
        let entries = || known.values().map(|client| (client.caller.id, client));
        let evicted = self.limits.make_room(&peer, entries).ok()?;
        let is_evicted = |client: &Arc<StatelessClient>| Some(client.caller.id) == evicted;
        let evicted: Vec<_> = known.extract_if(|_, client| is_evicted(client)).collect();
        let create = |key: &StatelessClientKey| self.create_client(key, client, profile, peer);
        let client = known.entry(key).or_insert_with_key(create).clone();
        drop(known);
        drop(evicted);
        Some(client)
    }

    fn create_client(
        &self,
        key: &StatelessClientKey,
        client: Client,
        profile: Arc<str>,
        peer: PeerId,
    ) -> Arc<StatelessClient> {
        let id = CallerId::fresh();
        let roots = self.gate.roots();
        let ambient = Arc::new(StatelessInteractor { scope: id, roots: roots.clone() });
        tracing::debug!(
            target: "toolgate::gateway",
            client = %client.name, version = %client.version, %profile, "new stateless client"
        );
        let principal = key.identity.principal.clone();
        let capabilities = key.capabilities.clone();
        Arc::new(StatelessClient {
            capabilities: ClientCapabilities::parse(&capabilities),
            caller: Arc::new(
                Caller::new(id, client, SUPPORTED_REVISION, capabilities, ambient)
                    .with_principal(principal.to_gate_principal())
                    .with_person(principal.approval_name())
                    .with_profile(profile),
            ),
            principal,
            peer,
            roots,
            subscriptions: SubscriptionCounts::default(),
            gate: self.gate.clone(),
            last_used: AtomicU64::new(self.ticks.load(Ordering::Relaxed)),
        })
    }

    /// Removes clients that were not used for `patience` ticks.
    fn evict_idle(&self, patience: u64) {
        let now = self.ticks.fetch_add(1, Ordering::Relaxed) + 1;
        self.remove_if(|_, client| {
            if is_busy(client) {
                client.last_used.store(now, Ordering::Relaxed);
            }
            now.saturating_sub(client.last_used.load(Ordering::Relaxed)) > patience
        });
    }

    /// Removes the clients of some principals.
    pub(crate) fn forget_principals(&self, is_selected: impl Fn(&ClientPrincipal) -> bool) {
        self.remove_if(|key, _| is_selected(&key.identity.principal));
    }

    /// Removes some clients, and drops them after the lock is released.
    fn remove_if(&self, is_gone: impl Fn(&StatelessClientKey, &Arc<StatelessClient>) -> bool) {
        let gone: Vec<_> =
            self.clients.lock().extract_if(|key, client| is_gone(key, client)).collect();
        drop(gone);
    }
}

/// Returns true if a call, a listen request or a task of the client is open. Calls and listen
/// requests hold a reference to the client.
fn is_busy(client: &Arc<StatelessClient>) -> bool {
    Arc::strong_count(client) > 1 || client.gate.has_open_tasks(client.caller.id)
}

/// Removes clients that have been idle for `ttl`, periodically. Returns when `clients` is dropped.
pub(crate) async fn expire_idle(clients: Weak<StatelessClients>, ttl: Duration) {
    let period = (ttl / TICKS_PER_TTL).max(Duration::from_millis(5));
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(clients) = clients.upgrade() else { return };
        clients.evict_idle(TICKS_PER_TTL.into());
    }
}

/// The interactor of a modern client outside of calls. It cannot ask the client.
struct StatelessInteractor {
    scope: CallerId,
    roots: Option<Bytes>,
}

impl Interactor for StatelessInteractor {
    fn scope(&self) -> CallerId {
        self.scope
    }

    fn tell(&self, _event: Frame) {}

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        let answer = match (&self.roots, question.kind) {
            (Some(roots), QuestionKind::Roots) => Answer::Result(roots.clone()),
            _ => Answer::Unsupported,
        };
        Box::pin(std::future::ready(answer))
    }
}
