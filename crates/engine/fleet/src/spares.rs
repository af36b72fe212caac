//! Spare connections, for calls whose questions could be confused with those of another caller.
//!
//! On a transport without a stream per call, nothing says which call a legacy server's question
//! belongs to. A question is never shown to a scope that may not own it. So while a question is
//! open (which can take long, or forever if the client is gone), a call of another scope on the
//! same connection could not ask anything. Such a call uses a spare connection to the same server.
//!
//! A spare costs another process of the server, which does not share state with the first. It is
//! therefore opened only when needed: while a question is open, and for concurrent calls that may
//! both ask, until it is known that they do not. Callers that cannot be asked never need one. Calls
//! return to the first connection as soon as possible. Requests about a task go to the spare where
//! the task began, and the spare lives as long as the task may. Subscriptions never use a spare. A
//! spare has no catalog, reports almost nothing outside calls, and its end affects only its own
//! calls. If no spare can be opened, the call uses the first connection, which holds its questions
//! until they can be attributed.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::future::select_all;
use parking_lot::Mutex;
use tokio::time::Instant;
use toolgate_session::{CallerId, OutboundRequest, SessionEventHandler};
use toolgate_wire::{Frame, method, scan};

use crate::backoff::LONGEST_WAIT;
use crate::connect::ServerConnection;
use crate::report::ConnectLog;
use crate::{FleetError, Pool};

/// The maximum number of spares per pool.
const MAX: usize = 4;
/// How long an unused spare is kept.
const IDLE: Duration = Duration::from_secs(60);
/// How long a call waits while every connection has an open question of another scope. The limit is
/// short, so that a user does not wait for other users to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest time a spare is kept for a task, whatever TTL the server states.
const LONGEST_TASK: Duration = Duration::from_secs(3600);

/// The spare connections of a pool.
#[derive(Default)]
pub(crate) struct SpareConnections {
    list: Mutex<Vec<Arc<SpareConnection>>>,
    /// Held while a spare is opened, one at a time. After a failure, the time of the next attempt.
    opening: tokio::sync::Mutex<Option<Instant>>,
    /// True once any task began on a spare.
    have_tasks: AtomicBool,
}

/// One spare connection and its usage.
struct SpareConnection {
    live: Arc<ServerConnection>,
    usage: Mutex<SpareUsage>,
}

/// The calls and tasks on one spare connection.
struct SpareUsage {
    calls: usize,
    /// When the last call ended.
    since: Instant,
    /// The tasks that began here, and when each expires.
    tasks: HashMap<String, Instant>,
}

/// Counts one call on a spare until it is dropped.
struct SpareUseGuard(Arc<SpareConnection>);

/// Returns true if the server may ask a question while it handles this request.
fn may_ask(request: &Frame) -> bool {
    let asking = [method::TOOLS_CALL, method::PROMPTS_GET, method::RESOURCES_READ];
    asking.into_iter().any(|method| request.is(method))
}

/// Returns true if the questions of a call could be attributed on this connection.
fn can_attribute(live: &ServerConnection, outbound: &OutboundRequest) -> bool {
    let port = &*outbound.interactor;
    !live.session.is_asking_other_scope(port)
        && !live.session.may_mix_questions(port, &outbound.frame)
}

/// Returns the id of the task that a request is about.
fn task_of(request: &Frame) -> Option<Cow<'_, str>> {
    let about_tasks = request.method()?.starts_with("tasks/");
    scan::member_text(request.params().filter(|_| about_tasks)?, "taskId")
}

impl Pool {
    /// Returns true if a call may need a connection other than `first`.
    pub(crate) fn may_need_spare(
        &self,
        first: &ServerConnection,
        outbound: &OutboundRequest,
    ) -> bool {
        let (port, request) = (&*outbound.interactor, &outbound.frame);
        first.session.is_asking_other_scope(port) && may_ask(request)
            || first.session.may_mix_questions(port, request)
            || self.spares.have_tasks.load(Ordering::Acquire) && task_of(request).is_some()
    }

