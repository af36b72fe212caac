//! Keeps one `subscriptions/listen` request open, on which a modern server reports changes.
//!
//! When the targets change, the task opens a new listen request and ends the old one once the new
//! one is acknowledged, so that no report is missed. After a lost request there is a gap; the event
//! handler is then told that everything may have changed.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use toolgate_wire::{Frame, MessageLimits, build, code, method, string};

use super::filter::{AcknowledgedFilter, ListenSubjects, ServerListenCapabilities};
use super::listen_state::{ListenEnd, ListenSignal, ListenStatus};
use super::{listen_stream::ListenGuard, rounds};
use crate::SessionError;
use crate::core::SessionCore;

/// How long the server may take to acknowledge.
const PATIENCE: Duration = Duration::from_secs(10);
/// The delay before a lost listen request is opened again. It doubles each time.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The maximum number of consecutive attempts to reopen.
const MAX_REOPEN: u32 = 5;
/// A listen request that lasted this long resets the count of consecutive failures.
const STEADY: Duration = Duration::from_secs(30);

/// Starts the listen task.
pub(crate) fn start(
    core: Arc<SessionCore>,
    capabilities: ServerListenCapabilities,
) -> Option<JoinHandle<()>> {
    let (inbox, targets) = core.listen_state.take_receivers()?;
    let mut task = ListenTask {
        core,
        capabilities,
        inbox,
        targets,
        last_acknowledged: AcknowledgedFilter::default(),
        gap: false,
        failures: 0,
        last: 0,
    };
    Some(tokio::spawn(async move {
        let failure = Some(task.listen().await);
        task.decide(u64::MAX, AcknowledgedFilter::default(), failure);
    }))
}

/// The state of the listen task.
struct ListenTask {
    core: Arc<SessionCore>,
    capabilities: ServerListenCapabilities,
    inbox: mpsc::UnboundedReceiver<ListenSignal>,
    targets: watch::Receiver<ListenSubjects>,
    /// The filter that the server acknowledged last.
    last_acknowledged: AcknowledgedFilter,
    /// True if reports may have been missed since then.
    gap: bool,
    /// The number of consecutive failures.
    failures: u32,
    /// The number of the newest listen request.
    last: u64,
}

/// How the wait on one listen request ended.
enum ListenOutcome {
    /// The targets changed. This request stays open until the next one is acknowledged.
    TargetsChanged(ListenGuard),
    ListenEnded(ListenEnd),
    /// The connection ended.
    ConnectionEnded(String),
}

impl ListenTask {
    /// Listens until the connection ends. Returns why it ended.
    async fn listen(&mut self) -> String {
        let mut old = None;
        loop {
            let wanted = self.targets.borrow_and_update().clone();
            let Some(filter) = self.capabilities.filter(&wanted) else {
                old = None;
                self.decide(wanted.generation, AcknowledgedFilter::default(), None);
                match self.wait_for_change().await {
                    Some(reason) => return reason,
                    None => continue,
                }
            };
            match self.listen_once(&wanted, &filter, old.take()).await {
                ListenOutcome::TargetsChanged(open) => old = Some(open),
                ListenOutcome::ListenEnded(loss) => {
                    if let Some(reason) = self.handle_end(&wanted, loss).await {
                        return reason;
                    }
                }
                ListenOutcome::ConnectionEnded(reason) => return reason,
            }
        }
    }

    /// Publishes the status of this generation of targets.
    fn decide(&self, generation: u64, acknowledged: AcknowledgedFilter, failure: Option<String>) {
        let status = ListenStatus { generation, acknowledged, failure };
        self.core.listen_state.status.send_replace(status);
    }

