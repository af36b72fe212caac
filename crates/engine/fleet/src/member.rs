//! A server as the fleet is told of it, and who its connections are for.

use std::sync::Arc;

use bytes::Bytes;
use toolgate_model::{Origin, PoolScope, ServerSpec, ServerState};
use toolgate_session::Interactor;

use crate::BuiltIn;

/// Expands the variables in a declared server when a connection is made.
pub type Resolve = dyn Fn(&ServerSpec) -> Result<ServerSpec, String> + Send + Sync;

/// A declared server, ready to be started or not.
#[derive(Clone)]
pub struct Member {
    /// As declared.
    pub spec: ServerSpec,
    /// Where it was declared.
    pub origin: Origin,
    /// [`ServerState::NotStarted`] if it may start; else why not.
    pub standing: ServerState,
    /// How its variables are expanded.
    pub resolve: Arc<Resolve>,
    /// The server itself, where it lives in this process.
    pub built_in: Option<Arc<dyn BuiltIn>>,
}

impl Member {
    /// A server whose declaration holds no variables.
    pub fn plain(spec: ServerSpec, origin: Origin) -> Self {
        let resolve: Arc<Resolve> = Arc::new(|spec| Ok(spec.clone()));
        Self { spec, origin, standing: ServerState::NotStarted, resolve, built_in: None }
    }
}

/// Which caller a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallerKey(pub u64);

/// Whom a connection serves, as the server is told.
#[derive(Clone)]
pub struct Tenant {
    /// `None`: everybody.
    pub caller: Option<CallerKey>,
    /// The client capabilities declared to the server, raw.
    pub capabilities: Bytes,
    /// Who answers outside any call.
    pub ambient: Arc<dyn Interactor>,
}

impl Tenant {
    /// The key this tenant has in a server's pools.
    pub(crate) fn key(&self, scope: PoolScope) -> Option<CallerKey> {
        match scope {
            PoolScope::Shared => None,
            PoolScope::PerCaller => self.caller,
        }
    }
}
