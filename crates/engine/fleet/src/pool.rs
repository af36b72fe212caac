//! One server for one key: its live connection, its catalog, how it stands.
//!
//! The first use brings it up; a connection that ended is replaced on the next use. Failures in a
//! row are spaced out, so that a server that cannot start is not started on every call.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use toolgate_model::{Catalog, Failure, Phase, ServerName, ServerState};
use toolgate_session::{Outbound, Owner, SessionError};
use toolgate_wire::view::LogLevel;
use toolgate_wire::{Frame, method, string};

use crate::connect::{Attempt, Live, Log, Report, with_exit};
use crate::fleet::Shared;
use crate::member::{Member, Tenant};
use crate::wanted::Wanted;
use crate::watch::{self, Changes, Deaf, Watcher};
use crate::{CallerKey, FleetError, FleetEvent, refresh};

/// The wait after the first failure; it doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest wait.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Calls under way at once on one connection.
const PLACES: usize = 64;

/// One server, connected for one key.
pub struct Pool {
    member: Arc<Member>,
    tenant: Tenant,
    shared: Arc<Shared>,
    live: ArcSwapOption<Live>,
    catalog: ArcSwapOption<Catalog>,
    state: Mutex<ServerState>,
    connecting: tokio::sync::Mutex<Failures>,
    wanted: Mutex<Wanted>,
    places: Semaphore,
    changes: Arc<Changes>,
    me: Weak<Pool>,
}

/// Failures in a row, and when the next attempt may be made.
#[derive(Default)]
struct Failures {
    count: u32,
    wait_until: Option<Instant>,
}

