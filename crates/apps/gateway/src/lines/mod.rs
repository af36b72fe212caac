//! A client that sends one message per line: stdio, or a connection of the control socket.
//!
//! Requests run side by side, each in a task; answers go out as they come. The end of the input is
//! how such a client leaves: its calls are cancelled at once. Lists are there in a moment and still
//! go out.

mod open;

use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use tokio::time::timeout;
use toolgate_transport::TransportError;
use toolgate_transport::line::{LineReader, LineSender, writer};
use toolgate_transport::refill::Refill;
use toolgate_wire::{Fault, Frame, Kind, Message, OwnedId, WireError, build, code, method};

use crate::GatewayError;
use crate::gateway::Hub;
use crate::modern::{self, Envelope, Label, Speech, Visit};
use crate::peer::Peer;
use crate::principal::{Comer, Place, Principal};
use crate::session::{
    Carriage, Exchange, Opening, Outlet, Reply, Session, Written, finish, listed,
};
use open::{Begun, Open};

/// How long a client may take to read the last lines.
const LAST_LINES: Duration = Duration::from_secs(1);

/// The client's lines. Whoever serves the client holds the only strong handle, so that the writer
/// ends with him, whoever else still knows the way.
struct Lines(Weak<LineSender>);

impl Outlet for Lines {
    fn send(&self, message: Bytes) {
        if let Some(sender) = self.0.upgrade() {
            // A client that no longer reads is noticed by whoever serves it.
            let _ = sender.send(message);
        }
    }

    fn send_large(&self, message: Refill) {
        if let Some(sender) = self.0.upgrade() {
            let _ = sender.send_large(message);
        }
    }
}

/// One client being served. It may speak for a session and without one on the same lines.
struct Client {
    hub: Arc<Hub>,
    sender: Arc<LineSender>,
    session: Option<Arc<Session>>,
    running: JoinSet<()>,
    principal: Principal,
    peer: Arc<Peer>,
    place: Place,
    /// Its requests without a session.
    open: Arc<Open>,
}

/// Where a client of lines is put.
pub(crate) struct Seat {
    pub(crate) place: Place,
    /// Whether it is the command line of whoever runs the gateway.
    pub(crate) operated: bool,
}

pub(crate) async fn serve<R, W>(
    hub: Arc<Hub>,
    Seat { place, operated }: Seat,
    (reader, output): (R, W),
    shutdown: impl Future<Output = ()>,
) -> Result<(), GatewayError>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (sender, writing) = writer(output);
    let mut writing = tokio::spawn(writing);
    let drain = hub.options.drain;
    let mut reader = LineReader::new(reader, hub.options.body);
    let principal = Principal::connection(operated);
    let mut client = Client {
        hub,
        sender: Arc::new(sender),
        session: None,
        running: JoinSet::new(),
        peer: Peer::of_lines(principal.lines().unwrap_or_default()),
        principal,
        place,
        open: Arc::default(),
    };
    let ended = tokio::select! {
        ended = client.read(&mut reader) => {
            client.cancel_calls();
            ended
        }
        () = shutdown => Ok(()),
        // The client closed what it reads from: nothing can be answered.
        _ = &mut writing => {
            client.leave();
            return Ok(());
        }
    };
    let _ = timeout(drain, client.settle()).await;
    client.leave();
    let _ = timeout(LAST_LINES, &mut writing).await;
    writing.abort();
    Ok(ended?)
}

impl Client {
    async fn read<R: AsyncRead + Unpin>(
        &mut self,
        reader: &mut LineReader<R>,
    ) -> Result<(), TransportError> {
        loop {
            match reader.next().await {
                Ok(Some(line)) => self.receive(line).await,
                Ok(None) => return Ok(()),
                Err(TransportError::Oversize { limit, head }) => {
                    let message = format!("{}: more than {limit} bytes", Fault::TooLarge);
                    self.refuse(Fault::TooLarge.code(), &message, &head);
                }
                Err(TransportError::Unkept { reason, head }) => {
                    let message = format!("the message could not be kept: {reason}");
                    self.refuse(code::INTERNAL_ERROR, &message, &head);
                }
                Err(error) => return Err(error),
            }
            while self.running.try_join_next().is_some() {}
        }
    }

    async fn receive(&mut self, line: Bytes) {
        let message = match Message::parse(line, &self.hub.limits()) {
            Ok(message) => message,
            Err(error) => return self.answer(Reply::unreadable(&error)),
        };
        match (Speech::of(&message, Label::None, self.hub.options.strict), message) {
            (Err(fault), _) => self.answer(fault.into_reply()),
            (Ok(_), Message::One(frame)) if self.cancels(&frame) => {}
            (Ok(Speech::Request(envelope)), Message::One(frame)) => self.modern(frame, envelope),
            (Ok(Speech::Notice), _) => {}
            (Ok(_), Message::One(frame)) => self.one(frame).await,
            (Ok(_), Message::Batch(messages)) => self.batch(messages),
        }
    }

    /// Takes a message of the session, or one that opens it.
    async fn one(&mut self, frame: Frame) {
        match &self.session {
            _ if frame.kind() == Kind::Request => self.request(frame).await,
            Some(session) => session.take(frame),
            None => {}
        }
    }

