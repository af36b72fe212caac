//! The exchange of one modern request: messages for the client, then one response.
//!
//! As in `session`, the transport polls an exchange, without a task of its own. Dropping it cancels
//! the request at the server, so a modern client cancels by disconnecting. Only a call that has
//! asked its client something stays alive, parked.

use std::sync::Arc;
use std::task::{Context, Poll, ready};

use super::listen::ListenExchange;
use super::parked_calls::ParkedCalls;
use super::running_call::{ModernCallStep, ModernRunningCall};
use crate::session::{ExchangeStep, RpcResponse};

/// The exchange of one modern request.
pub(crate) enum ModernExchange {
    /// The response is ready.
    Answered(RpcResponse),
    /// A request in flight, and where it is parked if the client is asked something.
    Running(Box<ModernRunningCall>, Arc<ParkedCalls>),
    /// A client that listens for changes.
    Listen(Box<ListenExchange>),
    /// The response was taken.
    Done,
}

impl ModernExchange {
    /// Returns the next step. After the response there is none.
    pub(crate) fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<ExchangeStep> {
        let step = match self {
            Self::Running(..) => ready!(self.poll_running(context)),
            Self::Listen(listening) => ready!(listening.poll_step(context)),
            Self::Answered(_) | Self::Done => match std::mem::replace(self, Self::Done) {
                Self::Answered(reply) => ExchangeStep::Response(reply),
                _ => return Poll::Pending,
            },
        };
        if matches!(step, ExchangeStep::Response(_)) {
            *self = Self::Done;
        }
        Poll::Ready(step)
    }

    fn poll_running(&mut self, context: &mut Context<'_>) -> Poll<ExchangeStep> {
        while let Self::Running(running, _) = self {
            match ready!(running.poll_step(context)) {
                ModernCallStep::Message(message) => {
                    return Poll::Ready(ExchangeStep::Message(message));
                }
                ModernCallStep::Response(reply) => {
                    return Poll::Ready(ExchangeStep::Response(reply));
                }
                ModernCallStep::InputRequired => {}
            }
            let Self::Running(running, parked_calls) = std::mem::replace(self, Self::Done) else {
                break;
            };
            match parked_calls.park(running) {
                Ok(reply) => return Poll::Ready(ExchangeStep::Response(reply)),
                // There is no room: the servers get no answer to their questions, and the call
                // continues.
                Err(running) => {
                    running.call.reject_questions();
                    *self = Self::Running(running, parked_calls);
                }
            }
        }
        Poll::Pending
    }
}
