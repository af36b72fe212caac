//! The fleet: all servers by name, with their pools and catalogs.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use parking_lot::{Mutex, RwLock};
use tokio::sync::broadcast;
use toolgate_launch::Launcher;
use toolgate_model::{
    CapabilityKind, ConfigScope, DiscoveryStatus, PoolScope, ServerName, ServerState,
};
use toolgate_session::{CallerId, RootsInteractor};
use toolgate_store::StateStore;
use toolgate_wire::view::LogLevel;

use crate::apply::redeclare;
use crate::drain::DrainingPools;
use crate::fleet_server::{ConnectionOwner, FleetServer};
use crate::lease::ServerLease;
use crate::server_cache::ServerCache;
use crate::server_pools::{OfferedCatalog, ServerPools, ServerStatus};
use crate::{CheckedCatalog, ConnectReport, FleetError, FleetEvent, Pool};

/// How many events a slow receiver can fall behind before it misses some.
const EVENT_CAPACITY: usize = 1024;

/// The client capabilities declared on shared connections: everything that any caller may support.
const ALL_CLIENT_CAPABILITIES: &[u8] =
    br#"{"roots":{"listChanged":true},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}}"#;

/// The inputs for building a [`Fleet`].
pub struct FleetBuilder {
    /// Starts the server processes.
    pub launcher: Launcher,
    /// Stores catalogs between runs.
    pub store: Option<Arc<StateStore>>,
    /// The URIs to answer `roots/list` with.
    pub roots: Vec<String>,
    /// How long calls in progress on a replaced or removed server may continue; usually
    /// [`DRAIN_LIMIT`](crate::DRAIN_LIMIT).
    pub drain: Duration,
}

/// State shared by all pools.
pub(crate) struct FleetShared {
    pub(crate) launcher: Launcher,
    pub(crate) cache: ServerCache,
    events: broadcast::Sender<FleetEvent>,
    generation: AtomicU64,
    /// The servers for which a declined question was already logged.
    declined_logged: Mutex<HashSet<ServerName>>,
}

impl FleetShared {
    pub(crate) fn announce(&self, event: FleetEvent) {
        // Sending fails only if there is no receiver, which is fine.
        let _ = self.events.send(event);
    }

    /// Logs that a question of the server was declined, once per server.
    pub(crate) fn log_declined(&self, server: &ServerName, why: &str) {
        let mut logged = self.declined_logged.lock();
        if logged.insert(server.clone()) {
            tracing::warn!(
                target: "toolgate::fleet", %server,
                "declined an elicitation: {why} (logged once per server)"
            );
        }
    }

    pub(crate) fn catalog_changed(&self, server: ServerName, kinds: Vec<CapabilityKind>) {
        self.generation.fetch_add(1, Ordering::AcqRel);
        self.announce(FleetEvent::CatalogChanged { server, kinds });
    }
}

/// A server that is ready to be added to the fleet.
pub(crate) struct PreparedServer {
    server: Arc<ServerPools>,
    pool: Arc<Pool>,
    starts: bool,
}

/// A change to the set of servers.
#[derive(Default)]
pub(crate) struct FleetChange {
    pub(crate) entering: Vec<PreparedServer>,
    /// Servers that keep their process and get a new declaration.
    pub(crate) redeclared: Vec<(Arc<ServerPools>, FleetServer)>,
    pub(crate) leaving: Vec<ServerName>,
}

/// All servers and their pools.
pub struct Fleet {
    pub(crate) shared: Arc<FleetShared>,
    default_interactor: Arc<RootsInteractor>,
    /// The number of servers that have one pool per caller.
    per_caller_servers: AtomicUsize,
    servers: RwLock<BTreeMap<ServerName, Arc<ServerPools>>>,
    /// Held for writing while a change to the servers and the related state is published.
    publishing: RwLock<()>,
    /// The number of published changes.
    epoch: AtomicU64,
    draining: DrainingPools,
    /// Serializes calls of [`Fleet::apply`].
    pub(crate) applying: tokio::sync::Mutex<()>,
}

