//! One server of the fleet: its declaration and one pool per key.

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use toolgate_model::{
    CapabilityKind, Catalog, Definition, Origin, ServerName, ServerSpec, ServerState,
};
use toolgate_session::CallerId;

use crate::fleet::FleetShared;
use crate::fleet_server::{ConnectionOwner, FleetServer};
use crate::{CheckedCatalog, Pool};

/// The status of one server.
#[derive(Debug, Clone)]
pub struct ServerStatus {
    /// The server as declared.
    pub spec: ServerSpec,
    /// Where it was declared.
    pub origin: Origin,
    /// Its state.
    pub state: ServerState,
    /// Its catalog, if it is known.
    pub catalog: Option<Arc<Catalog>>,
    /// True if the server failed several times and never connected, so that waiting for it is not
    /// worthwhile.
    pub repeatedly_failed: bool,
}

impl ServerStatus {
    /// Returns the definitions of one kind, without the tools that the declaration hides.
    pub fn visible_definitions(&self, kind: CapabilityKind) -> impl Iterator<Item = &Definition> {
        let definitions = self.catalog.iter().flat_map(move |catalog| catalog.definitions(kind));
        definitions.filter(move |definition| {
            kind != CapabilityKind::Tool || self.spec.selection.is_visible(&definition.name)
        })
    }
}

/// The catalog of one server together with its declaration.
pub struct OfferedCatalog {
    /// The server as declared.
    pub fleet_server: Arc<FleetServer>,
    /// Its checked catalog.
    pub checked: Arc<CheckedCatalog>,
    /// True if this is the catalog of the server it replaces, shown until its own is known.
    pub is_from_predecessor: bool,
}

impl OfferedCatalog {
    /// Returns the name of the server.
    pub fn server(&self) -> &ServerName {
        &self.fleet_server.spec.name
    }
}

/// A declaration whose metadata can change while the process keeps running.
pub(crate) type SharedFleetServer = Arc<ArcSwap<FleetServer>>;

/// One server of the fleet with all its pools.
pub(crate) struct ServerPools {
    pub(crate) shared_server: SharedFleetServer,
    repeatedly_failed: bool,
    pools: Mutex<PoolMap>,
}

/// The pools of one server by key; `None` is the key of the shared pool.
#[derive(Default)]
struct PoolMap {
    by_key: BTreeMap<Option<CallerId>, Arc<Pool>>,
    /// True once the server was removed from the fleet. No pool is created then.
    gone: bool,
}

impl ServerPools {
    pub(crate) fn new(member: FleetServer, in_vain: bool) -> Self {
        let declared = Arc::new(ArcSwap::from_pointee(member));
        Self { shared_server: declared, repeatedly_failed: in_vain, pools: Mutex::default() }
    }

    /// Returns the current declaration.
    pub(crate) fn fleet_server(&self) -> Arc<FleetServer> {
        self.shared_server.load_full()
    }

    /// Replaces the declaration by one that describes the same process.
    pub(crate) fn redeclare(&self, member: FleetServer) {
        self.shared_server.store(Arc::new(member));
    }

    /// Returns the pool for a tenant and creates it if needed. Returns `None` if the server was
    /// removed from the fleet.
    pub(crate) fn pool(
        &self,
        tenant: &ConnectionOwner,
        everybody: impl FnOnce() -> ConnectionOwner,
        shared: &Arc<FleetShared>,
    ) -> Option<Arc<Pool>> {
        let key = tenant.key(self.shared_server.load().spec.pool);
        let mut pools = self.pools.lock();
        if pools.gone {
            return None;
        }
        let make = || {
            let tenant = if key.is_some() { tenant.clone() } else { everybody() };
            Pool::new(self.shared_server.clone(), tenant, shared.clone())
        };
        Some(pools.by_key.entry(key).or_insert_with(make).clone())
    }

    /// Returns the pool shared by all callers, if there is one.
    pub(crate) fn shared_pool(&self) -> Option<Arc<Pool>> {
        self.pools.lock().by_key.get(&None).cloned()
    }

    /// Returns all pools.
    pub(crate) fn all(&self) -> Vec<Arc<Pool>> {
        self.pools.lock().by_key.values().cloned().collect()
    }

    /// Returns true if any pool has a live connection.
    pub(crate) fn is_up(&self) -> bool {
        self.all().iter().any(|pool| pool.live_connection().is_some())
    }

    /// Restarts the pools that were closed because the server offered nothing usable.
    pub(crate) fn restart_if_unusable(&self) {
        self.all().iter().for_each(|pool| pool.restart_if_unusable());
    }

    /// Removes and returns the pool of a caller.
    pub(crate) fn take_caller_pool(&self, caller: CallerId) -> Option<Arc<Pool>> {
        self.pools.lock().by_key.remove(&Some(caller))
    }

    /// Removes and returns all pools. No new pool is created afterwards.
    pub(crate) fn take_all(&self) -> Vec<Arc<Pool>> {
        let mut pools = self.pools.lock();
        pools.gone = true;
        std::mem::take(&mut pools.by_key).into_values().collect()
    }

    /// Returns what the server offers this caller. If the caller has no own connection yet, the
    /// shared catalog is returned. A server that must not be used offers nothing, even if a catalog
    /// is cached.
    pub(crate) fn offered_catalog(&self, caller: Option<CallerId>) -> Option<OfferedCatalog> {
        let member = self.fleet_server();
        let pools = self.pools.lock();
        let everybodys = pools.by_key.get(&None);
        let state = everybodys.map_or(member.initial_state.clone(), |pool| pool.state());
        if let ServerState::Blocked(_) | ServerState::Disabled | ServerState::NeedsAuth(_) = state {
            return None;
        }
        let own = pools.by_key.get(&caller).and_then(|pool| Some((pool.checked_catalog()?, pool)));
        let (known, of) =
            own.or_else(|| everybodys.and_then(|it| Some((it.checked_catalog()?, it))))?;
        Some(OfferedCatalog {
            fleet_server: member,
            checked: known,
            is_from_predecessor: of.shows_predecessor(),
        })
    }

    pub(crate) fn status(&self) -> ServerStatus {
        let (member, pool) = (self.fleet_server(), self.shared_pool());
        ServerStatus {
            spec: member.spec.clone(),
            origin: member.origin.clone(),
            state: pool.as_ref().map_or(member.initial_state.clone(), |pool| pool.state()),
            catalog: pool.and_then(|pool| pool.catalog()),
            repeatedly_failed: self.repeatedly_failed,
        }
    }
}
