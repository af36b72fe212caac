//! A session on a pair of byte streams: a child process, a socket, or a server in this process.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use toolgate_transport::TransportError;
use toolgate_transport::line::{LineReader, LineSender, writer};
use toolgate_transport::spool::{Body, BodyLimits};
use toolgate_wire::Frame;

use crate::SessionError;
use crate::core::Core;
use crate::flights::Flights;
use crate::inbound::{self, Came};
use crate::large;

pub(crate) struct LineLink {
    /// Taken when the session closes: the writer then drains, and its end closes the stream.
    sender: Mutex<Option<LineSender>>,
    noise: AtomicU64,
}

impl LineLink {
    /// Takes over the writing side.
    pub(crate) fn new<W: AsyncWrite + Send + Unpin + 'static>(output: W) -> Self {
        let (sender, work) = writer(output);
        tokio::spawn(async move {
            if let Err(error) = work.await {
                tracing::debug!(target: "toolgate::session", %error, "writer ended");
            }
        });
        Self { sender: Mutex::new(Some(sender)), noise: AtomicU64::new(0) }
    }

    pub(crate) fn send(&self, message: &Bytes) {
        if let Some(sender) = &*self.sender.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = sender.send(toolgate_wire::line(message));
        }
    }

    /// Lets what is queued go out, then closes the stream.
    pub(crate) fn close(&self) {
        self.sender.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Lines that were no messages.
    pub(crate) fn noise(&self) -> u64 {
        self.noise.load(Ordering::Relaxed)
    }

    fn count_noise(&self) {
        self.noise.fetch_add(1, Ordering::Relaxed);
    }
}

/// Reads until the stream ends.
pub(crate) fn read<R>(core: Arc<Core>, input: R) -> JoinHandle<()>
where
    R: AsyncRead + Send + Unpin + 'static,
{
    tokio::spawn(async move {
        let mut reader = LineReader::new(input, BodyLimits::ANSWER);
        let reason = loop {
            match reader.next_body().await {
                Ok(Some(line)) => match take(&core, line).await {
                    Ok(()) => {}
                    Err(error) => break error.to_string(),
                },
                Ok(None) => break "it closed its output".to_owned(),
                Err(TransportError::Oversize { limit, head }) => {
                    refused(&core, &head, || TransportError::Oversize { limit, head: Vec::new() })
                }
                Err(TransportError::Unkept { reason, head }) => {
                    refused(&core, &head, || unkept(&reason));
                }
                Err(error) => break error.to_string(),
            }
        };
        core.end(&reason);
    })
}

async fn take(core: &Arc<Core>, line: Body) -> Result<(), SessionError> {
    match large::read(core, line).await {
        Ok(message) => inbound::arrived(core, message, Came::Anywhere),
        Err(SessionError::Transport(TransportError::Unkept { reason, head })) => {
            refused(core, &head, || unkept(&reason));
        }
        Err(SessionError::Wire(error)) => {
            if let crate::core::Link::Line(link) = &core.link {
                link.count_noise();
            }
            inbound::unreadable(core, error);
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

fn unkept(reason: &str) -> TransportError {
    TransportError::Unkept { reason: reason.to_owned(), head: Vec::new() }
}

/// A message that could not be taken: the call it answers fails, rather than wait for ever.
fn refused(core: &Core, head: &[u8], why: impl Fn() -> TransportError) {
    for id in concerned(&core.flights, head) {
        core.flights.land(id, Err(SessionError::Transport(why())));
    }
}

/// The call such a message answers, by its first bytes; all of them if these do not tell.
fn concerned(flights: &Flights, head: &[u8]) -> Vec<u64> {
    let waiting = flights.ids();
    let named = Frame::peek_id(head).and_then(|id| id.as_u64());
    match named.filter(|id| waiting.contains(id)) {
        Some(id) => vec![id],
        None => waiting,
    }
}
