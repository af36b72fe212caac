//! A session on a pair of byte streams: a child process, a socket, or a server in this process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use toolgate_transport::TransportError;
use toolgate_transport::line::{LineReader, LineSender, writer};
use toolgate_transport::spool::{BodyLimits, ReceivedBody};
use toolgate_wire::Frame;

use crate::SessionError;
use crate::core::SessionCore;
use crate::inbound::{self, MessageSource};
use crate::large;
use crate::pending_requests::PendingRequests;

/// The sending side of a line-based connection.
pub(crate) struct LineTransport {
    /// Taken when the session closes. The writer then sends what is queued and closes the stream.
    sender: Mutex<Option<LineSender>>,
    /// The number of received lines that were not valid messages.
    pub(crate) invalid_lines: AtomicU64,
}

impl LineTransport {
    /// Starts a task that writes to `output`.
    pub(crate) fn new<W: AsyncWrite + Send + Unpin + 'static>(output: W) -> Self {
        let (sender, work) = writer(output);
        tokio::spawn(async move {
            if let Err(error) = work.await {
                tracing::debug!(target: "toolgate::session", %error, "writer ended");
            }
        });
        Self { sender: Mutex::new(Some(sender)), invalid_lines: AtomicU64::new(0) }
    }

    pub(crate) fn send(&self, message: &Bytes) {
        if let Some(sender) = &*self.sender.lock() {
            let _ = sender.send(toolgate_wire::to_single_line(message));
        }
    }

    /// Closes the stream after everything queued is sent.
    pub(crate) fn close(&self) {
        self.sender.lock().take();
    }
}

/// Starts a task that reads messages until the stream ends.
pub(crate) fn read<R>(core: Arc<SessionCore>, input: R) -> JoinHandle<()>
where
    R: AsyncRead + Send + Unpin + 'static,
{
    tokio::spawn(async move {
        let mut reader = LineReader::new(input, BodyLimits::ANSWER);
        let reason = loop {
            match reader.next_body().await {
                Ok(Some(line)) => match receive_line(&core, line).await {
                    Ok(()) => {}
                    Err(error) => break error.to_string(),
                },
                Ok(None) => break "the server closed its output".to_owned(),
                Err(TransportError::Oversize { limit, head }) => {
                    fail_affected(&core, &head, || TransportError::Oversize {
                        limit,
                        head: Vec::new(),
                    })
                }
                Err(TransportError::NoRoom { reason, head }) => {
                    fail_affected(&core, &head, || spool_error(&reason));
                }
                Err(error) => break error.to_string(),
            }
        };
        core.end(&reason);
    })
}

async fn receive_line(core: &Arc<SessionCore>, line: ReceivedBody) -> Result<(), SessionError> {
    match large::read(core, line).await {
        Ok(message) => inbound::receive_message(core, message, MessageSource::Shared),
        Err(SessionError::Transport(TransportError::NoRoom { reason, head })) => {
            fail_affected(core, &head, || spool_error(&reason));
        }
        Err(SessionError::Wire(error)) => {
            if let crate::core::SessionTransport::Line(link) = &core.link {
                link.invalid_lines.fetch_add(1, Ordering::Relaxed);
            }
            inbound::handle_unreadable(core, error);
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

fn spool_error(reason: &str) -> TransportError {
    TransportError::NoRoom { reason: reason.to_owned(), head: Vec::new() }
}

/// Fails the calls that a rejected message may answer, so that they do not wait forever.
fn fail_affected(core: &SessionCore, head: &[u8], why: impl Fn() -> TransportError) {
    for id in concerned(&core.pending_requests, head) {
        core.pending_requests.complete(id, Err(SessionError::Transport(why())));
    }
}

/// Returns the call that a message answers, by the id in its first bytes, or all pending calls if
/// there is no id.
fn concerned(flights: &PendingRequests, head: &[u8]) -> Vec<u64> {
    let waiting = flights.ids();
    let named = Frame::peek_id(head).and_then(|id| id.as_u64());
    match named.filter(|id| waiting.contains(id)) {
        Some(id) => vec![id],
        None => waiting,
    }
}
