//! One task the gate knows of.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use toolgate_bridge::tasks::{self, Form, TaskView};
use toolgate_fleet::{Fleet, FleetError, Pool, Stay};
use toolgate_model::CapabilityId;

use super::inbox::Inbox;
use super::outcome::Outcome;
use crate::Caller;
use crate::caller::Principal;

/// The longest id that is taken for one.
const MAX_ID: usize = 1024;
/// How long a task is remembered at least: a server that says it keeps one for no time at all may
/// still answer who asks.
const SHORTEST: Duration = Duration::from_secs(60);
/// After how long without a look a task does not count as open any more.
const UNATTENDED: Duration = Duration::from_secs(3600);

/// Between which forms a task stands.
pub(super) enum Course {
    /// Caller and server speak of it in the same form.
    Straight(Form),
    /// The caller in that of 2025-11-25, the server in the extension's. Remembers which of its
    /// questions were answered; whoever holds the lock is asking.
    SessionOnExtension(tokio::sync::Mutex<HashSet<String>>),
    /// The caller in the extension's, the server in that of 2025-11-25.
    ExtensionOnSession(Arc<Inbox>),
    /// The server had answered at once; a caller of 2025-11-25 fetches the result here.
    Held,
}

impl Course {
    /// The form in which its caller speaks of the task.
    pub(super) fn spoken(&self) -> Form {
        match self {
            Self::Straight(form) => *form,
            Self::SessionOnExtension(_) | Self::Held => Form::Session,
            Self::ExtensionOnSession(_) => Form::Extension,
        }
    }

    /// The form in which its server does.
    pub(super) fn run(&self) -> Form {
        match self {
            Self::Straight(form) => *form,
            Self::SessionOnExtension(_) | Self::Held => Form::Extension,
            Self::ExtensionOnSession(_) => Form::Session,
        }
    }
}

pub(crate) struct Task {
    /// As its server names it.
    pub(super) id: String,
    pub(super) tool: CapabilityId,
    /// Who began it: his principal owns it, and it runs on his connection.
    pub(super) caller: Arc<Caller>,
    /// Whether that connection is his alone.
    own: bool,
    pub(super) course: Course,
    /// Forgets it in time.
    expiry: OnceLock<AbortHandle>,
    /// Where its server was asked to report on it, if it was.
    watched: Mutex<Option<Weak<Pool>>>,
    /// Where it runs, until its outcome was fetched: a server that is replaced waits for that.
    stay: Mutex<Option<Stay>>,
    known: Mutex<Known>,
}

struct Known {
    began: Instant,
    looked: Instant,
    /// The task object when last seen, as the server wrote it but for what stands beside it.
    seen: Bytes,
    expires: Option<Instant>,
    outcome: Option<Outcome>,
}

impl Task {
    /// The task a server has just told of, on a connection that may be the caller's own.
    pub(super) fn new(
        caller: &Arc<Caller>,
        own: bool,
        tool: &CapabilityId,
        course: Course,
        seen: &[u8],
    ) -> Option<Self> {
        let view = TaskView::of(seen, course.run()).filter(|view| view.id.len() <= MAX_ID)?;
        let began = Instant::now();
        Some(Self {
            id: view.id.clone().into_owned(),
            tool: tool.clone(),
            caller: caller.clone(),
            own,
            expiry: OnceLock::new(),
            watched: Mutex::default(),
            stay: Mutex::default(),
            known: Mutex::new(Known {
                began,
                looked: began,
                seen: tasks::remembered(seen, course.run())?,
                expires: expires(began, view.ttl),
                outcome: None,
            }),
            course,
        })
    }

    /// Has its server stay for it.
    pub(super) fn at(self, stay: Stay) -> Self {
        *lock(&self.stay) = Some(stay);
        self
    }

    /// Where it is asked after: where it began, as long as that is there.
    pub(super) fn pool(&self, fleet: &Fleet) -> Result<Arc<Pool>, FleetError> {
        let home = lock(&self.stay).as_ref().and_then(Stay::pool);
        home.map_or_else(|| fleet.pool(&self.tool.server, &self.caller.tenant()), Ok)
    }

    /// Its outcome was fetched: nobody need wait for it any more.
    pub(super) fn fetched(&self) {
        drop(lock(&self.stay).take());
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        lock(&self.known)
    }

    /// Whose it is.
    pub(super) fn principal(&self) -> Principal {
        self.caller.principal
    }

    /// Whether a server has begun this one under the id of `self`.
    pub(super) fn is_again(&self, other: &Self) -> bool {
        self.principal() == other.principal()
            && self.tool.server == other.tool.server
            && (!self.own || self.caller.id == other.caller.id)
    }

    /// Notes how the task stands, and until when its server keeps it. What is said of another task
    /// is not heard.
    pub(super) fn observe(&self, seen: &[u8]) {
        let run = self.course.run();
        let view = TaskView::of(seen, run).filter(|view| view.id == self.id);
        let (Some(view), Some(seen)) = (view, tasks::remembered(seen, run)) else { return };
        let mut known = self.known();
        known.looked = Instant::now();
        known.expires = expires(known.began, view.ttl);
        known.seen = seen;
    }

    /// Whether it has not ended, as far as is known, and somebody may still come for it.
    pub(super) fn is_open(&self) -> bool {
        let known = self.known();
        let view = TaskView::of(&known.seen, self.course.run());
        view.is_some_and(|view| !view.status.is_terminal()) && known.looked.elapsed() < UNATTENDED
    }

    pub(super) fn seen(&self) -> Bytes {
        self.known().seen.clone()
    }

    pub(super) fn expires(&self) -> Option<Instant> {
        self.known().expires
    }

    pub(super) fn outcome(&self) -> Option<Outcome> {
        self.known().outcome.clone()
    }

    /// Keeps the end; `false` if there was one already, which stays.
    pub(super) fn settle(&self, outcome: Outcome) -> bool {
        let mut known = self.known();
        let first = known.outcome.is_none();
        known.outcome.get_or_insert(outcome);
        drop(known);
        self.fetched();
        first
    }

    pub(super) fn unsettle(&self) -> Option<Outcome> {
        self.known().outcome.take()
    }

    /// Has its server report on it, once.
    pub(super) fn watch(&self, pool: Arc<Pool>) {
        let mut watched = lock(&self.watched);
        if self.course.run() == Form::Extension && watched.is_none() {
            *watched = Some(Arc::downgrade(&pool));
            drop(watched);
            pool.watch_task(&self.id);
        }
    }

    /// The same on another connection to its server, which knows nothing of it.
    pub(super) fn watch_again(&self, fleet: &Fleet) {
        let is_watched = lock(&self.watched).is_some();
        if let (true, Ok(pool)) = (is_watched, self.pool(fleet)) {
            *lock(&self.watched) = Some(Arc::downgrade(&pool));
            pool.watch_task(&self.id);
        }
    }

    pub(super) fn ends_with(&self, expiry: AbortHandle) {
        let _ = self.expiry.set(expiry);
    }

    /// Nobody will ask after it any more.
    pub(super) fn stop(&self) {
        if let Some(expiry) = self.expiry.get() {
            expiry.abort();
        }
        if let Some(pool) = lock(&self.watched).as_ref().and_then(Weak::upgrade) {
            pool.unwatch_task(&self.id);
        }
        self.fetched();
        if let Course::ExtensionOnSession(inbox) = &self.course {
            inbox.stop();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// When a task may be forgotten; `None` for never.
fn expires(began: Instant, ttl: Option<Duration>) -> Option<Instant> {
    ttl.and_then(|ttl| began.checked_add(ttl.max(SHORTEST)))
}
