//! One server for one key: its live connection, its catalog, how it stands.
//!
//! The first use brings it up; a connection that ended is replaced on the next use. Failures in a
//! row are spaced out, so that a server that cannot start is not started on every call. Calls that
//! may not share the live connection go to [spare ones](crate::spares).

mod calls;
mod offering;
mod renewal;
mod succession;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use arc_swap::ArcSwapOption;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use toolgate_model::{Failure, Phase, SamplingLimits, ServerName, ServerState, Timeouts};
use toolgate_session::{Owner, SessionError};
use toolgate_wire::view::LogLevel;
use toolgate_wire::{Era, Frame, method};

use crate::connect::{Attempt, Live};
use crate::failures::Failures;
use crate::fleet::Shared;
use crate::gauge::{Gauge, Stay};
use crate::member::{Member, Tenant};
use crate::report::Log;
use crate::server::Declared;
use crate::spares::Spares;
use crate::wanted::Wanted;
use crate::watch::{self, Changes, Watcher};
use crate::{CallerKey, FleetError, FleetEvent, Known};

/// Calls under way at once on one connection.
const PLACES: usize = 64;

/// One server, connected for one key.
pub struct Pool {
    /// As declared when it was made; in what concerns connections, as declared now.
    member: Arc<Member>,
    declared: Declared,
    tenant: Tenant,
    shared: Arc<Shared>,
    live: ArcSwapOption<Live>,
    known: ArcSwapOption<Known>,
    /// Whether the catalog is that of the server it replaces, shown until its own is known.
    borrowed: AtomicBool,
    /// Whether it was closed because it offers nothing.
    useless: AtomicBool,
    state: Mutex<ServerState>,
    pub(crate) spares: Spares,
    connecting: tokio::sync::Mutex<Failures>,
    /// The attempt that nobody asked for, under way or still to come.
    retry: Mutex<Option<AbortHandle>>,
    wanted: Mutex<Wanted>,
    pub(crate) subscribing: tokio::sync::Mutex<()>,
    places: Semaphore,
    changes: Arc<Changes>,
    renewal: renewal::Renewal,
    pub(crate) gauge: Gauge,
    /// Whether every connection was ended, for good.
    closed: AtomicBool,
    /// Where calls go that come too late.
    successor: OnceLock<Weak<Pool>>,
    me: Weak<Pool>,
}

impl Pool {
    pub(crate) fn new(declared: Declared, tenant: Tenant, shared: Arc<Shared>) -> Arc<Self> {
        let member = declared.load_full();
        let state = Mutex::new(member.standing.clone());
        let pool = Arc::new_cyclic(|me| Self {
            member,
            declared,
            tenant,
            shared,
            live: ArcSwapOption::empty(),
            known: ArcSwapOption::empty(),
            borrowed: AtomicBool::new(false),
            useless: AtomicBool::new(false),
            state,
            spares: Spares::default(),
            connecting: tokio::sync::Mutex::default(),
            retry: Mutex::default(),
            wanted: Mutex::default(),
            subscribing: tokio::sync::Mutex::default(),
            places: Semaphore::new(PLACES),
            changes: Arc::default(),
            renewal: renewal::Renewal::default(),
            gauge: Gauge::default(),
            closed: AtomicBool::new(false),
            successor: OnceLock::new(),
            me: me.clone(),
        });
        tokio::spawn(watch::follow(pool.me.clone(), pool.changes.clone()));
        pool
    }

    /// Whose pool it is.
    pub fn server(&self) -> &ServerName {
        &self.member.spec.name
    }

