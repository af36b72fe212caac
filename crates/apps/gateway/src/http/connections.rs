//! The open connections: limits their number and closes those that are slow or idle.

use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;

use super::clock::HttpConnectionState;
use crate::ConnectionTimeouts;
use crate::peer::ConnectionPeer;
use crate::peer_quota::PeerLimits;

/// Below this fraction of all connections, the share of each peer is not checked.
const UNCOUNTED_DIVISOR: usize = 16;
/// How long a new connection may take to begin its request before another one of the same peer can
/// evict it.
const REQUEST_GRACE: Duration = Duration::from_secs(1);

/// The open connections of a server.
pub(crate) struct HttpConnections {
    slots: Arc<Semaphore>,
    open: Mutex<HashMap<tokio::task::Id, OpenConnection>>,
    limits: PeerLimits,
}

/// An open connection and the task that serves it.
struct OpenConnection {
    state: Arc<HttpConnectionState>,
    task: JoinHandle<()>,
}

impl HttpConnections {
    pub(crate) fn new(max_connections: usize) -> Self {
        let slots = Arc::new(Semaphore::new(max_connections));
        Self { slots, open: Mutex::default(), limits: PeerLimits::from_total(max_connections, 4) }
    }

    /// Returns true if a peer may open one more connection. A peer that has used up its share loses
    /// its slowest connection instead. A connection that was just opened is not slow, because its
    /// request is still on the way. While few connections are open, shares are not checked.
    pub(crate) fn admit(&self, peer: &ConnectionPeer) -> bool {
        let mut open = self.open.lock();
        if open.len() < self.limits.total / UNCOUNTED_DIVISOR {
            return true;
        }
        let (holder, mut all, mut own) = (peer.holder(), 0, 0);
        for connection in open.values().filter(|open| !open.task.is_finished()) {
            all += 1;
            own += usize::from(connection.state.peer.holder() == holder);
        }
        self.limits.is_within_share(holder, all, own)
            || evict_slowest(&mut open, |open| {
                open.state.peer.holder() == holder && !open.state.is_fresh(REQUEST_GRACE)
            })
    }

    /// Waits for a free slot for one more connection. If there is none, this closes the slowest
    /// connection; if all are being served, it waits until one ends.
    pub(crate) async fn acquire_slot(&self) -> Option<OwnedSemaphorePermit> {
        if self.slots.available_permits() == 0 {
            evict_slowest(&mut self.open.lock(), |_| true);
        }
        self.slots.clone().acquire_owned().await.ok()
    }

    /// Registers a connection for the sweep.
    pub(crate) fn watch(&self, task: JoinHandle<()>, state: Arc<HttpConnectionState>) {
        self.open.lock().insert(task.id(), OpenConnection { state, task });
    }

    /// Forgets ended connections and closes overdue ones.
    pub(crate) fn sweep(&self, timeouts: &ConnectionTimeouts) {
        self.open.lock().retain(|_, open| {
            if open.state.is_overdue(timeouts) {
                tracing::debug!(target: "toolgate::gateway", "closed a slow or idle connection");
                open.task.abort();
            }
            !open.task.is_finished()
        });
    }

    /// Waits until all connections have ended.
    pub(crate) async fn wait_closed(&self) {
        let open: Vec<_> =
            self.open.lock().drain().map(|(_, open)| ConnectionAbortGuard(open.task)).collect();
        for mut connection in open {
            // An aborted connection has ended too.
            let _ = (&mut connection.0).await;
        }
    }
}

/// Closes the slowest of the selected connections. Returns false if all of them are being served.
fn evict_slowest(
    open: &mut HashMap<tokio::task::Id, OpenConnection>,
    among: impl Fn(&OpenConnection) -> bool,
) -> bool {
    let running = open.iter().filter(|(_, open)| !open.task.is_finished() && among(open));
    let candidates = running.filter_map(|(id, open)| Some((open.state.eviction_priority()?, *id)));
    let slowest = candidates.max_by_key(|(priority, _)| *priority);
    let Some(evicted) = slowest.and_then(|(_, id)| open.remove(&id)) else { return false };
    tracing::debug!(target: "toolgate::gateway", "closed a connection to make room");
    evicted.task.abort();
    true
}

/// Aborts a connection when dropped.
struct ConnectionAbortGuard(JoinHandle<()>);

impl Drop for ConnectionAbortGuard {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A TCP stream that records its reads and writes in the connection's state.
pub(crate) struct MonitoredStream {
    pub(crate) stream: TcpStream,
    pub(crate) state: Arc<HttpConnectionState>,
}

impl MonitoredStream {
    fn record_write<T>(&self, written: Poll<T>) -> Poll<T> {
        self.state.record_write(written.is_ready());
        written
    }
}

impl AsyncRead for MonitoredStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if let Some(bytes @ [_, ..]) = buffer.filled().get(before..) {
            self.state.record_read(bytes);
        }
        read
    }
}

impl AsyncWrite for MonitoredStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.record_write(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.record_write(written)
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
