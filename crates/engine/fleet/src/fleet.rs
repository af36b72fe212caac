//! The fleet: servers by name, their pools, and what is known of all of them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use bytes::Bytes;
use futures_util::future::join_all;
use tokio::sync::broadcast;
use toolgate_launch::Launcher;
use toolgate_model::{Catalog, Discovery, Origin, PoolScope, ServerName, ServerSpec, ServerState};
use toolgate_session::Ambient;
use toolgate_store::State;
use toolgate_wire::view::LogLevel;

use crate::member::{Member, Tenant};
use crate::memory::Memory;
use crate::{CallerKey, FleetError, FleetEvent, Pool, Report};

/// How many events may wait for a slow listener before it misses some.
const EVENTS: usize = 1024;

/// What we tell servers that serve everybody: everything some caller may be able to do.
const EVERYTHING: &[u8] =
    br#"{"roots":{},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}}"#;

/// What a fleet is made of.
pub struct FleetBuilder {
    /// Starts processes.
    pub launcher: Launcher,
    /// Remembers catalogs between runs.
    pub store: Option<Arc<dyn State>>,
    /// What `roots/list` answers, as URIs.
    pub roots: Vec<String>,
}

/// What every pool shares.
pub(crate) struct Shared {
    pub(crate) launcher: Launcher,
    pub(crate) memory: Memory,
    events: broadcast::Sender<FleetEvent>,
    generation: AtomicU64,
}

impl Shared {
    pub(crate) fn announce(&self, event: FleetEvent) {
        // Nobody listening is no fault.
        let _ = self.events.send(event);
    }

    pub(crate) fn catalog_changed(
        &self,
        server: ServerName,
        kinds: Vec<toolgate_model::CapabilityKind>,
    ) {
        self.generation.fetch_add(1, Ordering::AcqRel);
        self.announce(FleetEvent::CatalogChanged { server, kinds });
    }
}

/// How one server stands, for people.
#[derive(Debug, Clone)]
pub struct ServerStatus {
    /// As declared.
    pub spec: ServerSpec,
    /// Where it was declared.
    pub origin: Origin,
    /// How it stands.
    pub state: ServerState,
    /// What it offers, as far as is known.
    pub catalog: Option<Arc<Catalog>>,
}

/// All servers.
pub struct Fleet {
    shared: Arc<Shared>,
    ambient: Arc<Ambient>,
    has_roots: bool,
    /// How many servers have a pool per caller.
    own_servers: AtomicUsize,
    servers: RwLock<BTreeMap<ServerName, Arc<Server>>>,
}

struct Server {
    member: Arc<Member>,
    pools: Mutex<BTreeMap<Option<CallerKey>, Arc<Pool>>>,
}

impl FleetBuilder {
    /// A fleet without servers yet.
    pub fn build(self) -> Fleet {
        let shared = Shared {
            launcher: self.launcher,
            memory: Memory(self.store),
            events: broadcast::channel(EVENTS).0,
            generation: AtomicU64::new(1),
        };
        let ambient = Arc::new(Ambient::new(&self.roots));
        Fleet {
            shared: Arc::new(shared),
            ambient,
            has_roots: !self.roots.is_empty(),
            own_servers: AtomicUsize::new(0),
            servers: RwLock::default(),
        }
    }
}

impl Fleet {
    /// Adds a server and starts it in the background; one of the same name is replaced.
    pub async fn enlist(&self, member: Member) {
        let may_start = member.standing == ServerState::NotStarted;
        let pool = self.enlist_idle(member).await;
        if may_start {
            tokio::spawn(async move { pool.live().await.map(drop) });
        }
    }

    /// Adds a server that is started by its first use; one of the same name is replaced.
    pub async fn enlist_idle(&self, member: Member) -> Arc<Pool> {
        let name = member.spec.name.clone();
        let known = self.shared.memory.load(&member.spec).await;
        let server = Arc::new(Server { member: Arc::new(member), pools: Mutex::default() });
        let replaced = self.write().insert(name, server.clone());
        self.count_own_servers();
        if let Some(replaced) = replaced {
            close(&replaced).await;
        }
        let pool = self.pool_of(&server, &self.everybody());
        if let Some(known) = known {
            pool.remember(known);
        }
        self.shared.catalog_changed(server.member.spec.name.clone(), Vec::new());
        pool
    }

    /// Removes a server and ends it. `false` if there was none.
    pub async fn dismiss(&self, name: &ServerName) -> bool {
        let Some(server) = self.write().remove(name) else { return false };
        self.count_own_servers();
        let kinds = toolgate_model::CapabilityKind::ALL.to_vec();
        self.shared.catalog_changed(name.clone(), kinds);
        close(&server).await;
        true
    }

    /// The tenant that stands for everybody.
    pub fn everybody(&self) -> Tenant {
        let ambient = self.ambient.clone();
        Tenant { caller: None, capabilities: Bytes::from_static(EVERYTHING), ambient }
    }

    /// The configured roots, as a `roots/list` result; `None` if there are none.
    pub fn roots(&self) -> Option<Bytes> {
        self.has_roots.then(|| self.ambient.roots())
    }