    /// Begins to answer a request that stands for itself.
    fn modern(&mut self, request: Frame, envelope: Envelope) {
        let modern = &self.hub.modern;
        let Some(id) = request.id().map(|id| id.to_owned()) else { return };
        if let Some(reason) = self.open.refuses(&id) {
            return self.answer(Reply::failure(&id, code::INVALID_REQUEST, reason));
        }
        let peer = self.peer.clone();
        let method = request.method().unwrap_or_default();
        let own = listed(&method).is_some() || method == method::SUBSCRIPTIONS_LISTEN;
        let comer = self.comer();
        let visitor = match modern.visitor(comer, &envelope, &request) {
            Ok(visitor) => visitor,
            Err(fault) => return self.answer(fault.into_reply()),
        };
        let visit = Visit { visitor, envelope, carriage: Carriage::Streaming, peer };
        let exchange = match modern.request(request, visit) {
            modern::Exchange::Answered(reply) => return self.answer(reply),
            exchange => exchange,
        };
        let lines = Lines(Arc::downgrade(&self.sender));
        self.open.run(Begun { id, own, exchange }, &mut self.running, lines);
    }

    /// Whether a message cancels a request without session. Such a request gets no answer then.
    fn cancels(&self, frame: &Frame) -> bool {
        frame.kind() == Kind::Notification
            && frame.request_ref().is_some_and(|id| self.open.cancel(id))
    }

    async fn request(&mut self, request: Frame) {
        match &self.session {
            Some(session) => {
                let exchange = session.request(request, Carriage::Streaming);
                self.run(exchange);
            }
            None if request.is(method::INITIALIZE) => self.open(&request).await,
            None => self.early(&request),
        }
    }

    async fn open(&mut self, request: &Frame) {
        // An operator's command reads no instructions; it names one server and has waited for that.
        if !matches!(self.principal, Principal::Operator(_)) {
            self.hub.await_start().await;
        }
        let outlet = Arc::new(Lines(Arc::downgrade(&self.sender)));
        match self.hub.open(request, &self.comer(), outlet) {
            Opening::Session(session, reply) => {
                self.session = Some(session);
                self.answer(reply);
            }
            Opening::Refused(reply) => self.answer(reply),
        }
    }

    /// Before `initialize` there is nothing to say but that we live.
    fn early(&self, request: &Frame) {
        let Some(id) = request.id().map(|id| id.to_owned()) else { return };
        self.answer(if request.is(method::PING) {
            Reply::result(&id, b"{}")
        } else {
            Reply::failure(&id, code::INVALID_REQUEST, "the session is not initialized")
        });
    }

    fn batch(&mut self, messages: Vec<Result<Frame, WireError>>) {
        let Some(session) = &self.session else {
            let error = "the session is not initialized";
            return self.answer(Reply::whole(build::failure(
                None,
                code::INVALID_REQUEST,
                error,
                None,
            )));
        };
        match session.batch(messages, Carriage::Streaming) {
            Ok(Some(exchange)) => self.run(exchange),
            Ok(None) => {}
            Err(reply) => self.answer(reply),
        }
    }

    fn run(&mut self, mut exchange: Exchange) {
        if let Exchange::Answered(reply) = exchange {
            return self.answer(reply);
        }
        let lines = Lines(Arc::downgrade(&self.sender));
        self.running.spawn(async move {
            let reply = finish(|context| exchange.poll_step(context), &lines).await;
            lines.answer(reply);
        });
    }

    /// Refuses a message that was not taken, by its first bytes.
    fn refuse(&self, code: i32, message: &str, head: &[u8]) {
        let id = Frame::peek_id(head);
        let id = id.as_ref().map(OwnedId::raw);
        self.answer(Reply::whole(build::failure(id, code, message, None)));
    }

    fn comer(&self) -> Comer {
        let (principal, place) = (self.principal.clone(), self.place.clone());
        Comer { principal, place, peer: self.peer.clone() }
    }

    fn answer(&self, reply: Reply) {
        // A client that no longer reads is noticed where the writer is awaited.
        let _ = match reply.into_line() {
            Written::Small(line) => self.sender.send(line),
            Written::Large(line) => self.sender.send_large(line),
        };
    }

    /// Cancels what the client asked of servers. Its answers say so.
    fn cancel_calls(&self) {
        if let Some(session) = &self.session {
            session.peer().flights.end();
        }
        self.open.cancel_calls();
    }

    /// Waits until nothing is in flight. No line is read any more, so no question is answered.
    async fn settle(&mut self) {
        if let Some(session) = &self.session {
            session.peer().asks.end();
        }
        let own = self.principal.clone();
        self.hub.modern.dismiss(|principal| *principal == own);
        while self.running.join_next().await.is_some() {}
    }

    /// Ends the session.
    fn leave(mut self) {
        if let Some(session) = self.session.take() {
            self.hub.registry.leave(&session);
        }
        self.running.abort_all();
        self.hub.modern.depart(|principal| *principal == self.principal);
    }
}