    /// How it stands.
    pub fn state(&self) -> ServerState {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether it is one caller's, and nobody else sees what it answers.
    pub fn is_own(&self) -> bool {
        self.tenant.caller.is_some()
    }

    /// Has a server that is replaced wait with its end for something a call has begun here, and
    /// that goes on between calls.
    pub fn stay(self: &Arc<Self>) -> Stay {
        Stay::new(self)
    }

    /// Asks a modern server to report what becomes of a task. `false` if it does not report such
    /// things, or is not connected.
    pub fn watch_task(&self, task: &str) -> bool {
        self.usable().is_some_and(|live| live.session.watch_task(task))
    }

    /// Takes back [`Pool::watch_task`].
    pub fn unwatch_task(&self, task: &str) {
        if let Some(live) = self.usable() {
            live.session.unwatch_task(task);
        }
    }

    /// What the server may ask of its callers' models; none: nothing.
    pub fn sampling(&self) -> Option<SamplingLimits> {
        self.member.spec.sampling
    }

    pub(crate) fn timeouts(&self) -> Timeouts {
        self.member.spec.timeouts
    }

    pub(crate) fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    pub(crate) fn me(&self) -> Weak<Self> {
        self.me.clone()
    }

    /// The places for calls under way at once.
    pub fn places(&self) -> &Semaphore {
        &self.places
    }

    /// The live connection; brings the server up if there is none.
    pub(crate) async fn live(&self) -> Result<Arc<Live>, FleetError> {
        match self.usable() {
            Some(live) => Ok(live),
            None => Box::pin(self.come_up()).await,
        }
    }

    /// One caller at a time brings the server up; the others find it up.
    async fn come_up(&self) -> Result<Arc<Live>, FleetError> {
        let mut failures = self.connecting.lock().await;
        if let Some(live) = self.usable() {
            return Ok(live);
        }
        if self.is_closed() || self.is_replaced() {
            return Err(FleetError::Gone(self.server().clone()));
        }
        let state = self.state();
        if let ServerState::Blocked(_) | ServerState::Disabled = state {
            return Err(FleetError::Unusable { server: self.server().clone(), state });
        }
        if failures.must_wait() {
            return Err(self.down(state));
        }
        self.bring_up(&mut failures).await
    }

    pub(crate) fn usable(&self) -> Option<Arc<Live>> {
        self.live.load_full().filter(|live| live.session.ended().is_none())
    }

    async fn bring_up(&self, failures: &mut Failures) -> Result<Arc<Live>, FleetError> {
        // One that failed is tried again, perhaps unasked: nobody has to wait for that.
        if !failures.any() {
            self.set_state(ServerState::Connecting);
        }
        let mut log = Log::new(self.server());
        let begun = Instant::now();
        let watcher = Watcher { pool: self.me.clone(), changes: self.changes.clone() };
        match self.attempt(Arc::new(watcher)).run(&mut log).await {
            Ok((live, catalog)) => {
                *failures = Failures::default();
                let live = Arc::new(live);
                self.live.store(Some(live.clone()));
                if self.is_closed() {
                    self.end_connections().await;
                    return Err(FleetError::Gone(self.server().clone()));
                }
                self.tell_again(&live);
                let known = self.publish(catalog).await;
                self.renewal.note_all(begun);
                self.changes.resume();
                // Whoever has one of his own asked for it, and sees what there is.
                if let Some(useless) = known.useless().filter(|_| !self.is_own()) {
                    return Err(self.close_useless(&mut log, useless).await);
                }
                self.set_state(ServerState::Connected);
                let took = begun.elapsed();
                tracing::debug!(target: "toolgate::fleet", server = %self.server(), ?took, "connected");
                Ok(live)
            }
            Err(state) => {
                let next = failures.add().filter(|_| matches!(state, ServerState::Failed(_)));
                if let Some(next) = next {
                    self.try_again(next);
                }
                let reason = state.reason().unwrap_or_default();
                tracing::warn!(target: "toolgate::fleet", server = %self.server(), "{reason}");
                self.set_state(state.clone());
                self.give_back();
                Err(self.down(state))
            }
        }
    }

    /// Has the server brought up then, unless the pool is closed before.
    fn try_again(&self, then: Instant) {
        let pool = self.me();
        let retry = tokio::spawn(async move {
            tokio::time::sleep_until(then).await;
            if let Some(pool) = pool.upgrade() {
                let _ = pool.live().await;
            }
        });
        self.retry(Some(retry.abort_handle()));
    }

    /// Replaces the attempt that is to be made; gives the one before.
    fn retry(&self, next: Option<AbortHandle>) -> Option<AbortHandle> {
        std::mem::replace(&mut *self.retry.lock().unwrap_or_else(PoisonError::into_inner), next)
    }

    pub(crate) fn attempt(&self, owner: Arc<dyn Owner>) -> Attempt<'_> {
        let (member, tenant) = (&*self.member, &self.tenant);
        let Shared { launcher, memory, .. } = &*self.shared;
        Attempt { member, tenant, launcher, memory, owner }
    }

