//! The fleet: servers by name, their pools, and what is known of all of them.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use tokio::sync::broadcast;
use toolgate_launch::Launcher;
use toolgate_model::{CapabilityKind, Discovery, PoolScope, Scope, ServerName, ServerState};
use toolgate_store::State;
use toolgate_wire::view::LogLevel;

use crate::apply::redeclare;
use crate::gauge::Visit;
use crate::leaving::Leaving;
use crate::member::{Member, Tenant};
use crate::memory::Memory;
use crate::roots::Standing;
use crate::server::{Offered, Server, ServerStatus};
use crate::{CallerKey, FleetError, FleetEvent, Known, Pool, Report};

/// How many events may wait for a slow listener before it misses some.
const EVENTS: usize = 1024;

/// What we tell servers that serve everybody: everything some caller may be able to do.
const EVERYTHING: &[u8] =
    br#"{"roots":{"listChanged":true},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}}"#;

/// What a fleet is made of.
pub struct FleetBuilder {
    /// Starts processes.
    pub launcher: Launcher,
    /// Remembers catalogs between runs.
    pub store: Option<Arc<dyn State>>,
    /// What `roots/list` answers, as URIs.
    pub roots: Vec<String>,
    /// How long calls under way on a server that is replaced or dismissed may go on; usually
    /// [`DRAIN`](crate::DRAIN).
    pub drain: Duration,
}

/// What every pool shares.
pub(crate) struct Shared {
    pub(crate) launcher: Launcher,
    pub(crate) memory: Memory,
    events: broadcast::Sender<FleetEvent>,
    generation: AtomicU64,
    /// The servers whose declined questions were logged.
    declined: Mutex<HashSet<ServerName>>,
}

impl Shared {
    pub(crate) fn announce(&self, event: FleetEvent) {
        // Nobody listening is no fault.
        let _ = self.events.send(event);
    }

