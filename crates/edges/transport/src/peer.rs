//! Identifies the process at the other end of a connection from this machine.
//!
//! Linux reports the process of a Unix socket's peer and the user who owns a loopback TCP socket.
//! `/proc` shows the process that holds the socket, and its ancestors. On other systems every
//! function returns `None`, and [`SUPPORTED`] is false.

mod process_files;
#[cfg(target_os = "linux")]
mod sock_diag;

use std::io;
use std::net::SocketAddr;

/// Whether this system can identify peers.
pub const SUPPORTED: bool = cfg!(target_os = "linux");

/// The maximum number of ancestors. No real process tree is this deep.
const MAX_ANCESTORS: usize = 256;

/// A process on this machine. The start time distinguishes it from a later process with the same
/// id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PeerProcess {
    /// Its process id, as this process sees it.
    pub pid: u32,
    /// Its real user id.
    pub uid: u32,
    /// When it started, in clock ticks since boot.
    pub started: u64,
}

impl PeerProcess {
    /// Returns the process with this id, or `None` if it does not exist or is not visible.
    pub fn with_pid(pid: u32) -> Option<Self> {
        // Elsewhere, any user may be able to create these files.
        SUPPORTED.then(|| process_files::read(pid)).flatten().map(|info| info.process)
    }

    /// Returns this process.
    pub fn current() -> Option<Self> {
        Self::with_pid(std::process::id())
    }

    /// Returns the process that connected, from the credentials of a Unix socket.
    #[cfg(unix)]
    pub fn from_credentials(credentials: &tokio::net::unix::UCred) -> Option<Self> {
        let pid = u32::try_from(credentials.pid()?).ok()?;
        // If the process has ended, another user's process may have its id now.
        Self::with_pid(pid).filter(|process| process.uid == credentials.uid())
    }

    /// Returns true if the process still runs. A zombie does not.
    pub fn is_alive(&self) -> bool {
        Self::with_pid(self.pid).as_ref() == Some(self) && !process_files::has_ended(self.pid)
    }

    /// Returns the name of the program, which the process itself can change.
    pub fn program(&self) -> Option<String> {
        process_files::program(self.pid)
    }

    /// Returns the ancestors, nearest first, or `None` if the process has ended.
    ///
    /// The list ends before an ancestor that is not visible because it belongs to another user.
    pub fn ancestors(&self) -> Option<Vec<Self>> {
        let mut found = Vec::new();
        let mut current = *self;
        while let Some(parent) = process_files::parent(&current)? {
            found.push(parent);
            if found.len() == MAX_ANCESTORS {
                return None;
            }
            current = parent;
        }
        Some(found)
    }

    /// Returns the process that started this one to talk with it. This is the nearest ancestor that
    /// is not a wrapper, such as a shell that passes its own standard input on.
    pub fn starter(&self) -> Option<Self> {
        let input = process_files::piped_input(self.pid);
        let is_wrapper =
            |ancestor: &Self| input.is_some() && process_files::piped_input(ancestor.pid) == input;
        self.ancestors()?.into_iter().find(|ancestor| !is_wrapper(ancestor))
    }
}

/// The peer's socket of a loopback TCP connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerSocket {
    /// The user who owns it.
    pub uid: u32,
    inode: u32,
}

impl PeerSocket {
    /// Finds the peer's socket of the connection between our address and the peer's. Returns `None`
    /// if it is not on this machine, is already closed, or the system does not report it.
    pub fn find(ours: SocketAddr, peer: SocketAddr) -> io::Result<Option<Self>> {
        if !ours.ip().to_canonical().is_loopback() || !peer.ip().to_canonical().is_loopback() {
            return Ok(None);
        }
        #[cfg(target_os = "linux")]
        return sock_diag::socket(ours, peer);
        #[cfg(not(target_os = "linux"))]
        return Ok(None);
    }

    /// Returns the processes that hold the socket. If processes of `known` hold it, this returns
    /// only those. Otherwise it searches every process of the user, which takes milliseconds.
    pub fn processes(&self, known: &[PeerProcess]) -> Vec<PeerProcess> {
        process_files::holders(self.uid, self.inode, known)
    }
}
