//! The answering of one modern request: what is said meanwhile, then one outcome.
//!
//! Like its elder sister in `session` it is polled by its carrier, without a task of its own.
//! Dropping it cancels upstream: a client of this revision that hangs up has cancelled. Only a
//! call whose client was asked something lives on, parked.

use std::sync::Arc;
use std::task::{Context, Poll, ready};

use super::listen::Listening;
use super::parking::Parking;
use super::running::{Running, Turn};
use crate::session::{Reply, Step};

/// The answering of one request.
pub(crate) enum Exchange {
    /// Known at once.
    Answered(Reply),
    /// A request in flight, and where it goes if its client is asked something.
    Running(Box<Running>, Arc<Parking>),
    /// A client that wants to hear of changes.
    Listening(Box<Listening>),
    /// The outcome was taken.
    Over,
}

impl Exchange {
    /// What happens next. After the outcome there is nothing.
    pub(crate) fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<Step> {
        let step = match self {
            Self::Running(..) => ready!(self.poll_running(context)),
            Self::Listening(listening) => ready!(listening.poll_step(context)),
            Self::Answered(_) | Self::Over => match std::mem::replace(self, Self::Over) {
                Self::Answered(reply) => Step::Outcome(reply),
                _ => return Poll::Pending,
            },
        };
        if matches!(step, Step::Outcome(_)) {
            *self = Self::Over;
        }
        Poll::Ready(step)
    }

    fn poll_running(&mut self, context: &mut Context<'_>) -> Poll<Step> {
        while let Self::Running(running, _) = self {
            match ready!(running.poll_turn(context)) {
                Turn::Said(message) => return Poll::Ready(Step::Said(message)),
                Turn::Outcome(reply) => return Poll::Ready(Step::Outcome(reply)),
                Turn::Asks => {}
            }
            let Self::Running(running, parking) = std::mem::replace(self, Self::Over) else {
                break;
            };
            match parking.park(running) {
                Ok(reply) => return Poll::Ready(Step::Outcome(reply)),
                // There is no room: the servers hear that nobody answers, and the call goes on.
                Err(running) => {
                    running.call.give_up_asking();
                    *self = Self::Running(running, parking);
                }
            }
        }
        Poll::Pending
    }
}
