//! One task that the gate knows.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use toolgate_bridge::tasks::{self, TaskFormat, TaskView};
use toolgate_fleet::{Fleet, FleetError, Pool, PoolLease};
use toolgate_model::CapabilityId;

use super::outcome::TaskOutcome;
use super::questions::TaskQuestions;
use crate::Caller;
use crate::caller::Principal;

/// The longest accepted task id.
const MAX_ID: usize = 1024;
/// The shortest time a task is remembered. A server that declares no lifetime may still answer.
const SHORTEST: Duration = Duration::from_secs(60);
/// The time without a query after which a task no longer counts as open.
const UNATTENDED: Duration = Duration::from_secs(3600);

/// The formats on both sides of a task.
pub(super) enum TaskFormatPair {
    /// Caller and server use the same format.
    Direct(TaskFormat),
    /// The caller uses the format of 2025-11-25, the server the extension's. Holds the keys of the
    /// answered questions; the lock is held while asking.
    SessionOnExtension(tokio::sync::Mutex<HashSet<String>>),
    /// The caller uses the extension's format, the server that of 2025-11-25.
    ExtensionOnSession(Arc<TaskQuestions>),
    /// The server answered at once; a caller of 2025-11-25 fetches the result from the gate.
    Stored,
}

impl TaskFormatPair {
    /// Returns the caller's format.
    pub(super) fn client_form(&self) -> TaskFormat {
        match self {
            Self::Direct(form) => *form,
            Self::SessionOnExtension(_) | Self::Stored => TaskFormat::Session,
            Self::ExtensionOnSession(_) => TaskFormat::Extension,
        }
    }

    /// Returns the server's format.
    pub(super) fn server_form(&self) -> TaskFormat {
        match self {
            Self::Direct(form) => *form,
            Self::SessionOnExtension(_) | Self::Stored => TaskFormat::Extension,
            Self::ExtensionOnSession(_) => TaskFormat::Session,
        }
    }
}

/// A call that its client polls instead of waiting for.
pub(crate) struct Task {
    /// The id, as its server names it.
    pub(super) id: String,
    pub(super) tool: CapabilityId,
    /// The caller that started it. Its principal owns the task, and the task runs on its
    /// connection.
    pub(super) caller: Arc<Caller>,
    /// Whether that connection belongs to this caller alone.
    own: bool,
    pub(super) route: TaskFormatPair,
    /// The background job that removes the task when it expires.
    expiry: OnceLock<AbortHandle>,
    /// The pool that was asked to report on the task, if any.
    watched: Mutex<Option<Weak<Pool>>>,
    /// Keeps a replaced server running until the outcome is fetched.
    lease: Mutex<Option<PoolLease>>,
    state: Mutex<TaskState>,
}

/// The mutable state of a task.
struct TaskState {
    began: Instant,
    looked: Instant,
    /// The last known task object as the server wrote it, without inlined members.
    seen: Bytes,
    expires: Option<Instant>,
    outcome: Option<TaskOutcome>,
}

impl Task {
    /// Creates a task that a server has just announced. `own` says whether the connection belongs
    /// to the caller alone.
    pub(super) fn new(
        caller: &Arc<Caller>,
        own: bool,
        tool: &CapabilityId,
        route: TaskFormatPair,
        seen: &[u8],
    ) -> Option<Self> {
        let view =
            TaskView::of(seen, route.server_form()).filter(|view| view.id.len() <= MAX_ID)?;
        let began = Instant::now();
        Some(Self {
            id: view.id.clone().into_owned(),
            tool: tool.clone(),
            caller: caller.clone(),
            own,
            expiry: OnceLock::new(),
            watched: Mutex::default(),
            lease: Mutex::default(),
            state: Mutex::new(TaskState {
                began,
                looked: began,
                seen: tasks::compact_task(seen, route.server_form())?,
                expires: expires(began, view.ttl),
                outcome: None,
            }),
            route,
        })
    }

    /// Keeps the server running for the task.
    pub(super) fn with_lease(self, stay: PoolLease) -> Self {
        *self.lease.lock() = Some(stay);
        self
    }

