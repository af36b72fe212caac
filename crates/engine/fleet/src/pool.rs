//! The pool: the live connection to one server for one tenant, with its catalog and state.
//!
//! The first use connects to the server. A connection that ended is replaced on the next use.
//! Attempts after consecutive failures are spaced out, so that a server that cannot start is not
//! started on every call. Calls that cannot share the live connection use
//! [spare connections](crate::spares).

mod calls;
mod catalog;
mod lifecycle;
mod refresh;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock, Weak};

use arc_swap::ArcSwapOption;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use toolgate_model::{
    CapabilityKind, FailurePhase, SamplingLimits, ServerFailure, ServerName, ServerState,
    ServerTimeouts,
};
use toolgate_session::{CallerId, SessionError, SessionEventHandler};
use toolgate_wire::view::LogLevel;
use toolgate_wire::{Era, Frame, method};

use crate::backoff::RetryBackoff;
use crate::caller_subscriptions::CallerSubscriptions;
use crate::connect::{ConnectAttempt, ServerConnection};
use crate::fleet::FleetShared;
use crate::fleet_server::{ConnectionOwner, FleetServer};
use crate::lease::{CallCounter, PoolLease};
use crate::list_changes::{self, ListChanges, PoolEventHandler};
use crate::report::ConnectLog;
use crate::server_pools::SharedFleetServer;
use crate::spares::SpareConnections;
use crate::{CheckedCatalog, FleetError, FleetEvent};

/// The maximum number of concurrent calls on one connection.
const MAX_CONCURRENT_CALLS: usize = 64;

/// The live sessions to one server for one tenant.
pub struct Pool {
    /// The declaration at the time the pool was created. Its process settings are still current.
    fleet_server: Arc<FleetServer>,
    shared_server: SharedFleetServer,
    pub(crate) tenant: ConnectionOwner,
    shared: Arc<FleetShared>,
    connection: ArcSwapOption<ServerConnection>,
    checked_catalog: ArcSwapOption<CheckedCatalog>,
    /// True while the pool shows the catalog of the server it replaces.
    shows_predecessor: AtomicBool,
    /// True if the pool was closed because the server offers nothing usable.
    closed_as_unusable: AtomicBool,
    state: Mutex<ServerState>,
    pub(crate) spares: SpareConnections,
    backoff: tokio::sync::Mutex<RetryBackoff>,
    /// The automatic connection attempt that is running or scheduled.
    retry: Mutex<Option<AbortHandle>>,
    caller_subscriptions: Mutex<CallerSubscriptions>,
    pub(crate) subscribing: tokio::sync::Mutex<()>,
    call_slots: Semaphore,
    changes: Arc<ListChanges>,
    refresh_state: refresh::ListRefreshTimes,
    pub(crate) active_calls: Arc<CallCounter>,
    /// True once all connections were closed for good.
    closed: AtomicBool,
    /// The pool that replaces this one.
    successor: OnceLock<Weak<Pool>>,
    pub(crate) me: Weak<Pool>,
}

impl Pool {
    pub(crate) fn new(
        declared: SharedFleetServer,
        tenant: ConnectionOwner,
        shared: Arc<FleetShared>,
    ) -> Arc<Self> {
        let member = declared.load_full();
        let state = Mutex::new(member.initial_state.clone());
        let pool = Arc::new_cyclic(|me| Self {
            fleet_server: member,
            shared_server: declared,
            tenant,
            shared,
            connection: ArcSwapOption::empty(),
            checked_catalog: ArcSwapOption::empty(),
            shows_predecessor: AtomicBool::new(false),
            closed_as_unusable: AtomicBool::new(false),
            state,
            spares: SpareConnections::default(),
            backoff: tokio::sync::Mutex::default(),
            retry: Mutex::default(),
            caller_subscriptions: Mutex::default(),
            subscribing: tokio::sync::Mutex::default(),
            call_slots: Semaphore::new(MAX_CONCURRENT_CALLS),
            changes: Arc::default(),
            refresh_state: refresh::ListRefreshTimes::default(),
            active_calls: Arc::default(),
            closed: AtomicBool::new(false),
            successor: OnceLock::new(),
            me: me.clone(),
        });
        tokio::spawn(list_changes::reread_changed_lists(pool.me.clone(), pool.changes.clone()));
        pool
    }

    /// Returns the name of the server.
    pub fn server(&self) -> &ServerName {
        &self.fleet_server.spec.name
    }

    /// Returns the state of the server.
    pub fn state(&self) -> ServerState {
        self.state.lock().clone()
    }

    /// Returns true if the pool serves a single caller.
    pub fn is_per_caller(&self) -> bool {
        self.tenant.caller.is_some()
    }

    /// Leases the pool for a task that continues between calls: a replaced server does not shut
    /// down before the lease ends.
    pub fn lease_for_task(self: &Arc<Self>) -> PoolLease {
        PoolLease::new(self)
    }

