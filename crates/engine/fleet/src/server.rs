//! One server in the books: as it is declared, and a pool for each key.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use toolgate_model::{CapabilityKind, Catalog, Definition, Origin, ServerSpec, ServerState};

use crate::fleet::Shared;
use crate::member::{Member, Tenant};
use crate::{CallerKey, Known, Pool};

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
    /// Whether nothing was ever seen of it, though it was tried more than once: not worth a wait.
    pub in_vain: bool,
}

impl ServerStatus {
    /// What it offers of one kind, without the tools its declaration hides.
    pub fn offers(&self, kind: CapabilityKind) -> impl Iterator<Item = &Definition> {
        let definitions = self.catalog.iter().flat_map(move |catalog| catalog.of(kind));
        definitions.filter(move |definition| {
            kind != CapabilityKind::Tool || self.spec.selection.shows(&definition.name)
        })
    }
}

/// What one server offers, and what its declaration says of that.
pub struct Offered {
    /// As declared.
    pub member: Arc<Member>,
    /// What is known of it.
    pub known: Arc<Known>,
    /// Whether that is what the server offered which it replaces, shown until its own is known.
    pub borrowed: bool,
}

/// A declaration that may change where its process need not know.
pub(crate) type Declared = Arc<ArcSwap<Member>>;

pub(crate) struct Server {
    declared: Declared,
    in_vain: bool,
    pools: Mutex<Pools>,
}

#[derive(Default)]
struct Pools {
    by_key: BTreeMap<Option<CallerKey>, Arc<Pool>>,
    /// Whether it is in the books no more: nobody gets a pool here then.
    gone: bool,
}

impl Server {
    pub(crate) fn new(member: Member, in_vain: bool) -> Self {
        let declared = Arc::new(ArcSwap::from_pointee(member));
        Self { declared, in_vain, pools: Mutex::default() }
    }

    fn pools(&self) -> MutexGuard<'_, Pools> {
        self.pools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn declared(&self) -> Declared {
        self.declared.clone()
    }

    /// As declared now.
    pub(crate) fn member(&self) -> Arc<Member> {
        self.declared.load_full()
    }

    /// Takes over a declaration whose process is the same.
    pub(crate) fn redeclare(&self, member: Member) {
        self.declared.store(Arc::new(member));
    }

    /// The pool for a tenant; `None` if the server was taken out of the books.
    pub(crate) fn pool(
        &self,
        tenant: &Tenant,
        everybody: impl FnOnce() -> Tenant,
        shared: &Arc<Shared>,
    ) -> Option<Arc<Pool>> {
        let key = tenant.key(self.declared.load().spec.pool);
        let mut pools = self.pools();
        if pools.gone {
            return None;
        }
        let make = || {
            let tenant = if key.is_some() { tenant.clone() } else { everybody() };
            Pool::new(self.declared.clone(), tenant, shared.clone())
        };
        Some(pools.by_key.entry(key).or_insert_with(make).clone())
    }

    /// The pool of everybody, if there is one.
    pub(crate) fn shared_pool(&self) -> Option<Arc<Pool>> {
        self.pools().by_key.get(&None).cloned()
    }

    /// Every pool there is.
    pub(crate) fn all(&self) -> Vec<Arc<Pool>> {
        self.pools().by_key.values().cloned().collect()
    }

    /// Whether some connection to it is up.
    pub(crate) fn is_up(&self) -> bool {
        self.all().iter().any(|pool| pool.usable().is_some())
    }

    /// Looks again at one that was closed because it offered nothing.
    pub(crate) fn reconsider(&self) {
        self.all().iter().for_each(|pool| pool.reconsider());
    }

    /// Takes the pool of a caller out.
    pub(crate) fn take_own(&self, caller: CallerKey) -> Option<Arc<Pool>> {
        self.pools().by_key.remove(&Some(caller))
    }

    /// Takes every pool out, for good.
    pub(crate) fn take_all(&self) -> Vec<Arc<Pool>> {
        let mut pools = self.pools();
        pools.gone = true;
        std::mem::take(&mut pools.by_key).into_values().collect()
    }

    /// What it offers this caller. A server he has no connection to yet shows what it offers
    /// everybody; one that may not be used offers nothing, whatever is remembered of it.
    pub(crate) fn offered(&self, caller: Option<CallerKey>) -> Option<Offered> {
        let member = self.member();
        let pools = self.pools();
        let everybodys = pools.by_key.get(&None);
        let state = everybodys.map_or(member.standing.clone(), |pool| pool.state());
        if let ServerState::Blocked(_) | ServerState::Disabled | ServerState::NeedsAuth(_) = state {
            return None;
        }
        let own = pools.by_key.get(&caller).and_then(|pool| Some((pool.known()?, pool)));
        let (known, of) = own.or_else(|| everybodys.and_then(|it| Some((it.known()?, it))))?;
        Some(Offered { member, known, borrowed: of.is_borrowed() })
    }

    pub(crate) fn status(&self) -> ServerStatus {
        let (member, pool) = (self.member(), self.shared_pool());
        ServerStatus {
            spec: member.spec.clone(),
            origin: member.origin.clone(),
            state: pool.as_ref().map_or(member.standing.clone(), |pool| pool.state()),
            catalog: pool.and_then(|pool| pool.catalog()),
            in_vain: self.in_vain,
        }
    }
}
