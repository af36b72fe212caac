//! A legacy session: one client from `initialize` to the end, on any transport.
//!
//! A [`LegacySession`] exists only after `initialize` was answered, so its methods need not check
//! that. It takes messages and returns [`Exchange`](crate::exchange::Exchange)s. It knows neither HTTP nor lines, and
//! the gate decides who may call what.
//!
//! ```text
//! transport ── request ──► LegacySession ── Exchange ──► messages, then a response
//!    │                        │
//!    │                       Gate ◄──── Call: messages and questions of servers
//!    └── answers ──────────► LegacySessionClient: open questions, requests in flight, log level
//! ```

mod client;
mod dispatch;
mod initialize;
mod notifications;
mod questions;
mod sessions;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use toolgate_host::{Caller, GateEvent};
use toolgate_wire::to_single_line;

use crate::Gate;
use crate::exchange::CancelReason;

pub(crate) use client::LegacySessionClient;
pub(crate) use dispatch::{NOT_INITIALIZED, answer_uninitialized};
pub(crate) use initialize::{instructions_member, parse_client};
pub(crate) use notifications::list_changed_method;
pub(crate) use sessions::LegacySessions;

/// One client's legacy session.
pub(crate) struct LegacySession {
    gate: Arc<Gate>,
    pub(crate) caller: Arc<Caller>,
    pub(crate) client: Arc<LegacySessionClient>,
    subscriptions: Mutex<HashSet<String>>,
    /// True after the client has sent `initialized`. Only then does it get notifications.
    ready: AtomicBool,
    closed: AtomicBool,
}

impl LegacySession {
    fn new(gate: Arc<Gate>, caller: Caller, client: Arc<LegacySessionClient>) -> Self {
        Self {
            gate,
            caller: Arc::new(caller),
            client,
            subscriptions: Mutex::default(),
            ready: AtomicBool::new(false),
            closed: AtomicBool::new(false),
        }
    }

    /// Returns how many requests are in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.client.pending_requests.len()
    }

    /// Ends the session: its requests in flight, its questions, and the gate's state for its
    /// caller.
    pub(crate) fn close(&self) {
        if self.closed.swap(true, Ordering::AcqRel) {
            return;
        }
        self.cancel_calls();
        self.client.questions.close();
        self.gate.release(self.caller.id);
        let client = &self.caller.client.name;
        tracing::debug!(target: "toolgate::gateway", %client, "session ended");
    }

    /// Cancels the requests to servers and rejects new ones, because the client leaves.
    pub(crate) fn cancel_calls(&self) {
        self.client.pending_requests.close();
        let calls = self.client.pending_requests.all();
        for call in calls.into_iter().filter(|call| !call.is_list) {
            call.cancel(CancelReason::SessionClosed);
        }
    }

    /// Sends an event from outside of any call to the client, if it concerns the client.
    fn deliver_event(&self, event: &GateEvent) {
        if !self.ready.load(Ordering::Acquire) {
            return;
        }
        let Some(event) = event.visible_to(self.caller.id, &self.caller.profile) else { return };
        let frame = match event {
            GateEvent::ListChanged { kind, .. } => {
                if event.is_change_for(self.caller.id, &self.caller.profile) {
                    self.client.send(notifications::list_changed(*kind).into());
                }
                return;
            }
            GateEvent::ResourceUpdated { uri, frame } => {
                self.subscriptions.lock().contains(uri).then_some(frame)
            }
            GateEvent::Log { level, frame } => self.client.wants_level(*level).then_some(frame),
            GateEvent::TaskStatus { caller, frame, .. } => {
                (*caller == self.caller.id).then_some(frame)
            }
            GateEvent::Notification(frame) => Some(frame),
            GateEvent::Restricted { .. } => None,
        };
        if let Some(frame) = frame {
            self.client.send(to_single_line(frame.bytes()).into());
        }
    }
}
