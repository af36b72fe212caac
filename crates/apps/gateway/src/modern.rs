//! Clients of 2026-07-28: every request stands alone, and servers ask questions through results.
//!
//! There is no session. The envelope of a request ([`RequestEnvelope`]) describes its client.
//! Requests with the same description belong to one [`StatelessClient`], which owns servers and
//! subscriptions at the gate. Like `session`, this module knows neither HTTP nor lines, and the
//! gate decides who may call what.
//!
//! ```text
//! transport ── MessageEra ──► ModernHandler ── ModernExchange ──► messages, then a response
//!                                  │      ▲
//!                             GateService └── a retry claims the running call
//!                                  │      │
//!                              ModernCall: asks ──► ParkedCalls: the call runs on
//! ```
//!
//! A call without questions is polled by its transport and needs neither a task nor a digest.

mod call;
mod classify;
mod discover;
mod dispatch;
mod envelope;
mod envelope_cache;
mod exchange;
mod listen;
mod listen_subscribers;
mod message_backlog;
mod missing_capabilities;
mod notification_filter;
mod parked_calls;
mod questions;
mod request_digest;
mod request_error;
mod retry;
mod running_call;
mod state_cipher;
mod stateless_clients;
mod subscription_counts;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use toolgate_wire::{MessageLimits, MessageOrBatch, WireError};

use crate::Options;
use crate::gate_service::GateService;
use crate::principal::ClientPrincipal;
use envelope_cache::EnvelopeCache;
use parked_calls::ParkedCalls;
use stateless_clients::StatelessClients;

pub(crate) use classify::{MessageEra, VersionHeader};
pub(crate) use discover::SUPPORTED_REVISION;
pub(crate) use dispatch::ModernRequestContext;
pub(crate) use envelope::RequestEnvelope;
pub(crate) use exchange::ModernExchange;
pub(crate) use listen_subscribers::ListenSubscribers;
pub(crate) use request_error::RequestError;
pub(crate) use stateless_clients::{StatelessClient, expire_idle};

/// The state that all modern clients of a gateway share.
pub(crate) struct ModernHandler {
    gate: Arc<dyn GateService>,
    clients: Arc<StatelessClients>,
    parked_calls: Arc<ParkedCalls>,
    subscribers: Arc<ListenSubscribers>,
    in_flight_count: Arc<AtomicUsize>,
    envelope_cache: EnvelopeCache,
}

impl ModernHandler {
    pub(crate) fn new(gate: Arc<dyn GateService>, options: &Options) -> Self {
        Self {
            clients: Arc::new(StatelessClients::new(gate.clone(), options.sessions)),
            parked_calls: Arc::new(ParkedCalls::new(options.park_timeout)),
            subscribers: Arc::default(),
            in_flight_count: Arc::default(),
            envelope_cache: EnvelopeCache::default(),
            gate,
        }
    }

    /// Parses a message of either era.
    pub(crate) fn parse(
        &self,
        bytes: Bytes,
        limits: &MessageLimits,
    ) -> Result<MessageOrBatch, WireError> {
        self.envelope_cache.parse(bytes, limits)
    }

    /// Returns the known clients, for the task that expires idle ones.
    pub(crate) fn clients(&self) -> Arc<StatelessClients> {
        self.clients.clone()
    }

    /// Returns the open listen requests, for the task that delivers the gate's events.
    pub(crate) fn subscribers(&self) -> Arc<ListenSubscribers> {
        self.subscribers.clone()
    }

    /// Returns how many requests are being answered, without parked calls and open listen requests.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight_count.load(Ordering::Relaxed)
    }

    #[cfg(test)]
    pub(crate) fn parked_count(&self) -> usize {
        self.parked_calls.len()
    }

    /// Ends the listen requests of some principals, each with a final response.
    pub(crate) fn end_subscriptions(&self, is_selected: impl Fn(&ClientPrincipal) -> bool) {
        self.subscribers.end(is_selected);
    }

    /// Forgets some principals: cancels their parked calls and removes their clients.
    pub(crate) fn forget_principals(&self, is_selected: impl Fn(&ClientPrincipal) -> bool) {
        self.subscribers.end(&is_selected);
        self.parked_calls.forget_principals(&is_selected);
        self.clients.forget_principals(&is_selected);
    }
}
