//! One request in flight, as the servers see it: who is told of progress and asked questions.
//!
//! What is told or asked waits here until the carrier takes it. A call costs nothing for this
//! until something is really said. How it is carried (events of a stream, lines) is not known
//! here.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use toolgate_transport::refill::Refill;
use toolgate_wire::view::LogLevel;
use toolgate_wire::{Frame, OwnedId, line};

use super::{Outlet, Peer};
use crate::upstreams::{Answer, Interactor, Question, Scope};

/// Why a request ends before its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The client said so.
    Cancelled,
    /// The client's session is over.
    SessionOver,
}

/// Whether the carrier can bring messages to the client before the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carriage {
    /// It can.
    Streaming,
    /// The client takes a bare answer only: events go where messages outside calls go, and
    /// nothing can be asked.
    AnswerOnly,
}

/// A request in flight.
pub(crate) struct Call {
    peer: Arc<Peer>,
    id: OwnedId,
    carriage: Carriage,
    inbox: Mutex<Inbox>,
}

/// What waits for the carrier.
#[derive(Default)]
struct Inbox {
    messages: VecDeque<Bytes>,
    end: Option<End>,
    waker: Option<Waker>,
}

impl Call {
    pub(crate) fn new(peer: Arc<Peer>, id: OwnedId, carriage: Carriage) -> Self {
        Self { peer, id, carriage, inbox: Mutex::default() }
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client's id of it.
    pub(crate) fn id(&self) -> &OwnedId {
        &self.id
    }

    /// Gives it up.
    pub(crate) fn end(&self, end: End) {
        self.wake(|inbox| inbox.end = Some(end));
    }

    /// Whether it was given up; otherwise the task is woken when it is, or when something is said.
    pub(crate) fn watch(&self, context: &Context<'_>) -> Option<End> {
        let mut inbox = self.inbox();
        match &mut inbox.waker {
            Some(waker) => waker.clone_from(context.waker()),
            empty => *empty = Some(context.waker().clone()),
        }
        inbox.end
    }

    /// The next message for the client.
    pub(crate) fn take(&self) -> Option<Bytes> {
        self.inbox().messages.pop_front()
    }

    fn wake(&self, change: impl FnOnce(&mut Inbox)) {
        let waker = {
            let mut inbox = self.inbox();
            change(&mut inbox);
            inbox.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Outlet for Call {
    fn send(&self, message: Bytes) {
        match self.carriage {
            Carriage::Streaming => self.wake(|inbox| inbox.messages.push_back(message)),
            Carriage::AnswerOnly => self.peer.send(message),
        }
    }

    fn send_large(&self, message: Refill) {
        // Only answers are large, and a call has none of its own to send.
        if let Ok(message) = message.to_vec() {
            self.send(message.into());
        }
    }
}

impl Interactor for Call {
    fn scope(&self) -> Scope {
        self.peer.scope()
    }

    fn tell(&self, event: Frame) {
        if self.peer.wants(&event) {
            self.send(line(event.bytes()));
        }
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        let way = (self.carriage == Carriage::Streaming).then_some(self as &dyn Outlet);
        self.peer.put(question, way)
    }

    fn capabilities(&self) -> Bytes {
        self.peer.told(self.carriage == Carriage::Streaming)
    }

    fn level(&self) -> Option<LogLevel> {
        Some(self.peer.level())
    }
}