impl FleetBuilder {
    /// Builds a fleet without servers.
    pub fn build(self) -> Fleet {
        let shared = FleetShared {
            launcher: self.launcher,
            cache: ServerCache(self.store),
            events: broadcast::channel(EVENT_CAPACITY).0,
            generation: AtomicU64::new(1),
            declined_logged: Mutex::default(),
        };
        Fleet {
            shared: Arc::new(shared),
            default_interactor: Arc::new(RootsInteractor::new(&self.roots)),
            per_caller_servers: AtomicUsize::new(0),
            servers: RwLock::default(),
            publishing: RwLock::default(),
            epoch: AtomicU64::new(0),
            draining: DrainingPools::new(self.drain),
            applying: tokio::sync::Mutex::default(),
        }
    }
}

impl Fleet {
    /// Adds a server and starts it in the background. Replaces a server with the same name.
    ///
    /// Calls in progress on the replaced server finish there, up to the drain limit. New calls go
    /// to the new server at once.
    pub async fn add_server(&self, member: FleetServer) {
        let entering = vec![self.prepare(member, true).await];
        self.publish(FleetChange { entering, ..FleetChange::default() }, || false);
    }

    /// Adds a server that starts on first use. Replaces a server with the same name.
    pub async fn add_idle_server(&self, member: FleetServer) -> Arc<Pool> {
        let prepared = self.prepare(member, false).await;
        let pool = prepared.pool.clone();
        self.publish(FleetChange { entering: vec![prepared], ..FleetChange::default() }, || false);
        pool
    }

    /// Prepares a server for publishing: loads its cached catalog, or shows that of its
    /// predecessor.
    pub(crate) async fn prepare(&self, member: FleetServer, starts: bool) -> PreparedServer {
        let starts = starts && member.initial_state == ServerState::NotStarted;
        let known = self.shared.cache.load(&member.spec).await;
        let unseen = starts && known.is_none();
        let in_vain = unseen && self.shared.cache.record_attempt(&member.spec).await;
        let server = Arc::new(ServerPools::new(member, in_vain));
        let pool = self.new_pool(&server);
        let present = self.server(&server.fleet_server().spec.name);
        let before = present.and_then(|server| server.shared_pool()?.checked_catalog());
        match (known, before) {
            (Some(known), before) => {
                pool.restore_catalog(Arc::new(
                    CheckedCatalog::check(Arc::new(known), before).await,
                ));
            }
            (None, Some(before)) => pool.show_predecessor(before),
            (None, None) => {}
        }
        PreparedServer { server, pool, starts }
    }

    /// Makes a change visible at once, together with what `also` stores. `also` returns true if
    /// that changed anything. Returns the removed servers.
    pub(crate) fn publish(
        &self,
        change: FleetChange,
        also: impl FnOnce() -> bool,
    ) -> Vec<(ServerName, Arc<ServerPools>)> {
        let FleetChange { entering, redeclared, leaving } = change;
        let publishing = self.publishing.write();
        let mut servers = self.servers.write();
        let gone: Vec<_> = leaving.iter().filter_map(|name| servers.remove_entry(name)).collect();
        let replaced: Vec<_> = entering
            .iter()
            .map(|entrant| {
                let name = entrant.server.fleet_server().spec.name.clone();
                let replaced = servers.insert(name.clone(), entrant.server.clone());
                (name, replaced)
            })
            .collect();
        let redeclared: Vec<_> = redeclared
            .into_iter()
            .filter_map(|(server, member)| redeclare(&server, member))
            .collect();
        let renewed = also();
        // Increment before the change becomes visible: a reader that sees the old epoch has not
        // seen the change.
        self.epoch.fetch_add(1, Ordering::SeqCst);
        self.shared.generation.fetch_add(1, Ordering::AcqRel);
        drop(servers);
        self.count_per_caller_servers();
        drop(publishing);

        for (name, server) in &gone {
            for pool in server.take_all() {
                pool.start_draining(None);
                self.draining.drain(pool);
            }
            self.shared.catalog_changed(name.clone(), CapabilityKind::ALL.to_vec());
        }
        for (entrant, (name, replaced)) in entering.iter().zip(replaced) {
            if let Some(replaced) = replaced {
                self.replace_pools(&replaced, &entrant.server);
            }
            self.shared.catalog_changed(name, Vec::new());
            if entrant.starts {
                entrant.pool.start();
            }
        }
        redeclared.into_iter().for_each(|name| self.shared.catalog_changed(name, Vec::new()));
        if renewed {
            self.request_rebuild();
        }
        gone
    }

    /// Runs `read` while no change is being published, so that it sees consistent state.
    pub fn snapshot<T>(&self, read: impl FnOnce() -> T) -> T {
        let _publishing = self.publishing.read();
        read()
    }

