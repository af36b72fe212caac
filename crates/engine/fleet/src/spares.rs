//! Spare connections: where a call goes whose questions could not be told from somebody else's.
//!
//! On a carrier without a stream per call nothing tells which call a legacy server's question
//! belongs to. While one is open, for a person who thinks or a client that has gone and may never
//! come back, another scope's call on the same connection could ask nothing: a question is never
//! shown to a scope that may not be its own. So that call goes to another connection to the same
//! server, brought up like the first.
//!
//! What it costs: one more process of the server, with a state of its own; what a call left behind
//! in one process, another does not know. Therefore a spare is made only when it is needed: while a
//! question is open, and for two calls at once that may both ask, until it is known that they do not.
//! Callers who can be asked nothing never need one, and calls return to the first connection as soon as it
//! suits them. A task stays where it was begun:
//! requests about it go there, and the spare lives as long as it may. Subscriptions never come
//! here. A spare shows no catalog and reports next to nothing outside calls, and its end is the end
//! of its calls, not the server's. If none can be had, the call goes to the first connection, where its
//! questions are held until they can be told apart.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures_util::future::select_all;
use tokio::time::Instant;
use toolgate_model::CapabilityKind;
use toolgate_session::{Outbound, Owner, Scope};
use toolgate_wire::{Frame, method, scan};

use crate::connect::Live;
use crate::failures::LONGEST_WAIT;
use crate::report::Log;
use crate::{FleetError, Pool};

/// How many a pool may have.
const MAX: usize = 4;
/// How long one is kept that nobody uses.
const IDLE: Duration = Duration::from_secs(60);
/// How long a call waits where every connection is asking somebody else: nobody should sit before
/// a silent screen because five others went to lunch.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long one is kept for a task, whatever the server says of that.
const LONGEST_TASK: Duration = Duration::from_secs(3600);

/// The spare connections of a pool.
#[derive(Default)]
pub(crate) struct Spares {
    list: Mutex<Vec<Arc<Spare>>>,
    /// One is brought up at a time; after a failure not before this moment.
    opening: tokio::sync::Mutex<Option<Instant>>,
    /// Whether any task was begun on one.
    have_tasks: AtomicBool,
}

struct Spare {
    live: Arc<Live>,
    usage: Mutex<Usage>,
}

struct Usage {
    calls: usize,
    /// When the last call ended.
    since: Instant,
    /// The tasks begun here, and until when they may be asked for.
    tasks: HashMap<String, Instant>,
}

/// A spare while a call is on it.
struct Borrowed(Arc<Spare>);

/// Whether the server may ask something in answer to this request.
fn may_ask(request: &Frame) -> bool {
    let asking = [method::TOOLS_CALL, method::PROMPTS_GET, method::RESOURCES_READ];
    asking.into_iter().any(|method| request.is(method))
}

/// Whether the questions of a call could be told from all others on a connection.
fn suits(live: &Live, outbound: &Outbound) -> bool {
    let port = &*outbound.port;
    !live.session.is_asking_another(port) && !live.session.may_mingle(port, &outbound.frame)
}

/// The task a request is about.
fn task_of(request: &Frame) -> Option<Cow<'_, str>> {
    let about_tasks = request.method()?.starts_with("tasks/");
    scan::text(request.params().filter(|_| about_tasks)?, "taskId")
}

impl Pool {
    /// Whether a call may have to go elsewhere than to the `first` connection.
    pub(crate) fn may_go_aside(&self, first: &Live, outbound: &Outbound) -> bool {
        let (port, request) = (&*outbound.port, &outbound.frame);
        first.session.is_asking_another(port) && may_ask(request)
            || first.session.may_mingle(port, request)
            || self.spares.have_tasks.load(Ordering::Acquire) && task_of(request).is_some()
    }

    /// Sends a call on the spare it belongs to, or that it suits. `None` if it is one for the
    /// `first` connection.
    pub(crate) async fn call_aside(
        &self,
        first: &Arc<Live>,
        outbound: &Outbound,
    ) -> Option<Result<Frame, FleetError>> {
        let max = self.timeouts().max().min(PATIENCE);
        let place = async {
            match task_of(&outbound.frame) {
                Some(task) => self.spares.home(&task),
                None => self.place(first, outbound).await,
            }
        };
        let spare = match tokio::time::timeout(max, place).await {
            Ok(place) => place?,
            Err(_) => return Some(Err(FleetError::Busy(self.server().clone()))),
        };
        let live = &spare.0.live;
        Some(match live.session.call(outbound).await {
            Ok(frame) => {
                if spare.0.begun(&frame) {
                    self.spares.have_tasks.store(true, Ordering::Release);
                }
                Ok(live.masked_answer(frame))
            }
            Err(error) if error.is_fatal() => {
                let (error, stderr) = live.obituary(error).await;
                Err(self.failed(error, stderr))
            }
            Err(error) => Err(self.failed(live.masked(error), String::new())),
        })
    }

    /// A spare that suits, as soon as there is one; `None` once the first connection does.
    async fn place(&self, first: &Arc<Live>, outbound: &Outbound) -> Option<Borrowed> {
        let port = &*outbound.port;
        while !suits(first, outbound) {
            if let Some(spare) = self.spares.suiting(outbound) {
                return Some(spare);
            }
            let mut not_before = self.spares.opening.lock().await;
            if let Some(spare) = self.spares.suiting(outbound) {
                return Some(spare);
            }
            if self.spares.list().len() < MAX {
                return self.open_spare(&mut not_before).await;
            }
            drop(not_before);
            if !first.session.is_asking_another(port) {
                return None; // nobody asks yet, and perhaps nobody will
            }
            self.spares.any_suited(first, port.scope()).await;
        }
        None
    }

