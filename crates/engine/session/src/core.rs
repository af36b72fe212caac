//! What every part of one session shares, whatever its carrier.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use toolgate_model::{ServerName, Timeouts};
use toolgate_wire::{Era, Frame, Limits, Message, Revision, WireError, build};

use crate::asks::Asks;
use crate::flights::Flights;
use crate::http::HttpLink;
use crate::level::Level;
use crate::line::LineLink;
use crate::meter::Meter;
use crate::modern::headers::Mirror;
use crate::modern::listen::Listener;
use crate::ourselves::Ourselves;
use crate::url_required::Completions;
use crate::{Answer, AskKind, Interactor, Opening, Owner};

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
    /// What the tools of a modern server want repeated in headers.
    pub(crate) mirror: Mirror,
    /// What a modern server is to report.
    pub(crate) listener: Listener,
    /// What a legacy server is to log.
    pub(crate) level: Level,
    next_id: AtomicU64,
    protocol: OnceLock<Revision>,
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
            ambient: Arc::new(Ourselves::new(opening)),
            link,
            flights: Flights::default(),
            asks: Asks::default(),
            completions: Completions::default(),
            meter: Meter::new(),
            mirror: Mirror::default(),
            listener: Listener::default(),
            level: Level::default(),
            next_id: AtomicU64::new(1),
            protocol: OnceLock::new(),
        })
    }

    /// From now on both sides speak this revision.
    pub(crate) fn agreed(&self, revision: Revision) {
        let _ = self.protocol.set(revision);
        if let Link::Http(link) = &self.link {
            link.agreed(revision);
        }
    }

    /// The era of the connection, once it is known.
    pub(crate) fn era(&self) -> Option<Era> {
        self.protocol.get().map(|revision| revision.era())
    }

    /// Whether nothing but the calls under way tells whose a question of the server is.
    pub(crate) fn shares_questions(&self) -> bool {
        matches!(self.link, Link::Line(_)) && !self.is_modern()
    }

    pub(crate) fn is_modern(&self) -> bool {
        self.era() == Some(Era::Modern)
    }

    /// Reads what arrived in one piece: one message, or several in the one revision that has
    /// batches.
    pub(crate) fn read(&self, piece: Bytes) -> Result<Message, WireError> {
        match self.protocol.get().is_some_and(|revision| revision.batches()) {
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

    /// Declines a question that nobody can answer.
    pub(crate) fn declined(&self, kind: AskKind, in_call: bool) -> Answer {
        if matches!(kind, AskKind::Form | AskKind::Url) {
            self.owner.declined(match in_call {
                true => "the client of the call cannot be asked: it declares no elicitation",
                false => "it belongs to no call, so there is no client to ask",
            });
        }
        Answer::declined(kind)
    }

    /// Tells the server that nobody waits for request `id` (raw) any more.
    pub(crate) fn cancel(&self, id: &str, reason: &str) {
        match (self.era(), &self.link) {
            // The opening of a connection is not cancelled; on modern HTTP the connection of the
            // request has been closed, which says it.
            (None, _) | (Some(Era::Modern), Link::Http(_)) => return,
            _ => {}
        }
        let reason = toolgate_wire::string::encode(reason);
        let params = format!("{{\"requestId\":{id},\"reason\":{reason}}}");
        self.post(build::notification(toolgate_wire::method::CANCELLED, Some(params.as_bytes())));
    }

    /// Ends everything that waits on this connection.
    pub(crate) fn end(&self, reason: &str) {
        if self.flights.ended().is_none() {
            self.flights.end(reason);
            self.asks.abort_all();
            self.listener.end(reason);
            self.owner.ended(reason);
        }
    }
}
