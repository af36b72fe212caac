//! The table of requests that wait for an answer, and the attribution of questions to calls.
//!
//! On a connection that carries many calls at once, nothing says which call a server's question
//! belongs to. If all pending calls have one scope, the answer is clear. Otherwise the question is
//! held, and no new call is sent, until enough calls have been answered that only one can own it.
//! If a call is cancelled in the meantime, it may have been the owner, and the held questions are
//! refused. A question is never shown to a scope that may not own it. To make this rare, the fleet
//! avoids sending calls on an unsuitable connection ([`PendingRequests::can_attribute`]).
//!
//! If two pending calls both ask, neither can be singled out, and both questions are refused. A
//! kind of call that asked nothing once counts as quiet. A call that may ask is *unsure*, and two
//! unsure calls of different scopes should not share a connection
//! ([`PendingRequests::may_mix_questions`]).
//!
//! A call whose client cannot be asked delays no other: a question that may belong to it is
//! declined.
//!
//! Calls of one scope may answer each other's questions. A question goes to the newest call without
//! an open question.
//!
//! Questions of a task carry the task's id. They belong to the call that waits for the task's
//! result. Such a call can last long and asks nothing else, so it does not cause other questions to
//! be held.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher as _;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;
use toolgate_wire::{Frame, meta, method, scan, string};

use crate::{CallerId, Interactor, SessionError};

/// The maximum number of quiet call kinds to remember.
const MOST_QUIET: usize = 4096;

/// The outcome of a request.
pub(crate) type RequestOutcome = Result<Frame, SessionError>;

/// All requests of one connection that wait for an answer.
#[derive(Default)]
pub(crate) struct PendingRequests {
    table: Mutex<RequestTable>,
    /// True while a question is held, so that the common case costs one load.
    holding: AtomicBool,
    /// True while a question of a call is open, for the same reason.
    asking: AtomicBool,
    /// Notified when one of the flags may have changed.
    released: Notify,
    /// The number of unsure calls.
    unsure: AtomicUsize,
    hasher: RandomState,
}

/// A hash of what a request calls. Calls of the same kind are assumed to ask alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CalledTargetHash(u64);

/// The contents of [`PendingRequests`], protected by its lock.
#[derive(Default)]
struct RequestTable {
    calls: HashMap<u64, PendingRequest>,
    held: Vec<Frame>,
    /// The kinds of calls that asked nothing, although the caller could be asked.
    quiet_kinds: HashSet<CalledTargetHash>,
    /// True if a cancelled call may have asked a held question.
    doubtful: bool,
    ended: Option<String>,
}

/// One request that waits for its answer.
struct PendingRequest {
    sender: oneshot::Sender<RequestOutcome>,
    interactor: Arc<dyn Interactor>,
    /// The caller's own progress token, as raw JSON.
    token: Option<Box<str>>,
    last_activity: Instant,
    open_questions: usize,
    /// The kind of the call, if its questions arrive on a shared stream.
    kind: Option<CalledTargetHash>,
    /// True if the call may ask a question.
    unsure: bool,
    asked: bool,
    /// The task whose result it waits for.
    task: Option<Box<str>>,
}

/// The owner of a question that arrived on a shared stream.
pub(crate) enum QuestionOwner {
    /// No pending call could answer the question.
    Nobody,
    /// The likeliest call of the only scope with pending calls.
    Call(u64, Arc<dyn Interactor>),
    /// Not known yet; the question is held.
    Held,
    /// Cannot be determined, because every pending call seems to ask.
    Ambiguous(Vec<Frame>),
}

/// The outcome for held questions after a call ended.
#[derive(Debug)]
pub(crate) enum HeldQuestionOutcome {
    /// The questions are still held, or there are none.
    StillHeld,
    /// The owner can be determined now.
    Attributable(Vec<Frame>),
    /// The owner can no longer be determined.
    Unattributable(Vec<Frame>),
}

impl PendingRequests {
    pub(crate) fn is_holding(&self) -> bool {
        self.holding.load(Ordering::Acquire)
    }

    /// Waits while a question is held.
    pub(crate) async fn wait_until_clear(&self) {
        self.until(|| !self.is_holding()).await;
    }

    /// Returns true if any question is open or held.
    pub(crate) fn is_asking(&self) -> bool {
        self.asking.load(Ordering::Acquire) || self.is_holding()
    }

    /// Returns true if the questions of a new call of this scope could be attributed.
    pub(crate) fn can_attribute(&self, scope: CallerId) -> bool {
        let other =
            |flight: &PendingRequest| flight.is_asking() && flight.interactor.scope() != scope;
        !self.is_asking() || !self.is_holding() && !self.table.lock().calls.values().any(other)
    }

