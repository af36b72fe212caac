//! The open connections: how many there may be, and the cutting of those that say nothing.

use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;

use super::clock::Pulse;
use crate::Cuts;
use crate::peer::Peer;
use crate::shares::ShareLimits;

/// Up to this part of all connections nobody counts whose they are.
const FEW: usize = 16;
/// For so long a connection may take to begin its request before it gives way to another of its peer.
const GRACE: Duration = Duration::from_secs(1);

/// The open connections of a server.
pub(crate) struct Connections {
    slots: Arc<Semaphore>,
    open: Mutex<HashMap<tokio::task::Id, Open>>,
    bounds: ShareLimits,
}

struct Open {
    pulse: Arc<Pulse>,
    task: JoinHandle<()>,
}

impl Connections {
    pub(crate) fn new(most: usize) -> Self {
        let slots = Arc::new(Semaphore::new(most));
        Self { slots, open: Mutex::default(), bounds: ShareLimits::of(most, 4) }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<tokio::task::Id, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a peer may have one more connection. One that has had its share must give up one that
    /// dawdles; one that opened a moment ago does not dawdle, since its request is on the way. As long
    /// as there are few, nobody counts.
    pub(crate) fn admit(&self, peer: &Peer) -> bool {
        let mut open = self.open();
        if open.len() < self.bounds.most / FEW {
            return true;
        }
        let (end, mut all, mut own) = (peer.end(), 0, 0);
        for living in open.values().filter(|open| !open.task.is_finished()) {
            all += 1;
            own += usize::from(living.pulse.peer.end() == end);
        }
        self.bounds.is_within_share(end, all, own)
            || shed(&mut open, |open| open.pulse.peer.end() == end && !open.pulse.is_fresh(GRACE))
    }

    /// Makes room for one more connection. In a full house the one that dawdles most gives way; if
    /// all are being served, it is waited until one ends.
    pub(crate) async fn slot(&self) -> Option<OwnedSemaphorePermit> {
        if self.slots.available_permits() == 0 {
            shed(&mut self.open(), |_| true);
        }
        self.slots.clone().acquire_owned().await.ok()
    }

    /// Keeps an eye on a connection.
    pub(crate) fn watch(&self, task: JoinHandle<()>, pulse: Arc<Pulse>) {
        self.open().insert(task.id(), Open { pulse, task });
    }

    /// Forgets the ended connections and cuts the overdue ones.
    pub(crate) fn sweep(&self, cuts: &Cuts) {
        self.open().retain(|_, open| {
            if open.pulse.overdue(cuts) {
                tracing::debug!(target: "toolgate::gateway", "cut a slow or idle connection");
                open.task.abort();
            }
            !open.task.is_finished()
        });
    }

    /// Waits until all have ended.
    pub(crate) async fn ended(&self) {
        let open: Vec<_> = self.open().drain().map(|(_, open)| Aborting(open.task)).collect();
        for mut connection in open {
            // A connection that was cut has ended too.
            let _ = (&mut connection.0).await;
        }
    }
}

/// Cuts the connection among these that dawdles most; `false` if none does.
fn shed(open: &mut HashMap<tokio::task::Id, Open>, among: impl Fn(&Open) -> bool) -> bool {
    let living = open.iter().filter(|(_, open)| !open.task.is_finished() && among(open));
    let dawdling = living.filter_map(|(id, open)| Some((open.pulse.dawdling()?, *id)));
    let most = dawdling.max_by_key(|(dawdling, _)| *dawdling);
    let Some(cut) = most.and_then(|(_, id)| open.remove(&id)) else { return false };
    tracing::debug!(target: "toolgate::gateway", "cut a connection to make room");
    cut.task.abort();
    true
}

/// A connection that is cut if nobody waits for its end any more.
struct Aborting(JoinHandle<()>);

impl Drop for Aborting {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A connection that tells its pulse what goes through it.
pub(crate) struct Watched {
    stream: TcpStream,
    pulse: Arc<Pulse>,
}

impl Watched {
    pub(crate) fn new(stream: TcpStream, pulse: Arc<Pulse>) -> Self {
        Self { stream, pulse }
    }

    fn note<T>(&self, written: Poll<T>) -> Poll<T> {
        self.pulse.wrote(written.is_ready());
        written
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if let Some(bytes @ [_, ..]) = buffer.filled().get(before..) {
            self.pulse.heard(bytes);
        }
        read
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.note(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.note(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
