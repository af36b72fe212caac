//! The processes of connected clients. Toolgate uses them to distinguish clients from the operator.

use std::net::SocketAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use toolgate_transport::peer::{PeerProcess, PeerSocket};

/// The most running processes to remember. One machine does not run more clients than this.
const MAX_PROCESSES: usize = 4096;

/// The client processes that a gateway has seen and that still run.
#[derive(Debug, Clone, Default)]
pub struct ClientProcesses(Arc<Mutex<Vec<PeerProcess>>>);

impl ClientProcesses {
    /// Returns the recorded processes that still run.
    pub fn all(&self) -> Vec<PeerProcess> {
        let mut list = self.0.lock();
        list.retain(PeerProcess::is_alive);
        list.clone()
    }

    /// Remembers a process until it exits.
    pub fn record(&self, process: PeerProcess) {
        // Every orphan becomes a child of process 1, so that parent does not identify who started
        // it.
        if process.pid == 1 {
            return;
        }
        let mut list = self.0.lock();
        if list.contains(&process) {
            return;
        }
        if list.len() >= MAX_PROCESSES {
            list.retain(PeerProcess::is_alive);
        }
        if list.len() < MAX_PROCESSES {
            list.push(process);
        }
    }

    /// Remembers the processes at the other end of a loopback connection.
    pub(crate) async fn record_connection(&self, ours: SocketAddr, peer: SocketAddr) {
        let Ok(Some(socket)) = PeerSocket::find(ours, peer) else { return };
        let known = self.0.lock().clone();
        let found = tokio::task::spawn_blocking(move || socket.processes(&known));
        for process in found.await.unwrap_or_default() {
            self.record(process);
        }
    }
}