    /// Waits until [`PendingRequests::can_attribute`] is true or the connection ended.
    pub(crate) async fn wait_until_suited(&self, scope: CallerId) {
        self.until(|| self.can_attribute(scope) || self.end_reason().is_some()).await;
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

    /// Returns the kind of a request, or `None` if the server must not ask during it.
    pub(crate) fn kind(&self, request: &Frame) -> Option<CalledTargetHash> {
        let asking = [method::TOOLS_CALL, method::PROMPTS_GET, method::RESOURCES_READ];
        let method = asking.into_iter().find(|method| request.is(method))?;
        Some(CalledTargetHash(self.hasher.hash_one((method, request.name()))))
    }

    /// Returns true if a new call of this scope and kind and a pending call of another scope may
    /// both ask, so that their questions could not be attributed.
    pub(crate) fn may_mix_questions(&self, scope: CallerId, kind: CalledTargetHash) -> bool {
        if self.unsure.load(Ordering::Acquire) == 0 {
            return false;
        }
        let table = self.table.lock();
        let other = |flight: &PendingRequest| flight.unsure && flight.interactor.scope() != scope;
        !table.quiet_kinds.contains(&kind) && table.calls.values().any(other)
    }

    /// Registers a call before it is sent. `kind` is set if its questions arrive on a shared
    /// stream.
    pub(crate) fn register(
        &self,
        id: u64,
        interactor: Arc<dyn Interactor>,
        token: Option<Box<str>>,
        kind: Option<CalledTargetHash>,
    ) -> Result<oneshot::Receiver<RequestOutcome>, SessionError> {
        let (sender, outcome) = oneshot::channel();
        let last_activity = Instant::now();
        let mut table = self.table.lock();
        if let Some(reason) = &table.ended {
            return Err(SessionError::Ended(reason.clone()));
        }
        let unsure = kind.is_some_and(|kind| !table.quiet_kinds.contains(&kind))
            && interactor.can_be_asked();
        self.unsure.fetch_add(usize::from(unsure), Ordering::AcqRel);
        let flight = PendingRequest {
            sender,
            interactor,
            token,
            last_activity,
            open_questions: 0,
            kind,
            unsure,
            asked: false,
            task: None,
        };
        table.calls.insert(id, flight);
        Ok(outcome)
    }

    /// Records that a call waits for the result of a task.
    pub(crate) fn set_awaited_task(&self, id: u64, task: &str) {
        if let Some(flight) = self.table.lock().calls.get_mut(&id) {
            flight.task = Some(task.into());
        }
    }

    /// Delivers the outcome of a call. Returns false if no call waits for it.
    pub(crate) fn complete(&self, id: u64, landing: RequestOutcome) -> bool {
        self.note_quiet(id);
        self.remove(id).is_some_and(|flight| flight.sender.send(landing).is_ok())
    }

    /// Removes a call that was `answered` or cancelled. Returns false if it had already ended. If
    /// it was cancelled, it may own a held question, which then cannot be attributed.
    pub(crate) fn forget(&self, id: u64, answered: bool) -> bool {
        let forgotten = self.remove(id).is_some();
        if forgotten && !answered {
            let mut table = self.table.lock();
            table.doubtful |= !table.held.is_empty();
        }
        forgotten
    }

    /// Remembers the kind of an answered call as quiet if the call asked nothing.
    fn note_quiet(&self, id: u64) {
        if self.unsure.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut table = self.table.lock();
        let silent = table.calls.get(&id).filter(|flight| flight.unsure && !flight.asked);
        let kind = silent.and_then(|flight| flight.kind);
        // A held question may belong to this call.
        let kind = kind.filter(|_| table.held.is_empty() && table.quiet_kinds.len() < MOST_QUIET);
        table.quiet_kinds.extend(kind);
    }

    fn remove(&self, id: u64) -> Option<PendingRequest> {
        let mut table = self.table.lock();
        let flight = table.calls.remove(&id)?;
        self.unsure.fetch_sub(usize::from(flight.unsure), Ordering::AcqRel);
        if flight.open_questions > 0 {
            self.update_asking(&table);
        }
        Some(flight)
    }

    /// Updates the flag after a question was opened or closed.
    fn update_asking(&self, table: &RequestTable) {
        let asking = table.calls.values().any(PendingRequest::is_asking);
        self.asking.store(asking, Ordering::Release);
        self.released.notify_waiters();
    }

    /// Ends every call and refuses new ones.
    pub(crate) fn end(&self, reason: &str) {
        let calls = {
            let mut table = self.table.lock();
            table.ended.get_or_insert_with(|| reason.to_owned());
            table.held.clear();
            let calls = std::mem::take(&mut table.calls);
            self.unsure.store(0, Ordering::Release);
            self.update_asking(&table);
            calls
        };
        self.release();
        for flight in calls.into_values() {
            let _ = flight.sender.send(Err(SessionError::Ended(reason.to_owned())));
        }
    }

    /// Returns the ids of all pending calls.
    pub(crate) fn ids(&self) -> Vec<u64> {
        self.table.lock().calls.keys().copied().collect()
    }

    /// Returns why the connection ended, or `None` if it is open.
    pub(crate) fn end_reason(&self) -> Option<String> {
        self.table.lock().ended.clone()
    }

    /// Records activity of a call and returns its interactor.
    pub(crate) fn touch(&self, id: u64) -> Option<Arc<dyn Interactor>> {
        let mut table = self.table.lock();
        let flight = table.calls.get_mut(&id)?;
        flight.last_activity = Instant::now();
        Some(flight.interactor.clone())
    }

    /// Returns the caller's own progress token.
    pub(crate) fn token(&self, id: u64) -> Option<Box<str>> {
        self.table.lock().calls.get(&id)?.token.clone()
    }

    /// Returns the only pending call, if there is exactly one.
    pub(crate) fn only(&self) -> Option<(u64, Arc<dyn Interactor>)> {
        let table = self.table.lock();
        match table.calls.len() {
            1 => table.calls.iter().next().map(|(id, flight)| (*id, flight.interactor.clone())),
            _ => None,
        }
    }

    /// Returns the time of the last activity of a call, or `None` once it ended. A call with an
    /// open question is always active.
    pub(crate) fn last_activity(&self, id: u64) -> Option<Instant> {
        let table = self.table.lock();
        let flight = table.calls.get(&id)?;
        Some(if flight.open_questions > 0 { Instant::now() } else { flight.last_activity })
    }

    /// Changes the number of open questions of a call.
    pub(crate) fn adjust_open_questions(&self, id: u64, change: isize) {
        let mut table = self.table.lock();
        let Some(flight) = table.calls.get_mut(&id) else { return };
        flight.open_questions = flight.open_questions.saturating_add_signed(change);
        flight.last_activity = Instant::now();
        flight.asked = true;
        if let Some(kind) = flight.kind {
            table.quiet_kinds.remove(&kind);
        }
        self.update_asking(&table);
    }

    /// Determines the owner of a question, or holds the question until that is possible.
    pub(crate) fn attribute(&self, question: &Frame) -> QuestionOwner {
        let mut table = self.table.lock();
        let owner = table.task_owner(question).or_else(|| table.sole_owner());
        if let Some(owner) = owner.or_else(|| table.unanswerable()) {
            return owner;
        }
        table.held.push(question.clone());
        if table.held.len() >= table.candidates().count() {
            let held = std::mem::take(&mut table.held);
            drop(table);
            self.release();
            return QuestionOwner::Ambiguous(held);
        }
        self.holding.store(true, Ordering::Release);
        QuestionOwner::Held
    }

    /// Takes the questions that need not be held any more after a call ended.
    pub(crate) fn take_settled(&self) -> HeldQuestionOutcome {
        if !self.is_holding() {
            return HeldQuestionOutcome::StillHeld;
        }
        let mut table = self.table.lock();
        let doubtful = table.doubtful;
        if !doubtful
            && table.sole_owner().is_none()
            && table.held.len() < table.candidates().count()
        {
            return HeldQuestionOutcome::StillHeld;
        }
        let settled = std::mem::take(&mut table.held);
        table.doubtful = false;
        drop(table);
        self.release();
        if doubtful {
            HeldQuestionOutcome::Unattributable(settled)
        } else {
            HeldQuestionOutcome::Attributable(settled)
        }
    }

    fn release(&self) {
        self.holding.store(false, Ordering::Release);
        self.released.notify_waiters();
    }
}

impl PendingRequest {
    /// Returns true if the call has an open question that carries no task id.
    fn is_asking(&self) -> bool {
        self.open_questions > 0 && self.task.is_none()
    }
}

impl RequestTable {
    fn sole_owner(&self) -> Option<QuestionOwner> {
        let likeliest = |(id, flight): &(&u64, &PendingRequest)| (flight.open_questions == 0, **id);
        let Some((id, newest)) = self.candidates().max_by_key(likeliest) else {
            return Some(QuestionOwner::Nobody);
        };
        let scope = newest.interactor.scope();
        let alone = self.candidates().all(|(_, flight)| flight.interactor.scope() == scope);
        alone.then(|| QuestionOwner::Call(*id, newest.interactor.clone()))
    }