    /// Whether any server gives each caller a connection of his own.
    pub fn has_own_servers(&self) -> bool {
        self.own_servers.load(Ordering::Acquire) > 0
    }

    /// The pool of a server that serves this tenant.
    pub fn pool(&self, name: &ServerName, tenant: &Tenant) -> Result<Arc<Pool>, FleetError> {
        let server = self.read().get(name).cloned();
        let server = server.ok_or_else(|| FleetError::Unknown(name.clone()))?;
        Ok(self.pool_of(&server, tenant))
    }

    fn pool_of(&self, server: &Server, tenant: &Tenant) -> Arc<Pool> {
        let key = tenant.key(server.member.spec.pool);
        let mut pools = server.pools.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || {
            let tenant = if key.is_some() { tenant.clone() } else { self.everybody() };
            Pool::new(server.member.clone(), tenant, self.shared.clone())
        };
        pools.entry(key).or_insert_with(make).clone()
    }

    /// What each server offers this caller, by name. A server he has no connection to yet shows
    /// what it offers everybody.
    pub fn catalogs(&self, caller: Option<CallerKey>) -> Vec<(ServerName, Arc<Catalog>)> {
        let servers = self.read();
        let known = |(name, server): (&ServerName, &Arc<Server>)| {
            let pools = server.pools.lock().unwrap_or_else(PoisonError::into_inner);
            let own = pools.get(&caller).and_then(|pool| pool.catalog());
            let catalog = own.or_else(|| pools.get(&None)?.catalog())?;
            usable(server, &pools).then(|| (name.clone(), catalog))
        };
        servers.iter().filter_map(known).collect()
    }

    /// How every server stands, by name.
    pub fn status(&self) -> Vec<ServerStatus> {
        self.read().values().map(|server| status(server)).collect()
    }

    /// How far the first look at all servers has come.
    pub fn discovery(&self) -> Discovery {
        let states: Vec<_> = self.status().into_iter().map(|status| status.state).collect();
        if states.iter().all(ServerState::is_settled) {
            Discovery::Completed
        } else if states.iter().all(|state| *state == ServerState::NotStarted) {
            Discovery::NotStarted
        } else {
            Discovery::InProgress
        }
    }

    /// Waits until every server the test picks has settled.
    pub async fn settled(&self, pick: impl Fn(&ServerStatus) -> bool) {
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

    /// Brings a server up on a connection of its own, to see how that goes.
    pub async fn examine(&self, name: &ServerName) -> Result<Report, FleetError> {
        Ok(self.pool(name, &self.everybody())?.examine().await)
    }

    /// What happens from now on.
    pub fn events(&self) -> broadcast::Receiver<FleetEvent> {
        self.shared.events.subscribe()
    }

    /// Grows whenever a catalog changes.
    pub fn generation(&self) -> u64 {
        self.shared.generation.load(Ordering::Acquire)
    }

    /// The level from which a caller wants log lines.
    pub fn set_level(&self, caller: CallerKey, level: LogLevel) {
        self.each_pool(|pool| pool.set_level(caller, level));
    }

    /// A caller is gone: what he subscribed to, asked for and had for himself goes with him.
    pub fn release(&self, caller: CallerKey) {
        self.each_pool(|pool| pool.release(caller));
        for server in self.read().values() {
            let mut pools = server.pools.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(own) = pools.remove(&Some(caller)) {
                tokio::spawn(async move { own.close().await });
            }
        }
    }

    /// Ends every server.
    pub async fn close(&self) {
        let servers = std::mem::take(&mut *self.write());
        join_all(servers.values().map(|server| close(server))).await;
    }

    fn count_own_servers(&self) {
        let own = |server: &&Arc<Server>| server.member.spec.pool == PoolScope::PerCaller;
        let count = self.read().values().filter(own).count();
        self.own_servers.store(count, Ordering::Release);
    }

    fn each_pool(&self, act: impl Fn(&Pool)) {
        for server in self.read().values() {
            let pools = server.pools.lock().unwrap_or_else(PoisonError::into_inner);
            pools.values().for_each(|pool| act(pool));
        }
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, BTreeMap<ServerName, Arc<Server>>> {
        self.servers.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, BTreeMap<ServerName, Arc<Server>>> {
        self.servers.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A server that may not be used offers nothing, whatever is remembered of it.
fn usable(server: &Server, pools: &BTreeMap<Option<CallerKey>, Arc<Pool>>) -> bool {
    let state = pools.get(&None).map_or(server.member.standing.clone(), |pool| pool.state());
    !matches!(state, ServerState::Blocked(_) | ServerState::Disabled | ServerState::NeedsAuth(_))
}

fn status(server: &Server) -> ServerStatus {
    let pool = server.pools.lock().unwrap_or_else(PoisonError::into_inner).get(&None).cloned();
    ServerStatus {
        spec: server.member.spec.clone(),
        origin: server.member.origin.clone(),
        state: pool.as_ref().map_or(server.member.standing.clone(), |pool| pool.state()),
        catalog: pool.and_then(|pool| pool.catalog()),
    }
}

async fn close(server: &Server) {
    let pools = std::mem::take(&mut *server.pools.lock().unwrap_or_else(PoisonError::into_inner));
    join_all(pools.values().map(|pool| pool.close())).await;
}
