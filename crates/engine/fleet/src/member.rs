//! A server as the fleet is told of it, and who its connections are for.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use toolgate_model::{Origin, PoolScope, Resolved, ServerSpec, ServerState};
use toolgate_session::Interactor;

use crate::BuiltIn;

/// Expands the variables in a declared server when a connection is made.
pub type Resolve = dyn Fn(&ServerSpec) -> Result<Resolved, String> + Send + Sync;

/// A declared server, ready to be started or not.
#[derive(Clone)]
pub struct Member {
    /// As declared.
    pub spec: ServerSpec,
    /// Where it was declared.
    pub origin: Origin,
    /// Its place among all declarations: lists are in this order, and by name where it is the same.
    pub place: usize,
    /// [`ServerState::NotStarted`] if it may start; else why not.
    pub standing: ServerState,
    /// Whether it may not start only because a variable has no value now: one that is up goes on
    /// with the value it was given.
    pub unset: bool,
    /// The folder that its variables mean by the project.
    pub project: Option<PathBuf>,
    /// How its variables are expanded.
    pub resolve: Arc<Resolve>,
    /// The server itself, where it lives in this process.
    pub built_in: Option<Arc<dyn BuiltIn>>,
}

impl Member {
    /// A server whose declaration holds no variables.
    pub fn plain(spec: ServerSpec, origin: Origin) -> Self {
        let resolve: Arc<Resolve> = Arc::new(|spec| Ok(spec.clone().into()));
        Self {
            spec,
            origin,
            place: 0,
            standing: ServerState::NotStarted,
            unset: false,
            project: None,
            resolve,
            built_in: None,
        }
    }

    /// Whether nobody forbids it to run.
    pub(crate) fn may_run(&self) -> bool {
        self.standing == ServerState::NotStarted || self.unset
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
