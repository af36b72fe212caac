//! Clients of 2026-07-28: every request stands for itself, and servers ask through results.
//!
//! There is no session. What a request says of its client is read off its envelope
//! ([`Envelope`]), and callers who say the same are one [`Visitor`], so that servers of a caller's
//! own and subscriptions have somebody to belong to. Like `session`, this part knows neither HTTP
//! nor lines, and decides nothing about who may call what.
//!
//! ```text
//! carrier ── classify ──► Modern::request ── Exchange ──► carrier polls: said, …, outcome
//!                            │       ▲
//!                         the gate   └── a retry claims the running call back
//!                            │       │
//!                          Call: asked ──► Parking: the call runs on, under a sealed state
//! ```
//!
//! A call that asks nothing is polled by its carrier and costs neither a task nor a digest.

mod asking;
mod backlog;
mod call;
mod canonical;
mod classify;
mod discover;
mod dispatch;
mod envelope;
mod exchange;
mod fault;
mod filter;
mod lacking;
mod listen;
mod listeners;
mod memory;
mod parking;
mod retry;
mod running;
mod seal;
mod subscriptions;
mod visitors;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use toolgate_wire::{Limits, Message, WireError};

use crate::Options;
use crate::principal::Principal;
use crate::upstreams::Upstreams;
use memory::Memory;
use parking::Parking;
use visitors::Visitors;

pub(crate) use classify::{Label, Speech};
pub(crate) use discover::SUPPORTED;
pub(crate) use dispatch::Visit;
pub(crate) use envelope::Envelope;
pub(crate) use exchange::Exchange;
pub(crate) use fault::Fault;
pub(crate) use listeners::Listeners;
pub(crate) use visitors::{Visitor, expire};

/// What all modern clients of a gateway share.
pub(crate) struct Modern {
    upstreams: Arc<dyn Upstreams>,
    visitors: Arc<Visitors>,
    parking: Arc<Parking>,
    listeners: Arc<Listeners>,
    flights: Arc<AtomicUsize>,
    memory: Memory,
}

impl Modern {
    pub(crate) fn new(upstreams: Arc<dyn Upstreams>, options: &Options) -> Self {
        Self {
            visitors: Arc::new(Visitors::new(upstreams.clone(), options.sessions)),
            parking: Arc::new(Parking::new(options.park)),
            listeners: Arc::default(),
            flights: Arc::default(),
            memory: Memory::default(),
            upstreams,
        }
    }

    /// Reads a message of whatever era.
    pub(crate) fn read(&self, bytes: Bytes, limits: &Limits) -> Result<Message, WireError> {
        self.memory.read(bytes, limits)
    }

    /// The visitors, for whoever ends the idle ones.
    pub(crate) fn visitors(&self) -> Arc<Visitors> {
        self.visitors.clone()
    }

    /// The listeners, for whoever brings them the gate's events.
    pub(crate) fn listeners(&self) -> Arc<Listeners> {
        self.listeners.clone()
    }

    /// How many requests are being answered. Parked calls and open listens are not among them.
    pub(crate) fn in_flight(&self) -> usize {
        self.flights.load(Ordering::Relaxed)
    }

    #[cfg(test)]
    pub(crate) fn parked(&self) -> usize {
        self.parking.len()
    }

    /// Ends the listens of some principals, each with its last word.
    pub(crate) fn dismiss(&self, whose: impl Fn(&Principal) -> bool) {
        self.listeners.end(whose);
    }

    /// Forgets some principals: their parked calls are given up, their visitors leave.
    pub(crate) fn depart(&self, whose: impl Fn(&Principal) -> bool) {
        self.listeners.end(&whose);
        self.parking.forget(&whose);
        self.visitors.forget(&whose);
    }
}
