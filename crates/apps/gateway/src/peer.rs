//! The other end of a connection: the process that holds it, for limits.
//!
//! What one client may hold of what everybody needs is counted by its process, because a process can
//! open as many connections and sessions as it likes. The process is looked up when something is
//! first counted, and not for every connection: the search through all processes takes milliseconds.

use std::collections::VecDeque;
use std::future::pending;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::time::sleep;
use toolgate_host::keys::AccessKey;
use toolgate_transport::peer::{PeerProcess, PeerSocket};

/// How many processes are remembered, to be looked at first.
const REMEMBERED: usize = 64;
/// How often it is looked whether a process that left has ended.
const GLANCE: Duration = Duration::from_millis(100);

/// Who holds the other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum PeerEnd {
    /// A process of this machine.
    Process(PeerProcess),
    /// Any process of a user, where the system does not tell which.
    User(u32),
    /// Somebody of whom nothing is known.
    Unknown,
    /// A client of lines: it has one connection.
    Lines(u64),
}

/// What is counted as one client: a process, and the key it uses. A process may serve several.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct PeerId {
    pub(crate) end: PeerEnd,
    pub(crate) key: Option<Arc<AccessKey>>,
}

impl PeerId {
    /// Whether it has ended, so that nobody misses what it left behind.
    pub(crate) fn is_gone(&self) -> bool {
        matches!(&self.end, PeerEnd::Process(process) if !process.is_alive())
    }

    /// Waits until its process has ended; for ever where it is not known which that is.
    pub(crate) async fn end_of_process(&self) {
        if !matches!(self.end, PeerEnd::Process(_)) {
            return pending().await;
        }
        while !self.is_gone() {
            sleep(GLANCE).await;
        }
    }
}

/// The processes that were found last.
pub(crate) type Known = Arc<Mutex<VecDeque<PeerProcess>>>;

/// The other end of a connection.
#[derive(Debug)]
pub(crate) struct Peer {
    /// Whether it is served without a key.
    pub(crate) is_own: bool,
    socket: Option<PeerSocket>,
    known: Known,
    end: OnceLock<PeerEnd>,
}

impl Peer {
    /// Whoever holds this socket, if the system tells.
    pub(crate) fn new(is_own: bool, socket: Option<PeerSocket>, known: Known) -> Self {
        Self { is_own, socket, known, end: OnceLock::new() }
    }

    /// The client of a connection of lines.
    pub(crate) fn of_lines(number: u64) -> Arc<Self> {
        let peer = Self::new(true, None, Known::default());
        let _ = peer.end.set(PeerEnd::Lines(number));
        Arc::new(peer)
    }

    /// Who holds the other end. It is looked for once.
    pub(crate) fn end(&self) -> PeerEnd {
        *self.end.get_or_init(|| match &self.socket {
            Some(socket) => self.look_for(socket),
            None => PeerEnd::Unknown,
        })
    }

    fn look_for(&self, socket: &PeerSocket) -> PeerEnd {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // Several may hold it after a fork; the first of them began it.
        let holders = socket.processes(known.make_contiguous());
        let Some(process) = holders.into_iter().min_by_key(|it| (it.started, it.pid)) else {
            return PeerEnd::User(socket.uid);
        };
        known.retain(|it| *it != process);
        known.push_front(process);
        known.truncate(REMEMBERED);
        PeerEnd::Process(process)
    }
}

#[cfg(test)]
impl Default for Peer {
    fn default() -> Self {
        Self::new(false, None, Known::default())
    }
}
