//! A downstream session: one client, from `initialize` to the end, whatever carries its messages.
//!
//! A [`Session`] exists only once `initialize` was answered, so nothing here asks whether it was.
//! It takes messages and gives back [`Exchange`]s; it knows neither HTTP nor lines, and it decides
//! nothing about who may call what: that is the gate's.
//!
//! ```text
//! carrier ── request ──► Session ── Exchange ──► carrier polls: said, said, …, outcome
//!    │                      │
//!    │                   Upstreams (the gate) ◄──── Call: told and asked meanwhile
//!    └── answers ────────► Peer: open questions, requests in flight, log level
//! ```

mod abilities;
mod asks;
mod call;
mod dispatch;
mod exchange;
mod flights;
mod notes;
mod opening;
mod peer;
mod registry;
mod reply;

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolgate_wire::{Revision, line};

use crate::upstreams::{Caller, CallerId, GateEvent, Upstreams};
use exchange::Subscription;

pub(crate) use abilities::Abilities;
pub(crate) use call::Carriage;
pub(crate) use dispatch::{has_cursor, listed};
pub(crate) use exchange::{Exchange, Step, finish};
pub(crate) use notes::list_changed_method;
pub(crate) use opening::{Opening, Terms, open};
pub(crate) use peer::{Outlet, Peer};
pub(crate) use registry::Registry;
pub(crate) use reply::{Reply, Written};

/// One client's session.
pub(crate) struct Session {
    upstreams: Arc<dyn Upstreams>,
    caller: Arc<Caller>,
    peer: Arc<Peer>,
    subscriptions: Mutex<HashSet<String>>,
    /// The client has said `initialized`: it may be sent notifications.
    ready: AtomicBool,
    over: AtomicBool,
}

impl Session {
    fn new(upstreams: Arc<dyn Upstreams>, caller: Caller, peer: Arc<Peer>) -> Self {
        Self {
            upstreams,
            caller: Arc::new(caller),
            peer,
            subscriptions: Mutex::default(),
            ready: AtomicBool::new(false),
            over: AtomicBool::new(false),
        }
    }

    /// Who calls.
    pub(crate) fn caller(&self) -> CallerId {
        self.caller.id
    }

    /// The negotiated revision.
    pub(crate) fn revision(&self) -> Revision {
        self.caller.revision
    }

    /// The client.
    pub(crate) fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    /// Ends everything of it: requests in flight, questions, and what the gate keeps for it.
    pub(crate) fn close(&self) {
        if self.over.swap(true, Ordering::AcqRel) {
            return;
        }
        self.peer.flights.end();
        self.peer.asks.end();
        self.upstreams.release(self.caller.id);
        tracing::debug!(target: "toolgate::gateway", client = %self.caller.client.name, "session over");
    }

    fn subscriptions(&self) -> MutexGuard<'_, HashSet<String>> {
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A server has taken a change of subscription.
    fn subscribed(&self, change: &Subscription) {
        match change {
            Subscription::Begin(uri) => self.subscriptions().insert(uri.clone()),
            Subscription::End(uri) => self.subscriptions().remove(uri),
        };
    }

    /// Takes what happened outside any call to the client, if it concerns it.
    fn hear(&self, event: &GateEvent) {
        if !self.ready.load(Ordering::Acquire) {
            return;
        }
        let Some(event) = event.heard_by(self.caller.id, &self.caller.profile) else { return };
        let frame = match event {
            GateEvent::ListChanged { kind, .. } => {
                if event.is_change_for(self.caller.id, &self.caller.profile) {
                    self.peer.send(notes::list_changed(*kind));
                }
                return;
            }
            GateEvent::ResourceUpdated { uri, frame } => {
                self.subscriptions().contains(uri).then_some(frame)
            }
            GateEvent::Log { level, frame } => self.peer.admits(*level).then_some(frame),
            GateEvent::TaskStatus { caller, frame, .. } => {
                (*caller == self.caller.id).then_some(frame)
            }
            GateEvent::Notified(frame) => Some(frame),
            GateEvent::Among { .. } => None,
        };
        if let Some(frame) = frame {
            self.peer.send(line(frame.bytes()));
        }
    }
}
