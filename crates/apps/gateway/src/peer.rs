//! The peer of a connection: the process that holds it, for limits.
//!
//! Shared resources are counted per process, because a process can open any number of connections
//! and sessions. The process is looked up when something is first counted and not for every
//! connection, because the search through all processes takes milliseconds.

use std::collections::VecDeque;
use std::future::pending;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::sleep;
use toolgate_host::keys::AccessKey;
use toolgate_transport::peer::{PeerProcess, PeerSocket};

/// How many recently found processes are remembered. The search tries them first.
const MAX_RECENT: usize = 64;
/// How often the gateway checks whether a process has exited.
const EXIT_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The holder of the other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ConnectionHolder {
    /// A process of this machine.
    Process(PeerProcess),
    /// Some process of this user, if the system does not tell which.
    User(u32),
    /// An unknown process.
    Unknown,
    /// The client of one line connection.
    Lines(u64),
}

/// The unit that limits count as one client: a process and the key it uses. One process may act for
/// several clients.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct PeerId {
    pub(crate) holder: ConnectionHolder,
    pub(crate) key: Option<Arc<AccessKey>>,
}

impl PeerId {
    /// Returns true if its process has exited.
    pub(crate) fn is_gone(&self) -> bool {
        matches!(&self.holder, ConnectionHolder::Process(process) if !process.is_alive())
    }

    /// Waits until its process has exited, or for ever if the process is unknown.
    pub(crate) async fn wait_for_exit(&self) {
        if !matches!(self.holder, ConnectionHolder::Process(_)) {
            return pending().await;
        }
        while !self.is_gone() {
            sleep(EXIT_POLL_INTERVAL).await;
        }
    }
}

/// The processes that were found most recently.
pub(crate) type RecentPeerProcesses = Arc<Mutex<VecDeque<PeerProcess>>>;

/// The peer of a connection.
#[derive(Debug)]
pub(crate) struct ConnectionPeer {
    /// True if the peer is served without a key.
    pub(crate) may_omit_key: bool,
    socket: Option<PeerSocket>,
    recent: RecentPeerProcesses,
    holder: OnceLock<ConnectionHolder>,
}

impl ConnectionPeer {
    /// Creates the peer that holds this socket.
    pub(crate) fn new(
        is_own: bool,
        socket: Option<PeerSocket>,
        recent: RecentPeerProcesses,
    ) -> Self {
        Self { may_omit_key: is_own, socket, recent, holder: OnceLock::new() }
    }

    /// Creates the peer of a line connection.
    pub(crate) fn for_lines(number: u64) -> Arc<Self> {
        let peer = Self::new(true, None, RecentPeerProcesses::default());
        let _ = peer.holder.set(ConnectionHolder::Lines(number));
        Arc::new(peer)
    }

    /// Returns the holder of the other end. The lookup happens once.
    pub(crate) fn holder(&self) -> ConnectionHolder {
        *self.holder.get_or_init(|| match &self.socket {
            Some(socket) => self.find_holder(socket),
            None => ConnectionHolder::Unknown,
        })
    }

    fn find_holder(&self, socket: &PeerSocket) -> ConnectionHolder {
        let mut recent = self.recent.lock();
        // After a fork several processes may hold the socket. The oldest opened it.
        let holders = socket.processes(recent.make_contiguous());
        let Some(process) = holders.into_iter().min_by_key(|it| (it.started, it.pid)) else {
            return ConnectionHolder::User(socket.uid);
        };
        recent.retain(|it| *it != process);
        recent.push_front(process);
        recent.truncate(MAX_RECENT);
        ConnectionHolder::Process(process)
    }
}