    /// Sends a call on a suitable spare, or on the spare of its task. Returns `None` if the call
    /// should use the `first` connection.
    pub(crate) async fn call_on_spare(
        &self,
        first: &Arc<ServerConnection>,
        outbound: &OutboundRequest,
    ) -> Option<Result<Frame, FleetError>> {
        let max = self.timeouts().max().min(PATIENCE);
        let search = async {
            match task_of(&outbound.frame) {
                Some(task) => self.spares.find_by_task(&task),
                None => self.find_spare(first, outbound).await,
            }
        };
        let spare = match tokio::time::timeout(max, search).await {
            Ok(found) => found?,
            Err(_) => return Some(Err(FleetError::Busy(self.server().clone()))),
        };
        let live = &spare.0.live;
        Some(match live.session.call(outbound).await {
            Ok(frame) => {
                if spare.0.record_task(&frame) {
                    self.spares.have_tasks.store(true, Ordering::Release);
                }
                Ok(live.mask_response(frame))
            }
            Err(error) if error.is_fatal() => {
                let (error, stderr) = live.describe_exit(error).await;
                Err(self.session_error(error, stderr))
            }
            Err(error) => Err(self.masked_error(live, error)),
        })
    }

    /// Waits for a suitable spare. Returns `None` once the first connection is suitable.
    async fn find_spare(
        &self,
        first: &Arc<ServerConnection>,
        outbound: &OutboundRequest,
    ) -> Option<SpareUseGuard> {
        let port = &*outbound.interactor;
        while !can_attribute(first, outbound) {
            if let Some(spare) = self.spares.find_suitable(outbound) {
                return Some(spare);
            }
            let mut not_before = self.spares.opening.lock().await;
            if let Some(spare) = self.spares.find_suitable(outbound) {
                return Some(spare);
            }
            if self.spares.list.lock().len() < MAX {
                return self.open_spare(&mut not_before).await;
            }
            drop(not_before);
            if !first.session.is_asking_other_scope(port) {
                return None; // no question is open yet, and perhaps none will be
            }
            self.spares.wait_for_suitable(first, port.scope()).await;
        }
        None
    }

    async fn open_spare(&self, not_before: &mut Option<Instant>) -> Option<SpareUseGuard> {
        if not_before.is_some_and(|moment| moment > Instant::now()) {
            return None;
        }
        let owner = Arc::new(SpareEventHandler(self.me.clone()));
        let live = match self.attempt(owner).connect(&mut ConnectLog::new(self.server())).await {
            Ok((_, live)) => Arc::new(live),
            Err(state) => {
                let reason = state.reason().unwrap_or_default();
                tracing::warn!(
                    target: "toolgate::fleet", server = %self.server(),
                    "cannot open a spare connection: {reason}"
                );
                *not_before = Some(Instant::now() + LONGEST_WAIT);
                return None;
            }
        };
        tracing::info!(
            target: "toolgate::fleet", server = %self.server(),
            "spare connection opened"
        );
        self.send_level(&live);
        let usage = SpareUsage { calls: 0, since: Instant::now(), tasks: HashMap::new() };
        let usage = Mutex::new(usage);
        let spare = Arc::new(SpareConnection { live, usage });
        let borrowed = SpareUseGuard::new(&spare);
        tokio::spawn(retire(self.me.clone(), Arc::downgrade(&spare)));
        self.spares.list.lock().push(spare);
        if self.is_closed() {
            self.end_connections().await; // the pool closed before it could see the spare
            return None;
        }
        Some(borrowed)
    }
}

impl SpareConnections {
    /// Returns the least used spare that is suitable for a call. Removes spares whose connection
    /// ended.
    fn find_suitable(&self, outbound: &OutboundRequest) -> Option<SpareUseGuard> {
        let mut list = self.list.lock();
        list.retain(|spare| spare.live.session.end_reason().is_none());
        let suiting = list.iter().filter(|spare| can_attribute(&spare.live, outbound));
        suiting.min_by_key(|spare| spare.usage.lock().calls).map(SpareUseGuard::new)
    }

