//! Calls in flight: who waits for which id, and whose question a question is.
//!
//! On a connection that carries many calls at once nothing tells which of them a server's question
//! belongs to. While all calls in flight are of one scope the answer is clear. Otherwise the
//! question is held and no new call lets in, until the calls that ask nothing have been answered;
//! what then remains is the one that asks. A call that is given up meanwhile may be the one: what is
//! held is then refused. A question is never shown to a scope that may not be
//! its own. Whoever keeps several connections is told which calls one does not suit
//! ([`Flights::suits`]), so that all this is rare.
//!
//! Two calls that both ask leave no such remainder, and both questions are refused. What asked
//! nothing once is taken to be quiet; a call of which that is not known is *unsure*, and two unsure
//! ones of different scopes better not meet on one connection ([`Flights::mingles`]).
//!
//! Callers who can be asked nothing hold up nobody: a question that may be theirs is declined.
//!
//! Calls of one scope may answer each other's questions, but each of them is asked best for
//! itself: a question goes to the newest that has none open.
//!
//! Questions of a task are marked with it. They belong to whoever waits for its outcome, who may
//! do so for a long time and asks nothing else: nobody's questions are held because of him.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher as _;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;
use toolgate_wire::{Frame, meta, method, scan, string};

use crate::{Interactor, Scope, SessionError};

/// How many kinds of calls are remembered to ask nothing.
const MOST_QUIET: usize = 4096;

/// How a call ends.
pub(crate) type Landing = Result<Frame, SessionError>;

#[derive(Default)]
pub(crate) struct Flights {
    table: Mutex<Table>,
    /// Set while a question is held, so that the common case costs one load.
    holding: AtomicBool,
    /// Set while a question of a call is open, for the same reason.
    asking: AtomicBool,
    /// Wakes whoever waits for one of them to change.
    released: Notify,
    /// How many calls are unsure.
    unsure: AtomicUsize,
    hasher: RandomState,
}

/// What is called: calls of the same kind are taken to ask alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CallKind(u64);

#[derive(Default)]
struct Table {
    calls: HashMap<u64, Flight>,
    held: Vec<Frame>,
    /// What asked nothing when it was last called by somebody who could be asked.
    quiet: HashSet<CallKind>,
    /// A call was given up that may have asked what is held.
    doubtful: bool,
    ended: Option<String>,
}

struct Flight {
    landing: oneshot::Sender<Landing>,
    port: Arc<dyn Interactor>,
    /// The caller's own progress token, as he spelled it.
    token: Option<Box<str>>,
    last_sign: Instant,
    open_questions: usize,
    /// What it calls, where its questions would not be its own.
    kind: Option<CallKind>,
    /// Whether it may ask, for all that is known.
    unsure: bool,
    asked: bool,
    /// The task whose outcome it waits for.
    task: Option<Box<str>>,
}

/// Whose a question is that came on no call's own stream.
pub(crate) enum Whose {
    /// No call is in flight, or none that could answer it.
    Nobody,
    /// The likeliest call of the only scope that is calling.
    Call(u64, Arc<dyn Interactor>),
    /// Not known yet; it was kept.
    Held,
    /// It cannot be known: every call in flight seems to be asking.
    Ambiguous(Vec<Frame>),
}

/// What becomes of questions that were held.
#[derive(Debug)]
pub(crate) enum Settled {
    /// They are still held, or there are none.
    Nothing,
    /// It can be said whose they are.
    Known(Vec<Frame>),
    /// It cannot be known any more.
    Nobodys(Vec<Frame>),
}

impl Flights {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_holding(&self) -> bool {
        self.holding.load(Ordering::Acquire)
    }

    /// Waits while a question is held.
    pub(crate) async fn clear(&self) {
        self.until(|| !self.is_holding()).await;
    }

    /// Whether any question is open or held.
    pub(crate) fn is_asking(&self) -> bool {
        self.asking.load(Ordering::Acquire) || self.is_holding()
    }

    /// Whether the questions of a call of this scope could be told from all others there are.
    pub(crate) fn suits(&self, scope: Scope) -> bool {
        let other = |flight: &Flight| flight.is_asking() && flight.port.scope() != scope;
        !self.is_asking() || !self.is_holding() && !self.table().calls.values().any(other)
    }

    /// Waits until a call of this scope suits, or the connection is over.
    pub(crate) async fn suited(&self, scope: Scope) {
        self.until(|| self.suits(scope) || self.ended().is_some()).await;
    }

    async fn until(&self, reached: impl Fn() -> bool) {
        while !reached() {
            let mut released = pin!(self.released.notified());
            released.as_mut().enable();
            if !reached() {
                released.await;
            }
        }
    }

