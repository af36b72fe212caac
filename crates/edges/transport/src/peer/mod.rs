//! Which process is at the other end of a connection from this machine.
//!
//! Linux tells the process of a Unix socket's peer, the user who owns a loopback TCP socket, and in
//! `/proc` the process that holds it and its ancestors. On other systems every question is answered
//! with "unknown" (`None`), and [`SUPPORTED`] is false.

#[cfg(target_os = "linux")]
mod diag;
#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "other.rs"]
mod system;

use std::io;
use std::net::SocketAddr;

/// Whether this system tells who connects.
pub const SUPPORTED: bool = cfg!(target_os = "linux");

/// How many ancestors are looked at. No real process tree is this deep.
const MAX_ANCESTORS: usize = 256;

/// A process on this machine. The start time tells it from a later process with the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PeerProcess {
    /// Its process id, as this process sees it.
    pub pid: u32,
    /// Its real user id.
    pub uid: u32,
    /// When it started, in clock ticks since the machine started.
    pub started: u64,
}

impl PeerProcess {
    /// The process with this id; `None` if there is none, or none that we may see.
    pub fn with_pid(pid: u32) -> Option<Self> {
        Some(system::read(pid)?.process)
    }

    /// This process.
    pub fn current() -> Option<Self> {
        Self::with_pid(std::process::id())
    }

    /// The process that connected, from the credentials of a Unix socket.
    #[cfg(unix)]
    pub fn of_credentials(credentials: &tokio::net::unix::UCred) -> Option<Self> {
        let pid = u32::try_from(credentials.pid()?).ok()?;
        // A process that is gone may have left its id to another user's process.
        Self::with_pid(pid).filter(|process| process.uid == credentials.uid())
    }

    /// Whether it still runs. One that has ended and waits for its parent does not.
    pub fn is_alive(&self) -> bool {
        Self::with_pid(self.pid).as_ref() == Some(self) && !system::has_ended(self.pid)
    }

    /// The name of its program, as it gives it.
    pub fn program(&self) -> Option<String> {
        system::program(self.pid)
    }

    /// Its ancestors, nearest first. `None` if it does not run any more: then nobody can tell.
    ///
    /// The list ends at an ancestor that we may not see; that one belongs to another user.
    pub fn ancestors(&self) -> Option<Vec<Self>> {
        let mut found = Vec::new();
        let mut current = *self;
        while let Some(parent) = system::parent(&current)? {
            found.push(parent);
            if found.len() == MAX_ANCESTORS {
                return None;
            }
            current = parent;
        }
        Some(found)
    }

    /// Whether `other` is among its ancestors. `None` if nobody can tell.
    pub fn descends_from(&self, other: &Self) -> Option<bool> {
        Some(self.ancestors()?.contains(other))
    }

    /// The process that started this one to talk with it: its parent, or, where the parent only
    /// passes its own standard input on (a shell or another wrapper), the parent of that one.
    pub fn starter(&self) -> Option<Self> {
        let input = system::piped_input(self.pid);
        let is_wrapper =
            |ancestor: &Self| input.is_some() && system::piped_input(ancestor.pid) == input;
        self.ancestors()?.into_iter().find(|ancestor| !is_wrapper(ancestor))
    }
}

/// The other end of a loopback TCP connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerSocket {
    /// The user who owns it.
    pub uid: u32,
    inode: u32,
}

impl PeerSocket {
    /// The socket at the other end of a connection between our address and the peer's. `None` if it
    /// is not on this machine, is closed already, or the system does not tell.
    pub fn find(ours: SocketAddr, peer: SocketAddr) -> io::Result<Option<Self>> {
        if !ours.ip().to_canonical().is_loopback() || !peer.ip().to_canonical().is_loopback() {
            return Ok(None);
        }
        system::socket(ours, peer)
    }

    /// The processes that hold it, those of `known` first: if one of them does, no other is looked
    /// for. Otherwise this looks at every process of the user, which takes milliseconds.
    pub fn processes(&self, known: &[PeerProcess]) -> Vec<PeerProcess> {
        system::holders(self.uid, self.inode, known)
    }
}