    fn down(&self, state: ServerState) -> FleetError {
        let server = self.server().clone();
        match state {
            ServerState::Failed(failure) | ServerState::Disconnected(failure) => {
                FleetError::Down { server, failure: Box::new(failure) }
            }
            state => FleetError::Unusable { server, state },
        }
    }

    pub(crate) fn failed(&self, source: SessionError, stderr: String) -> FleetError {
        FleetError::Session { server: self.server().clone(), source, stderr }
    }

    /// A connection is over: whoever notices first says how the server stands.
    pub(crate) async fn lost(&self, live: &Arc<Live>, error: SessionError) -> FleetError {
        let (error, stderr) = live.obituary(error).await;
        let current = self.live.load_full();
        if current.is_some_and(|current| Arc::ptr_eq(&current, live)) {
            self.live.store(None);
            let cause = format!("failed to {error}");
            tracing::debug!(target: "toolgate::session", server = %self.server(), "lost: {cause}");
            let failure = Failure { phase: Phase::Call, cause, stderr: stderr.clone(), hint: None };
            self.set_state(ServerState::Disconnected(failure));
        }
        self.failed(error, stderr)
    }

    fn set_state(&self, state: ServerState) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
        if !self.gauge.is_leaving() {
            self.shared.announce(FleetEvent::StateChanged(self.server().clone()));
        }
    }

    /// The level from which a caller wants log lines.
    pub(crate) fn set_level(&self, caller: CallerKey, level: LogLevel) {
        let changed = self.wanted(|wanted| wanted.set_level(caller, level));
        if changed {
            self.usable().iter().chain(&self.spares.all()).for_each(|live| self.send_level(live));
        }
    }

    /// The lock is held for `act` alone, never while something is sent.
    pub(crate) fn wanted<T>(&self, act: impl FnOnce(&mut Wanted) -> T) -> T {
        act(&mut self.wanted.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A new connection knows nothing of what callers want.
    fn tell_again(&self, live: &Arc<Live>) {
        self.send_level(live);
        self.subscribe_again(live);
    }

    /// Later revisions have no level of a connection: every request says what it wants to hear.
    pub(crate) fn send_level(&self, live: &Arc<Live>) {
        let welcome = live.session.welcome();
        let has_level = welcome.protocol.era() == Era::Legacy && welcome.declares("logging");
        let Some(level) = self.wanted(|wanted| wanted.level()).filter(|_| has_level) else {
            return;
        };
        let params = format!("{{\"level\":\"{}\"}}", level.as_str());
        let live = live.clone();
        tokio::spawn(async move {
            let told = live.session.request(method::LOGGING_SET_LEVEL, Some(params.as_bytes()));
            if let Err(error) = told.await {
                let error = live.masked(error);
                tracing::debug!(target: "toolgate::fleet", %error, "log level not taken");
            }
        });
    }

    /// A notification that belongs to no call.
    pub(crate) fn notified(&self, frame: Frame) {
        let (server, caller) = (self.server().clone(), self.tenant.caller);
        self.shared.announce(FleetEvent::Notified { server, caller, frame });
    }

    /// A question of the server was declined for want of somebody who could answer: that is logged.
    pub fn declined(&self, why: &str) {
        self.shared.declined(self.server(), why);
    }

    /// A connection reports its end. It may not be the one in use.
    pub(crate) fn ended(self: &Arc<Self>, reason: &str) {
        let ended = |live: &Arc<Live>| live.session.ended().is_some();
        let Some(live) = self.live.load_full().filter(ended) else { return };
        let (pool, error) = (self.clone(), SessionError::Ended(reason.to_owned()));
        tokio::spawn(async move {
            drop(pool.lost(&live, error).await);
        });
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.changes.stop();
    }
}
