//! One client on the old transport, from the opening of its stream to the end of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolgate_wire::{Frame, Kind, Message, WireError, build, code, method};

use super::outbox::Outbox;
use crate::gateway::Hub;
use crate::http::clock::{Phase, Pulse};
use crate::peer::PeerId;
use crate::principal::Comer;
use crate::session::{Carriage, Exchange, Opening, Outlet, Reply, Session, finish};

/// A client and its session, if it has one yet.
pub(super) struct Client {
    hub: Arc<Hub>,
    pub(super) comer: Comer,
    /// For whom it is counted.
    pub(super) peer: PeerId,
    pub(super) outbox: Arc<Outbox>,
    /// When the stream was opened.
    pub(super) since: u64,
    /// Of the connection that carries the stream.
    pulse: Arc<Pulse>,
    standing: Mutex<Standing>,
}

enum Standing {
    /// It has not said `initialize`.
    New,
    /// It has.
    Open(Arc<Session>),
    /// Its stream is gone.
    Over,
}

impl Client {
    pub(super) fn new(hub: Arc<Hub>, comer: Comer, since: u64, pulse: Arc<Pulse>) -> Self {
        pulse.enter(Phase::Silent);
        let (outbox, standing) = (Arc::default(), Mutex::new(Standing::New));
        Self { hub, peer: comer.peer_id(), comer, outbox, since, pulse, standing }
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a message. `false` if the stream is gone; an error if such a message is not for this
    /// session.
    pub(super) fn receive(&self, message: Message) -> Result<bool, Reply> {
        let session = match &*self.standing() {
            Standing::Over => return Ok(false),
            Standing::New => None,
            Standing::Open(session) => Some(session.clone()),
        };
        match (session, message) {
            (Some(session), message) => self.pass(&session, message).map(|()| true),
            (None, Message::One(frame)) => Ok(self.greet(&frame)),
            (None, Message::Batch(_)) => Err(Reply::whole(build::failure(
                None,
                code::INVALID_REQUEST,
                NOT_INITIALIZED,
                None,
            ))),
        }
    }

    /// Before `initialize` there is nothing else to say but that we live.
    fn greet(&self, frame: &Frame) -> bool {
        let Some(id) = frame.id().filter(|_| frame.kind() == Kind::Request) else { return true };
        if frame.is(method::INITIALIZE) {
            return self.open(frame);
        }
        let id = id.to_owned();
        self.answer(match frame.is(method::PING) {
            true => Reply::result(&id, b"{}"),
            false => Reply::failure(&id, code::INVALID_REQUEST, NOT_INITIALIZED),
        });
        true
    }

    fn open(&self, request: &Frame) -> bool {
        let mut standing = self.standing();
        let session = match &*standing {
            Standing::Over => return false,
            Standing::Open(session) => Some(session.clone()),
            Standing::New => None,
        };
        let reply = match session {
            // Another POST was faster; the session says what it thinks of a second greeting.
            Some(session) => {
                drop(standing);
                self.run(session.request(request.clone(), Carriage::Streaming));
                return true;
            }
            None => match self.hub.open(request, &self.comer, self.outbox.clone()) {
                Opening::Session(session, reply) => {
                    *standing = Standing::Open(session);
                    self.pulse.enter(Phase::Serving);
                    reply
                }
                Opening::Refused(reply) => reply,
            },
        };
        self.answer(reply);
        true
    }

    fn pass(&self, session: &Arc<Session>, message: Message) -> Result<(), Reply> {
        match message {
            Message::One(frame) if frame.kind() == Kind::Request => {
                self.run(session.request(frame, Carriage::Streaming));
            }
            Message::One(frame) => session.take(frame),
            Message::Batch(messages) => self.pass_batch(session, messages)?,
        }
        Ok(())
    }

    fn pass_batch(
        &self,
        session: &Arc<Session>,
        messages: Vec<Result<Frame, WireError>>,
    ) -> Result<(), Reply> {
        if let Some(exchange) = session.batch(messages, Carriage::Streaming)? {
            self.run(exchange);
        }
        Ok(())
    }

    /// Requests run side by side, each in a task; the end of the session ends them.
    fn run(&self, mut exchange: Exchange) {
        if let Exchange::Answered(reply) = exchange {
            return self.answer(reply);
        }
        let outbox = self.outbox.clone();
        tokio::spawn(async move {
            let reply = finish(|context| exchange.poll_step(context), outbox.as_ref()).await;
            outbox.answer(reply);
        });
    }

    fn answer(&self, reply: Reply) {
        self.outbox.answer(reply);
    }

    /// Whether it has said nothing since it came.
    pub(super) fn is_new(&self) -> bool {
        matches!(*self.standing(), Standing::New)
    }

    pub(super) fn in_flight(&self) -> usize {
        match &*self.standing() {
            Standing::Open(session) => session.peer().flights.len(),
            Standing::New | Standing::Over => 0,
        }
    }

    /// Ends the session, and what runs in it.
    pub(super) fn end(&self) {
        let ended = std::mem::replace(&mut *self.standing(), Standing::Over);
        if let Standing::Open(session) = ended {
            self.hub.registry.leave(&session);
        }
        self.outbox.close();
    }
}

const NOT_INITIALIZED: &str = "the session is not initialized";
