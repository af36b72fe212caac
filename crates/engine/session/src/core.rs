//! The state shared by all parts of a session, on any transport.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use toolgate_model::{ServerName, ServerTimeouts};
use toolgate_wire::{Era, Frame, MessageLimits, MessageOrBatch, Revision, WireError, build};

use crate::http::HttpTransport;
use crate::line::LineTransport;
use crate::log_level::LogLevelState;
use crate::modern::envelope::modern_capabilities;
use crate::modern::headers::ArgumentHeaders;
use crate::modern::listen_state::ListenState;
use crate::notification_limiter::NotificationLimiter;
use crate::open_questions::OpenQuestions;
use crate::pending_requests::PendingRequests;
use crate::url_elicitation::AwaitedElicitations;
use crate::{
    Answer, CapabilityOverrideInteractor, Interactor, QuestionKind, SessionEventHandler,
    SessionOptions,
};

/// The shared state of one session.
pub(crate) struct SessionCore {
    pub(crate) server: ServerName,
    pub(crate) timeouts: ServerTimeouts,
    pub(crate) limits: MessageLimits,
    pub(crate) event_handler: Arc<dyn SessionEventHandler>,
    pub(crate) default_interactor: Arc<dyn Interactor>,
    pub(crate) link: SessionTransport,
    pub(crate) pending_requests: PendingRequests,
    pub(crate) open_questions: OpenQuestions,
    pub(crate) awaited_elicitations: AwaitedElicitations,
    pub(crate) notification_limiter: NotificationLimiter,
    /// The tool arguments that a modern server expects in headers.
    pub(crate) argument_headers: ArgumentHeaders,
    /// The reports requested from a modern server.
    pub(crate) listen_state: ListenState,
    /// The log level of a legacy server.
    pub(crate) log_level: LogLevelState,
    next_id: AtomicU64,
    protocol: OnceLock<Revision>,
}

/// The transport of a session.
pub(crate) enum SessionTransport {
    Line(LineTransport),
    Http(Arc<HttpTransport>),
}

impl SessionCore {
    pub(crate) fn new(opening: &SessionOptions, link: SessionTransport) -> Arc<Self> {
        Arc::new(Self {
            server: opening.server.clone(),
            timeouts: opening.timeouts,
            // Larger messages do not arrive here: the transport limits and spools them.
            limits: MessageLimits { bytes: MessageLimits::MAX_BYTES, ..MessageLimits::default() },
            event_handler: opening.event_handler.clone(),
            default_interactor: Arc::new(CapabilityOverrideInteractor {
                inner: opening.default_interactor.clone(),
                capabilities: modern_capabilities(&opening.capabilities),
            }),
            link,
            pending_requests: PendingRequests::default(),
            open_questions: OpenQuestions::default(),
            awaited_elicitations: AwaitedElicitations::default(),
            notification_limiter: NotificationLimiter::new(),
            argument_headers: ArgumentHeaders::default(),
            listen_state: ListenState::default(),
            log_level: LogLevelState::default(),
            next_id: AtomicU64::new(1),
            protocol: OnceLock::new(),
        })
    }

    /// Sets the negotiated revision.
    pub(crate) fn set_revision(&self, revision: Revision) {
        let _ = self.protocol.set(revision);
        if let SessionTransport::Http(link) = &self.link {
            link.set_revision(revision);
        }
    }

    /// Returns the era of the connection, once it is known.
    pub(crate) fn era(&self) -> Option<Era> {
        self.protocol.get().map(|revision| revision.era())
    }

    /// Returns true if questions arrive on a stream shared by all calls, so that only the calls in
    /// progress say which call a question belongs to.
    pub(crate) fn shares_questions(&self) -> bool {
        matches!(self.link, SessionTransport::Line(_)) && !self.is_modern()
    }

    pub(crate) fn is_modern(&self) -> bool {
        self.era() == Some(Era::Modern)
    }

    /// Parses received bytes: one message, or a batch in the one revision that has batches.
    pub(crate) fn read(&self, piece: Bytes) -> Result<MessageOrBatch, WireError> {
        match self.protocol.get().is_some_and(|revision| revision.has_batches()) {
            true => MessageOrBatch::parse(piece, &self.limits),
            false => Frame::parse(piece, &self.limits).map(MessageOrBatch::One),
        }
    }

    /// Returns an unused request id. It is also the progress token of the call.
    pub(crate) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Sends a notification or a response, without waiting. Errors are not reported here; a broken
    /// connection fails the calls that wait for an answer.
    pub(crate) fn post(&self, message: Bytes) {
        match &self.link {
            SessionTransport::Line(link) => link.send(&message),
            SessionTransport::Http(link) => HttpTransport::post_and_forget(link, message),
        }
    }

    /// Declines a question that no client can answer.
    pub(crate) fn decline(&self, kind: QuestionKind, in_call: bool) -> Answer {
        if matches!(kind, QuestionKind::Form | QuestionKind::Url) {
            self.event_handler.on_declined(match in_call {
                true => "the client of the call does not declare elicitation",
                false => "it belongs to no call, so there is no client to ask",
            });
        }
        Answer::declined(kind)
    }

    /// Cancels request `id` (raw JSON) at the server.
    pub(crate) fn cancel(&self, id: &str, reason: &str) {
        match (self.era(), &self.link) {
            // The handshake must not be cancelled. On modern HTTP, closing the connection of the
            // request has already cancelled it.
            (None, _) | (Some(Era::Modern), SessionTransport::Http(_)) => return,
            _ => {}
        }
        let reason = toolgate_wire::string::encode(reason);
        let params = format!("{{\"requestId\":{id},\"reason\":{reason}}}");
        self.post(build::notification(toolgate_wire::method::CANCELLED, Some(params.as_bytes())));
    }

    /// Ends everything that waits for this connection.
    pub(crate) fn end(&self, reason: &str) {
        if self.pending_requests.end_reason().is_none() {
            self.pending_requests.end(reason);
            self.open_questions.abort_all();
            self.listen_state.end(reason);
            self.event_handler.on_ended(reason);
        }
    }
}
