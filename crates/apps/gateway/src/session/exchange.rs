//! A request being answered: what is said meanwhile, then one outcome.
//!
//! An exchange is polled by whoever carries it, in the carrier's own task: no task and no channel
//! of its own. Dropping it cancels upstream; a carrier that loses its client and wants the call to
//! go on keeps polling it elsewhere.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use toolgate_wire::{Frame, Kind, code};

use super::call::{Call, End};
use super::{Outlet, Reply, Session};
use crate::upstreams::Refusal;

/// What happens next in an exchange.
pub(crate) enum Step {
    /// A message for the client: progress, a log line, a question.
    Said(Bytes),
    /// The end.
    Outcome(Reply),
}

/// The answering of one message.
pub(crate) enum Exchange {
    /// Known at once.
    Answered(Reply),
    /// A request in flight.
    Running(Running),
    /// Several at once (2025-03-26).
    Batch(Batch),
    /// The outcome was taken.
    Over,
}

/// One request in flight.
pub(crate) struct Running {
    session: Arc<Session>,
    call: Arc<Call>,
    work: Work,
    outcome: Option<Reply>,
}

/// What a request waits for.
pub(crate) enum Work {
    /// A server, through the gate.
    Pass(BoxFuture<'static, Result<Frame, Refusal>>),
    /// A server that takes a subscription, and what follows if it does.
    Subscription(BoxFuture<'static, Result<Frame, Refusal>>, Subscription),
    /// A prepared list.
    List(BoxFuture<'static, Bytes>),
}

/// A change of what the client is subscribed to.
pub(crate) enum Subscription {
    /// To this URI, from now on.
    Begin(String),
    /// No longer to this one.
    End(String),
}

impl Exchange {
    /// What happens next. After the outcome there is nothing.
    pub(crate) fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<Step> {
        let step = match self {
            Self::Running(running) => running.poll_step(context),
            Self::Batch(batch) => batch.poll_step(context),
            Self::Answered(_) => match std::mem::replace(self, Self::Over) {
                Self::Answered(reply) => return Poll::Ready(Step::Outcome(reply)),
                _ => Poll::Pending,
            },
            Self::Over => Poll::Pending,
        };
        if matches!(step, Poll::Ready(Step::Outcome(_))) {
            *self = Self::Over;
        }
        step
    }
}

/// Polls an exchange of either era to its outcome, and sends everything said meanwhile to `outlet`.
pub(crate) async fn finish(
    mut poll_step: impl FnMut(&mut Context<'_>) -> Poll<Step>,
    outlet: &dyn Outlet,
) -> Reply {
    loop {
        match poll_fn(&mut poll_step).await {
            Step::Said(message) => outlet.send(message),
            Step::Outcome(reply) => return reply,
        }
    }
}

impl Running {
    pub(crate) fn new(session: Arc<Session>, call: Arc<Call>, work: Work) -> Self {
        Self { session, call, work, outcome: None }
    }

    fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<Step> {
        // A list is there in a moment: whoever piped the request in still gets it.
        let is_list = matches!(self.work, Work::List(_));
        let end = self.call.watch(context).filter(|end| !is_list || *end == End::Cancelled);
        if self.outcome.is_none() {
            self.outcome = match end {
                Some(end) => Some(self.given_up(end)),
                None => self.poll_work(context),
            };
        }
        // What was said before the answer goes out before it.
        if let Some(message) = self.call.take() {
            return Poll::Ready(Step::Said(message));
        }
        match self.outcome.take() {
            Some(reply) => Poll::Ready(Step::Outcome(reply)),
            None => Poll::Pending,
        }
    }

    fn poll_work(&mut self, context: &mut Context<'_>) -> Option<Reply> {
        let id = self.call.id();
        let answer = match &mut self.work {
            Work::List(list) => {
                return ready(list.as_mut().poll(context)).map(|list| Reply::shared(id, list));
            }
            Work::Pass(pass) | Work::Subscription(pass, _) => ready(pass.as_mut().poll(context))?,
        };
        if let (Work::Subscription(_, change), Ok(frame)) = (&self.work, &answer)
            && frame.kind() == Kind::Response
        {
            self.session.subscribed(change);
        }
        Some(match answer {
            Ok(frame) => Reply::passed(&frame, id),
            Err(refusal) => Reply::refused(&refusal, id),
        })
    }

    fn given_up(&mut self, end: End) -> Reply {
        // Replacing the work drops what it waited for, and with it the call upstream.
        self.work = Work::Pass(Box::pin(std::future::pending()));
        match end {
            End::Cancelled => {
                Reply::failure(self.call.id(), code::REQUEST_CANCELLED, "request cancelled")
            }
            End::SessionOver => {
                Reply::failure(self.call.id(), code::CONNECTION_CLOSED, "the session has ended")
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.session.peer().flights.land(self.call.id());
    }
}

/// Requests that came in one message and are answered in one.
pub(crate) struct Batch {
    open: Vec<Exchange>,
    done: Vec<Reply>,
}

impl Batch {
    pub(crate) fn new(open: Vec<Exchange>) -> Self {
        Self { open, done: Vec::new() }
    }

    fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<Step> {
        let mut at = 0;
        while let Some(exchange) = self.open.get_mut(at) {
            match exchange.poll_step(context) {
                Poll::Ready(Step::Said(message)) => return Poll::Ready(Step::Said(message)),
                Poll::Ready(Step::Outcome(reply)) => {
                    self.done.push(reply);
                    self.open.remove(at);
                }
                Poll::Pending => at += 1,
            }
        }
        if self.open.is_empty() {
            let done = std::mem::take(&mut self.done);
            return Poll::Ready(Step::Outcome(Reply::batch(done)));
        }
        Poll::Pending
    }
}

fn ready<T>(poll: Poll<T>) -> Option<T> {
    match poll {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}
