//! Clients of 2026-07-28: every request stands alone, and servers ask questions through results.
//!
//! There is no session. The envelope of a request ([`ClientMeta`]) describes its client.
//! Requests with the same description belong to one [`StatelessClient`], which owns servers and
//! subscriptions at the gate. Like `session`, this module knows neither HTTP nor lines, and the
//! gate decides who may call what.
//!
//! ```text
//! transport ── MessageEra ──► ModernHandler ── Exchange ──► messages, then a response
//!                                  │      ▲
//!                                 Gate    └── a retry claims the running call
//!                                  │      │
//!                              CallRounds: asks ──► ParkedCalls: the call runs on
//! ```
//!
//! A call without questions is polled by its transport and needs neither a task nor a digest.

mod classify;
mod discover;
mod dispatch;
mod envelope;
mod envelope_cache;
mod listen;
mod listen_subscribers;
mod missing_capabilities;
mod notification_filter;
mod parked_calls;
mod questions;
mod request_digest;
mod retry;
mod rounds;
mod state_cipher;
mod stateless_clients;
mod subscription_counts;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::principal::ClientPrincipal;
use crate::{Gate, Options};
use envelope_cache::ClientMetaCache;
use stateless_clients::StatelessClients;

pub(crate) use classify::{MessageEra, VersionHeader};
pub(crate) use discover::SUPPORTED_REVISION;
pub(crate) use dispatch::ModernRequestContext;
pub(crate) use envelope::ClientMeta;
pub(crate) use listen::ListenExchange;
pub(crate) use listen_subscribers::ListenSubscribers;
pub(crate) use parked_calls::ParkedCalls;
pub(crate) use questions::QuestionSendTime;
pub(crate) use rounds::CallRounds;
pub(crate) use stateless_clients::{StatelessClient, expire_idle};

/// The state that all modern clients of a gateway share.
pub(crate) struct ModernHandler {
    gate: Arc<Gate>,
    pub(crate) clients: Arc<StatelessClients>,
    pub(crate) parked_calls: Arc<ParkedCalls>,
    pub(crate) subscribers: Arc<ListenSubscribers>,
    in_flight_count: Arc<AtomicUsize>,
    pub(crate) envelope_cache: ClientMetaCache,
}

impl ModernHandler {
    pub(crate) fn new(gate: Arc<Gate>, options: &Options) -> Self {
        Self {
            clients: Arc::new(StatelessClients::new(gate.clone(), options.sessions)),
            parked_calls: Arc::new(ParkedCalls::new(options.park_timeout)),
            subscribers: Arc::default(),
            in_flight_count: Arc::default(),
            envelope_cache: ClientMetaCache::default(),
            gate,
        }
    }

    /// Returns how many requests are being answered, without parked calls and open listen requests.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight_count.load(Ordering::Relaxed)
    }

    /// Forgets some principals: cancels their parked calls and removes their clients.
    pub(crate) fn forget_principals(&self, is_selected: impl Fn(&ClientPrincipal) -> bool) {
        self.subscribers.end(&is_selected);
        self.parked_calls.forget_principals(&is_selected);
        self.clients.forget_principals(&is_selected);
    }
}
