//! The state of the listen request: what callers want reports about, and what the server agreed to.
//!
//! All targets of a session share one `subscriptions/listen` request, which
//! [`listen_task`](super::listen_task) keeps open.

use parking_lot::Mutex;
use tokio::sync::{mpsc, watch};
use toolgate_wire::{Frame, RequestId, code, meta, scan};

use super::filter::{AcknowledgedFilter, ListenSubjects, ServerListenCapabilities};
use crate::SessionError;
use crate::core::SessionCore;
use crate::session::fail_on_error;

/// The prefix of a listen request's id. It is text, so that it never equals the id of a call.
pub(super) const PREFIX: &str = "listen-";

/// The shared state of the listen request.
pub(crate) struct ListenState {
    signals: mpsc::UnboundedSender<ListenSignal>,
    /// Taken by the listen task.
    inbox: Mutex<Option<mpsc::UnboundedReceiver<ListenSignal>>>,
    targets: watch::Sender<ListenSubjects>,
    pub(super) status: watch::Sender<ListenStatus>,
}

/// A signal to the listen task. The number identifies the listen request.
pub(super) enum ListenSignal {
    Acknowledged(u64, AcknowledgedFilter),
    ListenEnded(u64, ListenEnd),
    /// The connection ended.
    ConnectionEnded(String),
}

/// Why a listen request ended.
#[derive(Debug)]
pub(super) enum ListenEnd {
    /// The server refused it; trying again is useless.
    Refused(SessionError),
    /// It was open and ended.
    Ended(String),
    /// The server cannot be reached.
    Unreachable(SessionError),
}

impl ListenEnd {
    /// Returns the reason without the server's own text.
    pub(super) fn outline(&self) -> String {
        match self {
            Self::Refused(error) | Self::Unreachable(error) => error.outline(),
            Self::Ended(_) => "the stream ended".to_owned(),
        }
    }
}

/// What the server agreed to report.
#[derive(Debug, Clone, Default)]
pub(super) struct ListenStatus {
    /// The generation of the targets this status is about.
    pub(super) generation: u64,
    pub(super) acknowledged: AcknowledgedFilter,
    pub(super) failure: Option<String>,
}

impl Default for ListenState {
    fn default() -> Self {
        let (signals, inbox) = mpsc::unbounded_channel();
        let wanted = ListenSubjects { generation: 1, ..ListenSubjects::default() };
        let (wanted, heard) = (watch::Sender::new(wanted), watch::Sender::default());
        Self { signals, inbox: Mutex::new(Some(inbox)), targets: wanted, status: heard }
    }
}

impl ListenState {
    /// Handles an acknowledgement.
    pub(crate) fn handle_acknowledgement(&self, frame: &Frame) {
        let params = frame.params().unwrap_or_default();
        let id = scan::pointer(params, &["_meta", meta::SUBSCRIPTION_ID]);
        let Some(number) = id.and_then(|span| number(RequestId::from_raw(span.slice(params))?))
        else {
            return;
        };
        let filter = scan::member(params, "notifications").map(|span| span.slice(params));
        let honoured = AcknowledgedFilter::of(filter.unwrap_or_default());
        self.signal(ListenSignal::Acknowledged(number, honoured));
    }

    /// Handles the answer to a listen request, which ends it.
    pub(crate) fn handle_response(&self, frame: Frame) {
        if let Some(number) = frame.id().and_then(number) {
            let loss = match fail_on_error(frame) {
                Ok(_) => ListenEnd::Ended("the server ended it".into()),
                Err(error) => ListenEnd::Refused(error),
            };
            self.signal(ListenSignal::ListenEnded(number, loss));
        }
    }

    /// Handles a cancellation by the server. Returns false if it is not about a listen request.
    pub(crate) fn handle_cancellation(&self, frame: &Frame) -> bool {
        let Some(number) = frame.request_ref().and_then(number) else { return false };
        let loss = ListenEnd::Ended("the server cancelled it".into());
        self.signal(ListenSignal::ListenEnded(number, loss));
        true
    }

    /// Signals that the connection ended.
    pub(crate) fn end(&self, reason: &str) {
        self.signal(ListenSignal::ConnectionEnded(reason.to_owned()));
    }

    /// Changes the targets. Returns their generation.
    pub(crate) fn update_targets(&self, change: impl FnOnce(&mut ListenSubjects) -> bool) -> u64 {
        self.targets.send_if_modified(|wanted| {
            let changed = change(wanted);
            wanted.generation += u64::from(changed);
            changed
        });
        self.targets.borrow().generation
    }

    /// Returns the receivers for the listen task. Returns `None` after the first call.
    pub(super) fn take_receivers(
        &self,
    ) -> Option<(mpsc::UnboundedReceiver<ListenSignal>, watch::Receiver<ListenSubjects>)> {
        let inbox = self.inbox.lock().take();
        inbox.zip(Some(self.targets.subscribe()))
    }

    pub(super) fn signal(&self, signal: ListenSignal) {
        let _ = self.signals.send(signal);
    }

    /// Waits for the status of this generation, or a later one.
    async fn wait_decided(&self, generation: u64) -> ListenStatus {
        let mut heard = self.status.subscribe();
        let decided = heard.wait_for(|heard| heard.generation >= generation).await;
        decided.map(|heard| heard.clone()).unwrap_or_default()
    }

    /// Waits until the first listen request is acknowledged or refused.
    pub(crate) async fn wait_settled(&self) {
        self.wait_decided(1).await;
    }
}

/// Returns the number of a listen request, if the id is that of one.
fn number(id: RequestId<'_>) -> Option<u64> {
    id.as_text()?.strip_prefix(PREFIX)?.parse().ok()
}

/// Subscribes to a resource and waits until the server agrees.
pub(crate) async fn subscribe(
    core: &SessionCore,
    offer: &ServerListenCapabilities,
    uri: &str,
) -> Result<(), SessionError> {
    let refused =
        |message: String| SessionError::Refused { code: code::METHOD_NOT_FOUND.into(), message };
    if !offer.resources {
        return Err(refused("the server does not support subscriptions".into()));
    }
    let listener = &core.listen_state;
    let generation = listener.update_targets(|wanted| wanted.uris.insert(uri.to_owned()));
    let limit = core.timeouts.own_request();
    let decided = tokio::time::timeout(limit, listener.wait_decided(generation)).await;
    let heard = match decided {
        Ok(heard) if heard.acknowledged.uris.contains(uri) => return Ok(()),
        heard => heard,
    };
    // The server does not report on it, so removing the target needs no new listen request.
    listener.targets.send_if_modified(|wanted| {
        wanted.uris.remove(uri);
        false
    });
    let heard = heard.map_err(|_| SessionError::TimedOut(limit))?;
    let why = heard.failure.unwrap_or_else(|| "the server does not report on it".into());
    Err(refused(format!("cannot subscribe to `{uri}`: {why}")))
}
