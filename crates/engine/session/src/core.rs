//! What every part of one session shares, whatever its carrier.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::Bytes;
use toolgate_model::{ServerName, Timeouts};
use toolgate_wire::{Frame, Limits, Message, Revision, WireError, build};

use crate::asks::Asks;
use crate::flights::Flights;
use crate::http::HttpLink;
use crate::line::LineLink;
use crate::meter::Meter;
use crate::url_required::Completions;
use crate::{Interactor, Opening, Owner};

pub(crate) struct Core {
    pub(crate) server: ServerName,
    pub(crate) timeouts: Timeouts,
    pub(crate) limits: Limits,
    pub(crate) owner: Arc<dyn Owner>,
    pub(crate) ambient: Arc<dyn Interactor>,
    pub(crate) link: Link,
    pub(crate) flights: Flights,
    pub(crate) asks: Asks,
    pub(crate) completions: Completions,
    pub(crate) meter: Meter,
    next_id: AtomicU64,
    batches: AtomicBool,
}

/// How messages leave.
pub(crate) enum Link {
    Line(LineLink),
    Http(Arc<HttpLink>),
}

impl Core {
    pub(crate) fn new(opening: &Opening, link: Link) -> Arc<Self> {
        Arc::new(Self {
            server: opening.server.clone(),
            timeouts: opening.timeouts,
            // What is larger never gets this far: the transport bounds and spools it.
            limits: Limits { bytes: Limits::MAX_BYTES, ..Limits::default() },
            owner: opening.owner.clone(),
            ambient: opening.ambient.clone(),
            link,
            flights: Flights::default(),
            asks: Asks::default(),
            completions: Completions::default(),
            meter: Meter::new(),
            next_id: AtomicU64::new(1),
            batches: AtomicBool::new(false),
        })
    }

    /// From now on both sides speak this revision.
    pub(crate) fn agreed(&self, revision: Revision) {
        self.batches.store(revision.batches(), Ordering::Relaxed);
        if let Link::Http(link) = &self.link {
            link.agreed(revision);
        }
    }

    /// Reads what arrived in one piece: one message, or several in the one revision that has
    /// batches.
    pub(crate) fn read(&self, piece: Bytes) -> Result<Message, WireError> {
        match self.batches.load(Ordering::Relaxed) {
            true => Message::parse(piece, &self.limits),
            false => Frame::parse(piece, &self.limits).map(Message::One),
        }
    }

    /// An id this session never used. It is also the progress token of its call.
    pub(crate) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Sends a notification, or an answer to the server's own request. Nothing comes back; a broken
    /// connection shows where an answer is awaited.
    pub(crate) fn post(&self, message: Bytes) {
        match &self.link {
            Link::Line(link) => link.send(&message),
            Link::Http(link) => HttpLink::post_and_forget(link, message),
        }
    }

    /// Tells the server that nobody waits for call `id` any more.
    pub(crate) fn cancel(&self, id: u64, reason: &str) {
        let reason = toolgate_wire::string::encode(reason);
        let params = format!("{{\"requestId\":{id},\"reason\":{reason}}}");
        self.post(build::notification(toolgate_wire::method::CANCELLED, Some(params.as_bytes())));
    }

    /// Ends everything that waits on this connection.
    pub(crate) fn end(&self, reason: &str) {
        if self.flights.ended().is_none() {
            self.flights.end(reason);
            self.asks.abort_all();
            self.owner.ended(reason);
        }
    }
}