    /// Logs, once per server, that a question of it was declined.
    pub(crate) fn declined(&self, server: &ServerName, why: &str) {
        let mut logged = self.declined.lock().unwrap_or_else(PoisonError::into_inner);
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

/// A server about to be added.
pub(crate) struct Entrant {
    server: Arc<Server>,
    pool: Arc<Pool>,
    starts: bool,
}

/// What is to be different about the servers.
#[derive(Default)]
pub(crate) struct Change {
    pub(crate) entering: Vec<Entrant>,
    /// Those whose process goes on under another declaration.
    pub(crate) redeclared: Vec<(Arc<Server>, Member)>,
    pub(crate) leaving: Vec<ServerName>,
}

/// All servers.
pub struct Fleet {
    pub(crate) shared: Arc<Shared>,
    ambient: Arc<Standing>,
    /// How many servers have a pool per caller.
    own_servers: AtomicUsize,
    servers: RwLock<BTreeMap<ServerName, Arc<Server>>>,
    /// Held while servers, and what is stored together with them, are exchanged.
    publishing: RwLock<()>,
    /// How often that happened.
    epoch: AtomicU64,
    leaving: Leaving,
    /// One declaration of all servers at a time.
    pub(crate) applying: tokio::sync::Mutex<()>,
}

impl FleetBuilder {
    /// A fleet without servers yet.
    pub fn build(self) -> Fleet {
        let shared = Shared {
            launcher: self.launcher,
            memory: Memory(self.store),
            events: broadcast::channel(EVENTS).0,
            generation: AtomicU64::new(1),
            declined: Mutex::default(),
        };
        Fleet {
            shared: Arc::new(shared),
            ambient: Arc::new(Standing::new(&self.roots)),
            own_servers: AtomicUsize::new(0),
            servers: RwLock::default(),
            publishing: RwLock::default(),
            epoch: AtomicU64::new(0),
            leaving: Leaving::new(self.drain),
            applying: tokio::sync::Mutex::default(),
        }
    }
}

impl Fleet {
    /// Adds a server and starts it in the background; one of the same name is replaced.
    ///
    /// Calls under way on the replaced one finish there, up to the drain limit; nobody waits for
    /// that, and calls from now on go to the new one.
    pub async fn enlist(&self, member: Member) {
        let entering = vec![self.prepare(member, true).await];
        self.publish(Change { entering, ..Change::default() }, || false);
    }

    /// Adds a server that is started by its first use; one of the same name is replaced.
    pub async fn enlist_idle(&self, member: Member) -> Arc<Pool> {
        let entrant = self.prepare(member, false).await;
        let pool = entrant.pool.clone();
        self.publish(Change { entering: vec![entrant], ..Change::default() }, || false);
        pool
    }

    /// A server that knows what there is to know of it, before anybody sees it.
    pub(crate) async fn prepare(&self, member: Member, starts: bool) -> Entrant {
        let starts = starts && member.standing == ServerState::NotStarted;
        let known = self.shared.memory.load(&member.spec).await;
        let unseen = starts && known.is_none();
        let in_vain = unseen && self.shared.memory.tried_in_vain(&member.spec).await;
        let server = Arc::new(Server::new(member, in_vain));
        let pool = self.new_pool(&server);
        let present = self.server(&server.member().spec.name);
        let before = present.and_then(|server| server.shared_pool()?.known());
        match (known, before) {
            (Some(known), before) => {
                pool.remember(Arc::new(Known::of(Arc::new(known), before).await));
            }
            (None, Some(before)) => pool.show_meanwhile(before),
            (None, None) => {}
        }
        Entrant { server, pool, starts }
    }

    /// Makes a change visible, all of it at once, together with what `also` stores; `also` says
    /// whether that changed anything. Gives the names of the servers that are gone.
    pub(crate) fn publish(
        &self,
        change: Change,
        also: impl FnOnce() -> bool,
    ) -> Vec<(ServerName, Arc<Server>)> {
        let Change { entering, redeclared, leaving } = change;
        let publishing = self.publishing.write().unwrap_or_else(PoisonError::into_inner);
        let mut servers = self.write();
        let gone: Vec<_> = leaving.iter().filter_map(|name| servers.remove_entry(name)).collect();
        let replaced: Vec<_> = entering
            .iter()
            .map(|entrant| {
                let name = entrant.server.member().spec.name.clone();
                let replaced = servers.insert(name.clone(), entrant.server.clone());
                (name, replaced)
            })
            .collect();
        let redeclared: Vec<_> = redeclared
            .into_iter()
            .filter_map(|(server, member)| redeclare(&server, member))
            .collect();
        let renewed = also();
        // Before anybody can see the change: whoever finds the old number saw nothing of it.
        self.epoch.fetch_add(1, Ordering::SeqCst);
        self.shared.generation.fetch_add(1, Ordering::AcqRel);
        drop(servers);
        self.count_own_servers();
        drop(publishing);

        for (name, server) in &gone {
            for pool in server.take_all() {
                pool.leave(None);
                self.leaving.see_off(pool);
            }
            self.shared.catalog_changed(name.clone(), CapabilityKind::ALL.to_vec());
        }
        for (entrant, (name, replaced)) in entering.iter().zip(replaced) {
            if let Some(replaced) = replaced {
                self.succeed(&replaced, &entrant.server);
            }
            self.shared.catalog_changed(name, Vec::new());
            if entrant.starts {
                entrant.pool.start();
            }
        }
        redeclared.into_iter().for_each(|name| self.shared.catalog_changed(name, Vec::new()));
        if renewed {
            self.renew();
        }
        gone
    }

    /// Reads several things as they were published together.
    pub fn snapshot<T>(&self, read: impl FnOnce() -> T) -> T {
        let _publishing = self.publishing.read().unwrap_or_else(PoisonError::into_inner);
        read()
    }

    /// Grows whenever servers are declared anew, and with what is stored together with them.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::SeqCst)
    }

    /// Every pool of a replaced server leaves; what callers wanted of it, they want of its
    /// successor.
    fn succeed(&self, replaced: &Server, by: &Server) {
        let same_scope = replaced.member().spec.pool == by.member().spec.pool;
        for old in replaced.take_all() {
            let successor = match old.is_own() && !same_scope {
                true => None,
                false => by.pool(old.tenant(), || self.everybody(), &self.shared),
            };
            old.leave(successor.as_ref());
            self.leaving.see_off(old);
        }
    }

    /// Removes a server; it ends after the calls under way on it, up to the drain limit, and nobody
    /// waits for that. `false` if there was none.
    pub async fn dismiss(&self, name: &ServerName) -> bool {
        let change = Change { leaving: vec![name.clone()], ..Change::default() };
        !self.publish(change, || false).is_empty()
    }

    /// The tenant that stands for everybody.
    pub fn everybody(&self) -> Tenant {
        let ambient = self.ambient.clone();
        Tenant { caller: None, capabilities: Bytes::from_static(EVERYTHING), ambient }
    }

    /// The configured roots, as a `roots/list` result; `None` if there are none.
    pub fn roots(&self) -> Option<Bytes> {
        self.ambient.roots()
    }

    /// What `roots/list` answers from now on. Servers that are up are told that it changed.
    pub fn set_roots(&self, roots: &[String]) {
        if self.ambient.set(roots) {
            self.each_pool(|pool| pool.tell_roots_changed());
        }
    }

    /// Whether any server gives each caller a connection of his own.
    pub fn has_own_servers(&self) -> bool {
        self.own_servers.load(Ordering::Acquire) > 0
    }

    /// The pool of a server that serves this tenant.
    pub fn pool(&self, name: &ServerName, tenant: &Tenant) -> Result<Arc<Pool>, FleetError> {
        loop {
            let server = self.server(name).ok_or_else(|| FleetError::Unknown(name.clone()))?;
            // One that was replaced while we looked has a successor in the books.
            if let Some(pool) = server.pool(tenant, || self.everybody(), &self.shared) {
                return Ok(pool);
            }
        }
    }

    /// The same, for a call: a server that is replaced meanwhile waits with its end.
    pub fn visit(&self, name: &ServerName, tenant: &Tenant) -> Result<Visit, FleetError> {
        loop {
            if let Some(visit) = Visit::new(self.pool(name, tenant)?) {
                return Ok(visit);
            }
        }
    }

    /// The same, as long as servers are declared as they were at this epoch; `None` if they are
    /// declared anew, so that what was decided before may not be about this server.
    pub fn visit_as_of(
        &self,
        epoch: u64,
        name: &ServerName,
        tenant: &Tenant,
    ) -> Result<Option<Visit>, FleetError> {
        let visit = self.visit(name, tenant);
        // Looked at after the server was: a server of a later epoch is never found with an earlier
        // number.
        match self.epoch() == epoch {
            true => visit.map(Some),
            false => Ok(None),
        }
    }

    fn new_pool(&self, server: &Server) -> Arc<Pool> {
        let everybody = self.everybody();
        let made = server.pool(&everybody, || everybody.clone(), &self.shared);
        // Only one that was in the books can be gone from them.
        made.unwrap_or_else(|| Pool::new(server.declared(), everybody, self.shared.clone()))
    }

    /// What each server offers this caller, by place and then by name. A server he has no connection
    /// to yet shows what it offers everybody.
    pub fn catalogs(&self, caller: Option<CallerKey>) -> Vec<Offered> {
        let servers = self.read();
        let mut all: Vec<_> = servers.values().filter_map(|it| it.offered(caller)).collect();
        all.sort_by_key(|offered| offered.member.place); // a stable sort: they came by name
        all
    }

    /// How every server stands, by name.
    pub fn status(&self) -> Vec<ServerStatus> {
        self.read().values().map(|server| server.status()).collect()
    }

    /// The names of all servers, whether they may be used or not.
    pub fn names(&self) -> BTreeSet<ServerName> {
        self.read().keys().cloned().collect()
    }

    /// The names of all servers, and whether a project's file declares them.
    pub fn declared(&self) -> BTreeMap<ServerName, bool> {
        let servers = self.read();
        let proposed = |server: &Server| server.member().origin.scope == Scope::Project;
        servers.iter().map(|(name, server)| (name.clone(), proposed(server))).collect()
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

    /// Waits until every server of which nothing was known has come up or failed, those aside that
    /// were tried in vain before.
    pub async fn first_seen(&self) {
        self.settled(|status| status.catalog.is_none() && !status.in_vain).await;
    }

    /// Brings a server up on a connection of its own, to see how that goes.
    pub async fn examine(&self, name: &ServerName) -> Result<Report, FleetError> {
        Ok(self.pool(name, &self.everybody())?.examine().await)
    }

    /// What happens from now on.
    pub fn events(&self) -> broadcast::Receiver<FleetEvent> {
        self.shared.events.subscribe()
    }

    /// Has everything that is made of the catalogs made again.
    pub fn renew(&self) {
        self.shared.generation.fetch_add(1, Ordering::AcqRel);
        self.shared.announce(FleetEvent::Renewed);
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
        for own in self.read().values().filter_map(|server| server.take_own(caller)) {
            tokio::spawn(async move { own.close().await });
        }
    }

    /// Ends every server, those on their way out too.
    pub async fn close(&self) {
        let servers = std::mem::take(&mut *self.write());
        let pools: Vec<_> = servers.values().flat_map(|server| server.take_all()).collect();
        let present = join_all(pools.iter().map(|pool| pool.close()));
        tokio::join!(present, self.leaving.end());
    }

    fn count_own_servers(&self) {
        let own = |server: &&Arc<Server>| server.member().spec.pool == PoolScope::PerCaller;
        let count = self.read().values().filter(own).count();
        self.own_servers.store(count, Ordering::Release);
    }

    fn each_pool(&self, act: impl Fn(&Pool)) {
        for server in self.read().values() {
            server.all().iter().for_each(|pool| act(pool));
        }
    }

    pub(crate) fn server(&self, name: &ServerName) -> Option<Arc<Server>> {
        self.read().get(name).cloned()
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, BTreeMap<ServerName, Arc<Server>>> {
        self.servers.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, BTreeMap<ServerName, Arc<Server>>> {
        self.servers.write().unwrap_or_else(PoisonError::into_inner)
    }
}