    /// Returns a number that grows with every published change to the servers or the related state.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::SeqCst)
    }

    /// Drains every pool of a replaced server. Subscriptions and log levels move to its successor.
    fn replace_pools(&self, replaced: &ServerPools, by: &ServerPools) {
        let same_scope = replaced.fleet_server().spec.pool == by.fleet_server().spec.pool;
        for old in replaced.take_all() {
            let successor = match old.is_per_caller() && !same_scope {
                true => None,
                false => by.pool(&old.tenant, || self.shared_tenant(), &self.shared),
            };
            old.start_draining(successor.as_ref());
            self.draining.drain(old);
        }
    }

    /// Removes a server. It shuts down in the background after its calls in progress, up to the
    /// drain limit. Returns false if there is no such server.
    pub async fn remove_server(&self, name: &ServerName) -> bool {
        let change = FleetChange { leaving: vec![name.clone()], ..FleetChange::default() };
        !self.publish(change, || false).is_empty()
    }

    /// Returns the tenant for connections shared by all callers.
    pub fn shared_tenant(&self) -> ConnectionOwner {
        let ambient = self.default_interactor.clone();
        ConnectionOwner {
            caller: None,
            capabilities: Bytes::from_static(ALL_CLIENT_CAPABILITIES),
            default_interactor: ambient,
        }
    }

    /// Returns the configured roots as a `roots/list` result, or `None` if there are none.
    pub fn roots(&self) -> Option<Bytes> {
        self.default_interactor.roots()
    }

    /// Sets the roots to answer `roots/list` with and notifies the connected servers.
    pub fn set_roots(&self, roots: &[String]) {
        if self.default_interactor.set(roots) {
            self.each_pool(|pool| pool.notify_roots_changed());
        }
    }

    /// Returns true if any server has one pool per caller.
    pub fn has_per_caller_servers(&self) -> bool {
        self.per_caller_servers.load(Ordering::Acquire) > 0
    }

    /// Returns the pool of a server that serves this tenant.
    pub fn pool(
        &self,
        name: &ServerName,
        tenant: &ConnectionOwner,
    ) -> Result<Arc<Pool>, FleetError> {
        loop {
            let server = self.server(name).ok_or_else(|| FleetError::Unknown(name.clone()))?;
            // A server that was replaced in the meantime has a successor in the map.
            if let Some(pool) = server.pool(tenant, || self.shared_tenant(), &self.shared) {
                return Ok(pool);
            }
        }
    }

    /// Leases the pool for a call: a server that is replaced does not shut down before the call
    /// ends.
    pub fn lease(
        &self,
        name: &ServerName,
        tenant: &ConnectionOwner,
    ) -> Result<ServerLease, FleetError> {
        loop {
            if let Some(lease) = ServerLease::new(self.pool(name, tenant)?) {
                return Ok(lease);
            }
        }
    }

    /// Leases the pool if the epoch is still `epoch`. Returns `None` if the servers changed since
    /// then, because an earlier decision may not apply to the current server.
    pub fn lease_at_epoch(
        &self,
        epoch: u64,
        name: &ServerName,
        tenant: &ConnectionOwner,
    ) -> Result<Option<ServerLease>, FleetError> {
        let lease = self.lease(name, tenant);
        // Read the epoch after the lookup, so that a server of a later epoch is never paired with
        // an earlier number.
        match self.epoch() == epoch {
            true => lease.map(Some),
            false => Ok(None),
        }
    }

    fn new_pool(&self, server: &ServerPools) -> Arc<Pool> {
        let everybody = self.shared_tenant();
        let made = server.pool(&everybody, || everybody.clone(), &self.shared);
        // The server is new, so its pools cannot have been taken yet.
        made.unwrap_or_else(|| {
            Pool::new(server.shared_server.clone(), everybody, self.shared.clone())
        })
    }

    /// Returns what each server offers this caller, ordered by place and then by name. If the
    /// caller has no own connection to a server yet, the shared catalog is returned.
    pub fn catalogs(&self, caller: Option<CallerId>) -> Vec<OfferedCatalog> {
        let servers = self.servers.read();
        let mut all: Vec<_> =
            servers.values().filter_map(|it| it.offered_catalog(caller)).collect();
        all.sort_by_key(|offered| offered.fleet_server.place); // stable: already sorted by name
        all
    }

    /// Returns the status of every server, ordered by name.
    pub fn status(&self) -> Vec<ServerStatus> {
        self.servers.read().values().map(|server| server.status()).collect()
    }

    /// Returns the names of all servers, including those that must not be used.
    pub fn names(&self) -> BTreeSet<ServerName> {
        self.servers.read().keys().cloned().collect()
    }

    /// Returns the names of all servers, and for each whether a project file declares it.
    pub fn project_declarations(&self) -> BTreeMap<ServerName, bool> {
        let servers = self.servers.read();
        let proposed =
            |server: &ServerPools| server.fleet_server().origin.scope == ConfigScope::Project;
        servers.iter().map(|(name, server)| (name.clone(), proposed(server))).collect()
    }

    /// Returns the progress of the initial discovery of all servers.
    pub fn discovery(&self) -> DiscoveryStatus {
        let states: Vec<_> = self.status().into_iter().map(|status| status.state).collect();
        if states.iter().all(ServerState::is_settled) {
            DiscoveryStatus::Completed
        } else if states.iter().all(|state| *state == ServerState::NotStarted) {
            DiscoveryStatus::NotStarted
        } else {
            DiscoveryStatus::InProgress
        }
    }

    /// Waits until every server that `pick` selects has settled.
    pub async fn wait_settled(&self, pick: impl Fn(&ServerStatus) -> bool) {
        let mut events = self.events();
        loop {
            let pending = |status: &ServerStatus| pick(status) && !status.state.is_settled();
            if !self.status().iter().any(pending) {
                return;
            }
            if let Err(broadcast::error::RecvError::Closed) = events.recv().await {
                return;
            }
        }
    }

    /// Waits until every server without a known catalog has connected or failed. Does not wait for
    /// servers that failed repeatedly before.
    pub async fn wait_discovered(&self) {
        self.wait_settled(|status| status.catalog.is_none() && !status.repeatedly_failed).await;
    }

    /// Opens a separate connection to a server and reports every phase.
    pub async fn test_connection(&self, name: &ServerName) -> Result<ConnectReport, FleetError> {
        Ok(self.pool(name, &self.shared_tenant())?.test_connection().await)
    }

    /// Returns a receiver for all events from now on.
    pub fn events(&self) -> broadcast::Receiver<FleetEvent> {
        self.shared.events.subscribe()
    }

    /// Requests that everything derived from the catalogs is rebuilt.
    pub fn request_rebuild(&self) {
        self.shared.generation.fetch_add(1, Ordering::AcqRel);
        self.shared.announce(FleetEvent::RebuildRequested);
    }

    /// Returns a number that grows whenever a catalog changes.
    pub fn generation(&self) -> u64 {
        self.shared.generation.load(Ordering::Acquire)
    }

    /// Sets the minimum level of log messages that a caller wants.
    pub fn set_level(&self, caller: CallerId, level: LogLevel) {
        self.each_pool(|pool| pool.set_level(caller, level));
    }

    /// Removes a caller: drops its subscriptions and log level, and closes its own pools.
    pub fn release_caller(&self, caller: CallerId) {
        self.each_pool(|pool| pool.release_caller(caller));
        for own in self.servers.read().values().filter_map(|server| server.take_caller_pool(caller))
        {
            tokio::spawn(async move { own.close().await });
        }
    }

    /// Shuts down every server, including those that are draining.
    pub async fn close(&self) {
        let servers = std::mem::take(&mut *self.servers.write());
        let pools: Vec<_> = servers.values().flat_map(|server| server.take_all()).collect();
        let present = join_all(pools.iter().map(|pool| pool.close()));
        tokio::join!(present, self.draining.close_all());
    }

    fn count_per_caller_servers(&self) {
        let own =
            |server: &&Arc<ServerPools>| server.fleet_server().spec.pool == PoolScope::PerCaller;
        let count = self.servers.read().values().filter(own).count();
        self.per_caller_servers.store(count, Ordering::Release);
    }

    fn each_pool(&self, act: impl Fn(&Pool)) {
        for server in self.servers.read().values() {
            server.all().iter().for_each(|pool| act(pool));
        }
    }

    pub(crate) fn server(&self, name: &ServerName) -> Option<Arc<ServerPools>> {
        self.servers.read().get(name).cloned()
    }
}
