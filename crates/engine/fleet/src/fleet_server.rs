//! The declaration of a server for the fleet, and the tenant that a connection serves.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use toolgate_model::{Origin, PoolScope, ResolvedServer, ServerSpec, ServerState, StartBlock};
use toolgate_session::{CallerId, Interactor};

use crate::BuiltInServer;

/// A function that expands the variables of a declared server when a connection is made.
pub type ServerResolver = dyn Fn(&ServerSpec) -> Result<ResolvedServer, StartBlock> + Send + Sync;

/// A declared server with everything the fleet needs to run it.
#[derive(Clone)]
pub struct FleetServer {
    /// The server as declared.
    pub spec: ServerSpec,
    /// Where it was declared.
    pub origin: Origin,
    /// Its position among all declarations. Lists are ordered by position, then by name.
    pub place: usize,
    /// [`ServerState::NotStarted`] if the server may start; otherwise the state that says why not.
    pub initial_state: ServerState,
    /// True if the server is blocked only because a variable has no value. A connected server keeps
    /// running with the value it was given.
    pub has_unset_variable: bool,
    /// The project folder that its variables refer to.
    pub project: Option<PathBuf>,
    /// Expands its variables.
    pub resolve: Arc<ServerResolver>,
    /// The server itself, if it runs inside this process.
    pub built_in: Option<Arc<dyn BuiltInServer>>,
}

impl FleetServer {
    /// Creates a server whose declaration contains no variables.
    pub fn from_spec(spec: ServerSpec, origin: Origin) -> Self {
        let resolve: Arc<ServerResolver> = Arc::new(|spec| Ok(spec.clone().into()));
        Self {
            spec,
            origin,
            place: 0,
            initial_state: ServerState::NotStarted,
            has_unset_variable: false,
            project: None,
            resolve,
            built_in: None,
        }
    }

    /// Returns true if the server may run, ignoring unset variables.
    pub(crate) fn may_run(&self) -> bool {
        self.initial_state == ServerState::NotStarted || self.has_unset_variable
    }
}

/// The caller, or all callers, that a connection serves.
#[derive(Clone)]
pub struct ConnectionOwner {
    /// The caller; `None` for a connection shared by all callers.
    pub caller: Option<CallerId>,
    /// The client capabilities declared to the server, as raw JSON.
    pub capabilities: Bytes,
    /// Answers the server's questions outside any call.
    pub default_interactor: Arc<dyn Interactor>,
}

impl ConnectionOwner {
    /// Returns the key of this tenant's pool.
    pub(crate) fn key(&self, scope: PoolScope) -> Option<CallerId> {
        match scope {
            PoolScope::Shared => None,
            PoolScope::PerCaller => self.caller,
        }
    }
}
