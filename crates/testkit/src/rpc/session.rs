//! The session of one client: accepts messages in order and returns the work to do as futures.
//!
//! Accepting a message is synchronous, so a cancellation can never overtake its request. The
//! transport runs the future that answers it.

use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::message::{TestFrame, TestMessage, TestNotification, TestRequest, TestRequestId};
use super::outcome::{ResponseOutcome, TestRpcError};
use super::peer::{ClientPeer, FrameSink, TestCall};
use super::revision::LegacyRevision;

/// The behaviour of a server for one client.
pub trait TestService: Send + Sync + 'static {
    /// Answers a request. Dropped half-way when the client cancels it.
    fn call(self: Arc<Self>, call: TestCall) -> impl Future<Output = ResponseOutcome> + Send;

    /// Takes note of a notification, `notifications/cancelled` excepted.
    fn on_notification(self: Arc<Self>, notification: TestNotification);

    /// A request of this method was cancelled by the client.
    fn on_cancelled(&self, _method: &str) {}

    /// The revision agreed upon, once it is.
    fn revision(&self) -> Option<LegacyRevision>;
}

/// The parameters of `notifications/cancelled`.
#[derive(Deserialize)]
struct CancelledParams<'a> {
    #[serde(borrow, rename = "requestId")]
    request_id: &'a RawValue,
}

/// A future with the reply to send, if any.
pub type ReplyFuture = Pin<Box<dyn Future<Output = Option<String>> + Send>>;

/// A client and its service.
pub struct TestSession<S> {
    peer: Arc<ClientPeer>,
    service: Arc<S>,
}

impl<S: TestService> TestSession<S> {
    /// Opens a session for a client.
    pub fn new(peer: Arc<ClientPeer>, open: &impl Fn(Arc<ClientPeer>) -> Arc<S>) -> Self {
        let service = open(Arc::clone(&peer));
        Self { peer, service }
    }

    /// The revision agreed upon, once it is.
    pub fn revision(&self) -> Option<LegacyRevision> {
        self.service.revision()
    }

    /// The client wants no answer to this request any more.
    pub fn cancel(&self, id: &TestRequestId) {
        self.peer.cancel(id);
    }

    /// Takes what one line or one POST body held.
    pub fn take(&self, frame: TestFrame, outlet: &Arc<dyn FrameSink>) -> ReplyFuture {
        match frame {
            TestFrame::One(message) => self.take_one(message, outlet),
            TestFrame::Batch(messages) if self.revision() == Some(LegacyRevision::V2025_03_26) => {
                self.take_batch(messages, outlet)
            }
            TestFrame::Batch(_) => {
                let fault = TestRpcError::invalid_request("batches belong to 2025-03-26 only");
                Box::pin(ready(Some(fault.orphan_frame())))
            }
        }
    }

    fn take_one(&self, message: TestMessage, outlet: &Arc<dyn FrameSink>) -> ReplyFuture {
        match message {
            TestMessage::Request(request) => return self.answer(request, outlet),
            TestMessage::Response(response) => self.peer.resolve_answer(response),
            TestMessage::Notification(notification) => self.note(notification),
        }
        Box::pin(ready(None))
    }

    fn take_batch(&self, messages: Vec<TestMessage>, outlet: &Arc<dyn FrameSink>) -> ReplyFuture {
        let replies: Vec<ReplyFuture> =
            messages.into_iter().map(|message| self.take_one(message, outlet)).collect();
        Box::pin(async move {
            let mut frames = Vec::new();
            for reply in replies {
                frames.extend(reply.await);
            }
            (!frames.is_empty()).then(|| format!("[{}]", frames.join(",")))
        })
    }

    fn note(&self, notification: TestNotification) {
        if notification.method != "notifications/cancelled" {
            return Arc::clone(&self.service).on_notification(notification);
        }
        if let Ok(cancelled) =
            serde_json::from_str::<CancelledParams<'_>>(notification.params.raw())
        {
            self.peer.cancel(&TestRequestId(cancelled.request_id.get().to_owned()));
        }
    }

    fn answer(&self, request: TestRequest, outlet: &Arc<dyn FrameSink>) -> ReplyFuture {
        let stop = self.peer.begin(&request.id);
        let peer = Arc::clone(&self.peer);
        let service = Arc::clone(&self.service);
        let method = request.method.clone();
        let call = TestCall {
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
                service.on_cancelled(&method);
            }
            outcome.map(|outcome| outcome.frame(&request.id))
        })
    }
}