    /// What a request calls, if its server may ask something in answer.
    pub(crate) fn kind(&self, request: &Frame) -> Option<CallKind> {
        let asking = [method::TOOLS_CALL, method::PROMPTS_GET, method::RESOURCES_READ];
        let method = asking.into_iter().find(|method| request.is(method))?;
        Some(CallKind(self.hasher.hash_one((method, request.name()))))
    }

    /// Whether a call of this scope and kind and one under way may both ask, and nobody could tell
    /// their questions apart.
    pub(crate) fn mingles(&self, scope: Scope, kind: CallKind) -> bool {
        if self.unsure.load(Ordering::Acquire) == 0 {
            return false;
        }
        let table = self.table();
        let other = |flight: &Flight| flight.unsure && flight.port.scope() != scope;
        !table.quiet.contains(&kind) && table.calls.values().any(other)
    }

    /// Registers a call before it is sent; `kind` where its questions would not be its own.
    pub(crate) fn depart(
        &self,
        id: u64,
        port: Arc<dyn Interactor>,
        token: Option<Box<str>>,
        kind: Option<CallKind>,
    ) -> Result<oneshot::Receiver<Landing>, SessionError> {
        let (landing, landed) = oneshot::channel();
        let last_sign = Instant::now();
        let mut table = self.table();
        if let Some(reason) = &table.ended {
            return Err(SessionError::Ended(reason.clone()));
        }
        let unsure = kind.is_some_and(|kind| !table.quiet.contains(&kind)) && port.can_be_asked();
        self.unsure.fetch_add(usize::from(unsure), Ordering::AcqRel);
        let (open_questions, asked, task) = (0, false, None);
        let flight =
            Flight { landing, port, token, last_sign, open_questions, kind, unsure, asked, task };
        table.calls.insert(id, flight);
        Ok(landed)
    }

    /// Notes that a call waits for the outcome of a task.
    pub(crate) fn awaits(&self, id: u64, task: &str) {
        if let Some(flight) = self.table().calls.get_mut(&id) {
            flight.task = Some(task.into());
        }
    }

    /// Delivers the end of a call. `false` if nobody waits for it.
    pub(crate) fn land(&self, id: u64, landing: Landing) -> bool {
        self.hushed(id);
        self.remove(id).is_some_and(|flight| flight.landing.send(landing).is_ok())
    }

    /// Forgets a call, `answered` or given up. `false` if it was over already. A question that is
    /// held may be that of a call given up, and is then nobody's.
    pub(crate) fn forget(&self, id: u64, answered: bool) -> bool {
        let forgotten = self.remove(id).is_some();
        if forgotten && !answered {
            let mut table = self.table();
            table.doubtful |= !table.held.is_empty();
        }
        forgotten
    }

    /// Notes that a call was answered: one that asked nothing till then is quiet.
    fn hushed(&self, id: u64) {
        if self.unsure.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut table = self.table();
        let silent = table.calls.get(&id).filter(|flight| flight.unsure && !flight.asked);
        let kind = silent.and_then(|flight| flight.kind);
        // What is held may be its question.
        let kind = kind.filter(|_| table.held.is_empty() && table.quiet.len() < MOST_QUIET);
        table.quiet.extend(kind);
    }

    fn remove(&self, id: u64) -> Option<Flight> {
        let mut table = self.table();
        let flight = table.calls.remove(&id)?;
        self.unsure.fetch_sub(usize::from(flight.unsure), Ordering::AcqRel);
        if flight.open_questions > 0 {
            self.asked(&table);
        }
        Some(flight)
    }

    /// Some question was opened or closed.
    fn asked(&self, table: &Table) {
        let asking = table.calls.values().any(Flight::is_asking);
        self.asking.store(asking, Ordering::Release);
        self.released.notify_waiters();
    }

    /// Ends every call and refuses new ones.
    pub(crate) fn end(&self, reason: &str) {
        let calls = {
            let mut table = self.table();
            table.ended.get_or_insert_with(|| reason.to_owned());
            table.held.clear();
            let calls = std::mem::take(&mut table.calls);
            self.unsure.store(0, Ordering::Release);
            self.asked(&table);
            calls
        };
        self.release();
        for flight in calls.into_values() {
            let _ = flight.landing.send(Err(SessionError::Ended(reason.to_owned())));
        }
    }

    /// The ids of all calls in flight.
    pub(crate) fn ids(&self) -> Vec<u64> {
        self.table().calls.keys().copied().collect()
    }

    /// Why nothing can be called any more, if so.
    pub(crate) fn ended(&self) -> Option<String> {
        self.table().ended.clone()
    }

    /// Notes a sign of life; gives whoever stands behind the call.
    pub(crate) fn sign(&self, id: u64) -> Option<Arc<dyn Interactor>> {
        let mut table = self.table();
        let flight = table.calls.get_mut(&id)?;
        flight.last_sign = Instant::now();
        Some(flight.port.clone())
    }

