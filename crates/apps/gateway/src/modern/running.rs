//! A modern request in flight: polled by whoever carries it, or by its keeper while it is parked.
//!
//! Dropping it cancels upstream.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use tokio::time::{Sleep, sleep};
use toolgate_wire::{Frame, OwnedId};

use super::asking::{Answers, Due};
use super::call::{Call, Round};
use crate::session::Reply;
use crate::upstreams::Refusal;

/// How long questions that are asked one by one are gathered into one result.
const WINDOW: Duration = Duration::from_millis(20);

/// What a request waits for.
pub(crate) enum Work {
    /// A server, through the gate.
    Pass(BoxFuture<'static, Result<Frame, Refusal>>),
    /// A prepared list.
    List(BoxFuture<'static, Bytes>),
    /// Nothing any more.
    Done(Outcome),
    /// Nothing, and the outcome was taken.
    Over,
}

/// What came of it, under whatever id.
pub(crate) enum Outcome {
    Passed(Frame),
    Refused(Refusal),
    Listed(Bytes),
}

/// What happens next.
pub(crate) enum Turn {
    /// A message for the client.
    Said(Bytes),
    /// The client must be asked; the exchange cannot go on without answers.
    Asks,
    /// The end.
    Outcome(Reply),
}

/// One request in flight.
pub(crate) struct Running {
    pub(crate) call: Arc<Call>,
    /// As the client sent it first.
    pub(crate) request: Frame,
    id: OwnedId,
    work: Work,
    window: Option<Pin<Box<Sleep>>>,
    flight: Option<Flight>,
}

impl Running {
    pub(crate) fn new(
        request: Frame,
        id: OwnedId,
        call: Arc<Call>,
        work: Work,
        flight: Flight,
    ) -> Self {
        Self { call, request, id, work, window: None, flight: Some(flight) }
    }

    /// The id of the request whose answer the client waits for.
    pub(crate) fn id(&self) -> &OwnedId {
        &self.id
    }

    pub(crate) fn poll_turn(&mut self, context: &mut Context<'_>) -> Poll<Turn> {
        self.call.watch(context);
        self.poll_work(context);
        // What was said before the answer goes out before it.
        let due = match self.call.next() {
            (Some(message), _) => return Poll::Ready(Turn::Said(message)),
            (None, due) => due,
        };
        if let Some(reply) = self.take() {
            return Poll::Ready(Turn::Outcome(reply));
        }
        match due {
            Some(Due::Now) => Poll::Ready(Turn::Asks),
            Some(Due::Soon) => self.poll_window(context).map(|()| Turn::Asks),
            None => {
                self.window = None;
                Poll::Pending
            }
        }
    }

    fn poll_window(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let window = self.window.get_or_insert_with(|| Box::pin(sleep(WINDOW)));
        window.as_mut().poll(context)
    }

    /// Goes on with the call, whether or not somebody waits for what comes of it.
    pub(crate) fn poll_work(&mut self, context: &mut Context<'_>) {
        let outcome = match &mut self.work {
            Work::Pass(pass) => match pass.as_mut().poll(context) {
                Poll::Ready(Ok(frame)) => Outcome::Passed(frame),
                Poll::Ready(Err(refusal)) => Outcome::Refused(refusal),
                Poll::Pending => return,
            },
            Work::List(list) => match list.as_mut().poll(context) {
                Poll::Ready(list) => Outcome::Listed(list),
                Poll::Pending => return,
            },
            Work::Done(_) | Work::Over => return,
        };
        self.work = Work::Done(outcome);
    }

    fn take(&mut self) -> Option<Reply> {
        if !matches!(self.work, Work::Done(_)) {
            return None;
        }
        match std::mem::replace(&mut self.work, Work::Over) {
            Work::Done(Outcome::Passed(frame)) => Some(match self.call.lacking.behind(&frame) {
                Some(refusal) => Reply::refused(&refusal, &self.id),
                None => Reply::passed(&frame, &self.id),
            }),
            Work::Done(Outcome::Refused(refusal)) => Some(Reply::refused(&refusal, &self.id)),
            Work::Done(Outcome::Listed(list)) => Some(Reply::shared(&self.id, list)),
            _ => None,
        }
    }

    /// Nobody waits for the answer for now.
    pub(crate) fn land(&mut self) {
        self.flight = None;
        self.window = None;
    }

    /// The client came back with answers, and waits again.
    pub(crate) fn resume(mut self, id: OwnedId, round: Round, back: (Answers, Flight)) -> Self {
        let (answers, flight) = back;
        self.call.resume(round, answers);
        self.id = id;
        self.flight = Some(flight);
        self
    }
}

/// A request somebody waits for, as long as this lives.
pub(crate) struct Flight(Arc<AtomicUsize>);

impl Flight {
    pub(crate) fn begin(flights: &Arc<AtomicUsize>) -> Self {
        flights.fetch_add(1, Ordering::Relaxed);
        Self(flights.clone())
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