    async fn open_spare(&self, not_before: &mut Option<Instant>) -> Option<Borrowed> {
        if not_before.is_some_and(|moment| moment > Instant::now()) {
            return None;
        }
        let owner = Arc::new(Aside(self.me()));
        let live = match self.attempt(owner).connect(&mut Log::new(self.server())).await {
            Ok((_, live)) => Arc::new(live),
            Err(state) => {
                let reason = state.reason().unwrap_or_default();
                tracing::warn!(target: "toolgate::fleet", server = %self.server(), "no spare: {reason}");
                *not_before = Some(Instant::now() + LONGEST_WAIT);
                return None;
            }
        };
        tracing::info!(target: "toolgate::fleet", server = %self.server(), "a spare connection is up");
        self.send_level(&live);
        let usage = Usage { calls: 0, since: Instant::now(), tasks: HashMap::new() };
        let usage = Mutex::new(usage);
        let spare = Arc::new(Spare { live, usage });
        let borrowed = Borrowed::new(&spare);
        tokio::spawn(retire(self.me(), Arc::downgrade(&spare)));
        self.spares.list().push(spare);
        if self.is_closed() {
            self.end_connections().await; // nobody else would
            return None;
        }
        Some(borrowed)
    }
}

impl Spares {
    fn list(&self) -> MutexGuard<'_, Vec<Arc<Spare>>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One that suits a call of this caller; one that nobody uses suits best. The dead are left out
    /// and forgotten.
    fn suiting(&self, outbound: &Outbound) -> Option<Borrowed> {
        let mut list = self.list();
        list.retain(|spare| spare.live.session.ended().is_none());
        let suiting = list.iter().filter(|spare| suits(&spare.live, outbound));
        suiting.min_by_key(|spare| spare.usage().calls).map(Borrowed::new)
    }

    /// The one on which a task was begun.
    fn home(&self, task: &str) -> Option<Borrowed> {
        let list = self.list();
        list.iter().find(|spare| spare.usage().tasks.contains_key(task)).map(Borrowed::new)
    }

    /// Waits until some connection may suit a call of this scope.
    async fn any_suited(&self, first: &Arc<Live>, scope: Scope) {
        let spares = self.all();
        let all = spares.iter().chain([first]);
        select_all(all.map(|live| Box::pin(live.session.suited(scope)))).await;
    }

    /// Takes a spare out if nobody has used it for long.
    fn take_idle(&self, idle: &Arc<Spare>) -> Option<Arc<Live>> {
        let mut list = self.list();
        let at = list.iter().position(|spare| Arc::ptr_eq(spare, idle))?;
        (idle.kept_until() <= Instant::now()).then(|| list.swap_remove(at).live.clone())
    }

    /// Takes them all out.
    pub(crate) fn take(&self) -> Vec<Arc<Live>> {
        self.list().drain(..).map(|spare| spare.live.clone()).collect()
    }

    /// Those there are.
    pub(crate) fn all(&self) -> Vec<Arc<Live>> {
        self.list().iter().map(|spare| spare.live.clone()).collect()
    }
}

impl Spare {
    fn usage(&self) -> MutexGuard<'_, Usage> {
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Until when it is kept, as things stand.
    fn kept_until(&self) -> Instant {
        let usage = self.usage();
        let since = if usage.calls > 0 { Instant::now() } else { usage.since };
        usage.tasks.values().copied().fold(since + IDLE, Instant::max)
    }

    /// Whether an answer is that a task has begun, which is then kept here.
    fn begun(&self, answer: &Frame) -> bool {
        let result = answer.result().unwrap_or_default();
        let Some(task) = scan::member(result, "task").map(|span| span.of(result)) else {
            return false;
        };
        let Some(id) = scan::text(task, "taskId") else { return false };
        let ttl = scan::member(task, "ttl").and_then(|span| str::from_utf8(span.of(task)).ok());
        let ttl = ttl.and_then(|ttl| ttl.parse().ok()).map(Duration::from_millis);
        let kept = ttl.unwrap_or(LONGEST_TASK).min(LONGEST_TASK);
        self.usage().tasks.insert(id.into_owned(), Instant::now() + kept);
        true
    }
}

impl Borrowed {
    fn new(spare: &Arc<Spare>) -> Self {
        spare.usage().calls += 1;
        Self(spare.clone())
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        let mut usage = self.0.usage();
        usage.calls -= 1;
        usage.since = Instant::now();
    }
}

/// Closes a spare once nobody has used it for long.
async fn retire(pool: Weak<Pool>, spare: Weak<Spare>) {
    loop {
        let Some(until) = spare.upgrade().map(|spare| spare.kept_until()) else { return };
        tokio::time::sleep_until(until).await;
        let (Some(pool), Some(spare)) = (pool.upgrade(), spare.upgrade()) else { return };
        if let Some(live) = pool.spares.take_idle(&spare) {
            return live.close().await;
        }
    }
}

/// The owner of a spare: what it reports outside calls is the first connection's to report, but for
/// what concerns a question asked or a task begun here.
struct Aside(Weak<Pool>);

impl Owner for Aside {
    fn list_changed(&self, _kind: CapabilityKind) {}

    fn notified(&self, frame: Frame) {
        let own = frame.is(method::ELICITATION_COMPLETE) || frame.is(method::TASKS_STATUS);
        if let Some(pool) = self.0.upgrade().filter(|_| own) {
            pool.notified(frame);
        }
    }

    fn declined(&self, why: &str) {
        if let Some(pool) = self.0.upgrade() {
            pool.declined(why);
        }
    }

    fn ended(&self, _reason: &str) {}
}
