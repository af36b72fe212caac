//! Callers: connected clients and the principals behind them.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use tokio::sync::Semaphore;
use toolgate_fleet::ConnectionOwner;
use toolgate_model::{DEFAULT_PROFILE, Digest};
use toolgate_session::{CallerId, Interactor};
use toolgate_wire::Revision;

use crate::admit::{PER_CALLER, WAITS};
use crate::caller_states::CallerState;
use crate::server_questions;
use crate::taint::Taint;

/// The principal name of the local user.
const LOCAL: &str = "local";
/// The prefix of a key's principal name. The name of the key follows.
pub const KEY_CALLER: &str = "key:";
/// The principal name of the operator at the gateway's own command line.
pub const OPERATOR: &str = "operator";

/// The principal behind callers. It owns what outlives a connection, such as tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Principal {
    /// A caller that is its own principal.
    Caller(CallerId),
    /// A principal that connects as several callers. The code that names it vouches for the name.
    Named(Digest),
}

impl Principal {
    /// Returns the principal with this name.
    pub fn from_name(name: &[u8]) -> Self {
        Self::Named(Digest::of_parts([name]))
    }
}

/// The client program, as it names itself. The name is informative; it may select a profile, as a
/// request for that profile could, and decides nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Client {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A connected client on behalf of a principal, while it stays connected.
pub struct Caller {
    /// The identity of the caller.
    pub id: CallerId,
    /// The principal behind the caller: the caller itself, unless several callers share one.
    pub principal: Principal,
    /// The owner of the results kept for this caller. A principal may return in another session.
    pub result_owner: Principal,
    /// The principal's name for approvals, stable across restarts.
    pub person: Arc<str>,
    /// The client program.
    pub client: Client,
    /// The MCP revision the caller speaks.
    pub revision: Revision,
    /// The raw client capabilities, from `initialize` or, for modern clients, from the request.
    pub capabilities: Bytes,
    /// Answers questions of the caller's own servers outside any call.
    pub ambient: Arc<dyn Interactor>,
    /// The name of the profile.
    pub profile: Arc<str>,
    pub(crate) state: OnceLock<Arc<CallerState>>,
    pub(crate) call_permits: Semaphore,
    pub(crate) task_wait_permits: Semaphore,
    /// Whether the principal behind the caller has read content of an untrusted server.
    pub(crate) taint: OnceLock<Arc<Taint>>,
}

impl Caller {
    /// Creates a caller for a new connection.
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
            result_owner: Principal::Caller(id),
            person: LOCAL.into(),
            client,
            revision,
            capabilities,
            ambient: server_questions::guard_ambient(ambient),
            profile: DEFAULT_PROFILE.into(),
            state: OnceLock::new(),
            call_permits: places,
            task_wait_permits: waits,
            taint: OnceLock::new(),
        }
    }

    /// Sets the principal.
    pub fn with_principal(self, principal: Principal) -> Self {
        Self { principal, result_owner: principal, ..self }
    }

    /// Sets the principal that owns kept results, so that they outlive the session.
    pub fn with_result_owner(self, keeper: Principal) -> Self {
        Self { result_owner: keeper, ..self }
    }

    /// Sets the name that approvals are bound to.
    pub fn with_person(self, person: impl Into<Arc<str>>) -> Self {
        Self { person: person.into(), taint: OnceLock::new(), ..self }
    }

    /// Sets the profile. [`Gate::choose_profile`](crate::Gate::choose_profile) returns a valid
    /// name; with an unknown name the caller sees nothing.
    pub fn with_profile(self, profile: Arc<str>) -> Self {
        Self { profile, state: OnceLock::new(), ..self }
    }

    pub(crate) fn tenant(&self) -> ConnectionOwner {
        ConnectionOwner {
            caller: Some(self.id),
            capabilities: self.capabilities.clone(),
            default_interactor: self.ambient.clone(),
        }
    }
}