    /// Returns [`QuestionOwner::Nobody`] if no call without an open question can be asked.
    fn unanswerable(&self) -> Option<QuestionOwner> {
        let mut silent =
            self.candidates().filter(|(_, flight)| flight.open_questions == 0).peekable();
        let any = silent.peek().is_some();
        (any && silent.all(|(_, flight)| !flight.interactor.can_be_asked()))
            .then_some(QuestionOwner::Nobody)
    }

    /// Returns the calls that a question without a task id may belong to. A call that waits for a
    /// task counts only if there is no other call.
    fn candidates(&self) -> impl Iterator<Item = (&u64, &PendingRequest)> {
        let others = self.calls.values().any(|flight| flight.task.is_none());
        self.calls.iter().filter(move |(_, flight)| !others || flight.task.is_none())
    }

    /// Returns the call that waits for the task named in a question.
    fn task_owner(&self, question: &Frame) -> Option<QuestionOwner> {
        let params = question.params()?;
        let task = scan::pointer(params, &["_meta", meta::RELATED_TASK, "taskId"])?;
        let task = string::decode(task.slice(params))?;
        let waits = |(_, flight): &(&u64, &PendingRequest)| flight.task.as_deref() == Some(&*task);
        let (id, flight) = self.calls.iter().find(waits)?;
        Some(QuestionOwner::Call(*id, flight.interactor.clone()))
    }
}

#[cfg(test)]
mod tests;