    /// Opens a listen request and waits on it. `old` stays open until the new one is acknowledged.
    async fn listen_once(
        &mut self,
        wanted: &ListenSubjects,
        filter: &str,
        mut old: Option<ListenGuard>,
    ) -> ListenOutcome {
        self.last += 1;
        let mut open = ListenGuard::new(&self.core, self.last, filter, !wanted.tasks.is_empty());
        let opened = Instant::now();
        let mut acknowledged = false;
        loop {
            let signal = tokio::select! {
                biased;
                signal = self.inbox.recv() => signal,
                _ = self.targets.changed() => {
                    let heard = if acknowledged { open } else { old.unwrap_or(open) };
                    return ListenOutcome::TargetsChanged(heard);
                }
                () = tokio::time::sleep_until(opened + PATIENCE), if !acknowledged => {
                    let why = "the server did not acknowledge the subscription".into();
                    return ListenOutcome::ListenEnded(ListenEnd::Ended(why));
                }
            };
            match signal {
                Some(ListenSignal::Acknowledged(number, honoured)) if number == open.number => {
                    old = None;
                    acknowledged = true;
                    self.handle_acknowledgement(wanted, honoured);
                }
                Some(ListenSignal::ListenEnded(number, loss)) if number == open.number => {
                    open.ended = true;
                    if acknowledged && opened.elapsed() >= STEADY {
                        self.failures = 0;
                    }
                    return ListenOutcome::ListenEnded(loss);
                }
                Some(ListenSignal::ListenEnded(number, _)) => {
                    if let Some(old) = old.as_mut().filter(|old| old.number == number) {
                        old.ended = true;
                        self.gap = true;
                    }
                }
                Some(ListenSignal::Acknowledged(..)) => {}
                Some(ListenSignal::ConnectionEnded(reason)) => {
                    return ListenOutcome::ConnectionEnded(reason);
                }
                None => return ListenOutcome::ConnectionEnded(String::new()),
            }
        }
    }

    /// Handles an acknowledgement. After a gap, reports everything as changed that may have
    /// changed.
    fn handle_acknowledgement(&mut self, wanted: &ListenSubjects, honoured: AcknowledgedFilter) {
        if std::mem::take(&mut self.gap) {
            for kind in &honoured.lists {
                self.core.event_handler.on_list_changed(*kind);
            }
            for uri in honoured.uris.intersection(&self.last_acknowledged.uris) {
                self.report_updated(uri);
            }
        }
        self.last_acknowledged = honoured.clone();
        self.decide(wanted.generation, honoured, None);
    }

    /// Reports a resource as updated to the event handler.
    fn report_updated(&self, uri: &str) {
        let params = format!("{{\"uri\":{}}}", string::encode(uri));
        let notice = build::notification(method::RESOURCES_UPDATED, Some(params.as_bytes()));
        if let Ok(frame) = Frame::parse(notice, &MessageLimits::MAX) {
            self.core.event_handler.on_notification(frame);
        }
    }

    /// Handles a lost listen request: waits for the retry delay, or until the targets change if a
    /// retry is useless. Returns the reason if the connection ended.
    async fn handle_end(&mut self, wanted: &ListenSubjects, loss: ListenEnd) -> Option<String> {
        let server = &self.core.server;
        let outline = loss.outline();
        tracing::debug!(target: "toolgate::session", %server, outline, "a listen request ended");
        self.gap = true;
        self.failures += 1;
        let again = self.failures <= MAX_REOPEN;
        let reason = match loss {
            ListenEnd::Refused(SessionError::Refused { code, message })
                if code == i64::from(code::UNSUPPORTED_PROTOCOL_VERSION) =>
            {
                return Some(rounds::end_unsupported(&self.core, &message).to_string());
            }
            ListenEnd::Ended(_) | ListenEnd::Unreachable(_) if again => {
                let wait = FIRST_WAIT.saturating_mul(1 << (self.failures - 1));
                return tokio::time::timeout(wait, self.wait_for_change()).await.unwrap_or(None);
            }
            ListenEnd::Unreachable(error) => {
                self.core.end(&error.to_string());
                return Some(error.to_string());
            }
            ListenEnd::Refused(error) => error.to_string(),
            ListenEnd::Ended(reason) => reason,
        };
        tracing::warn!(
            target: "toolgate::session", %server, reason = outline,
            "the server does not report changes"
        );
        self.failures = 0;
        self.decide(wanted.generation, AcknowledgedFilter::default(), Some(reason));
        self.wait_for_change().await
    }

    /// Waits until the targets change. Returns the reason if the connection ends first.
    async fn wait_for_change(&mut self) -> Option<String> {
        loop {
            tokio::select! {
                _ = self.targets.changed() => return None,
                signal = self.inbox.recv() => match signal {
                    Some(ListenSignal::ConnectionEnded(reason)) => return Some(reason),
                    Some(_) => {}
                    None => return Some(String::new()),
                }
            }
        }
    }
}