    /// Asks a modern server to report the progress of a task. Returns false if the server does not
    /// support this or is not connected.
    pub fn watch_task(&self, task: &str) -> bool {
        self.live_connection().is_some_and(|live| live.session.watch_task(task))
    }

    /// Ends the reports requested by [`Pool::watch_task`].
    pub fn unwatch_task(&self, task: &str) {
        if let Some(live) = self.live_connection() {
            live.session.unwatch_task(task);
        }
    }

    /// Returns the limits for sampling requests of the server, or `None` if it may not send any.
    pub fn sampling(&self) -> Option<SamplingLimits> {
        self.fleet_server.spec.sampling
    }

    pub(crate) fn timeouts(&self) -> ServerTimeouts {
        self.fleet_server.spec.timeouts
    }

    /// Returns the semaphore that limits concurrent calls.
    pub fn call_slots(&self) -> &Semaphore {
        &self.call_slots
    }

    /// Returns the live connection. Connects if there is none.
    pub(crate) async fn ensure_connected(&self) -> Result<Arc<ServerConnection>, FleetError> {
        match self.live_connection() {
            Some(live) => Ok(live),
            None => {
                // As a trait object, which keeps the type of every call's future short.
                let connecting: BoxFuture<'_, _> = Box::pin(self.connect_once());
                connecting.await
            }
        }
    }

    /// Connects unless another task has just done so. One task connects at a time.
    async fn connect_once(&self) -> Result<Arc<ServerConnection>, FleetError> {
        let mut failures = self.backoff.lock().await;
        if let Some(live) = self.live_connection() {
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
            return Err(self.down_error(state));
        }
        self.connect_and_publish(&mut failures).await
    }

    pub(crate) fn live_connection(&self) -> Option<Arc<ServerConnection>> {
        self.connection.load_full().filter(|live| live.session.end_reason().is_none())
    }

    async fn connect_and_publish(
        &self,
        failures: &mut RetryBackoff,
    ) -> Result<Arc<ServerConnection>, FleetError> {
        // A retry does not change the state to `Connecting`, so that no one waits for it.
        if !failures.has_failures() {
            self.set_state(ServerState::Connecting);
        }
        let mut log = ConnectLog::new(self.server());
        let begun = Instant::now();
        let watcher = PoolEventHandler { pool: self.me.clone(), changes: self.changes.clone() };
        match self.attempt(Arc::new(watcher)).run(&mut log).await {
            Ok((live, catalog)) => {
                if let Some(repeated) = failures.take_repeats() {
                    tracing::warn!(target: "toolgate::fleet", server = %self.server(), "{repeated}");
                }
                *failures = RetryBackoff::default();
                let live = Arc::new(live);
                self.connection.store(Some(live.clone()));
                if self.is_closed() {
                    self.end_connections().await;
                    return Err(FleetError::Gone(self.server().clone()));
                }
                self.restore_caller_settings(&live);
                let known = self.publish(catalog).await;
                self.refresh_state.note(&CapabilityKind::ALL, begun);
                self.changes.resume();
                // A caller's own pool was opened on request, so it stays open.
                if let Some(useless) = known.unusable_reason().filter(|_| !self.is_per_caller()) {
                    return Err(self.close_unusable(&mut log, useless).await);
                }
                self.set_state(ServerState::Connected);
                let took = begun.elapsed();
                tracing::debug!(
                    target: "toolgate::fleet", server = %self.server(), ?took,
                    "connected"
                );
                Ok(live)
            }
            Err(state) => {
                let next =
                    failures.record_failure().filter(|_| matches!(state, ServerState::Failed(_)));
                if let Some(next) = next {
                    self.schedule_retry(next);
                }
                let reason = state.reason().unwrap_or_default();
                for line in failures.failure_lines(&reason, next.is_none()) {
                    tracing::warn!(target: "toolgate::fleet", server = %self.server(), "{line}");
                }
                self.set_state(state.clone());
                self.hide_predecessor();
                Err(self.down_error(state))
            }
        }
    }

    /// Schedules a connection attempt at `at`. Closing the pool cancels it.
    fn schedule_retry(&self, at: Instant) {
        let pool = self.me.clone();
        let retry = tokio::spawn(async move {
            tokio::time::sleep_until(at).await;
            if let Some(pool) = pool.upgrade() {
                let _ = pool.ensure_connected().await;
            }
        });
        self.replace_retry(Some(retry.abort_handle()));
    }

    /// Replaces the scheduled attempt and returns the previous one.
    fn replace_retry(&self, next: Option<AbortHandle>) -> Option<AbortHandle> {
        std::mem::replace(&mut *self.retry.lock(), next)
    }

