//! Calls in flight: who waits for which id, and whose question a question is.
//!
//! On a connection that carries many calls at once nothing tells which of them a server's question
//! belongs to. While all calls in flight are of one scope the answer is clear. Otherwise the
//! question is held and no new call lets in, until the calls that ask nothing have been answered;
//! what then remains is the one that asks. A question is never shown to a scope that may not be
//! its own.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;
use toolgate_wire::Frame;

use crate::{Interactor, SessionError};

/// How a call ends.
pub(crate) type Landing = Result<Frame, SessionError>;

#[derive(Default)]
pub(crate) struct Flights {
    table: Mutex<Table>,
    /// Set while a question is held, so that the common case costs one load.
    holding: AtomicBool,
    released: Notify,
}

#[derive(Default)]
struct Table {
    calls: HashMap<u64, Flight>,
    held: Vec<Frame>,
    ended: Option<String>,
}

struct Flight {
    landing: oneshot::Sender<Landing>,
    port: Arc<dyn Interactor>,
    /// The caller's own progress token, as he spelled it.
    token: Option<Box<str>>,
    last_sign: Instant,
    open_questions: usize,
}

/// Whose a question is that came on no call's own stream.
pub(crate) enum Whose {
    /// No call is in flight.
    Nobody,
    /// The newest call of the only scope that is calling.
    Call(u64, Arc<dyn Interactor>),
    /// Not known yet; it was kept.
    Held,
    /// It cannot be known: every call in flight seems to be asking.
    Ambiguous(Vec<Frame>),
}

impl Flights {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while a question is held.
    pub(crate) async fn clear(&self) {
        while self.holding.load(Ordering::Acquire) {
            let released = self.released.notified();
            if !self.holding.load(Ordering::Acquire) {
                return;
            }
            released.await;
        }
    }

    /// Registers a call before it is sent.
    pub(crate) fn depart(
        &self,
        id: u64,
        port: Arc<dyn Interactor>,
        token: Option<Box<str>>,
    ) -> Result<oneshot::Receiver<Landing>, SessionError> {
        let (landing, landed) = oneshot::channel();
        let last_sign = Instant::now();
        let flight = Flight { landing, port, token, last_sign, open_questions: 0 };
        let mut table = self.table();
        if let Some(reason) = &table.ended {
            return Err(SessionError::Ended(reason.clone()));
        }
        table.calls.insert(id, flight);
        Ok(landed)
    }

    /// Delivers the end of a call. `false` if nobody waits for it.
    pub(crate) fn land(&self, id: u64, landing: Landing) -> bool {
        let flight = self.table().calls.remove(&id);
        flight.is_some_and(|flight| flight.landing.send(landing).is_ok())
    }

    /// Forgets a call. `false` if it was over already.
    pub(crate) fn forget(&self, id: u64) -> bool {
        self.table().calls.remove(&id).is_some()
    }

    /// Ends every call and refuses new ones.
    pub(crate) fn end(&self, reason: &str) {
        let calls = {
            let mut table = self.table();
            table.ended.get_or_insert_with(|| reason.to_owned());
            table.held.clear();
            std::mem::take(&mut table.calls)
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
        if let Some(flight) = self.table().calls.get_mut(&id) {
            flight.open_questions = flight.open_questions.saturating_add_signed(change);
            flight.last_sign = Instant::now();
        }
    }

    /// Finds whose a question is, or keeps it until that can be said.
    pub(crate) fn attribute(&self, question: &Frame) -> Whose {
        let mut table = self.table();
        if let Some(whose) = table.whose() {
            return whose;
        }
        table.held.push(question.clone());
        if table.held.len() >= table.calls.len() {
            let held = std::mem::take(&mut table.held);
            drop(table);
            self.release();
            return Whose::Ambiguous(held);
        }
        self.holding.store(true, Ordering::Release);
        Whose::Held
    }

    /// The questions whose owner is known now that a call is over.
    pub(crate) fn settle(&self) -> Vec<Frame> {
        if !self.holding.load(Ordering::Acquire) {
            return Vec::new();
        }
        let mut table = self.table();
        if table.whose().is_none() && table.held.len() < table.calls.len() {
            return Vec::new();
        }
        let settled = std::mem::take(&mut table.held);
        drop(table);
        self.release();
        settled
    }

    fn release(&self) {
        self.holding.store(false, Ordering::Release);
        self.released.notify_waiters();
    }
}

impl Table {
    fn whose(&self) -> Option<Whose> {
        let Some((id, newest)) = self.calls.iter().max_by_key(|(id, _)| **id) else {
            return Some(Whose::Nobody);
        };
        let scope = newest.port.scope();
        let alone = self.calls.values().all(|flight| flight.port.scope() == scope);
        alone.then(|| Whose::Call(*id, newest.port.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Answer, Question, Scope};
    use bytes::Bytes;
    use futures_util::future::BoxFuture;
    use toolgate_wire::Limits;

    struct Silent(u64);

    impl Interactor for Silent {
        fn scope(&self) -> Scope {
            Scope(self.0)
        }
        fn tell(&self, _: Frame) {}
        fn ask(&self, _: Question) -> BoxFuture<'_, Answer> {
            Box::pin(std::future::ready(Answer::Unsupported))
        }
    }

    fn question() -> Frame {
        let text = br#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}"#;
        Frame::parse(Bytes::from_static(text), &Limits::default()).unwrap()
    }

    #[tokio::test]
    async fn a_question_waits_until_only_its_own_call_is_left() {
        let flights = Flights::default();
        let _asking = flights.depart(1, Arc::new(Silent(1)), None).unwrap();
        let _other = flights.depart(2, Arc::new(Silent(2)), None).unwrap();
        assert!(matches!(flights.attribute(&question()), Whose::Held));
        assert!(flights.holding.load(Ordering::Acquire));
        assert!(flights.settle().is_empty());

        flights.forget(2);
        assert_eq!(flights.settle().len(), 1);
        let Whose::Call(id, port) = flights.attribute(&question()) else { panic!() };
        assert_eq!((id, port.scope()), (1, Scope(1)));
        flights.clear().await;
    }

    #[tokio::test]
    async fn as_many_questions_as_scopes_cannot_be_told_apart() {
        let flights = Flights::default();
        let _one = flights.depart(1, Arc::new(Silent(1)), None).unwrap();
        let _two = flights.depart(2, Arc::new(Silent(2)), None).unwrap();
        assert!(matches!(flights.attribute(&question()), Whose::Held));
        let Whose::Ambiguous(questions) = flights.attribute(&question()) else { panic!() };
        assert_eq!(questions.len(), 2);
        flights.clear().await;
    }

    #[tokio::test]
    async fn the_end_of_the_connection_is_the_end_of_every_call() {
        let flights = Flights::default();
        let landed = flights.depart(1, Arc::new(Silent(1)), None).unwrap();
        flights.end("it died");
        assert!(matches!(landed.await.unwrap(), Err(SessionError::Ended(_))));
        assert!(flights.depart(2, Arc::new(Silent(1)), None).is_err());
    }
}