    /// Returns the pool to query: the one the task started on, while that exists.
    pub(super) fn pool(&self, fleet: &Fleet) -> Result<Arc<Pool>, FleetError> {
        let home = self.lease.lock().as_ref().and_then(PoolLease::pool);
        home.map_or_else(|| fleet.pool(&self.tool.server, &self.caller.tenant()), Ok)
    }

    /// Releases the server after the outcome was fetched.
    pub(super) fn release_server(&self) {
        drop(self.lease.lock().take());
    }

    /// Returns the owner.
    pub(super) fn principal(&self) -> Principal {
        self.caller.principal
    }

    /// Returns true if `other` is a new task of the same server under the same id.
    pub(super) fn is_replaced_by(&self, other: &Self) -> bool {
        self.principal() == other.principal()
            && self.tool.server == other.tool.server
            && (!self.own || self.caller.id == other.caller.id)
    }

    /// Stores the state of the task and its lifetime. A state with another id is ignored.
    pub(super) fn observe(&self, seen: &[u8]) {
        let run = self.route.server_form();
        let view = TaskView::of(seen, run).filter(|view| view.id == self.id);
        let (Some(view), Some(seen)) = (view, tasks::compact_task(seen, run)) else { return };
        let mut known = self.state.lock();
        known.looked = Instant::now();
        known.expires = expires(known.began, view.ttl);
        known.seen = seen;
    }

    /// Returns true if the task has not ended, as far as known, and was queried recently.
    pub(super) fn is_open(&self) -> bool {
        let known = self.state.lock();
        let view = TaskView::of(&known.seen, self.route.server_form());
        view.is_some_and(|view| !view.status.is_terminal()) && known.looked.elapsed() < UNATTENDED
    }

    pub(super) fn last_seen(&self) -> Bytes {
        self.state.lock().seen.clone()
    }

    pub(super) fn expires(&self) -> Option<Instant> {
        self.state.lock().expires
    }

    pub(super) fn outcome(&self) -> Option<TaskOutcome> {
        self.state.lock().outcome.clone()
    }

    /// Stores the outcome; returns `false` if there is one already, which stays.
    pub(super) fn set_outcome(&self, outcome: TaskOutcome) -> bool {
        let mut known = self.state.lock();
        let first = known.outcome.is_none();
        known.outcome.get_or_insert(outcome);
        drop(known);
        self.release_server();
        first
    }

    pub(super) fn unsettle(&self) -> Option<TaskOutcome> {
        self.state.lock().outcome.take()
    }

    /// Subscribes to the server's reports on the task, once.
    pub(super) fn watch(&self, pool: Arc<Pool>) {
        let mut watched = self.watched.lock();
        if self.route.server_form() == TaskFormat::Extension && watched.is_none() {
            *watched = Some(Arc::downgrade(&pool));
            drop(watched);
            pool.watch_task(&self.id);
        }
    }

    /// Subscribes again on a new connection to the server, which does not know the subscription.
    pub(super) fn watch_again(&self, fleet: &Fleet) {
        let is_watched = self.watched.lock().is_some();
        if let (true, Ok(pool)) = (is_watched, self.pool(fleet)) {
            *self.watched.lock() = Some(Arc::downgrade(&pool));
            pool.watch_task(&self.id);
        }
    }

    pub(super) fn set_expiry(&self, expiry: AbortHandle) {
        let _ = self.expiry.set(expiry);
    }

    /// Ends everything that runs for the task.
    pub(super) fn stop(&self) {
        if let Some(expiry) = self.expiry.get() {
            expiry.abort();
        }
        if let Some(pool) = self.watched.lock().as_ref().and_then(Weak::upgrade) {
            pool.unwatch_task(&self.id);
        }
        self.release_server();
        if let TaskFormatPair::ExtensionOnSession(inbox) = &self.route {
            inbox.stop();
        }
    }
}

/// Returns when a task may be forgotten; `None` for never.
fn expires(began: Instant, ttl: Option<Duration>) -> Option<Instant> {
    ttl.and_then(|ttl| began.checked_add(ttl.max(SHORTEST)))
}