    /// Returns the spare on which a task began.
    fn find_by_task(&self, task: &str) -> Option<SpareUseGuard> {
        let list = self.list.lock();
        list.iter()
            .find(|spare| spare.usage.lock().tasks.contains_key(task))
            .map(SpareUseGuard::new)
    }

    /// Waits until any connection may be suitable for a call of this scope.
    async fn wait_for_suitable(&self, first: &Arc<ServerConnection>, scope: CallerId) {
        let spares = self.all();
        let all = spares.iter().chain([first]);
        select_all(all.map(|live| Box::pin(live.session.wait_until_suited(scope)))).await;
    }

    /// Removes a spare that has been idle for long enough, and returns its connection.
    fn take_idle(&self, idle: &Arc<SpareConnection>) -> Option<Arc<ServerConnection>> {
        let mut list = self.list.lock();
        let at = list.iter().position(|spare| Arc::ptr_eq(spare, idle))?;
        (idle.kept_until() <= Instant::now()).then(|| list.swap_remove(at).live.clone())
    }

    /// Removes and returns all connections.
    pub(crate) fn take(&self) -> Vec<Arc<ServerConnection>> {
        self.list.lock().drain(..).map(|spare| spare.live.clone()).collect()
    }

    /// Returns all connections.
    pub(crate) fn all(&self) -> Vec<Arc<ServerConnection>> {
        self.list.lock().iter().map(|spare| spare.live.clone()).collect()
    }
}

impl SpareConnection {
    /// Returns the time until which the spare is kept.
    fn kept_until(&self) -> Instant {
        let usage = self.usage.lock();
        let since = if usage.calls > 0 { Instant::now() } else { usage.since };
        usage.tasks.values().copied().fold(since + IDLE, Instant::max)
    }

    /// Records the task if an answer says that one began. Returns true if so.
    fn record_task(&self, answer: &Frame) -> bool {
        let result = answer.result().unwrap_or_default();
        let Some(task) = scan::member(result, "task").map(|span| span.slice(result)) else {
            return false;
        };
        let Some(id) = scan::member_text(task, "taskId") else { return false };
        let ttl = scan::member(task, "ttl").and_then(|span| str::from_utf8(span.slice(task)).ok());
        let ttl = ttl.and_then(|ttl| ttl.parse().ok()).map(Duration::from_millis);
        let kept = ttl.unwrap_or(LONGEST_TASK).min(LONGEST_TASK);
        self.usage.lock().tasks.insert(id.into_owned(), Instant::now() + kept);
        true
    }
}

impl SpareUseGuard {
    fn new(spare: &Arc<SpareConnection>) -> Self {
        spare.usage.lock().calls += 1;
        Self(spare.clone())
    }
}

impl Drop for SpareUseGuard {
    fn drop(&mut self) {
        let mut usage = self.0.usage.lock();
        usage.calls -= 1;
        usage.since = Instant::now();
    }
}

/// Closes a spare once it has been idle for long enough.
async fn retire(pool: Weak<Pool>, spare: Weak<SpareConnection>) {
    loop {
        let Some(until) = spare.upgrade().map(|spare| spare.kept_until()) else { return };
        tokio::time::sleep_until(until).await;
        let (Some(pool), Some(spare)) = (pool.upgrade(), spare.upgrade()) else { return };
        if let Some(live) = pool.spares.take_idle(&spare) {
            return live.close().await;
        }
    }
}

/// Handles the events of a spare. Forwards only notifications about questions and tasks of this
/// spare; the first connection reports everything else.
struct SpareEventHandler(Weak<Pool>);

impl SessionEventHandler for SpareEventHandler {
    fn on_notification(&self, frame: Frame) {
        let own = frame.is(method::ELICITATION_COMPLETE) || frame.is(method::TASKS_STATUS);
        if let Some(pool) = self.0.upgrade().filter(|_| own) {
            pool.announce_notification(frame);
        }
    }

    fn on_declined(&self, why: &str) {
        if let Some(pool) = self.0.upgrade() {
            pool.log_declined(why);
        }
    }
}
