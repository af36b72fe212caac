//! Who calls.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use tokio::sync::Semaphore;
use toolgate_fleet::{CallerKey, Tenant};
use toolgate_model::{DEFAULT_PROFILE, Digest};
use toolgate_session::{Interactor, Scope};
use toolgate_wire::Revision;

use crate::admit::{PER_CALLER, WAITS};
use crate::asks;
use crate::seats::Seat;
use crate::taint::Taint;

/// Whoever is on this machine, as approvals know him.
const LOCAL: &str = "local";
/// How approvals know the caller a key stands for: this, and the name of the key.
pub const KEY_CALLER: &str = "key:";
/// The person who runs the gateway, at its own command line, by the name approvals are bound to.
pub const OPERATOR: &str = "operator";

/// A caller's identity for as long as this process lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallerId(u64);

impl CallerId {
    /// An id nobody had before.
    pub fn fresh() -> Self {
        // 0 is the ambient interactor's scope.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// The scope his interactors speak for.
    pub fn scope(self) -> Scope {
        Scope(self.0)
    }

    pub(crate) fn key(self) -> CallerKey {
        CallerKey(self.0)
    }
}

impl From<CallerKey> for CallerId {
    fn from(key: CallerKey) -> Self {
        Self(key.0)
    }
}

/// Who stands behind callers. What outlives a visit, as tasks do, is his.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Principal {
    /// A caller who stands for himself.
    Caller(CallerId),
    /// Somebody who comes as several callers; whoever names him answers for the name.
    Named(Digest),
}

impl Principal {
    /// The principal of that name.
    pub fn named(name: &[u8]) -> Self {
        Self::Named(Digest::of_parts([name]))
    }
}

/// The program a caller uses, as it calls itself: for people to read. It may choose a profile by
/// this name, as it could by asking for one; nothing else is decided on it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Client {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// Whoever calls, for as long as he stays connected.
pub struct Caller {
    /// Who he is.
    pub id: CallerId,
    /// Who stands behind him: himself, unless several visits are one principal's.
    pub principal: Principal,
    /// Whose the results are that are kept for him: those of whoever stands behind his session, who
    /// may come back in another.
    pub keeper: Principal,
    /// Who he is to those who approve: a name that is the same after a restart.
    pub person: Arc<str>,
    /// What he uses.
    pub client: Client,
    /// The revision he speaks.
    pub revision: Revision,
    /// What his client can be asked and which extensions it has, raw: of `initialize`, or of the
    /// request where each brings its own.
    pub capabilities: Bytes,
    /// Who answers servers of his own outside any call.
    pub ambient: Arc<dyn Interactor>,
    /// The name of his profile: what he sees.
    pub profile: Arc<str>,
    pub(crate) seat: OnceLock<Arc<Seat>>,
    pub(crate) places: Semaphore,
    pub(crate) waits: Semaphore,
    /// Whether whoever stands behind the caller has read content of a server nobody trusts.
    pub(crate) taint: OnceLock<Arc<Taint>>,
}

impl Caller {
    /// A caller who has just arrived.
    pub fn new(
        id: CallerId,
        client: Client,
        revision: Revision,
        capabilities: Bytes,
        ambient: Arc<dyn Interactor>,
    ) -> Self {
        let (places, waits) = (Semaphore::new(PER_CALLER), Semaphore::new(WAITS));
        Self {
            id,
            principal: Principal::Caller(id),
            keeper: Principal::Caller(id),
            person: LOCAL.into(),
            client,
            revision,
            capabilities,
            ambient: asks::outside(ambient),
            profile: DEFAULT_PROFILE.into(),
            seat: OnceLock::new(),
            places,
            waits,
            taint: OnceLock::new(),
        }
    }

    /// The same, as one of those a principal comes as.
    pub fn of(self, principal: Principal) -> Self {
        Self { principal, keeper: principal, ..self }
    }

    /// The same, whose kept results outlive his session: they are this principal's.
    pub fn keeping_for(self, keeper: Principal) -> Self {
        Self { keeper, ..self }
    }

    /// The same, under the name that approvals are bound to.
    pub fn known_as(self, person: impl Into<Arc<str>>) -> Self {
        Self { person: person.into(), taint: OnceLock::new(), ..self }
    }

    /// The same, seeing what a profile sees. [`Gate::choose`](crate::Gate::choose) says which there
    /// are; under a name that means nothing he sees nothing.
    pub fn seeing(self, profile: Arc<str>) -> Self {
        Self { profile, seat: OnceLock::new(), ..self }
    }

    pub(crate) fn tenant(&self) -> Tenant {
        Tenant {
            caller: Some(self.id.key()),
            capabilities: self.capabilities.clone(),
            ambient: self.ambient.clone(),
        }
    }
}