    pub(crate) fn attempt(
        &self,
        event_handler: Arc<dyn SessionEventHandler>,
    ) -> ConnectAttempt<'_> {
        ConnectAttempt {
            fleet_server: &self.fleet_server,
            tenant: &self.tenant,
            launcher: &self.shared.launcher,
            cache: &self.shared.cache,
            event_handler,
        }
    }

    fn down_error(&self, state: ServerState) -> FleetError {
        let server = self.server().clone();
        match state {
            ServerState::Failed(failure) | ServerState::Disconnected(failure) => {
                FleetError::Down { server, failure: Box::new(failure) }
            }
            state => FleetError::Unusable { server, state },
        }
    }

    /// Returns the error of a session that is still usable.
    pub(crate) fn masked_error(&self, live: &ServerConnection, error: SessionError) -> FleetError {
        self.session_error(live.mask_error(error), String::new())
    }

    /// Returns the error of a session, which is lost if the error is fatal.
    pub(crate) async fn session_failure(
        &self,
        live: &Arc<ServerConnection>,
        error: SessionError,
    ) -> FleetError {
        match error.is_fatal() {
            true => self.connection_lost(live, error).await,
            false => self.masked_error(live, error),
        }
    }

    pub(crate) fn session_error(&self, source: SessionError, stderr: String) -> FleetError {
        FleetError::Session { server: self.server().clone(), source, stderr }
    }

    /// Handles the loss of a connection. If it is the current one, marks the server as
    /// disconnected.
    pub(crate) async fn connection_lost(
        &self,
        live: &Arc<ServerConnection>,
        error: SessionError,
    ) -> FleetError {
        let (error, stderr) = live.describe_exit(error).await;
        let current = self.connection.load_full();
        if current.is_some_and(|current| Arc::ptr_eq(&current, live)) {
            self.connection.store(None);
            let cause = error.to_string();
            tracing::debug!(
                target: "toolgate::session", server = %self.server(),
                "connection lost: {cause}"
            );
            let failure = ServerFailure::new(FailurePhase::Call, &error);
            let failure = ServerFailure { stderr: stderr.clone(), ..failure };
            self.set_state(ServerState::Disconnected(failure));
        }
        self.session_error(error, stderr)
    }

    fn set_state(&self, state: ServerState) {
        *self.state.lock() = state;
        if !self.active_calls.is_draining() {
            self.shared.announce(FleetEvent::StateChanged(self.server().clone()));
        }
    }

    /// Sets the minimum level of log messages that a caller wants.
    pub(crate) fn set_level(&self, caller: CallerId, level: LogLevel) {
        let changed = self.with_subscriptions(|wanted| wanted.set_level(caller, level));
        if changed {
            self.live_connection()
                .iter()
                .chain(&self.spares.all())
                .for_each(|live| self.send_level(live));
        }
    }

    /// Runs `act` on the subscriptions. The lock is held only for `act`, never while sending.
    pub(crate) fn with_subscriptions<T>(
        &self,
        act: impl FnOnce(&mut CallerSubscriptions) -> T,
    ) -> T {
        act(&mut self.caller_subscriptions.lock())
    }

    /// Sends the log level and the subscriptions of all callers on a new connection.
    fn restore_caller_settings(&self, live: &Arc<ServerConnection>) {
        self.send_level(live);
        self.subscribe_again(live);
    }

    /// Sends the log level to a legacy server. In the modern era every request carries its own
    /// level.
    pub(crate) fn send_level(&self, live: &Arc<ServerConnection>) {
        let welcome = live.session.handshake();
        let has_level = welcome.protocol.era() == Era::Legacy && welcome.declares("logging");
        let Some(level) = self.with_subscriptions(|wanted| wanted.level()).filter(|_| has_level)
        else {
            return;
        };
        let params = format!("{{\"level\":\"{}\"}}", level.as_str());
        let live = live.clone();
        tokio::spawn(async move {
            let sent = live.session.request(method::LOGGING_SET_LEVEL, Some(params.as_bytes()));
            if let Err(error) = sent.await {
                let error = live.mask_error(error);
                tracing::debug!(target: "toolgate::fleet", %error, "cannot set the log level");
            }
        });
    }

    /// Reports a notification that belongs to no call.
    pub(crate) fn announce_notification(&self, frame: Frame) {
        let (server, caller) = (self.server().clone(), self.tenant.caller);
        self.shared.announce(FleetEvent::Notified { server, caller, frame });
    }

    /// Logs that a question of the server was declined because no client could answer it.
    pub fn log_declined(&self, why: &str) {
        self.shared.log_declined(self.server(), why);
    }

    /// Handles the report that a connection ended. It need not be the current one.
    pub(crate) fn handle_connection_end(self: &Arc<Self>, reason: &str) {
        let ended = |live: &Arc<ServerConnection>| live.session.end_reason().is_some();
        let Some(live) = self.connection.load_full().filter(ended) else { return };
        let (pool, error) = (self.clone(), SessionError::Ended(reason.to_owned()));
        tokio::spawn(async move {
            drop(pool.connection_lost(&live, error).await);
        });
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.changes.stop();
    }
}
