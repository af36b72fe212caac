//! One client's session: takes its messages in order and gives back what remains to be done.
//!
//! Taking a message is synchronous, so a cancellation can never overtake the request it names;
//! answering one is a future the carrier runs as it likes.

use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::message::{Frame, Id, Message, Notification, Request};
use super::outcome::{Fault, Outcome};
use super::peer::{Call, Outlet, Peer};
use super::revision::Revision;

/// What a server does for one client.
pub trait Service: Send + Sync + 'static {
    /// Answers a request. Dropped half-way when the client cancels it.
    fn call(self: Arc<Self>, call: Call) -> impl Future<Output = Outcome> + Send;

    /// Takes note of a notification, `notifications/cancelled` excepted.
    fn notified(self: Arc<Self>, notification: Notification);

    /// A request of this method was cancelled by the client.
    fn cancelled(&self, _method: &str) {}

    /// The revision agreed upon, once it is.
    fn revision(&self) -> Option<Revision>;
}

#[derive(Deserialize)]
struct Cancelled<'a> {
    #[serde(borrow, rename = "requestId")]
    request_id: &'a RawValue,
}

/// The reply that goes back once the work is done, or nothing.
pub type Reply = Pin<Box<dyn Future<Output = Option<String>> + Send>>;

/// A client and the service that attends to it.
pub struct Session<S> {
    peer: Arc<Peer>,
    service: Arc<S>,
}

impl<S: Service> Session<S> {
    /// Opens a session for a client.
    pub fn new(peer: Arc<Peer>, open: &impl Fn(Arc<Peer>) -> Arc<S>) -> Self {
        let service = open(Arc::clone(&peer));
        Self { peer, service }
    }

    /// The revision agreed upon, once it is.
    pub fn revision(&self) -> Option<Revision> {
        self.service.revision()
    }

    /// The client wants no answer to this request any more.
    pub fn cancel(&self, id: &Id) {
        self.peer.cancel(id);
    }

    /// Takes what one line or one POST body held.
    pub fn take(&self, frame: Frame, outlet: &Arc<dyn Outlet>) -> Reply {
        match frame {
            Frame::One(message) => self.take_one(message, outlet),
            Frame::Batch(messages) if self.revision() == Some(Revision::V2025_03_26) => {
                self.take_batch(messages, outlet)
            }
            Frame::Batch(_) => {
                let fault = Fault::invalid_request("batches belong to 2025-03-26 only");
                Box::pin(ready(Some(fault.orphan_frame())))
            }
        }
    }

    fn take_one(&self, message: Message, outlet: &Arc<dyn Outlet>) -> Reply {
        match message {
            Message::Request(request) => return self.answer(request, outlet),
            Message::Response(response) => self.peer.settle(response),
            Message::Notification(notification) => self.note(notification),
        }
        Box::pin(ready(None))
    }

    fn take_batch(&self, messages: Vec<Message>, outlet: &Arc<dyn Outlet>) -> Reply {
        let replies: Vec<Reply> =
            messages.into_iter().map(|message| self.take_one(message, outlet)).collect();
        Box::pin(async move {
            let mut frames = Vec::new();
            for reply in replies {
                frames.extend(reply.await);
            }
            (!frames.is_empty()).then(|| format!("[{}]", frames.join(",")))
        })
    }

    fn note(&self, notification: Notification) {
        if notification.method != "notifications/cancelled" {
            return Arc::clone(&self.service).notified(notification);
        }
        if let Ok(cancelled) = serde_json::from_str::<Cancelled<'_>>(notification.params.raw()) {
            self.peer.cancel(&Id(cancelled.request_id.get().to_owned()));
        }
    }

    fn answer(&self, request: Request, outlet: &Arc<dyn Outlet>) -> Reply {
        let stop = self.peer.begin(&request.id);
        let peer = Arc::clone(&self.peer);
        let service = Arc::clone(&self.service);
        let method = request.method.clone();
        let call = Call {
            id: request.id.clone(),
            method: request.method,
            params: request.params,
            peer: Arc::clone(&peer),
            outlet: Arc::clone(outlet),
        };
        Box::pin(async move {
            let outcome = tokio::select! {
                outcome = Arc::clone(&service).call(call) => Some(outcome),
                () = stop.notified() => None,
            };
            peer.end(&request.id);
            if outcome.is_none() {
                service.cancelled(&method);
            }
            outcome.map(|outcome| outcome.frame(&request.id))
        })
    }
}