    /// The progress token the caller chose for a call.
    pub(crate) fn token(&self, id: u64) -> Option<Box<str>> {
        self.table().calls.get(&id)?.token.clone()
    }

    /// The only call in flight, if there is just one.
    pub(crate) fn only(&self) -> Option<(u64, Arc<dyn Interactor>)> {
        let table = self.table();
        match table.calls.len() {
            1 => table.calls.iter().next().map(|(id, flight)| (*id, flight.port.clone())),
            _ => None,
        }
    }

    /// When the call was last heard of; `None` once it is over. A call whose question is being
    /// answered is alive.
    pub(crate) fn last_sign(&self, id: u64) -> Option<Instant> {
        let table = self.table();
        let flight = table.calls.get(&id)?;
        Some(if flight.open_questions > 0 { Instant::now() } else { flight.last_sign })
    }

    /// Notes that a question of this call is being answered, or was.
    pub(crate) fn questions(&self, id: u64, change: isize) {
        let mut table = self.table();
        let Some(flight) = table.calls.get_mut(&id) else { return };
        flight.open_questions = flight.open_questions.saturating_add_signed(change);
        flight.last_sign = Instant::now();
        flight.asked = true;
        if let Some(kind) = flight.kind {
            table.quiet.remove(&kind);
        }
        self.asked(&table);
    }

    /// Finds whose a question is, or keeps it until that can be said.
    pub(crate) fn attribute(&self, question: &Frame) -> Whose {
        let mut table = self.table();
        let whose = table.of_task(question).or_else(|| table.whose());
        if let Some(whose) = whose.or_else(|| table.unanswerable()) {
            return whose;
        }
        table.held.push(question.clone());
        if table.held.len() >= table.asking().count() {
            let held = std::mem::take(&mut table.held);
            drop(table);
            self.release();
            return Whose::Ambiguous(held);
        }
        self.holding.store(true, Ordering::Release);
        Whose::Held
    }

    /// The questions that need not be held any more, now that a call is over.
    pub(crate) fn settle(&self) -> Settled {
        if !self.is_holding() {
            return Settled::Nothing;
        }
        let mut table = self.table();
        let doubtful = table.doubtful;
        if !doubtful && table.whose().is_none() && table.held.len() < table.asking().count() {
            return Settled::Nothing;
        }
        let settled = std::mem::take(&mut table.held);
        table.doubtful = false;
        drop(table);
        self.release();
        if doubtful { Settled::Nobodys(settled) } else { Settled::Known(settled) }
    }

    fn release(&self) {
        self.holding.store(false, Ordering::Release);
        self.released.notify_waiters();
    }
}

impl Flight {
    /// Whether a question is open that nothing but its call's being the only one tells from others.
    fn is_asking(&self) -> bool {
        self.open_questions > 0 && self.task.is_none()
    }
}

impl Table {
    fn whose(&self) -> Option<Whose> {
        let likeliest = |(id, flight): &(&u64, &Flight)| (flight.open_questions == 0, **id);
        let Some((id, newest)) = self.asking().max_by_key(likeliest) else {
            return Some(Whose::Nobody);
        };
        let scope = newest.port.scope();
        let alone = self.asking().all(|(_, flight)| flight.port.scope() == scope);
        alone.then(|| Whose::Call(*id, newest.port.clone()))
    }

    /// A question is declined if whoever has none open yet can be asked nothing.
    fn unanswerable(&self) -> Option<Whose> {
        let mut silent = self.asking().filter(|(_, flight)| flight.open_questions == 0).peekable();
        let any = silent.peek().is_some();
        (any && silent.all(|(_, flight)| !flight.port.can_be_asked())).then_some(Whose::Nobody)
    }

    /// The calls an unmarked question may belong to: one that waits for a task only if there is no
    /// other.
    fn asking(&self) -> impl Iterator<Item = (&u64, &Flight)> {
        let others = self.calls.values().any(|flight| flight.task.is_none());
        self.calls.iter().filter(move |(_, flight)| !others || flight.task.is_none())
    }

    /// Whoever waits for the task a question is marked with.
    fn of_task(&self, question: &Frame) -> Option<Whose> {
        let params = question.params()?;
        let task = scan::pointer(params, &["_meta", meta::RELATED_TASK, "taskId"])?;
        let task = string::decode(task.of(params))?;
        let waits = |(_, flight): &(&u64, &Flight)| flight.task.as_deref() == Some(&*task);
        let (id, flight) = self.calls.iter().find(waits)?;
        Some(Whose::Call(*id, flight.port.clone()))
    }
}

#[cfg(test)]
mod tests;