impl Pool {
    pub(crate) fn new(member: Arc<Member>, tenant: Tenant, shared: Arc<Shared>) -> Arc<Self> {
        let state = Mutex::new(member.standing.clone());
        let pool = Arc::new_cyclic(|me| Self {
            member,
            tenant,
            shared,
            live: ArcSwapOption::empty(),
            catalog: ArcSwapOption::empty(),
            state,
            connecting: tokio::sync::Mutex::default(),
            wanted: Mutex::default(),
            places: Semaphore::new(PLACES),
            changes: Arc::default(),
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

    /// What it offers, as far as is known.
    pub fn catalog(&self) -> Option<Arc<Catalog>> {
        self.catalog.load_full()
    }

    /// The places for calls under way at once.
    pub fn places(&self) -> &Semaphore {
        &self.places
    }

    /// Shows what was known of it before this process began.
    pub(crate) fn remember(&self, catalog: Catalog) {
        self.catalog.compare_and_swap(&None::<Arc<Catalog>>, Some(Arc::new(catalog)));
    }

    /// Sends a request. One that the server provably did not run, because it had forgotten our
    /// session, is sent once more on a new session if it is `repeatable`.
    pub async fn call(
        &self,
        outbound: &Outbound,
        repeatable: impl FnOnce() -> bool,
    ) -> Result<Frame, FleetError> {
        let live = self.live().await?;
        let error = match live.session.call(outbound).await {
            Ok(frame) => return Ok(frame),
            Err(error) => error,
        };
        match error.is_fatal() {
            true => Box::pin(self.call_again(&live, error, outbound, repeatable)).await,
            false => Err(self.failed(error, String::new())),
        }
    }

    async fn call_again(
        &self,
        lost: &Arc<Live>,
        error: SessionError,
        outbound: &Outbound,
        repeatable: impl FnOnce() -> bool,
    ) -> Result<Frame, FleetError> {
        let expired = matches!(error, SessionError::Expired);
        let error = self.lost(lost, error).await;
        if !(expired && repeatable()) {
            return Err(error);
        }
        let live = self.live().await?;
        live.session.call(outbound).await.map_err(|error| self.failed(error, live.stderr()))
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
        let state = self.state();
        if let ServerState::Blocked(_) | ServerState::Disabled = state {
            return Err(FleetError::Unusable { server: self.server().clone(), state });
        }
        if failures.wait_until.is_some_and(|until| until > Instant::now()) {
            return Err(self.down(state));
        }
        self.bring_up(&mut failures).await
    }

    fn usable(&self) -> Option<Arc<Live>> {
        self.live.load_full().filter(|live| live.session.ended().is_none())
    }

    async fn bring_up(&self, failures: &mut Failures) -> Result<Arc<Live>, FleetError> {
        self.set_state(ServerState::Connecting);
        let mut log = Log::default();
        let watcher = Watcher { pool: self.me.clone(), changes: self.changes.clone() };
        match self.attempt(Arc::new(watcher)).run(&mut log).await {
            Ok((live, catalog)) => {
                *failures = Failures::default();
                let live = Arc::new(live);
                self.live.store(Some(live.clone()));
                self.tell_again(&live);
                self.publish(catalog).await;
                self.set_state(ServerState::Connected);
                Ok(live)
            }
            Err(state) => {
                let wait = FIRST_WAIT.saturating_mul(1 << failures.count.min(6)).min(LONGEST_WAIT);
                failures.count += 1;
                failures.wait_until = Some(Instant::now() + wait);
                let reason = state.reason().unwrap_or_default();
                tracing::warn!(target: "toolgate::fleet", server = %self.server(), "{reason}");
                self.set_state(state.clone());
                Err(self.down(state))
            }
        }
    }

    /// Brings up a connection of its own and closes it again, to see how that goes.
    pub(crate) async fn examine(&self) -> Report {
        let mut log = Log::default();
        if self.member.standing != ServerState::NotStarted {
            log.not_allowed(&self.member.standing);
            return log.report;
        }
        if let Ok((live, _)) = self.attempt(Arc::new(Deaf)).run(&mut log).await {
            live.close().await;
        }
        log.report
    }

    fn attempt(&self, owner: Arc<dyn Owner>) -> Attempt<'_> {
        let (member, tenant, launcher) = (&*self.member, &self.tenant, &self.shared.launcher);
        Attempt { member, tenant, launcher, owner }
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

    fn failed(&self, source: SessionError, stderr: String) -> FleetError {
        FleetError::Session { server: self.server().clone(), source, stderr }
    }

    /// A connection is over: whoever notices first says how the server stands.
    async fn lost(&self, live: &Arc<Live>, error: SessionError) -> FleetError {
        if let Some(child) = &live.child {
            let _ = tokio::time::timeout(Duration::from_millis(200), child.wait()).await;
        }
        let error = with_exit(error, live.child.as_ref());
        let stderr = live.stderr();
        let current = self.live.load_full();
        if current.is_some_and(|current| Arc::ptr_eq(&current, live)) {
            self.live.store(None);
            let cause = format!("failed to {error}");
            let failure = Failure { phase: Phase::Call, cause, stderr: stderr.clone(), hint: None };
            self.set_state(ServerState::Disconnected(failure));
        }
        self.failed(error, stderr)
    }

    fn set_state(&self, state: ServerState) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
        self.shared.announce(FleetEvent::StateChanged(self.server().clone()));
    }

    async fn publish(&self, catalog: Catalog) {
        let server = self.server().clone();
        tracing::info!(
            target: "toolgate::fleet", %server,
            "Loaded {} MCP tool(s)", catalog.tools.len()
        );
        let old = self.catalog.swap(Some(Arc::new(catalog.clone())));
        let kinds = refresh::differences(old.as_deref(), &catalog);
        self.shared.memory.save(&self.member.spec, &catalog).await;
        if !kinds.is_empty() || old.is_none() {
            self.shared.catalog_changed(server, kinds);
        }
    }

    /// Notes that a caller wants to hear of a resource.
    pub fn subscribed(&self, uri: &str, caller: CallerKey) {
        self.wanted(|wanted| wanted.subscribe(uri, caller));
    }

    /// Notes that he no longer does; `true` if the server may be told.
    pub fn unsubscribed(&self, uri: &str, caller: CallerKey) -> bool {
        self.wanted(|wanted| wanted.unsubscribe(uri, caller))
    }

    /// The level from which a caller wants log lines.
    pub(crate) fn set_level(&self, caller: CallerKey, level: LogLevel) {
        let changed = self.wanted(|wanted| wanted.set_level(caller, level));
        if changed && let Some(live) = self.usable() {
            self.send_level(&live);
        }
    }

    /// Forgets a caller.
    pub(crate) fn release(&self, caller: CallerKey) {
        let orphans = self.wanted(|wanted| wanted.release(caller));
        let Some(live) = self.usable() else { return };
        for uri in orphans {
            send(&live, method::RESOURCES_UNSUBSCRIBE, uri_params(&uri));
        }
    }

    /// The lock is held for `act` alone, never while something is sent.
    fn wanted<T>(&self, act: impl FnOnce(&mut Wanted) -> T) -> T {
        act(&mut self.wanted.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A new connection knows nothing of what callers want.
    fn tell_again(&self, live: &Arc<Live>) {
        self.send_level(live);
        for uri in self.wanted(|wanted| wanted.subscriptions()) {
            send(live, method::RESOURCES_SUBSCRIBE, uri_params(&uri));
        }
    }

    fn send_level(&self, live: &Arc<Live>) {
        let level = self.wanted(|wanted| wanted.level());
        if let (Some(level), true) = (level, live.session.welcome().declares("logging")) {
            let params = format!("{{\"level\":\"{}\"}}", level.as_str());
            send(live, method::LOGGING_SET_LEVEL, params);
        }
    }

    /// Ends the connection; the next use would make a new one.
    pub(crate) async fn close(&self) {
        if let Some(live) = self.live.swap(None) {
            live.close().await;
        }
    }

    /// A notification that belongs to no call.
    pub(crate) fn notified(&self, frame: Frame) {
        let server = self.server().clone();
        self.shared.announce(FleetEvent::Notified { server, frame });
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

    /// Reads the lists again that have changed.
    pub(crate) async fn refresh(&self) {
        let kinds = self.changes.take();
        let (Some(live), Some(known)) = (self.usable(), self.catalog()) else { return };
        match refresh::some(&live.session, &known, &kinds).await {
            Ok((catalog, changed)) if !changed.is_empty() => self.publish(catalog).await,
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(
                    target: "toolgate::fleet", server = %self.server(), %error,
                    "a changed list could not be read"
                );
            }
        }
    }
}

fn uri_params(uri: &str) -> String {
    format!("{{\"uri\":{}}}", string::encode(uri))
}

/// Sends a request of our own whose answer changes nothing.
fn send(live: &Arc<Live>, method: &'static str, params: String) {
    let live = live.clone();
    tokio::spawn(async move {
        if let Err(error) = live.session.request(method, Some(params.as_bytes())).await {
            tracing::debug!(target: "toolgate::fleet", method, %error, "not taken");
        }
    });
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.changes.stop();
    }
}
